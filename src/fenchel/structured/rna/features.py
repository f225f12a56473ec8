"""The features of a secondary structure: those of CONTRAfold (Do, Woods, Batzoglou, *Bioinformatics* 22:e90, 2006), 336 of them.

A structure decomposes into loops, and its score is a sum of *terms*, one for every event in a loop. A term is a sum of weights:

    term                       indices               its weights
    PAIR                       pair                  base_pair, the same for AU and UA, CG and GC, GU and UG
    STACK                      outer pair, inner     helix_stacking, the same read from the other strand
    END     (hairpin, bulge    pair, bases x, y      helix_closing + terminal_mismatch
             and internal loops)
    JUNCTION (multi-branch     pair, bases x, y      helix_closing + dangle_left(x) + dangle_right(y)
             and external loops)
    HAIRPIN                    length, at most 30    hairpin_length_at_least 0, ..., length
    INTERIOR                   lengths l1, l2        a bulge: bulge_length_at_least 1, ..., l1 + l2; an internal loop:
                                                     internal_length_at_least 2, ..., l1 + l2, internal_symmetric_length_at_least
                                                     1, ..., l1 where l1 = l2, internal_asymmetry_at_least 1, ..., |l1 − l2|, and
                                                     internal_explicit for l1, l2 ≤ 4, the same for (l1, l2) and (l2, l1)
    BULGE                      the base              bulge_0x1_nucleotides
    ONE_BY_ONE                 the bases             internal_1x1_nucleotides, the same for (x, y) and (y, x)
    MULTI_CLOSED, MULTI_UNPAIRED, MULTI_PAIRED       multi_base, multi_unpaired, multi_paired (the closing pair counts as one too)
    EXTERNAL_UNPAIRED, EXTERNAL_PAIRED               external_unpaired, external_paired

A pair ab is seen from its loop, which begins with x after a and ends with y before b. Unknown bases (N) and positions beyond the ends of
the sequence have no weights. The scores of all terms are B·w with a sparse matrix B, :func:`terms`, and the counts of the weights
are Bᵀ·(counts of the terms).
"""

from __future__ import annotations

import functools
from itertools import product

import numpy as np
import scipy.sparse as sp

BASES = "ACGU"
UNKNOWN = 4
LETTERS = 5  # the bases and the unknown one
PAIRS = ("AU", "CG", "GC", "UA", "GU", "UG")
LONGEST_LOOP = 30  # the maximal number of unpaired bases in an internal loop; longer hairpins are scored as this long
WIDTH = LONGEST_LOOP + 1
EXPLICIT = 4  # internal loops with at most this many bases on each side have explicit weights

#: The kind of a pair of letters, at 5·first + second: its index in PAIRS, or -1.
KIND = np.full(LETTERS * LETTERS, -1, dtype=np.int64)
for _number, _pair in enumerate(PAIRS):
    KIND[LETTERS * BASES.index(_pair[0]) + BASES.index(_pair[1])] = _number

# The first index of each group of terms.
PAIR = 0
STACK = PAIR + 6
END = STACK + 36
JUNCTION = END + 6 * 25
HAIRPIN = JUNCTION + 6 * 25
INTERIOR = HAIRPIN + WIDTH
BULGE = INTERIOR + WIDTH * WIDTH
ONE_BY_ONE = BULGE + LETTERS
MULTI_CLOSED = ONE_BY_ONE + 25
MULTI_UNPAIRED = MULTI_CLOSED + 1
MULTI_PAIRED = MULTI_UNPAIRED + 1
EXTERNAL_UNPAIRED = MULTI_PAIRED + 1
EXTERNAL_PAIRED = EXTERNAL_UNPAIRED + 1
TERMS = EXTERNAL_PAIRED + 1


@functools.cache
def names() -> tuple[str, ...]:
    """The names of the weights.

    >>> len(names()), names()[:3]
    (336, ('base_pair_AU', 'base_pair_CG', 'base_pair_GU'))
    """
    found = ["base_pair_AU", "base_pair_CG", "base_pair_GU"]
    found += list(dict.fromkeys(_stacking(outer, inner) for outer, inner in product(PAIRS, PAIRS)))
    found += [f"helix_closing_{pair}" for pair in PAIRS]
    found += [f"terminal_mismatch_{pair}{x}{y}" for pair, x, y in product(PAIRS, BASES, BASES)]
    found += [f"hairpin_length_at_least_{length}" for length in range(WIDTH)]
    found += [f"bulge_length_at_least_{length}" for length in range(1, WIDTH)]
    found += [f"internal_length_at_least_{length}" for length in range(2, WIDTH)]
    found += [f"internal_symmetric_length_at_least_{length}" for length in range(1, LONGEST_LOOP // 2 + 1)]
    found += [f"internal_asymmetry_at_least_{length}" for length in range(1, LONGEST_LOOP - 1)]
    found += [f"internal_explicit_{a}_{b}" for a, b in product(range(1, EXPLICIT + 1), repeat=2) if a <= b]
    found += [f"bulge_0x1_nucleotides_{x}" for x in BASES]
    found += [f"internal_1x1_nucleotides_{x}{y}" for x, y in product(BASES, BASES) if x <= y]
    found += [f"dangle_{side}_{pair}{x}" for side, pair, x in product(("left", "right"), PAIRS, BASES)]
    found += ["multi_base", "multi_unpaired", "multi_paired", "external_unpaired", "external_paired"]
    return tuple(found)


@functools.cache
def terms() -> sp.csr_array:
    """B: row t has a one for every weight in the sum of term t.

    >>> B = terms()
    >>> [names()[j] for j in B.indices[B.indptr[HAIRPIN + 2] : B.indptr[HAIRPIN + 3]]]
    ['hairpin_length_at_least_0', 'hairpin_length_at_least_1', 'hairpin_length_at_least_2']
    """
    number = {name: j for j, name in enumerate(names())}
    uses: dict[int, list[str]] = {
        MULTI_CLOSED: ["multi_base"],
        MULTI_UNPAIRED: ["multi_unpaired"],
        MULTI_PAIRED: ["multi_paired"],
        EXTERNAL_UNPAIRED: ["external_unpaired"],
        EXTERNAL_PAIRED: ["external_paired"],
    }
    for t, pair in enumerate(PAIRS):
        uses[PAIR + t] = [f"base_pair_{min(pair, pair[::-1])}"]
        uses |= {STACK + 6 * t + k: [_stacking(pair, inner)] for k, inner in enumerate(PAIRS)}
        for x, y in product(range(LETTERS), repeat=2):
            uses[END + 25 * t + LETTERS * x + y] = _end(pair, x, y)
            uses[JUNCTION + 25 * t + LETTERS * x + y] = _junction(pair, x, y)
    uses |= {HAIRPIN + length: _up_to("hairpin_length", 0, length) for length in range(WIDTH)}
    uses |= {INTERIOR + WIDTH * a + b: _interior(a, b) for a, b in product(range(WIDTH), repeat=2) if 0 < a + b <= LONGEST_LOOP}
    for k, base in enumerate(BASES):
        uses[BULGE + k] = [f"bulge_0x1_nucleotides_{base}"]
        uses |= {ONE_BY_ONE + LETTERS * k + l: [f"internal_1x1_nucleotides_{''.join(sorted(base + BASES[l]))}"] for l in range(len(BASES))}
    rows = [t for t, used in sorted(uses.items()) for _ in used]
    columns = [number[name] for _, used in sorted(uses.items()) for name in used]
    return sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(TERMS, len(number)))


def _stacking(outer: str, inner: str) -> str:
    return f"helix_stacking_{min(outer + inner, inner[::-1] + outer[::-1])}"


def _up_to(name: str, first: int, last: int) -> list[str]:
    return [f"{name}_at_least_{length}" for length in range(first, last + 1)]


def _end(pair: str, x: int, y: int) -> list[str]:
    known = x != UNKNOWN and y != UNKNOWN
    return [f"helix_closing_{pair}"] + ([f"terminal_mismatch_{pair}{BASES[x]}{BASES[y]}"] if known else [])


def _junction(pair: str, x: int, y: int) -> list[str]:
    left = [f"dangle_left_{pair}{BASES[x]}"] if x != UNKNOWN else []
    right = [f"dangle_right_{pair}{BASES[y]}"] if y != UNKNOWN else []
    return [f"helix_closing_{pair}", *left, *right]


def _interior(a: int, b: int) -> list[str]:
    if min(a, b) == 0:
        return _up_to("bulge_length", 1, a + b)
    used = _up_to("internal_length", 2, a + b) + _up_to("internal_asymmetry", 1, abs(a - b))
    if a == b:
        used += _up_to("internal_symmetric_length", 1, a)
    if max(a, b) <= EXPLICIT:
        used.append(f"internal_explicit_{min(a, b)}_{max(a, b)}")
    return used

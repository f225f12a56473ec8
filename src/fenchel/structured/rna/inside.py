"""Zuker's recursion in an unambiguous form (McCaskill, *Biopolymers* 29, 1990), over any semiring of :mod:`fenchel.structured.rna.rings`.

Positions count from 1, and s[0] = s[L + 1] is the unknown base. With ⊕ and ⊗ of the semiring, u for an unpaired base of a multi-branch
loop, and stem(i, j) for paired(i, j) as a branch of such a loop:

    paired(i, j)    i and j pair:     pair ⊗ (hairpin ⊕ stacked on paired(i + 1, j − 1) ⊕ ⊕_{k,l} interior ⊗ paired(k, l)
                                      ⊕ closing ⊗ several(i + 1, j − 1))
    one(i, j)       a stem that begins at i, then unpaired bases:     stem(i, j) ⊕ one(i, j − 1) ⊗ u
    single(i, j)    unpaired bases, a stem, unpaired bases:           one(i, j) ⊕ u ⊗ single(i + 1, j)
    several(i, j)   two stems or more:                                ⊕_k many(i, k − 1) ⊗ one(k, j)
    many(i, j)      a stem or more:                                   single(i, j) ⊕ several(i, j)
    prefix(j)       all of 1, ..., j:                prefix(j − 1) ⊗ unpaired ⊕ ⊕_i prefix(i − 1) ⊗ paired(i, j) as an external stem

Interior loops take O(L²·30²/2), several(i, j) takes O(L³); both are dot products of contiguous memory. For this some tables are also
stored transposed, and the scores of interior loops are stored in reverse.
"""

from __future__ import annotations

import numpy as np

from fenchel.core.compiled import compiled
from fenchel.structured.rna.features import (
    BULGE,
    END,
    EXTERNAL_PAIRED,
    EXTERNAL_UNPAIRED,
    HAIRPIN,
    INTERIOR,
    JUNCTION,
    KIND,
    LETTERS,
    LONGEST_LOOP,
    MULTI_CLOSED,
    MULTI_PAIRED,
    MULTI_UNPAIRED,
    ONE_BY_ONE,
    PAIR,
    STACK,
    WIDTH,
)

# The tables of a chart, each of (L + 2)² numbers in row-major order; (i, j) is at i·(L + 2) + j.
PAIRED = 0
INNER = 1  # paired, as the inner pair of an interior loop
LOOPED = 2  # the hairpin and the interior loops that (i, j) closes, without stacking
ONE = 3
ONE_BY_END = 4  # transposed
SINGLE = 5
SEVERAL = 6
MANY = 7
MANY_BY_END = 8  # transposed
TABLES = 9


@compiled
def pair_kind(s, a, b):
    """The index in PAIRS of the bases at a and b, or -1."""
    return KIND[LETTERS * s[a] + s[b]]


@compiled
def side(s, a, b):
    """The pair of a and b from the loop that follows a and precedes b: give (j, i) for the loop outside of i < j."""
    return 25 * pair_kind(s, a, b) + LETTERS * s[a + 1] + s[b - 1]


@compiled
def stacked(s, i, j):
    """The term of the pair (i + 1, j − 1) stacked on (i, j)."""
    return STACK + 6 * pair_kind(s, i, j) + pair_kind(s, i + 1, j - 1)


@compiled
def term_scores(ring, data, indices, indptr, w, scale, shift):
    """The scores of all terms, scale·B·w minus ``shift`` for every base that they consume, as values of the semiring."""
    theta = np.empty(indptr.shape[0] - 1)
    for t in range(theta.shape[0]):
        total = 0.0
        for e in range(indptr[t], indptr[t + 1]):
            total += data[e] * w[indices[e]]
        theta[t] = scale * total
    for t in range(6):
        theta[PAIR + t] -= 2.0 * shift
    for a in range(WIDTH):
        for b in range(WIDTH):
            theta[INTERIOR + WIDTH * a + b] -= (a + b) * shift
    theta[MULTI_UNPAIRED] -= shift
    theta[EXTERNAL_UNPAIRED] -= shift
    for t in range(theta.shape[0]):
        if not HAIRPIN <= t < INTERIOR:  # computed in ``hairpin``, because hairpins may be longer than the table
            theta[t] = ring.embed(theta[t])
    return theta


@compiled
def hairpin(ring, theta, shift, length):
    return ring.embed(theta[HAIRPIN + min(length, LONGEST_LOOP)] - shift * length)


@compiled
def interior_scores(ring, theta):
    """The scores of interior loops by l1 and l2, and by l1 and 30 − l2; ``zero`` for stacking and the three loops whose bases matter."""
    forward = np.full(WIDTH * WIDTH, ring.zero)
    backward = np.full(WIDTH * WIDTH, ring.zero)
    for a in range(WIDTH):
        for b in range(WIDTH - a):
            if a > 1 or b > 1:
                forward[WIDTH * a + b] = theta[INTERIOR + WIDTH * a + b]
                backward[WIDTH * a + LONGEST_LOOP - b] = theta[INTERIOR + WIDTH * a + b]
    return forward, backward


@compiled
def small_loop_term(s, i, j, k, l):
    """The term of the bases of an interior loop with one unpaired base, or with one on each side; -1 for other loops."""
    a, b = k - i - 1, j - l - 1
    if a == 1 and b == 1:
        return ONE_BY_ONE + LETTERS * s[i + 1] + s[j - 1]
    if a + b == 1:
        return BULGE + (s[i + 1] if a == 1 else s[j - 1])
    return -1


@compiled
def small_loop(ring, theta, s, i, j, a, b):
    """The score of the interior loop of (i, j) with a and b unpaired bases, without the scores of its ends."""
    lengths = theta[INTERIOR + WIDTH * a + b]
    return ring.times(lengths, theta[small_loop_term(s, i, j, i + 1 + a, j - 1 - b)])


@compiled
def interior_loops(ring, theta, backward, s, i, j, least, inner):
    """⊕_{k,l} interior ⊗ paired(k, l), without the score of the end at (i, j)"""
    N = s.shape[0]
    total = ring.zero
    for a in range(min(LONGEST_LOOP, j - i - 3 - least) + 1):
        k = i + 1 + a
        first = max(k + 1 + least, j - 1 - LONGEST_LOOP + a)
        total = ring.plus(total, ring.gather(inner, k * N + first, backward, WIDTH * a + LONGEST_LOOP - (j - 1 - first), j - first))
    if j - i - 4 >= least:
        total = ring.plus(total, ring.times(small_loop(ring, theta, s, i, j, 0, 1), inner[(i + 1) * N + j - 2]))
        total = ring.plus(total, ring.times(small_loop(ring, theta, s, i, j, 1, 0), inner[(i + 2) * N + j - 1]))
    if j - i - 5 >= least:
        total = ring.plus(total, ring.times(small_loop(ring, theta, s, i, j, 1, 1), inner[(i + 2) * N + j - 2]))
    return total


@compiled
def multi_closing(ring, theta, s, i, j):
    return ring.times(theta[JUNCTION + side(s, i, j)], ring.times(theta[MULTI_CLOSED], theta[MULTI_PAIRED]))


@compiled
def multi_stem(ring, theta, s, i, j):
    return ring.times(theta[JUNCTION + side(s, j, i)], theta[MULTI_PAIRED])


@compiled
def external_stem(ring, theta, s, i, j):
    return ring.times(theta[JUNCTION + side(s, j, i)], theta[EXTERNAL_PAIRED])


@compiled
def pair_up(ring, theta, shift, backward, s, i, j, least, pairing, chart):
    """Fill in the table entries that depend on the pair (i, j)."""
    N = s.shape[0]
    at = i * N + j
    loops = ring.plus(hairpin(ring, theta, shift, j - i - 1), interior_loops(ring, theta, backward, s, i, j, least, chart[INNER]))
    chart[LOOPED, at] = ring.times(theta[END + side(s, i, j)], loops)
    total = ring.plus(chart[LOOPED, at], ring.times(multi_closing(ring, theta, s, i, j), chart[SEVERAL, at + N - 1]))
    if chart[PAIRED, at + N - 1] != ring.zero:
        total = ring.plus(total, ring.times(theta[stacked(s, i, j)], chart[PAIRED, at + N - 1]))
    chart[PAIRED, at] = ring.times(pairing, total)
    chart[INNER, at] = ring.times(theta[END + side(s, j, i)], chart[PAIRED, at])


@compiled
def inside(ring, theta, shift, s, pairing, least):
    """The chart and the prefixes, from the scores of pairs (``zero`` for impossible ones) and of the other terms."""
    N = s.shape[0]
    L = N - 2
    zero = ring.zero
    chart = np.full((TABLES, N * N), zero)
    backward = interior_scores(ring, theta)[1]
    u = theta[MULTI_UNPAIRED]
    for i in range(L - least - 1, 0, -1):
        for j in range(i + least + 1, L + 1):
            at = i * N + j
            one = ring.times(chart[ONE, at - 1], u)
            if pairing[at] != zero:
                pair_up(ring, theta, shift, backward, s, i, j, least, pairing[at], chart)
                one = ring.plus(one, ring.times(multi_stem(ring, theta, s, i, j), chart[PAIRED, at]))
            chart[ONE, at] = one
            chart[ONE_BY_END, j * N + i] = one
            chart[SINGLE, at] = ring.plus(one, ring.times(u, chart[SINGLE, at + N]))
            chart[SEVERAL, at] = ring.gather(chart[MANY], at - j + i, chart[ONE_BY_END], j * N + i + 1, j - i)
            chart[MANY, at] = ring.plus(chart[SINGLE, at], chart[SEVERAL, at])
            chart[MANY_BY_END, j * N + i] = chart[MANY, at]
    return chart, _prefixes(ring, theta, s, pairing, chart[PAIRED])


@compiled
def _prefixes(ring, theta, s, pairing, paired):
    N = s.shape[0]
    prefix = np.full(N, ring.one)
    for j in range(1, N - 1):
        total = ring.times(prefix[j - 1], theta[EXTERNAL_UNPAIRED])
        for i in range(1, j):
            if pairing[i * N + j] != ring.zero:
                stem = ring.times(external_stem(ring, theta, s, i, j), paired[i * N + j])
                total = ring.plus(total, ring.times(prefix[i - 1], stem))
        prefix[j] = total
    return prefix

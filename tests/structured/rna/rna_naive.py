"""Naive RNA folding: all structures of a short sequence, scored loop by loop from names of features."""

from __future__ import annotations

from collections import Counter
from functools import cache

CANONICAL = {"AU", "UA", "CG", "GC", "GU", "UG"}


@cache
def structures(sequence: str, hairpin: int) -> list[frozenset[tuple[int, int]]]:
    """All nested structures of canonical pairs, with hairpins long enough and interior loops of at most 30 bases."""
    found = _nested(sequence, 0, len(sequence), hairpin)
    return [pairs for pairs in found if all(size(pairs, pair) <= 30 for pair in pairs if len(inside(pairs, pair)) == 1)]


@cache
def _nested(sequence: str, first: int, last: int, hairpin: int) -> list[frozenset[tuple[int, int]]]:
    if last - first < hairpin + 2:
        return [frozenset()]
    found = list(_nested(sequence, first + 1, last, hairpin))
    for k in range(first + hairpin + 1, last):
        if sequence[first] + sequence[k] in CANONICAL:
            for inside in _nested(sequence, first + 1, k, hairpin):
                found += [inside | after | {(first, k)} for after in _nested(sequence, k + 1, last, hairpin)]
    return found


def inside(pairs, pair):
    """The pairs directly inside a pair."""
    i, j = pair
    within = [(k, l) for k, l in pairs if i < k and l < j]
    return sorted((k, l) for k, l in within if not any(a < k and l < b for a, b in within))


def size(pairs, pair):
    """The number of unpaired bases in the loop of a pair."""
    return pair[1] - pair[0] - 1 - sum(l - k + 1 for k, l in inside(pairs, pair))


def features(sequence: str, pairs) -> Counter[str]:
    """The count of each feature, by name, in the structure."""
    found: Counter[str] = Counter()
    outermost = inside(pairs, (-1, len(sequence)))
    found["external_unpaired"] += size(pairs, (-1, len(sequence)))
    for pair in outermost:
        found["external_paired"] += 1
        found += junction(sequence, pair[1], pair[0])
    for pair in pairs:
        found["base_pair_" + "".join(sorted(sequence[pair[0]] + sequence[pair[1]]))] += 1
        found += loop(sequence, pairs, pair)
    return found


def loop(sequence, pairs, pair):
    i, j = pair
    branches, unpaired = inside(pairs, pair), size(pairs, pair)
    found: Counter[str] = Counter()
    if len(branches) > 1:
        found += junction(sequence, i, j) + Counter(multi_base=1, multi_paired=1 + len(branches), multi_unpaired=unpaired)
        for k, l in branches:
            found += junction(sequence, l, k)
        return found
    if not branches:
        return end(sequence, i, j) + Counter({f"hairpin_length_at_least_{n}": 1 for n in range(min(unpaired, 30) + 1)})
    k, l = branches[0]
    if unpaired == 0:
        strand, other = sequence[i] + sequence[j] + sequence[k] + sequence[l], sequence[l] + sequence[k] + sequence[j] + sequence[i]
        return Counter({"helix_stacking_" + min(strand, other): 1})
    return end(sequence, i, j) + end(sequence, l, k) + interior(sequence, sequence[i + 1 : k], sequence[l + 1 : j])


def interior(sequence, left, right):
    a, b = sorted((len(left), len(right)))
    if a == 0:
        found = Counter({f"bulge_length_at_least_{n}": 1 for n in range(1, b + 1)})
        if b == 1 and left + right in "ACGU":
            found["bulge_0x1_nucleotides_" + left + right] += 1
        return found
    found = Counter({f"internal_length_at_least_{n}": 1 for n in range(2, a + b + 1)})
    found += Counter({f"internal_asymmetry_at_least_{n}": 1 for n in range(1, b - a + 1)})
    if a == b:
        found += Counter({f"internal_symmetric_length_at_least_{n}": 1 for n in range(1, a + 1)})
    if b <= 4:
        found[f"internal_explicit_{a}_{b}"] += 1
    if b == 1 and "N" not in left + right:
        found["internal_1x1_nucleotides_" + "".join(sorted(left + right))] += 1
    return found


def end(sequence, a, b):
    pair, x, y = sequence[a] + sequence[b], sequence[a + 1], sequence[b - 1]
    found = Counter({"helix_closing_" + pair: 1})
    if "N" not in x + y:
        found[f"terminal_mismatch_{pair}{x}{y}"] += 1
    return found


def junction(sequence, a, b):
    pair = sequence[a] + sequence[b]
    found = Counter({"helix_closing_" + pair: 1})
    if a + 1 < len(sequence) and sequence[a + 1] != "N":
        found[f"dangle_left_{pair}{sequence[a + 1]}"] += 1
    if b >= 1 and sequence[b - 1] != "N":
        found[f"dangle_right_{pair}{sequence[b - 1]}"] += 1
    return found


def partners(pairs, length: int) -> list[int]:
    found = [-1] * length
    for i, j in pairs:
        found[i], found[j] = j, i
    return found

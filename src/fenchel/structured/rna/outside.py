"""Pair probabilities and expected counts of the terms: the derivatives of the recursion of ``inside``.

The table ``x_out`` holds ∂Z/∂x(i, j), the sum over everything that x(i, j) can be part of; x(i, j)·x_out(i, j)/Z is its probability.
"""

from __future__ import annotations

import math

import numpy as np

from fenchel.core.compiled import compiled
from fenchel.structured.rna.features import (
    END,
    EXTERNAL_PAIRED,
    EXTERNAL_UNPAIRED,
    HAIRPIN,
    INTERIOR,
    JUNCTION,
    LONGEST_LOOP,
    MULTI_CLOSED,
    MULTI_PAIRED,
    MULTI_UNPAIRED,
    PAIR,
    TERMS,
    WIDTH,
)
from fenchel.structured.rna.inside import (
    INNER,
    LOOPED,
    MANY_BY_END,
    ONE,
    PAIRED,
    SEVERAL,
    SINGLE,
    external_stem,
    hairpin,
    interior_scores,
    multi_closing,
    multi_stem,
    pair_kind,
    side,
    small_loop,
    small_loop_term,
    stacked,
)

LARGEST = 1e280  # the limit on ∂Z/∂x over Z up to which values below 1e-307, which underflow, are negligible
MODERATE = 1e150  # the product of two such terms stays in range

# Tables like those of the chart.
SHELL = 0  # everything outside of paired(i, j), with the score of the pair
OUTER = 1  # shell, as the outer pair of an interior loop
ONE_OUT = 2
SINGLE_OUT = 3
SEVERAL_OUT = 4
SEVERAL_OUT_BY_END = 5  # transposed
TABLES = 6


@compiled
def outside(ring, theta, shift, s, pairing, least, chart, prefix, probability):
    """Expected counts of all terms, and the largest ∂Z/∂x over Z; ``probability`` ← the probability of each pair, at i·(L + 2) + j."""
    N = s.shape[0]
    L = N - 2
    zero = ring.zero
    out = np.full((TABLES, N * N), zero)
    forward, backward = interior_scores(ring, theta)
    counts, loops = np.zeros(TERMS), np.full(WIDTH * WIDTH, zero)
    u, z = theta[MULTI_UNPAIRED], prefix[L]
    suffix = _suffixes(ring, theta, s, pairing, chart[PAIRED])
    peak = 0.0
    for at in range(N * N):
        probability[at] = 0.0
    for i in range(1, L - least):
        for j in range(L, i + least, -1):
            at = i * N + j
            many = ring.gather(out[SEVERAL_OUT], at + 1, chart[ONE], (j + 1) * N + j + 1, L - j)
            out[SEVERAL_OUT, at] = many
            if i > 1 and j < L and pairing[at - N + 1] != zero:
                closed = ring.times(out[SHELL, at - N + 1], multi_closing(ring, theta, s, i - 1, j + 1))
                out[SEVERAL_OUT, at] = ring.plus(many, closed)
            out[SEVERAL_OUT_BY_END, j * N + i] = out[SEVERAL_OUT, at]
            out[SINGLE_OUT, at] = ring.plus(many, ring.times(u, out[SINGLE_OUT, at - N]))
            split = ring.gather(out[SEVERAL_OUT_BY_END], j * N + 1, chart[MANY_BY_END], (i - 1) * N + 1, i - 1)
            out[ONE_OUT, at] = ring.plus(ring.plus(out[SINGLE_OUT, at], ring.times(u, out[ONE_OUT, at + 1])), split)
            unpaired = ring.plus(ring.times(out[ONE_OUT, at], chart[ONE, at - 1]), ring.times(out[SINGLE_OUT, at], chart[SINGLE, at + N]))
            counts[MULTI_UNPAIRED] += ring.ratio(ring.times(u, unpaired), z)
            peak = max(peak, ring.ratio(out[ONE_OUT, at], z))
            if pairing[at] != zero:
                beside = ring.times(prefix[i - 1], suffix[j + 1])
                whole = _outside_of_pair(ring, theta, forward, s, i, j, chart[PAIRED, at], beside, z, out, counts)
                peak = max(peak, ring.ratio(whole, z))
                out[SHELL, at] = ring.times(whole, pairing[at])
                out[OUTER, at] = ring.times(out[SHELL, at], theta[END + side(s, i, j)])
                probability[at] = ring.ratio(ring.times(whole, chart[PAIRED, at]), z)
                counts[PAIR + pair_kind(s, i, j)] += probability[at]
                _count_loops(ring, theta, shift, s, i, j, least, chart, z, out, counts, loops)
    _count_interior_lengths(ring, loops, backward, z, counts)
    for i in range(1, L + 1):
        unpaired = ring.times(ring.times(prefix[i - 1], theta[EXTERNAL_UNPAIRED]), suffix[i + 1])
        counts[EXTERNAL_UNPAIRED] += ring.ratio(unpaired, z)
    return counts, peak


@compiled
def moderate(theta):
    """Whether all terms, as values of SUM_PRODUCT, are well within floating-point range; hairpins are skipped, as they are still scores."""
    beyond = 0
    for t in range(theta.shape[0]):
        if not (HAIRPIN <= t < INTERIOR or 1.0 / MODERATE < theta[t] < MODERATE):
            beyond += 1
    return beyond == 0


@compiled
def in_range(z, counts, peak):
    """Whether no relevant value overflowed or underflowed."""
    total = 0.0
    for t in range(counts.shape[0]):
        total += counts[t]
    return 0.0 < z < math.inf and math.isfinite(total) and peak < LARGEST


@compiled
def _suffixes(ring, theta, s, pairing, paired):
    N = s.shape[0]
    suffix = np.full(N, ring.one)
    for i in range(N - 2, 0, -1):
        total = ring.times(suffix[i + 1], theta[EXTERNAL_UNPAIRED])
        for j in range(i + 1, N - 1):
            if pairing[i * N + j] != ring.zero:
                stem = ring.times(external_stem(ring, theta, s, i, j), paired[i * N + j])
                total = ring.plus(total, ring.times(stem, suffix[j + 1]))
        suffix[i] = total
    return suffix


@compiled
def _outside_of_pair(ring, theta, forward, s, i, j, paired, beside, z, out, counts):
    """∂Z/∂paired(i, j); also counts the terms of the pair's side of the enclosing loop."""
    N = s.shape[0]
    at = i * N + j
    external = ring.times(beside, external_stem(ring, theta, s, i, j))
    branch = ring.times(out[ONE_OUT, at], multi_stem(ring, theta, s, i, j))
    looped = ring.times(theta[END + side(s, j, i)], _enclosing_loops(ring, theta, forward, s, i, j, out[OUTER]))
    a = ring.ratio(ring.times(external, paired), z)
    b = ring.ratio(ring.times(branch, paired), z)
    counts[END + side(s, j, i)] += ring.ratio(ring.times(looped, paired), z)
    counts[EXTERNAL_PAIRED] += a
    counts[MULTI_PAIRED] += b
    counts[JUNCTION + side(s, j, i)] += a + b
    total = ring.plus(ring.plus(external, branch), looped)
    if out[SHELL, at - N + 1] != ring.zero:
        total = ring.plus(total, ring.times(theta[stacked(s, i - 1, j + 1)], out[SHELL, at - N + 1]))
    return total


@compiled
def _enclosing_loops(ring, theta, forward, s, i, j, outer):
    """The interior loops whose inner pair is (i, j), without the score of the end at (i, j)."""
    N = s.shape[0]
    total = ring.zero
    for a in range(min(LONGEST_LOOP, i - 2) + 1):
        places = min(LONGEST_LOOP - a, N - 3 - j) + 1
        total = ring.plus(total, ring.gather(outer, (i - 1 - a) * N + j + 1, forward, WIDTH * a, places))
    for a, b in ((0, 1), (1, 0), (1, 1)):
        p, q = i - 1 - a, j + 1 + b
        if p >= 1 and q <= N - 2 and outer[p * N + q] != ring.zero:
            total = ring.plus(total, ring.times(outer[p * N + q], small_loop(ring, theta, s, p, q, a, b)))
    return total


@compiled
def _count_loops(ring, theta, shift, s, i, j, least, chart, z, out, counts, loops):
    """Count the terms of the loop inside of (i, j); interior loops are accumulated by their lengths and counted at the end."""
    N = s.shape[0]
    at = i * N + j
    counts[END + side(s, i, j)] += ring.ratio(ring.times(out[SHELL, at], chart[LOOPED, at]), z)
    length = j - i - 1
    counts[HAIRPIN + min(length, LONGEST_LOOP)] += ring.ratio(ring.times(out[OUTER, at], hairpin(ring, theta, shift, length)), z)
    closed = ring.times(out[SHELL, at], multi_closing(ring, theta, s, i, j))
    multi = ring.ratio(ring.times(closed, chart[SEVERAL, at + N - 1]), z)
    counts[JUNCTION + side(s, i, j)] += multi
    counts[MULTI_CLOSED] += multi
    counts[MULTI_PAIRED] += multi
    if chart[PAIRED, at + N - 1] != ring.zero:
        term = stacked(s, i, j)
        counts[term] += ring.ratio(ring.times(ring.times(out[SHELL, at], theta[term]), chart[PAIRED, at + N - 1]), z)
    for a in range(min(LONGEST_LOOP, j - i - 3 - least) + 1):
        k = i + 1 + a
        first = max(k + 1 + least, j - 1 - LONGEST_LOOP + a)
        ring.spread(loops, WIDTH * a + LONGEST_LOOP - (j - 1 - first), out[OUTER, at], chart[INNER], k * N + first, j - first)
    for a, b in ((0, 1), (1, 0), (1, 1)):
        if j - i - 3 - a - b >= least:
            loop = ring.times(out[OUTER, at], small_loop(ring, theta, s, i, j, a, b))
            ratio = ring.ratio(ring.times(loop, chart[INNER, (i + 1 + a) * N + j - 1 - b]), z)
            counts[INTERIOR + WIDTH * a + b] += ratio
            counts[small_loop_term(s, i, j, i + 1 + a, j - 1 - b)] += ratio


@compiled
def _count_interior_lengths(ring, loops, backward, z, counts):
    for a in range(WIDTH):
        for b in range(WIDTH - a):
            at = WIDTH * a + LONGEST_LOOP - b
            counts[INTERIOR + WIDTH * a + b] += ring.ratio(ring.times(loops[at], backward[at]), z)

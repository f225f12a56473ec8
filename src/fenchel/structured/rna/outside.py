"""How likely each pair is, and how often each term is to be expected: the recursion of :mod:`fenchel.structured.rna.inside`, differentiated.

The table ``x_out`` holds ∂Z/∂x(i, j), the sum over everything that x(i, j) can be part of; x(i, j)·x_out(i, j)/Z is its probability.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fenchel.compiled import compiled
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
    external_stem,
    hairpin,
    interior_scores,
    kind,
    multi_closing,
    multi_stem,
    side,
    small,
    small_loop,
    stacked,
)

LARGEST = 1e280  # of ∂Z/∂x over Z: what fell below the range of floating point, less than 1e-307 each, then matters to nobody


class Outside(NamedTuple):
    """Tables like those of a Chart."""

    shell: np.ndarray  #: everything outside of paired(i, j) ⊗ the score of the pair
    outer: np.ndarray  #: shell, as the outer pair of an interior loop
    one: np.ndarray
    single: np.ndarray
    several: np.ndarray
    several_by_end: np.ndarray  #: transposed
    suffix: np.ndarray  #: all of i, ..., L


@compiled
def outside(ring, theta, shift, s, pairing, least, chart, probability):
    """Expected counts of all terms, and the largest ∂Z/∂x over Z; ``probability`` receives that of each pair, at i·(L + 2) + j."""
    N = s.shape[0]
    L = N - 2
    zero = ring.zero
    out = Outside(
        np.full(N * N, zero), np.full(N * N, zero), np.full(N * N, zero), np.full(N * N, zero), np.full(N * N, zero),
        np.full(N * N, zero), np.full(N + 1, zero),
    )  # fmt: skip
    forward, backward = interior_scores(ring, theta)
    counts, loops = np.zeros(TERMS), np.full(WIDTH * WIDTH, zero)
    u, z = theta[MULTI_UNPAIRED], chart.prefix[L]
    _suffixes(ring, theta, s, pairing, chart, out.suffix)
    peak = 0.0
    for i in range(1, L - least):
        for j in range(L, i + least, -1):
            at = i * N + j
            many = ring.gather(out.several, at + 1, chart.one, (j + 1) * N + j + 1, L - j)
            out.several[at] = many
            if i > 1 and j < L and pairing[at - N + 1] != zero:
                closed = ring.times(out.shell[at - N + 1], multi_closing(ring, theta, s, i - 1, j + 1))
                out.several[at] = ring.plus(many, closed)
            out.several_by_end[j * N + i] = out.several[at]
            out.single[at] = ring.plus(many, ring.times(u, out.single[at - N]))
            split = ring.gather(out.several_by_end, j * N + 1, chart.many_by_end, (i - 1) * N + 1, i - 1)
            out.one[at] = ring.plus(ring.plus(out.single[at], ring.times(u, out.one[at + 1])), split)
            unpaired = ring.plus(ring.times(out.one[at], chart.one[at - 1]), ring.times(out.single[at], chart.single[at + N]))
            counts[MULTI_UNPAIRED] += ring.share(ring.times(u, unpaired), z)
            peak = max(peak, ring.share(out.one[at], z))
            if pairing[at] != zero:
                whole = _outside_of_pair(ring, theta, forward, s, i, j, chart, out, counts)
                peak = max(peak, ring.share(whole, z))
                out.shell[at] = ring.times(whole, pairing[at])
                out.outer[at] = ring.times(out.shell[at], theta[END + side(s, i, j)])
                probability[at] = ring.share(ring.times(whole, chart.paired[at]), z)
                counts[PAIR + kind(s, i, j)] += probability[at]
                _count_loops(ring, theta, shift, s, i, j, least, chart, out, counts, loops)
    _count_interior_lengths(ring, loops, backward, z, counts)
    for i in range(1, L + 1):
        unpaired = ring.times(ring.times(chart.prefix[i - 1], theta[EXTERNAL_UNPAIRED]), out.suffix[i + 1])
        counts[EXTERNAL_UNPAIRED] += ring.share(unpaired, z)
    return counts, peak


@compiled
def in_range(z, counts, peak):
    """Whether nothing that matters overflowed or underflowed."""
    return 0.0 < z < math.inf and math.isfinite(np.sum(counts)) and peak < LARGEST


@compiled
def _suffixes(ring, theta, s, pairing, chart, suffix):
    N = s.shape[0]
    suffix[N - 1] = ring.one
    for i in range(N - 2, 0, -1):
        total = ring.times(suffix[i + 1], theta[EXTERNAL_UNPAIRED])
        for j in range(i + 1, N - 1):
            if pairing[i * N + j] != ring.zero:
                stem = ring.times(external_stem(ring, theta, s, i, j), chart.paired[i * N + j])
                total = ring.plus(total, ring.times(stem, suffix[j + 1]))
        suffix[i] = total


@compiled
def _outside_of_pair(ring, theta, forward, s, i, j, chart, out, counts):
    """∂Z/∂paired(i, j); what lies on this side of the loop outside of the pair is counted on the way."""
    N = s.shape[0]
    at, z = i * N + j, chart.prefix[N - 2]
    external = ring.times(ring.times(chart.prefix[i - 1], out.suffix[j + 1]), external_stem(ring, theta, s, i, j))
    branch = ring.times(out.one[at], multi_stem(ring, theta, s, i, j))
    looped = ring.times(theta[END + side(s, j, i)], _enclosing_loops(ring, theta, forward, s, i, j, out.outer))
    a = ring.share(ring.times(external, chart.paired[at]), z)
    b = ring.share(ring.times(branch, chart.paired[at]), z)
    counts[END + side(s, j, i)] += ring.share(ring.times(looped, chart.paired[at]), z)
    counts[EXTERNAL_PAIRED] += a
    counts[MULTI_PAIRED] += b
    counts[JUNCTION + side(s, j, i)] += a + b
    total = ring.plus(ring.plus(external, branch), looped)
    if out.shell[at - N + 1] != ring.zero:
        total = ring.plus(total, ring.times(theta[stacked(s, i - 1, j + 1)], out.shell[at - N + 1]))
    return total


@compiled
def _enclosing_loops(ring, theta, forward, s, i, j, outer):
    """The interior loops whose inner pair is (i, j), without the score of the end at it."""
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
def _count_loops(ring, theta, shift, s, i, j, least, chart, out, counts, loops):
    """Count the terms of the loop inside of (i, j); interior loops are left to be counted by their lengths."""
    N = s.shape[0]
    at, z = i * N + j, chart.prefix[N - 2]
    counts[END + side(s, i, j)] += ring.share(ring.times(out.shell[at], chart.looped[at]), z)
    length = j - i - 1
    counts[HAIRPIN + min(length, LONGEST_LOOP)] += ring.share(ring.times(out.outer[at], hairpin(ring, theta, shift, length)), z)
    closed = ring.times(out.shell[at], multi_closing(ring, theta, s, i, j))
    multi = ring.share(ring.times(closed, chart.several[at + N - 1]), z)
    counts[JUNCTION + side(s, i, j)] += multi
    counts[MULTI_CLOSED] += multi
    counts[MULTI_PAIRED] += multi
    if chart.paired[at + N - 1] != ring.zero:
        term = stacked(s, i, j)
        counts[term] += ring.share(ring.times(ring.times(out.shell[at], theta[term]), chart.paired[at + N - 1]), z)
    for a in range(min(LONGEST_LOOP, j - i - 3 - least) + 1):
        k = i + 1 + a
        first = max(k + 1 + least, j - 1 - LONGEST_LOOP + a)
        ring.spread(loops, WIDTH * a + LONGEST_LOOP - (j - 1 - first), out.outer[at], chart.inner, k * N + first, j - first)
    for a, b in ((0, 1), (1, 0), (1, 1)):
        if j - i - 3 - a - b >= least:
            loop = ring.times(out.outer[at], small_loop(ring, theta, s, i, j, a, b))
            share = ring.share(ring.times(loop, chart.inner[(i + 1 + a) * N + j - 1 - b]), z)
            counts[INTERIOR + WIDTH * a + b] += share
            counts[small(s, i, j, i + 1 + a, j - 1 - b)] += share


@compiled
def _count_interior_lengths(ring, loops, backward, z, counts):
    for a in range(WIDTH):
        for b in range(WIDTH - a):
            at = WIDTH * a + LONGEST_LOOP - b
            counts[INTERIOR + WIDTH * a + b] += ring.share(ring.times(loops[at], backward[at]), z)

"""The number of occurrences of each term in a given structure."""

from __future__ import annotations

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
from fenchel.structured.rna.inside import pair_kind, side, small_loop_term, stacked


@compiled
def count_terms(s, y):
    """The number of times each term occurs in the structure y."""
    counts = np.zeros(TERMS)
    _, unpaired, _, _ = _count_stems(s, y, 0, s.shape[0] - 1, EXTERNAL_PAIRED, counts)
    counts[EXTERNAL_UNPAIRED] += unpaired
    for i in range(1, s.shape[0] - 1):
        if y[i - 1] + 1 > i:
            _count_pair(s, y, i, y[i - 1] + 1, counts)
    return counts


@compiled
def _count_stems(s, y, i, j, paired, counts):
    """The number of stems directly between i and j, of unpaired bases, and the last stem. Their terms are counted if ``paired`` ≥ 0."""
    stems, unpaired, k, l = 0, 0, 0, 0
    p = i + 1
    while p < j:
        q = y[p - 1] + 1
        if q > p:
            stems, k, l = stems + 1, p, q
            if paired >= 0:
                counts[paired] += 1.0
                counts[JUNCTION + side(s, q, p)] += 1.0
            p = q
        else:
            unpaired += 1
        p += 1
    return stems, unpaired, k, l


@compiled
def _count_pair(s, y, i, j, counts):
    """Count the terms of the pair and of the loop that it closes."""
    counts[PAIR + pair_kind(s, i, j)] += 1.0
    stems, unpaired, k, l = _count_stems(s, y, i, j, -1, counts)
    if stems >= 2:
        counts[JUNCTION + side(s, i, j)] += 1.0
        counts[MULTI_CLOSED] += 1.0
        counts[MULTI_PAIRED] += 1.0
        counts[MULTI_UNPAIRED] += unpaired
        _count_stems(s, y, i, j, MULTI_PAIRED, counts)
    elif stems == 1 and unpaired == 0:
        counts[stacked(s, i, j)] += 1.0
    else:
        counts[END + side(s, i, j)] += 1.0
        if stems == 0:
            counts[HAIRPIN + min(unpaired, LONGEST_LOOP)] += 1.0
        else:
            _count_interior(s, i, j, k, l, counts)


@compiled
def _count_interior(s, i, j, k, l, counts):
    counts[END + side(s, l, k)] += 1.0
    counts[INTERIOR + WIDTH * (k - i - 1) + j - l - 1] += 1.0
    extra = small_loop_term(s, i, j, k, l)
    if extra >= 0:
        counts[extra] += 1.0


@compiled
def weight_counts(data, indices, indptr, counts, d):
    """d ← Bᵀ·counts"""
    for j in range(d.shape[0]):
        d[j] = 0.0
    for t in range(indptr.shape[0] - 1):
        if counts[t] != 0.0:
            for e in range(indptr[t], indptr[t + 1]):
                d[indices[e]] += data[e] * counts[t]

"""The structure of maximum expected accuracy

With probabilities p_ij of pairs, and q_i = 1 − Σ_j p_ij of being unpaired, it maximises Σ_{pairs} 2γ·p_ij + Σ_{unpaired} q_i (Do, Woods,
Batzoglou, 2006): γ times the expected number of correctly paired bases plus the expected number of correctly unpaired ones. The
larger γ, the more pairs are predicted.
"""

from __future__ import annotations

import numpy as np

from fenchel.core.compiled import compiled, kernel
from fenchel.structured.rna.examples import expectations


@compiled
def most_accurate(p, gamma, y):
    """y ← the partners in the best nested structure; p is symmetric, with a zero for every impossible pair."""
    L = p.shape[0]
    q = np.ones(L)
    for i in range(L):
        for k in range(L):
            q[i] -= p[i, k]
    best = np.zeros((L + 2, L + 2))  # best[i, j]: the maximum for the bases i, ..., j − 1
    for i in range(L - 1, -1, -1):
        for j in range(i + 1, L + 1):
            best[i, j] = q[i] + best[i + 1, j]
        for k in range(i + 1, L):
            # A pair that gains less than its two bases unpaired is in no optimal structure.
            gain = 2.0 * gamma * p[i, k]
            if gain > q[i] + q[k]:
                for j in range(k + 1, L + 1):
                    best[i, j] = max(best[i, j], gain + best[i + 1, k] + best[k + 1, j])
    _read_back(p, q, gamma, best, y)


@compiled
def _read_back(p, q, gamma, best, y):
    L = p.shape[0]
    for i in range(L):
        y[i] = -1
    todo = np.empty((L + 2, 2), dtype=np.int64)
    todo[0, 0], todo[0, 1] = 0, L
    size = 1
    while size > 0:
        size -= 1
        i, j = todo[size, 0], todo[size, 1]
        while i < j:
            score, partner = q[i] + best[i + 1, j], -1
            for k in range(i + 1, j):
                other = 2.0 * gamma * p[i, k] + best[i + 1, k] + best[k + 1, j]
                if p[i, k] > 0.0 and other > score:
                    score, partner = other, k
            if partner >= 0:
                y[i], y[partner] = partner, i
                todo[size, 0], todo[size, 1] = partner + 1, j
                size += 1
                j = partner
            i += 1


@kernel
def fold_accurately(examples, order, w, gamma, starts, ys):
    """The structure of maximum expected accuracy of every sequence, concatenated in ys."""
    for i in order:
        p = probability_matrix(examples, i, w)
        most_accurate(p, gamma, ys[starts[i] : starts[i + 1]])


@kernel
def pair_probabilities(examples, i, w):
    return probability_matrix(examples, i, w)


@compiled
def probability_matrix(examples, i, w):
    """The symmetric matrix of the pair probabilities of one sequence."""
    s = examples.sequence(i)
    N = s.shape[0]
    table, d, p = np.empty(N * N), np.empty(w.shape[0]), np.empty((N - 2, N - 2))
    expectations(examples.data, examples.indices, examples.indptr, s, examples.least, w, 1.0, examples.level(i, w), table, d)
    for a in range(1, N - 1):
        for b in range(a, N - 1):
            p[a - 1, b - 1] = p[b - 1, a - 1] = table[a * N + b]
    return p

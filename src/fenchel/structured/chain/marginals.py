"""log Z and the probabilities of all tags and pairs of neighbouring tags: p(y) ∝ exp(Σ_t S[t, y_t] + Σ_t T[y_{t−1}, y_t])

The forward–backward recursions (Rabiner, *A tutorial on hidden Markov models*, Proc. IEEE 1989, §III and V.A) on e^S and e^T, where each
position is scaled to sum to one. They need only multiplications and additions, and process four rows at a time as in ``viterbi``.

With ρ = max T − min T, scale factors stay above e^{−ρ}/K and backward values below e^ρ, whatever S is, and values rounded to
zero have a probability of at most e^{2ρ − 708}·K. So this is exact up to ρ = 200; beyond that, the recursions run on logarithms.
"""

from __future__ import annotations

import math

import numpy as np

from fenchel.core.compiled import compiled, reassociated
from fenchel.core.elementary import exponential
from fenchel.core.numeric import log_sum_exp

WIDEST = 200.0  # the range max T − min T up to which products neither overflow nor underflow


@compiled
def range_of(T, K):
    """The smallest and the largest of the K·K entries that are not padding."""
    width = T.shape[0]
    low, high = np.empty(width), np.empty(width)  # of each column; the smallest negated
    for b in range(width):
        low[b] = high[b] = -math.inf
    for a in range(K):
        for b in range(K):
            low[b] = -T[a, b] if -T[a, b] > low[b] else low[b]
            high[b] = T[a, b] if T[a, b] > high[b] else high[b]
    return -largest_of(low), largest_of(high)


@compiled
def largest_of(row):
    """The largest entry of a padded row, from four independent maxima."""
    a = b = c = d = -math.inf
    for k in range(0, row.shape[0], 4):
        a = row[k] if row[k] > a else a
        b = row[k + 1] if row[k + 1] > b else b
        c = row[k + 2] if row[k + 2] > c else c
        d = row[k + 3] if row[k + 3] > d else d
    return max(max(a, b), max(c, d))


@compiled
def independent_marginals(S, K, nodes):
    """nodes[t·K + k] ← P(y_t = k) without transitions; returns log Z."""
    log_z = 0.0
    for t in range(S.shape[0]):
        row = S[t, :K]
        log_total = log_sum_exp(row)
        log_z += log_total
        for k in range(K):
            nodes[t * K + k] = math.exp(row[k] - log_total)
    return log_z


@compiled
def marginals(S, T, K, nodes, edges):
    """nodes[t·K + k] ← P(y_t = k), edges[a·K + b] += E[number of t with y_{t−1} = a, y_t = b]; returns log Z. T is overwritten."""
    low, top = range_of(T, K)
    if top - low > WIDEST:
        return log_space_marginals(S, T, K, nodes, edges)
    L, width = S.shape
    powers = np.empty((L + width, width))
    log_z = exponentials(S, T, top, powers)
    E, M, M_transposed = powers[:L], powers[L:], T
    for a in range(width):
        for b in range(width):
            M_transposed[b, a] = M[a, b]
    # Rows of zeros at the end, because pairs of positions are counted four at a time.
    forward, messages = np.zeros((L + 3, width)), np.zeros((L + 4, width))
    factors = np.empty(L)
    log_z += run_forward(E, M, forward, factors)
    run_backward(E, M_transposed, forward, factors, messages, K, nodes)
    counts = np.zeros((width, width))
    for t in range(0, L - 1, 4):
        add_pairs(forward, messages, t, counts)
    for a in range(K):
        for b in range(K):
            edges[a * K + b] += counts[a, b] * M[a, b]
    return log_z


@compiled
def exponentials(S, T, top, out):
    """out ← e^{S[t] − max S[t]}, a row for each t, and e^{T − top}; returns the sum of what was subtracted."""
    L, width = S.shape
    total = (L - 1) * top
    for t in range(L + width):
        row = S[t] if t < L else T[t - L]
        most = largest_of(row) if t < L else top
        total += most if t < L else 0.0
        for k in range(width):
            out[t, k] = exponential(row[k] - most)
    return total


@compiled
def run_forward(E, M, forward, factors):
    """forward[t] ∝ P(x_1..x_t, y_t), scaled to sum to one by factors[t]; returns −Σ log factors."""
    L, width = E.shape
    log_z, product = 0.0, 1.0
    for t in range(L):
        row = forward[t]
        if t > 0:
            times(forward[t - 1], M, row)
        for b in range(width):
            row[b] = row[b] * E[t, b] if t > 0 else E[t, b]
        total = total_of(row)
        factors[t] = 1.0 / total
        for b in range(width):
            row[b] *= factors[t]
        product *= total
        if not 1e-150 < product < 1e150:  # one logarithm for many positions
            log_z += math.log(product)
            product = 1.0
    return log_z + math.log(product)


@compiled
def run_backward(E, M_transposed, forward, factors, messages, K, nodes):
    """nodes ← forward·backward, where backward[t] = M·messages[t + 1] and messages[t] = E[t]·backward[t]·factors[t]"""
    L, width = E.shape
    backward = np.empty(width)
    for k in range(width):
        backward[k] = 1.0
    for t in range(L - 1, -1, -1):
        if t < L - 1:
            times(messages[t + 1], M_transposed, backward)
        for k in range(K):
            nodes[t * K + k] = forward[t, k] * backward[k]
        for k in range(width):
            messages[t, k] = E[t, k] * backward[k] * factors[t]


@compiled
@reassociated
def times(x, M, out):
    """out[b] ← Σ_a x[a]·M[a, b]"""
    width = x.shape[0]
    for b in range(width):
        out[b] = 0.0
    for a in range(0, width, 4):
        x0, x1, x2, x3 = x[a], x[a + 1], x[a + 2], x[a + 3]
        for b in range(width):
            out[b] += (x0 * M[a, b] + x1 * M[a + 1, b]) + (x2 * M[a + 2, b] + x3 * M[a + 3, b])


@compiled
@reassociated
def add_pairs(x, z, t, counts):
    """counts[a, b] += Σ_t x[t, a]·z[t + 1, b] over four positions from t on"""
    width = counts.shape[0]
    for a in range(width):
        x0, x1, x2, x3 = x[t, a], x[t + 1, a], x[t + 2, a], x[t + 3, a]
        for b in range(width):
            counts[a, b] += (x0 * z[t + 1, b] + x1 * z[t + 2, b]) + (x2 * z[t + 3, b] + x3 * z[t + 4, b])


@compiled
@reassociated
def total_of(row):
    total = 0.0
    for k in range(row.shape[0]):
        total += row[k]
    return total


@compiled
def log_space_marginals(S, T, K, nodes, edges):
    """The textbook recursions on logarithms, for T with too large a range for products."""
    L = S.shape[0]
    forward, backward, z = np.empty((L, K)), np.zeros((L, K)), np.empty(K)
    for t in range(L):
        for b in range(K):
            for a in range(K if t > 0 else 0):
                z[a] = forward[t - 1, a] + T[a, b]
            forward[t, b] = S[t, b] + (log_sum_exp(z) if t > 0 else 0.0)
    for t in range(L - 2, -1, -1):
        for a in range(K):
            for b in range(K):
                z[b] = T[a, b] + S[t + 1, b] + backward[t + 1, b]
            backward[t, a] = log_sum_exp(z)
    log_z = log_sum_exp(forward[L - 1])
    for t in range(L):
        for k in range(K):
            nodes[t * K + k] = math.exp(forward[t, k] + backward[t, k] - log_z)
            for a in range(K if t > 0 else 0):
                edges[a * K + k] += math.exp(forward[t - 1, a] + T[a, k] + S[t, k] + backward[t, k] - log_z)
    return log_z

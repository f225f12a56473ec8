"""The best sequence of tags (Viterbi 1967): max_y Σ_t S[t, y_t] + Σ_t T[y_{t−1}, y_t]

Rows of S and of T are padded with −∞ to a multiple of four tags: one sweep over the next tags processes four rows of T, which
takes half the time of one row per sweep, and the sweep is over whole vector registers.
"""

from __future__ import annotations

import numpy as np

from fenchel.core.compiled import compiled
from fenchel.core.numeric import index_of_largest


@compiled
def padded(K):
    """The number of tags rounded up to a multiple of four."""
    return (K + 3) // 4 * 4


@compiled
def viterbi(S, T, y):
    """y ← the best tags. S[t, k] becomes the best score of all prefixes that end with tag k at token t."""
    L, width = S.shape
    best = np.empty(width)
    for t in range(1, L):
        max_plus(S[t - 1], T, best)
        for b in range(width):
            S[t, b] += best[b]
    # The predecessors are recomputed on the way back, in L·K steps, instead of being stored.
    y[L - 1] = index_of_largest(S[L - 1])
    for t in range(L - 2, -1, -1):
        b = y[t + 1]
        a = 0
        for other in range(1, width):
            if S[t, other] + T[other, b] > S[t, a] + T[a, b]:
                a = other
        y[t] = a


@compiled
def max_plus(x, T, out):
    """out[b] ← max_a x[a] + T[a, b]"""
    width = x.shape[0]
    for b in range(width):
        out[b] = -np.inf
    for a in range(0, width, 4):
        x0, x1, x2, x3 = x[a], x[a + 1], x[a + 2], x[a + 3]
        for b in range(width):
            # Conditional expressions, because max() checks for NaN and would not vectorise.
            u = x0 + T[a, b]
            v = x1 + T[a + 1, b]
            u = u if u > v else v
            v = x2 + T[a + 2, b]
            u = u if u > v else v
            v = x3 + T[a + 3, b]
            u = u if u > v else v
            out[b] = u if u > out[b] else out[b]

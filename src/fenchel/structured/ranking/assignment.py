"""The most violating ranking of a query's documents, as a linear assignment of documents to ranks.

    max over permutations r:  Σ_d c[r(d)]·s[d] − D[r(d)]·b[d]          c not increasing, D ≥ 0, b ≥ 0

With b = 0 the solution sorts by score, and the dual variables (prices) of the ranks are known in closed form (those of a position
auction): v[r] = v[r+1] + (c[r] − c[r+1])·s[r+1]. A positive b reduces the value of a document at every rank, so these prices remain dual
feasible. Each document with b > 0 is then unassigned and reassigned along a shortest augmenting path (Jonker & Volgenant 1987), which
updates both the matching and the prices. Neighbouring ranks of equal c and D form one shelf with room for several documents, and paths
lead from shelf to shelf: O(documents · shelves) at most, for each document with b > 0.
"""

from __future__ import annotations

import numpy as np

from fenchel.core.compiled import compiled
from fenchel.core.numeric import integers_below

# Loops instead of NumPy functions, because Numba takes seconds to compile sorting and fancy indexing.


@compiled
def best_order(s):
    """Documents by decreasing score, ties in input order: a bottom-up merge sort."""
    n = s.shape[0]
    order, other = integers_below(n), np.empty(n, np.int64)
    run = 1
    while run < n:
        for begin in range(0, n, 2 * run):
            _merge(s, order, other, begin, min(begin + run, n), min(begin + 2 * run, n))
        order, other = other, order
        run *= 2
    return order


@compiled
def _merge(s, order, out, begin, middle, end):
    i, j = begin, middle
    for k in range(begin, end):
        if i < middle and (j >= end or not s[order[j]] > s[order[i]]):
            out[k] = order[i]
            i += 1
        else:
            out[k] = order[j]
            j += 1


@compiled
def assigned(s, b, c, D):
    """The document at each rank of the best assignment; scores s must be non-increasing, and c and D are overwritten."""
    n = s.shape[0]
    first, shelf = np.zeros(n, np.int64), np.zeros(n, np.int64)
    K = _shelves(c, D, first, shelf)
    v, room = np.zeros(K), np.zeros(K, np.int64)
    for q in range(K - 2, -1, -1):
        v[q] = v[q + 1] + (c[q] - c[q + 1]) * s[first[q + 1]]
    for d in range(n):
        if b[d] > 0.0:
            room[shelf[d]] += 1
            shelf[d] = -1
    for d in range(n):
        if b[d] > 0.0:
            room[_augment(d, s, b, c, D, v, room, shelf)] -= 1
    at = np.empty(n, np.int64)
    for d in range(n):
        at[first[shelf[d]]] = d
        first[shelf[d]] += 1
    return at


@compiled
def _shelves(c, D, first, shelf):
    """The number of shelves; also sets their first ranks, the shelf of each rank, and c and D of each shelf at the start of c and D."""
    K = 0
    for r in range(c.shape[0]):
        if r == 0 or c[r] != c[K - 1] or D[r] != D[K - 1]:
            first[K], c[K], D[K] = r, c[r], D[r]
            K += 1
        shelf[r] = K - 1
    return K


@compiled
def _augment(document, s, b, c, D, v, room, shelf):
    """Assign an unassigned document, moving others along the shortest path; returns the shelf that lost room."""
    K = v.shape[0]
    distance = np.empty(K)
    mover = np.empty(K, np.int64)  # the document that moves to this shelf on the path that ends here
    closed = np.zeros(K, np.bool_)
    for q in range(K):
        distance[q] = v[q] - (c[q] * s[document] - D[q] * b[document])
        mover[q] = document
    end = _nearest(distance, closed)
    while room[end] == 0:
        closed[end] = True
        for d in range(s.shape[0]):
            if shelf[d] == end:
                _relax(d, end, s, b, c, D, v, distance, mover, closed)
        end = _nearest(distance, closed)
    for q in range(K):
        if closed[q]:
            v[q] += distance[end] - distance[q]
    filled = end
    while mover[end] != document:
        d = mover[end]
        shelf[d], end = end, shelf[d]
    shelf[document] = end
    return filled


@compiled
def _nearest(distance, closed):
    """The nearest open shelf; an arbitrary open one if distances are NaN."""
    best = -1
    for q in range(distance.shape[0]):
        if not closed[q] and (best < 0 or distance[q] < distance[best]):
            best = q
    return best


@compiled
def _relax(d, here, s, b, c, D, v, distance, mover, closed):
    """Extend paths by moving the document d from this shelf to others."""
    base = distance[here] + (c[here] * s[d] - D[here] * b[d]) - v[here]
    for q in range(v.shape[0]):
        reached = base + v[q] - (c[q] * s[d] - D[q] * b[d])
        if not closed[q] and reached < distance[q]:
            distance[q] = reached
            mover[q] = d

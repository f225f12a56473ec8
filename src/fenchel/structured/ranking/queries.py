"""The examples of a ranking model, in the form that kernels use.

    ψ(x_q, y) = Σ_d c_q[y(d)]·x_d             Δ(y, y_q) = 1 − NDCG@k(y) = Σ_d D[y(d)]·(ideal_q[y(d)] − b[d])

y(d) is the rank of document d, 0 for the best; b[d] = (2^g − 1) over the DCG of the best ranking, and ideal_q are the same numbers in
decreasing order. The documents of a query are contiguous, from ``start[q]`` on, and so are the values of its ranks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled
from fenchel.linalg.weights import plain
from fenchel.structured.ranking.assignment import assigned, best_order


@compiled
class Queries(NamedTuple):
    """The examples of :class:`~fenchel.structured.ranking.Ranking`; a query with equal grades has c = b = 0 and zero loss."""

    rows: Any
    start: np.ndarray  #: the first document of each query, and the number of documents
    kind: np.ndarray  #: of each document: the index of its grade among the query's grades, 0 for the lowest
    b: np.ndarray
    ideal: np.ndarray
    c: np.ndarray
    truth: np.ndarray  #: of each document: its coefficient in the true ranking, averaged over documents of equal grade
    reach: np.ndarray  #: of each query: ranks from here on have c = 0 and D = 0
    D: np.ndarray

    def count(self):  # type: ignore[override]
        return self.start.shape[0] - 1

    def outputs(self, i):
        return self.start[i + 1] - self.start[i]

    def parts(self, i):
        return self.start[i + 1] - self.start[i]

    def work(self, i):
        total = float(self.reach[i]) * self.reach[i]
        for d in range(self.start[i], self.start[i + 1]):
            total += self.rows.count(d)
        return total

    def decode(self, i, w, scale, cost, y):
        first, n = self.start[i], self.start[i + 1] - self.start[i]
        s, gain = np.empty(n), np.empty(n)
        for d in range(n):
            s[d] = scale * self.rows.dot(first + d, plain(w))
            gain[d] = cost * self.b[first + d]
        order = best_order(s)
        if cost != 0.0:
            order = violating(order, s, gain, self.kind, self.c, self.D, first, self.reach[i])
        for r in range(n):
            y[order[r]] = r

    def loss(self, i, y):
        # Term by term, so that the loss of the best rankings is exactly 0.
        first = self.start[i]
        total = 0.0
        for d in range(self.start[i + 1] - first):
            total += self.D[y[d]] * (self.ideal[first + y[d]] - self.b[first + d])
        return max(total, 0.0)

    def difference(self, i, y, d):
        first = self.start[i]
        for e in range(self.start[i + 1] - first):
            d[e] = self.c[first + y[e]] - self.truth[first + e]

    def dot(self, i, d, w):
        first = self.start[i]
        total = 0.0
        for e in range(self.start[i + 1] - first):
            if d[e] != 0.0:
                total += d[e] * self.rows.dot(first + e, plain(w))
        return total

    def add(self, i, c, d, out):
        first = self.start[i]
        for e in range(self.start[i + 1] - first):
            if d[e] != 0.0:
                self.rows.add(first + e, c * d[e], out)


@compiled
def violating(order, s, gain, kind, c, D, first, reach):
    """The document at each rank of max Σ c·s − D·gain, from the order by score.

    Documents of equal grade are ordered by score, so only the best ``reach`` of each grade can be at a rank that counts.
    """
    n = order.shape[0]
    taken = np.zeros(n, np.int64)  # number of documents seen, of each grade
    found, chosen = np.empty(n, np.int64), np.empty(n, np.int64)
    count = 0
    for d in order:
        if taken[kind[first + d]] < reach:
            chosen[count] = d
            count += 1
        taken[kind[first + d]] += 1
    values = np.empty((4, count))
    for e in range(count):
        values[0, e], values[1, e], values[2, e], values[3, e] = s[chosen[e]], gain[chosen[e]], c[first + e], D[e]
    at = assigned(values[0], values[1], values[2], values[3])
    for r in range(count):
        found[r] = chosen[at[r]]
    _append_others(order, kind, first, reach, found, count)
    return found


@compiled
def _append_others(order, kind, first, reach, found, count):
    """Append the documents that are not among the best of their grade, by score."""
    taken = np.zeros(order.shape[0], np.int64)
    for d in order:
        taken[kind[first + d]] += 1
        if taken[kind[first + d]] > reach:
            found[count] = d
            count += 1

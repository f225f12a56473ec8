"""The layout of the weights of (attribute, tag) pairs: for all pairs, or only for those observed in training.

    score(a, x, w, row):  row[k] += x·w[a, k]       dot(a, w, row) = Σ_k row[k]·w[a, k]       add(a, c, row, out):  w[a, k] += c·row[k]

for an attribute a, where row has one entry per tag. In both layouts the weights of an attribute are contiguous. The layouts share one
class, so that kernels are compiled once. Unsigned indices avoid the check for negative ones, which takes a third of the time of scoring.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fenchel.core.compiled import compiled


@compiled
class Emissions(NamedTuple):
    """If ``first`` is empty, (a, k) has weight a·K + k; otherwise attribute a has the weights first[a] to first[a + 1] − 1."""

    first: np.ndarray  # uint32
    tags: np.ndarray  # uint16, the tag of each weight; 0, 1, ..., K − 1 for the layout of all pairs

    def score(self, a, x, w, row):
        if self.first.shape[0] == 0:
            K = self.tags.shape[0]
            for k in range(K):
                row[k] += x * w[a * K + k]
        else:
            for j in range(self.first[a], self.first[a + 1]):
                row[self.tags[j]] += x * w[j]

    def dot(self, a, w, row):
        total = 0.0
        if self.first.shape[0] == 0:
            K = self.tags.shape[0]
            for k in range(K):
                total += row[k] * w[a * K + k]
        else:
            for j in range(self.first[a], self.first[a + 1]):
                total += row[self.tags[j]] * w[j]
        return total

    def add(self, a, c, row, out):
        if self.first.shape[0] == 0:
            K = self.tags.shape[0]
            for k in range(K):
                out.shift(a * K + k, c * row[k])
        else:
            for j in range(self.first[a], self.first[a + 1]):
                out.shift(j, c * row[self.tags[j]])

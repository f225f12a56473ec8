"""Where the weights of (attribute, tag) pairs are: for every pair, or for those seen in training alone.

    score(a, x, w, row):  row[k] += x·w[a, k]       dot(a, w, row) = Σ_k row[k]·w[a, k]       add(a, c, row, out):  w[a, k] += c·row[k]

for an attribute a, row holding one number a tag. The pairs of an attribute are neighbours among the weights in both layouts, which are
one class, so that kernels are compiled once. Numbers without sign spare kernels a look whether an index counts from the end, which
is a third of the time that scores take.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fenchel.core.compiled import compiled


@compiled
class Emissions(NamedTuple):
    """Weight a·K + k is that of (a, k); or, unless ``first`` is empty, first[a] to first[a + 1] − 1 are those of a."""

    first: np.ndarray  # uint32
    tags: np.ndarray  # uint16, of each weight; 0, 1, ..., K − 1 for all pairs

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

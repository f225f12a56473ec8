"""The examples of an RNA model, sequences with their structures, in the form that kernels use."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fenchel.core.compiled import compiled, kernel
from fenchel.structured.rna.counts import count_terms, weight_counts
from fenchel.structured.rna.features import PAIR
from fenchel.structured.rna.inside import inside, pair_kind, term_scores
from fenchel.structured.rna.outside import in_range, moderate, outside
from fenchel.structured.rna.rings import LOG, LOG_SUM, MAX_PLUS, SUM_PRODUCT
from fenchel.structured.rna.traceback import traceback


@compiled
class FoldExamples(NamedTuple):
    """An output y is an array of partners, counted from 0, with -1 for unpaired bases; its parts are the counts of the weights."""

    bases: np.ndarray  #: the letters of all sequences, with an unknown base before and after each
    starts: np.ndarray  #: the index of the first letter of each sequence
    partners: np.ndarray  #: the true structures, at the indices of their letters
    truths: np.ndarray  #: the weight counts of the true structures, one row each
    data: np.ndarray  #: the matrix B of features.terms, as CSR arrays
    indices: np.ndarray
    indptr: np.ndarray
    least: int  #: the minimal number of bases in a hairpin
    missed: float  #: the cost of a missed true pair
    false: float  #: the cost of a false predicted pair

    def count(self):  # type: ignore[override]
        return self.starts.shape[0] - 1

    def outputs(self, i):
        return self.starts[i + 1] - self.starts[i] - 2

    def parts(self, i):
        return self.truths.shape[1]

    def work(self, i):
        L = float(self.outputs(i))
        return L * L * (150.0 + L / 6.0)

    def sequence(self, i):
        return self.bases[self.starts[i] : self.starts[i + 1]]

    def truth(self, i):
        return self.partners[self.starts[i] + 1 : self.starts[i + 1] - 1]

    def decode(self, i, w, scale, cost, y):
        s = self.sequence(i)
        theta = term_scores(MAX_PLUS, self.data, self.indices, self.indptr, w, scale, 0.0)
        pairing = pair_scores(MAX_PLUS, theta, s, self.least)
        if cost != 0.0:
            add_loss(pairing, self.truth(i), cost * self.missed, cost * self.false)
        chart, prefix = inside(MAX_PLUS, theta, 0.0, s, pairing, self.least)
        traceback(theta, s, pairing, self.least, chart, prefix, y)

    def loss(self, i, y):
        truth = self.truth(i)
        total = 0.0
        for p in range(truth.shape[0]):
            if truth[p] > p and y[p] != truth[p]:
                total += self.missed
            if y[p] > p and y[p] != truth[p]:
                total += self.false
        return total

    def difference(self, i, y, d):
        weight_counts(self.data, self.indices, self.indptr, count_terms(self.sequence(i), y), d)
        subtract(d, self.truths[i])

    def expected(self, i, w, scale, d):
        s = self.sequence(i)
        table = np.empty(s.shape[0] ** 2)
        total = expectations(self.data, self.indices, self.indptr, s, self.least, w, scale, scale * self.level(i, w), table, d)
        subtract(d, self.truths[i])
        return max(total - scale * dot(self.truths[i], w), 0.0)  # rounding may make it negative

    def level(self, i, w):
        # The scores that matter are near that of the truth; minus this much for each base, e^score stays in range.
        return dot(self.truths[i], w) / self.outputs(i)

    def dot(self, i, d, w):
        return dot(d, w)

    def add(self, i, c, d, out):
        change = 0.0
        for j in range(d.shape[0]):
            if d[j] != 0.0:
                change += out.shift(j, c * d[j])
        out.settle(change)


# Loops, because NumPy's functions would take longer to compile than the whole recursion.


@compiled
def dot(a, b):
    total = 0.0
    for j in range(a.shape[0]):
        total += a[j] * b[j]
    return total


@compiled
def subtract(d, truth):
    for j in range(d.shape[0]):
        d[j] -= truth[j]


@compiled
def pair_scores(ring, theta, s, least):
    """The scores of the possible pairs, and ``zero`` elsewhere, at i·(L + 2) + j."""
    N = s.shape[0]
    scores = np.full(N * N, ring.zero)
    for i in range(1, N - 1):
        for j in range(i + 1 + least, N - 1):
            t = pair_kind(s, i, j)
            if t >= 0:
                scores[i * N + j] = theta[PAIR + t]
    return scores


@compiled
def add_loss(pairing, truth, missed, false):
    """Add ``false`` to the scores of pairs that are not in the truth, and −``missed`` to those that are."""
    N = truth.shape[0] + 2
    for i in range(1, N - 1):
        for j in range(i + 1, N - 1):
            pairing[i * N + j] += -missed if truth[i - 1] == j - 1 else false


@compiled
def expectations(data, indices, indptr, s, least, w, scale, shift, probability, d):
    """Returns log Z; d ← expected counts of the weights, ``probability`` ← the probability of each pair at i·(L + 2) + j."""
    L = s.shape[0] - 2
    ring = SUM_PRODUCT if moderate(term_scores(SUM_PRODUCT, data, indices, indptr, w, scale, shift)) else LOG_SUM
    while True:
        theta = term_scores(ring, data, indices, indptr, w, scale, shift)
        pairing = pair_scores(ring, theta, s, least)
        chart, prefix = inside(ring, theta, shift, s, pairing, least)
        counts, peak = outside(ring, theta, shift, s, pairing, least, chart, prefix, probability)
        if ring.kind == LOG or in_range(prefix[L], counts, peak):
            break
        ring = LOG_SUM
    weight_counts(data, indices, indptr, counts, d)
    return shift * L + (prefix[L] if ring.kind == LOG else math.log(prefix[L]))


@kernel
def count_truths(bases, starts, partners, data, indices, indptr, truths):
    """One row per structure: the number of times it uses each weight."""
    for i in range(truths.shape[0]):
        s = bases[starts[i] : starts[i + 1]]
        y = partners[starts[i] + 1 : starts[i + 1] - 1]
        weight_counts(data, indices, indptr, count_terms(s, y), truths[i])

"""The examples of a chain model, in the form that kernels use.

    score(y) = Σ_t Σ_a x[t, a]·w[a, y_t] + Σ_t w[y_{t−1}, y_t] + w_start[y_1] + w_stop[y_L]

The parts of a sentence of L tokens are its L·K tag indicators and, with transitions, K·K counts of neighbouring tags. The indicators
of the first and the last token also multiply the weights of starts and stops. Δ is the number of wrong tags.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fenchel.core.compiled import compiled, kernel
from fenchel.core.numeric import index_of_largest
from fenchel.structured.chain.emissions import Emissions
from fenchel.structured.chain.marginals import independent_marginals, marginals
from fenchel.structured.chain.viterbi import padded, viterbi


@compiled
class ChainExamples(NamedTuple):
    """Tokens as CSR rows over attributes, with all sentences concatenated."""

    emissions: Emissions
    values: np.ndarray
    columns: np.ndarray
    rows: np.ndarray  # the index of each token's first value
    sentences: np.ndarray  # the index of each sentence's first token
    truth: np.ndarray  # the index of each token's tag
    edges: np.ndarray  # K × K indices of the transition weights, −1 for none; K × 0 without transitions
    starts: np.ndarray  # indices of the weights of first tags; empty for none
    stops: np.ndarray

    def count(self):  # type: ignore[override]
        return self.sentences.shape[0] - 1

    def outputs(self, i):
        return self.sentences[i + 1] - self.sentences[i]

    def parts(self, i):
        return self.outputs(i) * self.edges.shape[0] + self.edges.size

    def work(self, i):
        K = self.edges.shape[0]
        entries = self.rows[self.sentences[i + 1]] - self.rows[self.sentences[i]]
        return 1.0 * K * entries + self.outputs(i) * K * (self.edges.shape[1] + 1)

    def decode(self, i, w, scale, cost, y):
        S = token_scores(self, i, w, scale)
        if cost != 0.0:
            for t in range(S.shape[0]):
                for k in range(self.edges.shape[0]):
                    S[t, k] += cost * (k != self.truth[self.sentences[i] + t])
        if self.edges.size == 0:
            for t in range(S.shape[0]):
                y[t] = index_of_largest(S[t])
        elif S.shape[0] > 0:
            viterbi(S, transition_scores(self, w, scale), y)

    def loss(self, i, y):
        wrong = 0.0
        for t in range(self.outputs(i)):
            wrong += y[t] != self.truth[self.sentences[i] + t]
        return wrong

    def difference(self, i, y, d):
        clear(d, self.parts(i))
        add_parts(self, i, y, 1.0, d)
        add_parts(self, i, self.truth[self.sentences[i] : self.sentences[i + 1]], -1.0, d)

    def expected(self, i, w, scale, d):
        K, L = self.edges.shape[0], self.outputs(i)
        clear(d, self.parts(i))
        if L == 0:
            return 0.0
        S = token_scores(self, i, w, scale)
        truth = self.truth[self.sentences[i] : self.sentences[i + 1]]
        score = 0.0
        for t in range(L):
            score += S[t, truth[t]]
        if self.edges.size == 0:
            log_z = independent_marginals(S, K, d)
        else:
            T = transition_scores(self, w, scale)
            for t in range(1, L):
                score += T[truth[t - 1], truth[t]]
            log_z = marginals(S, T, K, d[: L * K], d[L * K :])
        add_parts(self, i, truth, -1.0, d)
        return max(log_z - score, 0.0)

    def dot(self, i, d, w):
        K, L, begin = self.edges.shape[0], self.outputs(i), self.sentences[i]
        total = 0.0
        for t in range(L):
            row = d[t * K : t * K + K]
            if is_zero(row):
                continue
            for p in range(self.rows[begin + t], self.rows[begin + t + 1]):
                total += self.values[p] * self.emissions.dot(self.columns[p], w, row)
        for k in range(self.starts.shape[0] if L > 0 else 0):
            total += d[k] * w[self.starts[k]] + d[(L - 1) * K + k] * w[self.stops[k]]
        for a in range(K):
            for b in range(self.edges.shape[1]):
                if self.edges[a, b] >= 0:
                    total += d[(L + a) * K + b] * w[self.edges[a, b]]
        return total

    def add(self, i, c, d, out):
        K, L, begin = self.edges.shape[0], self.outputs(i), self.sentences[i]
        for t in range(L):
            row = d[t * K : t * K + K]
            if is_zero(row):
                continue
            for p in range(self.rows[begin + t], self.rows[begin + t + 1]):
                self.emissions.add(self.columns[p], c * self.values[p], row, out)
        for k in range(self.starts.shape[0] if L > 0 else 0):
            out.shift(self.starts[k], c * d[k])
            out.shift(self.stops[k], c * d[(L - 1) * K + k])
        for a in range(K):
            for b in range(self.edges.shape[1]):
                if self.edges[a, b] >= 0 and d[(L + a) * K + b] != 0.0:
                    out.shift(self.edges[a, b], c * d[(L + a) * K + b])


@compiled
def token_scores(examples, i, w, scale):
    """S[t, k] = the score of tag k at token t, −∞ in the padding."""
    K, L, begin = examples.edges.shape[0], examples.outputs(i), examples.sentences[i]
    S = np.zeros((L, padded(K)))
    for t in range(L):
        row = S[t]
        for k in range(K, row.shape[0]):
            row[k] = -np.inf
        for p in range(examples.rows[begin + t], examples.rows[begin + t + 1]):
            examples.emissions.score(examples.columns[p], examples.values[p], w, row)
    for k in range(examples.starts.shape[0] if L > 0 else 0):
        S[0, k] += w[examples.starts[k]]
        S[L - 1, k] += w[examples.stops[k]]
    for t in range(L):
        for k in range(K):
            S[t, k] *= scale
    return S


@compiled
def transition_scores(examples, w, scale):
    """T[a, b] = the score of tag b after tag a, 0 if there is no weight, −∞ in the padding."""
    K = examples.edges.shape[0]
    T = np.empty((padded(K), padded(K)))
    for a in range(T.shape[0]):
        for b in range(K if a < K else 0):
            j = examples.edges[a, b]
            T[a, b] = scale * w[j] if j >= 0 else 0.0
        for b in range(K if a < K else 0, T.shape[1]):
            T[a, b] = -np.inf
    return T


@compiled
def clear(d, size):
    for j in range(size):
        d[j] = 0.0


@compiled
def is_zero(row):
    size = 0.0
    for k in range(row.shape[0]):
        size = max(size, abs(row[k]))
    return size == 0.0


@compiled
def add_parts(examples, i, y, c, d):
    """d += c·parts(y)"""
    K, L = examples.edges.shape[0], examples.outputs(i)
    for t in range(L):
        d[t * K + y[t]] += c
        if t > 0 and examples.edges.size > 0:
            d[(L + y[t - 1]) * K + y[t]] += c


@kernel
def tag_probabilities(examples, w, found):
    """The probability of each tag at each token of all sentences."""
    K = examples.edges.shape[0]
    for i in range(examples.count()):
        begin, d = examples.sentences[i], np.empty(examples.parts(i))
        examples.expected(i, w, 1.0, d)
        for t in range(examples.outputs(i)):
            for k in range(K):
                found[begin + t, k] = d[t * K + k] + (k == examples.truth[begin + t])

"""The sum w_1 + … + w_t of the weights of an online method, kept while they change (:class:`.protocols.OnlineWeights`)

With a common factor, w_t = f_t·u_t, only the entries touched cost anything: for F_t = f_1 + … + f_t,

    Σ_s f_s u_s = F_t u_t − Σ_s F_{s−1}(u_s − u_{s−1})

and a step changes u in the entries of its rows alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled, kernel
from fenchel.core.record import record

LARGEST_CANCELLATION = 1e3  # F_t u_t may exceed the sum by this factor, which costs 3 of its 16 digits


@compiled
class AveragedWeights(NamedTuple):
    """Weights with a common factor, and the sum of all so far.

    Before a refresh replaces all of u, the sum so far is stored as it is; also where f has fallen far below its mean, for then
    F_t u_t is much larger than the sum, and the difference would consist of rounding errors.
    """

    weights: Any
    v: np.ndarray
    deferred: np.ndarray  # Σ_s F_{s−1}(u_s − u_{s−1}), less the sum of the steps before F began
    state: Any  # F, and the number of steps it counts

    def raw(self, j):
        return self.weights.raw(j)

    def factor(self):
        return self.weights.factor()

    def shift(self, j, delta):
        before = self.weights.raw(j)
        change = self.weights.shift(j, delta)
        self.deferred[j] += self.state.factors * (self.weights.raw(j) - before)
        return change

    def settle(self, change):
        self.weights.settle(change)

    def end_shifts(self):
        if self.weights.is_outdated():
            self.store_sum()
            self.weights.refresh()

    def end_step(self):
        factor = self.weights.factor()
        self.state.factors += factor
        self.state.steps += 1.0
        if self.state.factors > LARGEST_CANCELLATION * self.state.steps * factor:
            self.store_sum()

    def total(self, j):
        return self.state.factors * self.weights.raw(j) - self.deferred[j]

    def store_sum(self):
        for j in range(self.deferred.shape[0]):
            self.deferred[j] = -self.total(j)
        self.state.factors = 0.0
        self.state.steps = 0.0


@compiled
class SummedWeights(NamedTuple):
    """Weights without a common factor, and the sum of all so far, at O(features) a step."""

    weights: Any
    v: np.ndarray
    sums: np.ndarray

    def raw(self, j):
        return self.weights.raw(j)

    def factor(self):
        return self.weights.factor()

    def shift(self, j, delta):
        return self.weights.shift(j, delta)

    def settle(self, change):
        self.weights.settle(change)

    def end_shifts(self):
        self.weights.end_shifts()

    def end_step(self):
        self.weights.end_step()
        factor = self.weights.factor()
        for j in range(self.sums.shape[0]):
            self.sums[j] += factor * self.weights.raw(j)

    def total(self, j):
        return self.sums[j]


@kernel
def read_total(weights):
    """The sum of all weights so far."""
    out = np.empty(weights.v.shape[0])
    for j in range(out.shape[0]):
        out[j] = weights.total(j)
    return out


def averaged(weights: Any, total: np.ndarray) -> AveragedWeights | SummedWeights:
    """The weights with their sum, which is ``total`` so far."""
    if weights.has_common_factor():
        return AveragedWeights(weights, weights.v, -total, record(factors=0.0, steps=0.0))
    return SummedWeights(weights, weights.v, total)

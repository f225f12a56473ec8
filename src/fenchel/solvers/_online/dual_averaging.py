"""Dual averaging: w = argmin_w <g_1 + … + g_t, w> + c·Ω(w) = ∇Ω*(λ/c),  λ = −(g_1 + … + g_t)

Weights for the online loop (:class:`.protocols.OnlineWeights`): ``shift`` changes λ, and ``advance(1/c)`` gives the next c.
Then every w_j changes, yet a step costs O(entries touched), for c enters as

    linear      Ω = l2/2·‖w‖²    w_j = (1/(c·l2))·λ_j                  one factor for all
    homogeneous squared l_p      w_j = factor(S, 1/c)·image(λ_j)       the same, from the sum S that Coupled keeps
    separable   elastic net …    w_j = link(λ_j/c)                     computed when the coordinate is read
    general     entropy          w   = ∇Ω*(λ/c)                        computed for all coordinates, O(features) a step
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled, kernel
from fenchel.core.record import record
from fenchel.linalg.weights import Coupled, coupled_weights
from fenchel.regularizers import L2, SquaredLp


@compiled
class LinearDualAveraging(NamedTuple):
    regularizer: Any
    v: np.ndarray  # λ
    state: Any  # scale = 1/c

    def raw(self, j):
        return self.v[j]

    def factor(self):
        return self.regularizer.link(self.state.scale, 0)

    def shift(self, j, delta):
        self.v[j] += delta
        return 0.0

    def settle(self, change):
        pass

    def has_common_factor(self):
        return True

    def is_outdated(self):
        return False

    def refresh(self):
        pass

    def end_shifts(self):
        pass

    def end_step(self):
        pass

    def advance(self, scale, radius):
        self.state.scale = scale


@compiled
class SeparableDualAveraging(NamedTuple):
    regularizer: Any
    v: np.ndarray  # λ
    state: Any  # scale = 1/c

    def raw(self, j):
        return self.regularizer.link(self.state.scale * self.v[j], j)

    def factor(self):
        return 1.0

    def shift(self, j, delta):
        self.v[j] += delta
        return 0.0

    def settle(self, change):
        pass

    def has_common_factor(self):
        return False

    def end_shifts(self):
        pass

    def end_step(self):
        pass

    def advance(self, scale, radius):
        self.state.scale = scale


@compiled
class HomogeneousDualAveraging(NamedTuple):
    coupled: Coupled
    v: np.ndarray  # λ
    state: Any  # the factor itself: computing it takes a root, and it is read more often than it changes

    def raw(self, j):
        return self.coupled.images[j]

    def factor(self):
        return self.state.factor

    def shift(self, j, delta):
        return self.coupled.shift(j, delta)

    def settle(self, change):
        self.coupled.add_to_sum(change)

    def has_common_factor(self):
        return True

    def is_outdated(self):
        return self.coupled.is_outdated()

    def refresh(self):
        self.coupled.refresh()

    def end_shifts(self):
        if self.is_outdated():
            self.refresh()

    def end_step(self):
        pass

    def advance(self, scale, radius):
        sums = self.coupled.state
        self.state.factor = self.coupled.regularizer.factor_of_multiple(sums.total, sums.reference, scale, radius)


@compiled
class GeneralDualAveraging(NamedTuple):
    coupled: Coupled  # at λ/c
    v: np.ndarray  # λ

    def raw(self, j):
        return self.coupled.images[j]

    def factor(self):
        return self.coupled.factor()

    def shift(self, j, delta):
        self.v[j] += delta
        return 0.0

    def settle(self, change):
        pass

    def has_common_factor(self):
        return False

    def end_shifts(self):
        pass

    def end_step(self):
        pass

    def advance(self, scale, radius):
        for j in range(self.v.shape[0]):
            self.coupled.v[j] = scale * self.v[j]
        self.coupled.refresh()


@kernel
def advance(weights, scale, radius):
    weights.advance(scale, radius)


def dual_averaging(regularizer: Any, v: np.ndarray, bounded: bool) -> Any:
    """The weights at λ = v, and their own λ from then on; ``bounded`` if steps will keep w in a ball whose radius changes."""
    if isinstance(regularizer, L2) and bounded:
        regularizer = SquaredLp(regularizer.l2, 2.0)
    if isinstance(regularizer, SquaredLp) and regularizer.p == 2.0 and np.isinf(regularizer.radius) and not bounded:
        regularizer = L2(regularizer.strength)
    if isinstance(regularizer, L2):
        return LinearDualAveraging(regularizer, v, record(scale=1.0))
    if regularizer.separable:
        return SeparableDualAveraging(regularizer, v, record(scale=1.0))
    if hasattr(regularizer, "factor_of_multiple"):
        coupled = coupled_weights(regularizer, v)
        return HomogeneousDualAveraging(coupled, coupled.v, record(factor=0.0))
    return GeneralDualAveraging(coupled_weights(regularizer, v.copy()), v)

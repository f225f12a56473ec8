"""The leader after some rounds: w = argmin_w <g_1 + … + g_t, w> + c·Ω(w) = ∇Ω*(λ/c),  λ = −(g_1 + … + g_t)

The weights of dual averaging, read and moved like those of :mod:`fenchel.linalg.weights`: ``shift`` changes λ, and ``advance(1/c)``
ends a round. Between rounds every w_j changes with c, yet a round costs O(entries touched): c enters

    linear      Ω = l2/2·‖w‖²    w_j = (1/(c·l2))·λ_j                         one factor for all
    homogeneous squared l_p      w_j = factor(S, 1/c)·image(λ_j)              the same, from the sum S that Coupled keeps
    separable   elastic net …    w_j = link(λ_j/c)                            when the coordinate is read
    whole       entropy          w   = ∇Ω*(λ/c)                               all over again, O(features) a round
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled, kernel
from fenchel.linalg.weights import Coupled, coupled_weights
from fenchel.regularizers import L2, SquaredLp


@compiled
class LinearLeader(NamedTuple):
    regularizer: Any
    v: np.ndarray  # λ
    scale: np.ndarray  # 1/c

    def raw(self, j):
        return self.v[j]

    def factor(self):
        return self.regularizer.link(self.scale[0], 0)

    def shift(self, j, delta):
        self.v[j] += delta
        return 0.0

    def settle(self, change):
        pass

    def outdated(self, change):
        return False

    def refresh(self):
        pass

    def factors(self):
        return True

    def advance(self, scale, radius):
        self.scale[0] = scale


@compiled
class SeparableLeader(NamedTuple):
    regularizer: Any
    v: np.ndarray
    scale: np.ndarray

    def raw(self, j):
        return self.regularizer.link(self.scale[0] * self.v[j], j)

    def factor(self):
        return 1.0

    def shift(self, j, delta):
        self.v[j] += delta
        return 0.0

    def settle(self, change):
        pass

    def factors(self):
        return False

    def advance(self, scale, radius):
        self.scale[0] = scale


@compiled
class HomogeneousLeader(NamedTuple):
    coupled: Coupled
    v: np.ndarray
    scale: np.ndarray  # the factor itself: it takes a root, and is read more often than it changes

    def raw(self, j):
        return self.coupled.images[j]

    def factor(self):
        return self.scale[0]

    def shift(self, j, delta):
        return self.coupled.shift(j, delta)

    def settle(self, change):
        self.coupled.settle(change)

    def outdated(self, change):
        return self.coupled.outdated(change)

    def refresh(self):
        self.coupled.refresh()

    def factors(self):
        return True

    def advance(self, scale, radius):
        coupled = self.coupled
        self.scale[0] = coupled.regularizer.factor_of_multiple(coupled.sums[0], coupled.sums[1], scale, radius)


@compiled
class WholeLeader(NamedTuple):
    coupled: Coupled  # at λ/c
    v: np.ndarray

    def raw(self, j):
        return self.coupled.images[j]

    def factor(self):
        return self.coupled.factor()

    def shift(self, j, delta):
        self.v[j] += delta
        return 0.0

    def settle(self, change):
        pass

    def factors(self):
        return False

    def advance(self, scale, radius):
        for j in range(self.v.shape[0]):
            self.coupled.v[j] = scale * self.v[j]
        self.coupled.refresh()


@kernel
def advance(leader, scale, radius):
    leader.advance(scale, radius)


def leader_of(regularizer: Any, v: np.ndarray, bounded: bool) -> Any:
    """The leader at λ = v, which moves with it; ``bounded`` if rounds will confine it to a ball that changes."""
    if isinstance(regularizer, L2) and bounded:
        regularizer = SquaredLp(regularizer.l2, 2.0)
    if isinstance(regularizer, SquaredLp) and regularizer.p == 2.0 and np.isinf(regularizer.radius) and not bounded:
        regularizer = L2(regularizer.strength)
    if isinstance(regularizer, L2):
        return LinearLeader(regularizer, v, np.ones(1))
    if regularizer.separable:
        return SeparableLeader(regularizer, v, np.ones(1))
    if hasattr(regularizer, "factor_of_multiple"):
        coupled = coupled_weights(regularizer, v)
        return HomogeneousLeader(coupled, coupled.v, np.zeros(1))
    return WholeLeader(coupled_weights(regularizer, v.copy()), v)

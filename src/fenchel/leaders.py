"""The leader after some rounds: w = argmin_w <g_1 + … + g_t, w> + c·Ω(w) = ∇Ω*(λ/c),  λ = −(g_1 + … + g_t)

The weights of dual averaging, read and moved like those of :mod:`fenchel.weights`: ``shift`` changes λ, and ``advance(1/c)``
ends a round. Between rounds every w_j changes with c, yet a round costs O(entries touched): c enters

    linear      Ω = l2/2·‖w‖²    w_j = (1/(c·l2))·λ_j                         one factor for all
    homogeneous squared l_p      w_j = factor(S, 1/c)·image(λ_j)              the same, from the sum S that Coupled keeps
    separable   elastic net …    w_j = link(λ_j/c)                            when the coordinate is read
    whole       entropy          w   = ∇Ω*(λ/c)                               all over again, O(features) a round

``Averaged`` adds up all leaders so far, also at O(entries touched) a round for those with a factor.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fenchel.compiled import compiled, kernel
from fenchel.regularizers import L2, SquaredLp
from fenchel.weights import Coupled, coupled_weights


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

    def advance(self, scale, radius):
        for j in range(self.v.shape[0]):
            self.coupled.v[j] = scale * self.v[j]
        self.coupled.refresh()


@compiled
class Averaged(NamedTuple):
    """A leader w_t = f_t·u_t with the sum of all so far: Σ_s f_s u_s = F_t u_t − Σ_s F_{s−1}(u_s − u_{s−1}),  F_t = f_1 + … + f_t.

    Where u is kept relative to a reference, a new one changes all of it: the sum so far is set aside first.
    """

    leader: Any
    v: np.ndarray
    owed: np.ndarray  # Σ_s F_{s−1}(u_s − u_{s−1})
    mass: np.ndarray  # F

    def raw(self, j):
        return self.leader.raw(j)

    def factor(self):
        return self.leader.factor()

    def shift(self, j, delta):
        before = self.leader.raw(j)
        change = self.leader.shift(j, delta)
        self.owed[j] += self.mass[0] * (self.leader.raw(j) - before)
        return change

    def settle(self, change):
        if self.leader.outdated(change):
            for j in range(self.owed.shape[0]):
                self.owed[j] = -self.total(j)
            self.mass[0] = 0.0
            self.leader.refresh()

    def advance(self, scale, radius):
        self.leader.advance(scale, radius)
        self.mass[0] += self.leader.factor()

    def total(self, j):
        return self.mass[0] * self.leader.raw(j) - self.owed[j]


@compiled
class Summed(NamedTuple):
    """A leader without a factor, with the sum of all so far: O(features) a round."""

    leader: Any
    v: np.ndarray
    sums: np.ndarray

    def raw(self, j):
        return self.leader.raw(j)

    def factor(self):
        return self.leader.factor()

    def shift(self, j, delta):
        return self.leader.shift(j, delta)

    def settle(self, change):
        self.leader.settle(change)

    def advance(self, scale, radius):
        self.leader.advance(scale, radius)
        factor = self.leader.factor()
        for j in range(self.sums.shape[0]):
            self.sums[j] += factor * self.leader.raw(j)

    def total(self, j):
        return self.sums[j]


@kernel
def advance(leader, scale, radius):
    leader.advance(scale, radius)


@kernel
def read_total(averaged):
    """The sum of all leaders so far."""
    out = np.empty(averaged.v.shape[0])
    for j in range(out.shape[0]):
        out[j] = averaged.total(j)
    return out


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
        return HomogeneousLeader(coupled_weights(regularizer, v), v, np.zeros(1))
    return WholeLeader(coupled_weights(regularizer, v.copy()), v)


def averaged(leader: Any, total: np.ndarray) -> Any:
    """The same leader with a record of the sum of all so far, at present ``total``."""
    if isinstance(leader, (LinearLeader, HomogeneousLeader)):
        return Averaged(leader, leader.v, -total, np.zeros(1))
    return Summed(leader, leader.v, total)

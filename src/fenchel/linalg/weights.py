"""The weight vector as row-wise methods use it: read through ``raw`` and ``factor``, changed through ``shift``.

    w_j = factor() · raw(j)          shift(j, δ):  v_j ← v_j + δ          settle(Σ of what the shifts of a row returned)

``v`` is what a method moves; ``w = ∇Ω*(v)`` is what it predicts with. Keeping the map between them behind these
methods lets one kernel serve every regularizer at O(non-zeros of the row) a step, and keeps the rows unaware of both.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled, kernel, maker
from fenchel.core.numeric import compensated_add
from fenchel.core.record import record

SMALLEST_SHARE_OF_PEAK = 1e-4  # a sum that has fallen below this share of its peak consists of the peak's rounding errors: compute it again


@compiled
class Plain(NamedTuple):
    """w = v: an ordinary vector."""

    v: np.ndarray

    def raw(self, j):
        return self.v[j]

    def factor(self):
        return 1.0

    def shift(self, j, delta):
        self.v[j] += delta
        return 0.0

    def settle(self, change):
        pass


plain = maker(Plain)


@compiled
class Compensated(NamedTuple):
    """w = v with what rounding took from each entry, so that v + lost is off by the rounding of the terms alone; and Σ|terms|."""

    v: np.ndarray
    lost: np.ndarray
    size: np.ndarray

    def raw(self, j):
        return self.v[j]

    def factor(self):
        return 1.0

    def shift(self, j, delta):
        self.v[j], self.lost[j] = compensated_add(self.v[j], self.lost[j], delta)
        self.size[j] += abs(delta)
        return 0.0

    def settle(self, change):
        pass


@compiled
class Separable(NamedTuple):
    """w_j = link(v_j): a regularizer that is a sum over coordinates."""

    regularizer: Any
    v: np.ndarray

    def raw(self, j):
        return self.regularizer.link(self.v[j], j)

    def factor(self):
        return 1.0

    def shift(self, j, delta):
        self.v[j] += delta
        return 0.0

    def settle(self, change):
        pass


@compiled
class Coupled(NamedTuple):
    """w_j = factor(S)·image(v_j) with S = Σ_j mass(v_j): coordinates depend on each other through one sum, kept up to date.

    Squared l_p norms and the entropy have this form, so a step costs O(non-zeros of the row) where a direct
    evaluation of ∇Ω* costs O(features). Images and masses are computed relative to a reference, set by the largest |v| and
    replaced when v outgrows it: powers and exponentials of v itself would leave the range of floating point.
    """

    regularizer: Any
    v: np.ndarray
    images: np.ndarray
    state: Any  # S as total, its largest value since the last refresh as peak, the reference, and the limit of |v| for it

    def raw(self, j):
        return self.images[j]

    def factor(self):
        return self.regularizer.factor(self.state.total, self.state.reference)

    def shift(self, j, delta):
        """v_j ← v_j + δ; what that adds to S, for ``settle``: summed up by the row it stays in a register."""
        old, reference = self.v[j], self.state.reference
        new = old + delta
        self.v[j] = new
        if abs(new) > self.state.limit:
            self.state.peak = math.inf  # makes S outdated, whatever it is
            return 0.0
        before = self.regularizer.mass(old, self.images[j], reference)
        self.images[j] = self.regularizer.image(new, reference)
        return self.regularizer.mass(new, self.images[j], reference) - before

    def settle(self, change):
        """S ← S + change; computed again where a v has outgrown the reference, or S has shrunk to the size of its rounding errors."""
        self.add_to_sum(change)
        if self.is_outdated():
            self.refresh()

    def add_to_sum(self, change):
        self.state.total += change
        self.state.peak = max(self.state.peak, self.state.total)

    def is_outdated(self):
        return not self.state.total >= SMALLEST_SHARE_OF_PEAK * self.state.peak

    def refresh(self):
        """Compute S and the images from v: bounds the drift of rounding errors and replaces the reference."""
        size = 0.0
        for j in range(self.v.shape[0]):
            size = max(size, abs(self.v[j]))
        reference = self.regularizer.reference(size)
        total = 0.0
        for j in range(self.v.shape[0]):
            self.images[j] = self.regularizer.image(self.v[j], reference)
            total += self.regularizer.mass(self.v[j], self.images[j], reference)
        self.state.total = total
        self.state.peak = total
        self.state.reference = reference
        self.state.limit = self.regularizer.outgrown(size)


@kernel
def refresh(weights):
    weights.refresh()


@kernel
def copy_weights(weights, out):
    """out ← w"""
    factor = weights.factor()
    for j in range(out.shape[0]):
        out[j] = factor * weights.raw(j)


def read_weights(weights: Any) -> np.ndarray:
    """The weights as an ordinary vector."""
    out = np.empty(len(weights.v))
    copy_weights(weights, out)
    return out


def weights_of(regularizer: Any, v: np.ndarray) -> Any:
    """The weights w = ∇Ω*(v) of a flat vector v, as kernels take them; ``weights.v`` is what moves, v itself or a copy of it."""
    return Separable(regularizer, v) if regularizer.separable else coupled_weights(regularizer, v)


def coupled_weights(regularizer: Any, v: np.ndarray) -> Coupled:
    """The weights of a regularizer that is not separable, their sum and images up to date."""
    table = np.zeros((len(v), 2))  # v and image side by side: one cache miss per coordinate in place of two
    table[:, 0] = v
    weights = Coupled(regularizer, table[:, 0], table[:, 1], record(total=0.0, peak=0.0, reference=0.0, limit=0.0))
    refresh(weights)
    return weights


@compiled
class Touched(NamedTuple):
    """A vector that is zero but for the few coordinates touched since it was cleared, and knows which they are."""

    v: np.ndarray
    marked: np.ndarray
    which: np.ndarray  # the coordinates touched, in the order of their first touch
    found: np.ndarray  # how many there are

    def shift(self, j, delta):
        if not self.marked[j]:
            self.marked[j] = True
            self.which[self.found[0]] = j
            self.found[0] += 1
        self.v[j] += delta
        return 0.0

    def settle(self, change):
        pass

    def square(self):
        total = 0.0
        for e in range(self.found[0]):
            total += self.v[self.which[e]] ** 2
        return total

    def clear(self):
        for e in range(self.found[0]):
            j = self.which[e]
            self.v[j] = 0.0
            self.marked[j] = False
        self.found[0] = 0


def untouched(n: int) -> Touched:
    """A vector of n zeros, none of them touched."""
    return Touched(np.zeros(n), np.zeros(n, dtype=np.bool_), np.empty(n, dtype=np.int64), np.zeros(1, dtype=np.int64))

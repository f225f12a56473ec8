"""max_i a_iᵀw + b_i: planes below a convex loss, the model of bundle methods

The first plane is 0, because losses are never negative. The Gram matrix of the a_i gains a row with every plane. Minimising the model,
min_w κ/2·‖w − p‖² + max_i a_iᵀw + b_i for a curvature κ and a point p, is then a quadratic programme with one variable per plane
(:mod:`.simplex_programme`) in which w does not occur: its gradient is the planes' values at the minimiser.

There may be several such programmes, each warm-started from its own last solution, its *shares* of the planes. When the planes are at
their limit, a quarter of them is removed, those with no share for longest; the removed planes in which a programme still has shares are
replaced by one plane, their mean under its shares. That plane lies below the loss as they do, so that every bound stays valid and the
programme's solution stays feasible.

Rounding: b_i is given such that some plane within ``error`` of a_i (in the Euclidean norm) lies below the loss. The minimum is rounded down
by these errors and by those of its own sums (:mod:`fenchel.problems.rounding`); planes found far from the minimiser have large numbers that
cancel there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fenchel.problems.rounding import TERM, relative_error
from fenchel.solvers._bundle.simplex_programme import maximise

FIRST = 16  # planes that the first arrays have room for; the room doubles whenever it is full
REMOVED = 4  # one in so many planes is removed when the limit is reached


class Minimum(NamedTuple):
    """The minimiser of a model, the planes' values there, and a lower bound on the minimum from its dual."""

    w: np.ndarray
    plane_values: np.ndarray
    value: float


class Planes:
    """At most ``most`` planes in n dimensions, and the shares that each programme has in them.

    >>> planes = Planes(2, most=10)
    >>> planes.add(np.array([-1.0, 0.0]), 1.0)
    >>> planes.minimise(0, 1.0, np.zeros(2), planes.b).w.tolist()
    [1.0, 0.0]
    """

    def __init__(self, n: int, most: int, programmes: int = 1, state: Mapping[str, Any] | None = None) -> None:
        self.most = most
        self.condensed = False  #: whether the last addition removed planes
        if state is not None:
            self.count, self.now = len(state["b"]), state["now"]
            self._A, self._b, self._G, self._shares, self._used = (state[k].copy() for k in ("planes", "b", "gram", "shares", "used"))
            self._errors = state["errors"].copy()
            return
        self.count, self.now = 1, 0
        self._A, self._b, self._G = np.zeros((FIRST, n)), np.zeros(FIRST), np.zeros((FIRST, FIRST))
        self._shares, self._used = np.zeros((programmes, FIRST)), np.zeros(FIRST, dtype=np.int64)
        self._errors = np.zeros(FIRST)
        self._shares[:, 0] = 1.0

    @property
    def a(self) -> np.ndarray:
        """The subgradients, one in each row."""
        return self._A[: self.count]

    @property
    def b(self) -> np.ndarray:
        """The values at w = 0."""
        return self._b[: self.count]

    @property
    def state(self) -> dict[str, Any]:
        """The state from which another run continues with the same planes."""
        t = self.count
        return {
            "planes": self.a,
            "b": self.b,
            "gram": self._G[:t, :t],
            "shares": self._shares[:, :t].copy(),
            "used": self._used[:t],
            "errors": self._errors[:t],
            "now": self.now,
        }

    def values(self, w: np.ndarray) -> np.ndarray:
        """The planes' values at w."""
        return self.a @ w + self.b

    def extended(self, values: np.ndarray, w: np.ndarray) -> np.ndarray:
        """The planes' values at w, from their values before the last plane was added."""
        return self.values(w) if self.condensed else np.append(values, self._A[self.count - 1] @ w + self._b[self.count - 1])

    def add(self, a: np.ndarray, b: float, error: float = 0.0) -> None:
        """Add the plane aᵀw + b, where a is off by at most ``error``."""
        self.condensed = self.count >= self.most
        if self.condensed:
            self._condense()
        self.now += 1
        self._append(a, b, error)

    def minimise(self, programme: int, curvature: float, p: np.ndarray, values: np.ndarray, tolerance: float = 0.0) -> Minimum:
        """min_w κ/2·‖w − p‖² + max_i a_iᵀw + b_i, given the planes' values at p."""
        x = self._shares[programme, : self.count]
        at_minimum = maximise(self._G, values, curvature, x, tolerance)
        self._used[: self.count][x > 0.0] = self.now
        mean = x @ self.a
        return Minimum(p - mean / curvature, at_minimum, self._rounded_down(x, values, mean, curvature))

    def _rounded_down(self, x: np.ndarray, values: np.ndarray, mean: np.ndarray, curvature: float) -> float:
        """<x, values> − ‖mean‖²/(2κ) for some x ≥ 0 with Σx ≤ 1, which the plane 0 completes, less what rounding can have added to it."""
        rounding = relative_error(self.count)
        total = float(x.sum()) * (1.0 + rounding)
        scale = 1.0 / total if total > 1.0 else 1.0
        norms = np.sqrt(self._G.diagonal()[: self.count])
        norm = float(np.linalg.norm(mean)) * (1.0 + relative_error(len(mean)))
        norm += rounding * float(x @ norms) + float(x @ self._errors[: self.count]) * (1.0 + rounding)
        value, penalty = scale * float(x @ values), norm * norm / (2.0 * curvature)
        return value - penalty - rounding * float(x @ np.abs(values)) - TERM * (abs(value) + penalty)

    def _append(self, a: np.ndarray, b: float, error: float) -> None:
        t = self.count
        if t == len(self._b):
            self._grow(min(2 * t, self.most + len(self._shares)))
        self._A[t], self._b[t], self._used[t], self._shares[:, t], self._errors[t] = a, b, self.now, 0.0, error
        self._G[t, : t + 1] = self._G[: t + 1, t] = self._A[: t + 1] @ a
        self.count = t + 1

    def _grow(self, rows: int) -> None:
        more = (0, rows - len(self._b))
        self._A, self._b, self._used = np.pad(self._A, (more, (0, 0))), np.pad(self._b, more), np.pad(self._used, more)
        self._errors = np.pad(self._errors, more)
        self._G, self._shares = np.pad(self._G, (more, more)), np.pad(self._shares, ((0, 0), more))

    def _condense(self) -> None:
        """Remove the planes with no share for longest, then those with the smallest shares; never the plane 0."""
        order = 1 + np.lexsort((self._shares[:, 1 : self.count].max(axis=0), self._used[1 : self.count]))
        # At least so many that the means of the removed planes, one for each programme, and the next plane find room.
        count = min(len(order), max(len(order) // REMOVED, self.count + len(self._shares) + 1 - self.most))
        removed, stay = order[:count], np.append(0, order[count:])
        means = [(k, *self._mean(removed, x)) for k, x in enumerate(self._shares[:, removed]) if x.any()]
        # In new arrays, because an earlier iterate refers to the old ones.
        self._A, self._b, self._used, self._shares = self._A[stay], self._b[stay], self._used[stay], self._shares[:, stay]
        self._errors = self._errors[stay]
        self._G = self._G[np.ix_(stay, stay)]
        self.count = len(stay)
        for k, total, a, b, error in means:
            self._append(a, b, error)
            self._shares[k, self.count - 1] = total

    def _mean(self, planes: np.ndarray, x: np.ndarray) -> tuple[float, np.ndarray, float, float]:
        """Σx, and the mean of some planes under the shares x: its subgradient, its value at 0 rounded down, and the error of the former."""
        total, rounding = float(x.sum()), relative_error(len(planes))
        norms, sizes = np.sqrt(self._G.diagonal()[planes]), np.abs(self._b[planes])
        b = float(x @ self._b[planes] - 2.0 * rounding * (x @ sizes))
        error = float(x @ (self._errors[planes] + 2.0 * rounding * norms)) * (1.0 + rounding)
        return total, x @ self._A[planes] / total, b / total, error / total

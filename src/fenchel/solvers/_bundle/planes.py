"""max_i a_iᵀw + b_i: planes below a convex loss, of which bundle methods make their model

The first plane is 0, for losses are nowhere negative. The Gram matrix of the a_i gains a row with every plane, and all that
is asked of the model, min_w κ/2·‖w − p‖² + max_i a_iᵀw + b_i for a curvature κ and a point p, is then a quadratic programme
of one variable a plane (``simplex``) that never sees w: its gradient is the planes' values at the minimiser.

There may be more than one such programme, each warm-started from its own last solution, its *shares* of the planes. When there
is no more room, a quarter of the planes leave, those out of use for longest; what a programme still has of them stays as one
plane, their mean under its shares. That lies below the loss as they do, so every bound stays true, and the programme's own
solution stays what it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fenchel.solvers._bundle.simplex_programme import maximise

FIRST = 16  # rows to begin with; there are twice as many whenever that is not enough
LEAVE = 4  # one of so many planes leaves when there is no more room


class Minimum(NamedTuple):
    """The minimiser of a model, the planes' values there, and a lower bound on the minimum from its dual."""

    w: np.ndarray
    heights: np.ndarray
    value: float


class Planes:
    """At most ``most`` planes in n dimensions, with the shares that so many programmes have of them.

    >>> planes = Planes(2, most=10)
    >>> planes.add(np.array([-1.0, 0.0]), 1.0)
    >>> planes.minimise(0, 1.0, np.zeros(2), planes.b).w.tolist()
    [1.0, 0.0]
    """

    def __init__(self, n: int, most: int, programmes: int = 1, state: Mapping[str, Any] | None = None) -> None:
        self.most = most
        self.condensed = False  #: whether the last plane made others leave
        if state is not None:
            self.count, self.now = len(state["b"]), state["now"]
            self._A, self._b, self._G, self._shares, self._used = (state[k].copy() for k in ("planes", "b", "gram", "shares", "used"))
            return
        self.count, self.now = 1, 0
        self._A, self._b, self._G = np.zeros((FIRST, n)), np.zeros(FIRST), np.zeros((FIRST, FIRST))
        self._shares, self._used = np.zeros((programmes, FIRST)), np.zeros(FIRST, dtype=np.int64)
        self._shares[:, 0] = 1.0

    @property
    def a(self) -> np.ndarray:
        """The slopes, a row each."""
        return self._A[: self.count]

    @property
    def b(self) -> np.ndarray:
        """The values at w = 0."""
        return self._b[: self.count]

    @property
    def state(self) -> dict[str, Any]:
        """What another run needs to go on with the same planes."""
        t = self.count
        return {
            "planes": self.a,
            "b": self.b,
            "gram": self._G[:t, :t],
            "shares": self._shares[:, :t].copy(),
            "used": self._used[:t],
            "now": self.now,
        }

    def heights(self, w: np.ndarray) -> np.ndarray:
        """The planes' values at w."""
        return self.a @ w + self.b

    def follow(self, heights: np.ndarray, w: np.ndarray) -> np.ndarray:
        """The values at w of the planes as they are now, from those before the last plane came."""
        return self.heights(w) if self.condensed else np.append(heights, self._A[self.count - 1] @ w + self._b[self.count - 1])

    def add(self, a: np.ndarray, b: float) -> None:
        """One more plane."""
        self.condensed = self.count >= self.most
        if self.condensed:
            self._condense()
        self.now += 1
        self._append(a, b)

    def minimise(self, programme: int, curvature: float, p: np.ndarray, heights: np.ndarray, tolerance: float = 0.0) -> Minimum:
        """min_w κ/2·‖w − p‖² + max_i a_iᵀw + b_i, given the planes' values at p."""
        x = self._shares[programme, : self.count]
        at_minimum = maximise(self._G, heights, curvature, x, tolerance)
        self._used[: self.count][x > 0.0] = self.now
        slope = x @ self.a
        return Minimum(p - slope / curvature, at_minimum, float(x @ heights - slope @ slope / (2.0 * curvature)))

    def _append(self, a: np.ndarray, b: float) -> None:
        t = self.count
        if t == len(self._b):
            self._grow(min(2 * t, self.most + len(self._shares)))
        self._A[t], self._b[t], self._used[t], self._shares[:, t] = a, b, self.now, 0.0
        self._G[t, : t + 1] = self._G[: t + 1, t] = self._A[: t + 1] @ a
        self.count = t + 1

    def _grow(self, rows: int) -> None:
        more = (0, rows - len(self._b))
        self._A, self._b, self._used = np.pad(self._A, (more, (0, 0))), np.pad(self._b, more), np.pad(self._used, more)
        self._G, self._shares = np.pad(self._G, (more, more)), np.pad(self._shares, ((0, 0), more))

    def _condense(self) -> None:
        """Make room: those out of use for longest leave, then those with the smallest shares; never the plane 0."""
        order = 1 + np.lexsort((self._shares[:, 1 : self.count].max(axis=0), self._used[1 : self.count]))
        leave, stay = order[: len(order) // LEAVE], np.append(0, order[len(order) // LEAVE :])
        means = [(k, x.sum(), x @ self._A[leave], x @ self._b[leave]) for k, x in enumerate(self._shares[:, leave]) if x.any()]
        # In new arrays, for an earlier iterate still looks at the old ones.
        self._A, self._b, self._used, self._shares = self._A[stay], self._b[stay], self._used[stay], self._shares[:, stay]
        self._G = self._G[np.ix_(stay, stay)]
        self.count = len(stay)
        for k, total, a, b in means:
            self._append(a / total, b / total)
            self._shares[k, self.count - 1] = total

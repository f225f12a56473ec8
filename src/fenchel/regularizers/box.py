"""Ω(w) = penalty(w) where lower_j ≤ w_j ≤ upper_j for all j, infinite elsewhere"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import Vector, compiled
from fenchel.core.errors import InputError
from fenchel.core.numeric import clip
from fenchel.regularizers.l2 import L2


@compiled
class NoPenalty(NamedTuple):
    """Ω = 0, for use inside a box."""

    @property
    def smooth(self):
        return True

    @property
    def coercive(self):
        return False

    def term(self, w, j):
        return 0.0

    def link(self, v, j):
        return 0.0 if v == 0.0 else math.copysign(math.inf, v)

    def prox(self, x, step, j):
        return x

    def derivative(self, w, j):
        return 0.0

    def strong_convexity(self):
        return 0.0

    def with_l2(self, extra):
        return L2(extra)

    def times(self, c):
        return self


@compiled
class Linear(NamedTuple):
    """Ω = <slope, w>, for use inside a box: the linear term of a dual problem.

    >>> float(Box(0.0, 1.0, Linear(-0.5)).term(0.5, 0))
    -0.25
    """

    slope: Vector

    @property
    def smooth(self):
        return True

    @property
    def coercive(self):
        return False

    @property
    def nonnegative(self):
        return False

    def check(self):
        if not np.isfinite(self.slope).all():
            raise InputError("Linear(slope): every slope must be a finite number.")

    def at(self, j):
        return self.slope[j] if self.slope.shape[0] > 1 else self.slope[0]

    def term(self, w, j):
        return self.at(j) * w

    def link(self, v, j):
        return 0.0 if v == self.at(j) else math.copysign(math.inf, v - self.at(j))

    def prox(self, x, step, j):
        return x - step * self.at(j)

    def derivative(self, w, j):
        return self.at(j)

    def strong_convexity(self):
        return 0.0

    def rising(self, v):
        """Per weight, the sign of the direction in which Ω* grows inside a box around 0."""
        return np.sign(v - self.slope)

    def times(self, c):
        return Linear(c * self.slope)


@compiled
class Box(NamedTuple):
    """Bounds on every weight, with any separable penalty.

    Bounds are numbers, or arrays with one entry per weight.

    >>> print(Box(0.0, 1.0, L2(0.1)).link(2.0, 0))
    1.0
    """

    lower: Vector
    upper: Vector
    penalty: Any = NoPenalty()

    @property
    def separable(self):
        return True

    def check(self):
        if self.lower.size != self.upper.size and 1 not in (self.lower.size, self.upper.size):
            raise InputError(
                f"Box has {self.lower.size} lower and {self.upper.size} upper bounds: give one of each per weight, or one for all."
            )
        # NaN fails every comparison
        if not ((self.lower <= self.upper) & (self.lower < math.inf) & (self.upper > -math.inf)).all():
            raise InputError("Box(lower, upper): every lower bound must be a number not above its upper bound.")
        if hasattr(self.penalty, "lower"):
            raise InputError("A Box cannot be the penalty of another Box: give the tighter of the bounds.")
        if not getattr(self.penalty, "separable", hasattr(self.penalty, "term")):
            raise InputError(f"Box needs a separable penalty, such as L2 or L1L2, and {type(self.penalty).__name__} is not separable.")
        if not getattr(self.penalty, "coercive", True) and not self.bounded():
            raise InputError(
                "Box needs finite bounds or a penalty that grows, or no certificate exists: give bounds, or a penalty such as L2(1e-6)."
            )

    def low(self, j):
        return self.lower[j] if self.lower.shape[0] > 1 else self.lower[0]

    def high(self, j):
        return self.upper[j] if self.upper.shape[0] > 1 else self.upper[0]

    def term(self, w, j):
        return self.penalty.term(w, j) if self.low(j) <= w <= self.high(j) else math.inf

    def conjugate_term(self, v, j):
        w = self.link(v, j)
        return v * w - self.penalty.term(w, j) if math.isfinite(w) else math.inf

    def link(self, v, j):
        return clip(self.penalty.link(v, j), self.low(j), self.high(j))

    def prox(self, x, step, j):
        return clip(self.penalty.prox(x, step, j), self.low(j), self.high(j))

    def derivative(self, w, j):
        return self.penalty.derivative(w, j)

    def strong_convexity(self):
        return self.penalty.strong_convexity()

    def bounded(self):
        return bool(np.isfinite(self.lower).all() and np.isfinite(self.upper).all())

    def with_l2(self, extra):
        return Box(self.lower, self.upper, self.penalty.with_l2(extra))

    def reach(self, objective, n):
        """A bound on ‖w‖₂ of any w whose objective is at most the given one (finite bounds: the farthest corner)."""
        corner = np.broadcast_to(np.maximum(np.abs(self.lower), np.abs(self.upper)), n)
        return float(np.linalg.norm(corner)) if np.isfinite(corner).all() else self.penalty.reach(objective, n)

    def domain_scale(self, v):
        """The largest c for which Ω*(cv) is finite; only the v_j that push a weight in an unbounded direction matter."""
        upward, downward = np.where(np.isinf(self.upper), v, 0.0), np.where(np.isinf(self.lower), -v, 0.0)
        unbounded = np.maximum(upward, downward).clip(min=0.0)
        return self.penalty.domain_scale(unbounded) if unbounded.any() else math.inf

    def rising(self, v):
        """Per weight, the sign of the direction in which Ω* grows: away from where 0, or the bound nearest to it, is the best weight."""
        inside = getattr(self.penalty, "rising", np.sign)(v)
        return np.where(self.lower > 0.0, 1.0, np.where(self.upper < 0.0, -1.0, inside))

    def cancelled(self, v):
        """The sum of |v_j w_j| over weights at finite bounds, which may cancel with the penalty."""
        corner = np.maximum(
            np.where(np.isfinite(self.lower), np.abs(self.lower), 0.0), np.where(np.isfinite(self.upper), np.abs(self.upper), 0.0)
        )
        size = np.abs(v) + np.abs(getattr(self.penalty, "slope", 0.0))
        return float((size * corner).sum())

    def within(self, objective):
        """The intersection of the box with the region in which weights of at most this objective can lie."""
        if self.bounded():
            return self
        far = self.penalty.reach(objective, 1)
        return Box(np.maximum(self.lower, -far), np.minimum(self.upper, far), self.penalty)

    def times(self, c):
        return Box(self.lower, self.upper, self.penalty.times(c))

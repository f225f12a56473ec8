"""Ω(w) = l1·‖w‖₁"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fenchel.core.compiled import compiled
from fenchel.core.numeric import TINY, soft_threshold
from fenchel.regularizers.l1l2 import L1L2
from fenchel.regularizers.parameters import positive


@compiled
class L1(NamedTuple):
    """The lasso penalty, l1·‖w‖₁: many weights of the minimiser are exactly zero.

    >>> L1(0.5).prox(2.0, 1.0, 0)
    1.5
    """

    l1: float

    @property
    def separable(self):
        return True

    @property
    def is_elastic_net(self):
        return True

    def check(self):
        positive(self, "l1")

    def term(self, w, j):
        return self.l1 * abs(w)

    def conjugate_term(self, v, j):
        return 0.0 if abs(v) <= self.l1 else math.inf

    def link(self, v, j):
        # Beyond the threshold the maximiser of vw − l1|w| is infinite, unless a box bounds it.
        return 0.0 if abs(v) <= self.l1 else math.copysign(math.inf, v)

    def prox(self, x, step, j):
        return soft_threshold(x, step * self.l1)

    def derivative(self, w, j):
        return math.copysign(self.l1, w) if w != 0.0 else 0.0

    def strong_convexity(self):
        return 0.0

    def with_l2(self, extra):
        return L1L2(l1=self.l1, l2=extra)

    def reach(self, objective, n):
        """A bound on ‖w‖₂ of any w whose objective is at most the given one."""
        return objective / self.l1

    def domain_scale(self, v):
        """The largest c for which Ω*(cv) is finite."""
        return self.l1 / max(float(np.abs(v).max()), TINY)

    def conjugate_within(self, v, objective):
        """max <v,w> − Ω(w) over the w whose objective can be at most the given one: ‖w‖₁ ≤ objective/l1."""
        return objective / self.l1 * max(0.0, float(np.abs(v).max()) - self.l1)

    def times(self, c):
        return L1(c * self.l1)

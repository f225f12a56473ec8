"""Ω(w) = l2/2·‖w‖² + l1·‖w‖₁"""

from __future__ import annotations

import math
from typing import NamedTuple

from fenchel.compiled import compiled
from fenchel.numeric import soft_threshold
from fenchel.regularizers.checks import positive


@compiled
class ElasticNet(NamedTuple):
    """Ridge and lasso together, l2/2·‖w‖² + l1·‖w‖₁.

    >>> ElasticNet(l2=0.5, l1=1.0).link(2.0, 0)
    2.0
    """

    l2: float
    l1: float

    @property
    def often_meant(self):
        return "this is the regularizer, scikit-learn's estimator of that name is fenchel.estimators.ElasticNet"

    @property
    def separable(self):
        return True

    def check(self):
        positive(self, "l2", "use L1(l1) for a pure lasso penalty")
        positive(self, "l1", "use L2(l2) for a pure ridge penalty")

    def term(self, w, j):
        return 0.5 * self.l2 * w * w + self.l1 * abs(w)

    def conjugate_term(self, v, j):
        return 0.5 * max(abs(v) - self.l1, 0.0) ** 2 / self.l2

    def link(self, v, j):
        return soft_threshold(v, self.l1) * (1.0 / self.l2)

    def prox(self, x, step, j):
        return soft_threshold(x, step * self.l1) / (1.0 + step * self.l2)

    def derivative(self, w, j):
        return self.l2 * w + (math.copysign(self.l1, w) if w != 0.0 else 0.0)

    def strong_convexity(self):
        return self.l2

    def with_l2(self, extra):
        return ElasticNet(self.l2 + extra, self.l1)

    def times(self, c):
        return ElasticNet(c * self.l2, c * self.l1)

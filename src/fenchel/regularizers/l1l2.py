"""Ω(w) = l1·‖w‖₁ + l2/2·‖w‖², the elastic net of Zou & Hastie, *Regularization and variable selection via the elastic net*, 2005"""

from __future__ import annotations

import math
from typing import NamedTuple

from fenchel.core.compiled import compiled
from fenchel.core.numeric import soft_threshold
from fenchel.regularizers.parameters import positive


@compiled
class L1L2(NamedTuple):
    """The elastic net, lasso and ridge together: l1·‖w‖₁ + l2/2·‖w‖².

    >>> L1L2(l1=1.0, l2=0.5).link(2.0, 0)
    2.0
    """

    l1: float
    l2: float

    @property
    def separable(self):
        return True

    @property
    def is_elastic_net(self):
        return True

    def check(self):
        positive(self, "l2", "use L1(l1) for a pure lasso penalty")
        positive(self, "l1", "use L2(l2) for a pure ridge penalty")

    def term(self, w, j):
        return 0.5 * self.l2 * w * w + self.l1 * abs(w)

    def conjugate_term(self, v, j):
        excess = max(abs(v) - self.l1, 0.0)
        return 0.5 * excess * excess / self.l2

    def link(self, v, j):
        return soft_threshold(v, self.l1) * (1.0 / self.l2)

    def prox(self, x, step, j):
        return soft_threshold(x, step * self.l1) / (1.0 + step * self.l2)

    def derivative(self, w, j):
        return self.l2 * w + (math.copysign(self.l1, w) if w != 0.0 else 0.0)

    def strong_convexity(self):
        return self.l2

    def with_l2(self, extra):
        return L1L2(self.l1, self.l2 + extra)

    def times(self, c):
        return L1L2(c * self.l1, c * self.l2)

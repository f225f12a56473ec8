"""Ω(w) = l2/2·‖w‖²"""

from __future__ import annotations

import math
from typing import NamedTuple

from fenchel.core.compiled import compiled
from fenchel.regularizers.parameters import positive


@compiled
class L2(NamedTuple):
    """The ridge penalty, l2/2·‖w‖².

    >>> L2(0.5).link(1.0, 0)
    2.0
    """

    l2: float

    @property
    def separable(self):
        return True

    @property
    def smooth(self):
        return True

    @property
    def is_elastic_net(self):
        return True

    def check(self):
        positive(self, "l2")

    def term(self, w, j):
        return 0.5 * self.l2 * w * w

    def conjugate_term(self, v, j):
        return 0.5 * v * v / self.l2

    def link(self, v, j):
        return v * (1.0 / self.l2)

    def prox(self, x, step, j):
        return x / (1.0 + step * self.l2)

    def derivative(self, w, j):
        return self.l2 * w

    def radius_of_minimiser(self, objective_at_zero):
        """An upper bound on ‖w*‖: see SquaredLp."""
        return math.sqrt(objective_at_zero / self.l2)

    def strong_convexity(self):
        return self.l2

    def with_l2(self, extra):
        return L2(self.l2 + extra)

    def times(self, c):
        return L2(c * self.l2)

"""φ(z,y) = |z − y|"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fenchel.core.compiled import compiled
from fenchel.core.numeric import clip


@compiled
class Absolute(NamedTuple):
    """Absolute error, |z − y|: median regression, robust to outliers.

    >>> Absolute().value(3.0, 1.0)
    2.0
    """

    @property
    def labels(self):
        return "real"

    @property
    def of_residual(self):
        return True

    def value(self, z, y):
        return abs(z - y)

    def derivative(self, z, y):
        return math.copysign(1.0, z - y) if z != y else 0.0

    def conjugate(self, u, y):
        return u * y if abs(u) <= 1.0 else math.inf

    def dual_step(self, alpha, z, y, q):
        return clip(alpha + (y - z) / q, -1.0, 1.0)

    def boxes(self, y):
        return [(y, np.full_like(y, -1.0), np.ones_like(y))]

    def smoothness(self):
        return math.inf

    def lipschitz(self):
        return 1.0

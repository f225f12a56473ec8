"""φ(z,y) = ½ max(0, 1 − yz)²"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fenchel.core.compiled import compiled


@compiled
class SquaredHinge(NamedTuple):
    """The squared hinge, ½ max(0, 1 − yz)²: the smooth support vector machine of most linear packages.

    >>> SquaredHinge().value(0.0, 1.0)
    0.5
    """

    @property
    def labels(self):
        return "binary"

    @property
    def box_curvature(self):
        return 1.0

    def value(self, z, y):
        return 0.5 * max(0.0, 1.0 - y * z) ** 2

    def derivative(self, z, y):
        return -y * max(0.0, 1.0 - y * z)

    def curvature(self, z, y):
        return 1.0 if y * z < 1.0 else 0.0

    def conjugate(self, u, y):
        return u * y + 0.5 * u * u if u * y <= 0.0 else math.inf

    def dual_step(self, alpha, z, y, q):
        return y * max(0.0, (1.0 - y * z + q * alpha * y) / (1.0 + q))

    def boxes(self, y):
        return [(y, np.where(y < 0.0, -np.inf, 0.0), np.where(y > 0.0, np.inf, 0.0))]

    def smoothness(self):
        return 1.0

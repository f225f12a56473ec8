"""φ(z,y) = 0 where yz ≥ 1;  1 − yz − γ/2 where yz ≤ 1 − γ;  (1 − yz)²/(2γ) between.

Equation (4) of Shalev-Shwartz & Zhang, Accelerated Proximal Stochastic Dual Coordinate Ascent, 2014.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fenchel.core.compiled import compiled
from fenchel.core.errors import InputError
from fenchel.core.numeric import clip


@compiled
class SmoothHinge(NamedTuple):
    """The hinge smoothed over a width γ: a smooth support vector machine.

    >>> SmoothHinge(1.0).value(0.0, 1.0)
    0.5
    """

    gamma: float = 1.0

    @property
    def labels(self):
        return "binary"

    @property
    def box_curvature(self):
        return self.gamma

    def check(self):
        if not (self.gamma > 0.0 and math.isfinite(self.gamma)):
            raise InputError(f"SmoothHinge(gamma={self.gamma}): gamma must be positive and finite; gamma = 0 is Hinge().")

    def value(self, z, y):
        slack = max(0.0, 1.0 - y * z)
        return slack * slack / (2.0 * self.gamma) if slack < self.gamma else slack - 0.5 * self.gamma

    def derivative(self, z, y):
        return -y * clip((1.0 - y * z) / self.gamma, 0.0, 1.0)

    def curvature(self, z, y):
        return 1.0 / self.gamma if 0.0 < 1.0 - y * z < self.gamma else 0.0

    def conjugate(self, u, y):
        return u * y + 0.5 * self.gamma * u * u if -1.0 <= u * y <= 0.0 else math.inf

    def dual_step(self, alpha, z, y, q):
        return y * clip((1.0 - y * z + q * alpha * y) / (q + self.gamma), 0.0, 1.0)

    def boxes(self, y):
        return [(y, np.minimum(y, 0.0), np.maximum(y, 0.0))]

    def smoothness(self):
        return 1.0 / self.gamma

    def lipschitz(self):
        return 1.0

"""φ(z,y) = ½r² where |r| ≤ δ, else δ|r| − ½δ²,  r = z − y"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fenchel.core.compiled import compiled
from fenchel.core.errors import InputError
from fenchel.core.numeric import clip


@compiled
class Huber(NamedTuple):
    """Squared error near the target, absolute error beyond δ: robust regression.

    >>> Huber(1.0).value(3.0, 1.0)
    1.5
    """

    delta: float = 1.0

    @property
    def labels(self):
        return "real"

    @property
    def of_residual(self):
        return True

    @property
    def box_curvature(self):
        return 1.0

    def check(self):
        if not (self.delta > 0.0 and math.isfinite(self.delta)):
            raise InputError(f"Huber(delta={self.delta}): delta must be positive and finite.")

    def value(self, z, y):
        r = abs(z - y)
        return 0.5 * r * r if r <= self.delta else self.delta * r - 0.5 * self.delta**2

    def derivative(self, z, y):
        return clip(z - y, -self.delta, self.delta)

    def curvature(self, z, y):
        return 1.0 if abs(z - y) <= self.delta else 0.0

    def conjugate(self, u, y):
        return u * y + 0.5 * u * u if abs(u) <= self.delta else math.inf

    def dual_step(self, alpha, z, y, q):
        return clip((y - z + q * alpha) / (1.0 + q), -self.delta, self.delta)

    def boxes(self, y):
        bounds = np.full_like(y, self.delta)
        return [(y, -bounds, bounds)]

    def smoothness(self):
        return 1.0

    def lipschitz(self):
        return self.delta

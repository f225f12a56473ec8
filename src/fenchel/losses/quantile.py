"""φ(z,y) = τ·r where r ≥ 0, else (τ − 1)·r,  r = y − z"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fenchel.core.compiled import compiled
from fenchel.core.errors import InputError
from fenchel.core.numeric import clip


@compiled
class Quantile(NamedTuple):
    """The pinball loss: regression to the τ-quantile of y.

    >>> Quantile(0.75).value(1.0, 3.0)
    1.5
    """

    tau: float = 0.5

    @property
    def labels(self):
        return "real"

    @property
    def of_residual(self):
        return True

    def check(self):
        if not 0.0 < self.tau < 1.0:
            raise InputError(f"Quantile(tau={self.tau}): tau must lie strictly between 0 and 1.")

    def value(self, z, y):
        r = y - z
        return max(self.tau * r, (self.tau - 1.0) * r)

    def derivative(self, z, y):
        return -self.tau if z < y else (1.0 - self.tau if z > y else 0.0)

    def conjugate(self, u, y):
        return u * y if -self.tau <= u <= 1.0 - self.tau else math.inf

    def dual_step(self, alpha, z, y, q):
        return clip(alpha + (y - z) / q, self.tau - 1.0, self.tau)

    def boxes(self, y):
        return [(y, np.full_like(y, self.tau - 1.0), np.full_like(y, self.tau))]

    def smoothness(self):
        return math.inf

    def lipschitz(self):
        return max(self.tau, 1.0 - self.tau)

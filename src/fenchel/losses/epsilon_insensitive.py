"""φ(z,y) = max(0, |z − y| − ε)"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fenchel.core.compiled import compiled
from fenchel.core.errors import InputError
from fenchel.core.numeric import clip, soft_threshold


@compiled
class EpsilonInsensitive(NamedTuple):
    """Absolute error beyond a tolerance, max(0, |z − y| − ε): support vector regression.

    >>> EpsilonInsensitive(0.5).value(3.0, 1.0)
    1.5
    """

    epsilon: float = 0.1

    @property
    def labels(self):
        return "real"

    @property
    def of_residual(self):
        return True

    def check(self):
        if not 0.0 <= self.epsilon < math.inf:
            raise InputError(f"EpsilonInsensitive(epsilon={self.epsilon}): the tolerance must not be negative.")

    def value(self, z, y):
        return max(0.0, abs(z - y) - self.epsilon)

    def derivative(self, z, y):
        return math.copysign(1.0, z - y) if abs(z - y) > self.epsilon else 0.0

    def conjugate(self, u, y):
        return u * y + self.epsilon * abs(u) if abs(u) <= 1.0 else math.inf

    def dual_step(self, alpha, z, y, q):
        return clip(soft_threshold(alpha + (y - z) / q, self.epsilon / q), -1.0, 1.0)

    def boxes(self, y):
        zeros, ones = np.zeros_like(y), np.ones_like(y)
        if self.epsilon == 0.0:
            return [(y, -ones, ones)]
        return [(y - self.epsilon, zeros, ones), (y + self.epsilon, -ones, zeros)]

    def smoothness(self):
        return math.inf

    def lipschitz(self):
        return 1.0

"""φ(z,y) = ½ max(0, |z − y| − ε)²"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fenchel.core.compiled import compiled
from fenchel.core.errors import InputError
from fenchel.core.numeric import soft_threshold


@compiled
class SquaredEpsilonInsensitive(NamedTuple):
    """Half the squared error beyond a tolerance, ½ max(0, |z − y| − ε)²: smooth support vector regression.

    >>> SquaredEpsilonInsensitive(0.5).value(3.0, 1.0)
    1.125
    """

    epsilon: float = 0.1

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
        if not 0.0 <= self.epsilon < math.inf:
            raise InputError(f"SquaredEpsilonInsensitive(epsilon={self.epsilon}): the tolerance must not be negative.")

    def value(self, z, y):
        return 0.5 * max(0.0, abs(z - y) - self.epsilon) ** 2

    def derivative(self, z, y):
        return soft_threshold(z - y, self.epsilon)

    def curvature(self, z, y):
        return 1.0 if abs(z - y) > self.epsilon else 0.0

    def conjugate(self, u, y):
        return u * y + 0.5 * u * u + self.epsilon * abs(u)

    def dual_step(self, alpha, z, y, q):
        return soft_threshold(y - z + q * alpha, self.epsilon) / (1.0 + q)

    def boxes(self, y):
        zeros, ends = np.zeros_like(y), np.full_like(y, np.inf)
        return [(y - self.epsilon, zeros, ends), (y + self.epsilon, -ends, zeros)]

    def smoothness(self):
        return 1.0

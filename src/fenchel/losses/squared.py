"""φ(z,y) = ½(z − y)²"""

from __future__ import annotations

from typing import NamedTuple

from fenchel.core.compiled import compiled


@compiled
class Squared(NamedTuple):
    """Squared error, ½(z − y)²: ridge regression, lasso.

    >>> Squared().value(3.0, 1.0)
    2.0
    """

    @property
    def labels(self):
        return "real"

    @property
    def of_residual(self):
        return True

    @property
    def is_quadratic(self):
        return True

    def value(self, z, y):
        return 0.5 * (z - y) ** 2

    def derivative(self, z, y):
        return z - y

    def curvature(self, z, y):
        return 1.0

    def conjugate(self, u, y):
        return u * y + 0.5 * u * u

    def dual_step(self, alpha, z, y, q):
        return (y - z + q * alpha) / (1.0 + q)

    def smoothness(self):
        return 1.0

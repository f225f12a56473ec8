"""φ(z,y) = max_{p in simplex} <z, p − e_y> + 1 − p_y − γ/2·‖p − e_y‖²: the multiclass hinge, Moreau-smoothed.

Shalev-Shwartz & Zhang, Accelerated Proximal Stochastic Dual Coordinate Ascent, 2014 (long version).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from fenchel.core.compiled import compiled
from fenchel.core.errors import InputError
from fenchel.losses.multiclass_hinge import in_simplex, simplex_step, value_by_derivative


@compiled
class SmoothMulticlassHinge(NamedTuple):
    """The smoothed multiclass hinge; γ → 0 gives :class:`MulticlassHinge`.

    >>> import numpy as np
    >>> float(SmoothMulticlassHinge(1.0).value(np.zeros(2), 0))
    0.25
    """

    gamma: float = 1.0

    @property
    def labels(self):
        return "class"

    def check(self):
        if not (self.gamma > 0.0 and math.isfinite(self.gamma)):
            raise InputError(
                f"SmoothMulticlassHinge(gamma={self.gamma}): gamma must be positive and finite; gamma = 0 is MulticlassHinge()."
            )

    def value(self, z, y):
        return value_by_derivative(self, z, y)

    def derivative(self, z, y, out):
        simplex_step(z, z, y, 0.0, self.gamma, out)
        for k in range(z.shape[0]):
            out[k] = -out[k]

    def conjugate(self, u, y):
        if not in_simplex(u, y):
            return math.inf
        total = u[y]
        for k in range(u.shape[0]):
            total += 0.5 * self.gamma * u[k] * u[k]
        return total

    def dual_step(self, alpha, z, y, q, out):
        simplex_step(alpha, z, y, q, self.gamma, out)

    def smoothness(self):
        return 1.0 / self.gamma

    def lipschitz(self):
        return math.sqrt(2.0)

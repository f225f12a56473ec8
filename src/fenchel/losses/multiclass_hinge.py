"""φ(z,y) = max_c (1[c ≠ y] + z_c − z_y)  (Crammer & Singer 2001)

The domain of φ* is {p − e_y : p in the simplex}, and φ*(u) = u_y.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fenchel.core.compiled import compiled
from fenchel.core.numeric import project_to_simplex

FEASIBLE = 1e-11  # rounding allowed in Σp = 1


@compiled
def in_simplex(u, y):
    """Whether p = u + e_y lies on the simplex."""
    total = 1.0
    for k in range(u.shape[0]):
        total += u[k]
        if u[k] + (1.0 if k == y else 0.0) < -FEASIBLE:
            return False
    return abs(total - 1.0) <= FEASIBLE


@compiled
def value_by_derivative(loss, z, y):
    """φ(z) = <z, u> − φ*(u) at u = φ'(z): Fenchel–Young, for losses whose derivative is easier to compute."""
    u = np.empty(z.shape[0])
    loss.derivative(z, y, u)
    total = -loss.conjugate(u, y)
    for k in range(z.shape[0]):
        total += z[k] * u[k]
    return total


@compiled
def simplex_step(alpha, z, y, q, gamma, out):
    """argmax over α' = e_y − p, p in the simplex, of α'_y − <z, α'> − γ/2·‖α'‖² − q/2·‖α' − α‖²: a projection."""
    target = np.empty(z.shape[0])
    for k in range(z.shape[0]):
        own = 1.0 if k == y else 0.0
        target[k] = own + (z[k] - own - q * alpha[k]) / (q + gamma)
    project_to_simplex(target, out)
    out[y] -= 1.0
    for k in range(z.shape[0]):
        out[k] = -out[k]


@compiled
class MulticlassHinge(NamedTuple):
    """The multiclass support vector machine: a unit margin between the true class and every other.

    >>> import numpy as np
    >>> float(MulticlassHinge().value(np.array([0.5, 0.25, 0.0]), 0))
    0.75
    """

    @property
    def labels(self):
        return "class"

    def value(self, z, y):
        worst = 0.0
        for k in range(z.shape[0]):
            if k != y:
                worst = max(worst, 1.0 + z[k] - z[y])
        return worst

    def derivative(self, z, y, out):
        top = y
        worst = 0.0
        for k in range(z.shape[0]):
            out[k] = 0.0
            if k != y and 1.0 + z[k] - z[y] > worst:
                worst = 1.0 + z[k] - z[y]
                top = k
        out[y] -= 1.0
        out[top] += 1.0

    def conjugate(self, u, y):
        return u[y] if in_simplex(u, y) else math.inf

    def dual_step(self, alpha, z, y, q, out):
        simplex_step(alpha, z, y, q, 0.0, out)

    def smoothness(self):
        return math.inf

    def lipschitz(self):
        return math.sqrt(2.0)

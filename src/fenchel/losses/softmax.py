"""φ(z,y) = log Σ_c e^{z_c} − z_y

The domain of φ* is {p − e_y : p in the simplex}, and φ*(p − e_y) = Σ_c p_c log p_c.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fenchel.core.compiled import compiled
from fenchel.core.elementary import exponential
from fenchel.core.numeric import TINY, log_sum_exp, xlogx
from fenchel.losses.multiclass_hinge import in_simplex

NEWTON_STEPS = 50  # an upper limit


@compiled
class Softmax(NamedTuple):
    """Multinomial logistic regression.

    >>> import numpy as np
    >>> round(float(Softmax().value(np.zeros(3), 0)), 6)
    1.098612
    """

    @property
    def labels(self):
        return "class"

    def value(self, z, y):
        return log_sum_exp(z) - z[y]

    def derivative(self, z, y, out):
        # Dividing by the sum makes the probabilities add up to 1 to the last digit, however large z is.
        top = -math.inf
        for k in range(z.shape[0]):
            top = max(top, z[k])
        total = 0.0
        for k in range(z.shape[0]):
            out[k] = exponential(z[k] - top)
            total += out[k]
        for k in range(z.shape[0]):
            out[k] /= total
        out[y] -= 1.0

    def curvature_weights(self, z, y, out):
        # p, the probabilities
        self.derivative(z, y, out)
        out[y] += 1.0

    def curvature_times(self, z, y, d, out):
        # (diag(p) − ppᵀ)·d
        self.curvature_weights(z, y, out)
        mean = 0.0
        for k in range(z.shape[0]):
            mean += out[k] * d[k]
        for k in range(z.shape[0]):
            out[k] *= d[k] - mean

    def conjugate(self, u, y):
        if not in_simplex(u, y):
            return math.inf
        total = 0.0
        for k in range(u.shape[0]):
            total += xlogx(u[k] + (1.0 if k == y else 0.0))
        return total

    def dual_step(self, alpha, z, y, q, out):
        # The maximiser on the segment from the old p to softmax(z). Along p + s·d the derivative of the negated dual
        # rises from at most 0 (s = 0) to q‖d‖² (s = 1): Newton in s, safeguarded by bisection.
        K = z.shape[0]
        d = np.empty(K)
        self.derivative(z, y, d)
        linear = 0.0
        square = 0.0
        for k in range(K):
            d[k] += alpha[k]
            linear += z[k] * d[k]
            square += d[k] * d[k]
        low = 0.0
        high = 1.0
        s = 1.0 / (1.0 + q)
        for _ in range(NEWTON_STEPS):
            derivative = q * square * s - linear
            curvature = q * square
            for k in range(K):
                p = max((1.0 if k == y else 0.0) - alpha[k] + s * d[k], TINY)
                derivative += d[k] * math.log(p)
                curvature += d[k] * d[k] / p
            if derivative > 0.0:
                high = s
            else:
                low = s
            step = derivative / max(curvature, TINY)
            s -= step
            if not low <= s <= high:
                s = 0.5 * (low + high)
            elif abs(step) <= 1e-12:
                break
        for k in range(K):
            out[k] = alpha[k] - s * d[k]

    def smoothness(self):
        return 0.5

    def lipschitz(self):
        return math.sqrt(2.0)

"""φ(z,y) = log(1 + e^{−yz})"""

from __future__ import annotations

import math
from typing import NamedTuple

from fenchel.compiled import compiled
from fenchel.numeric import log1pexp, sigmoid, xlogx

NEWTON_STEPS = 50  # a ceiling; three or four steps are usual


@compiled
class Logistic(NamedTuple):
    """Logistic regression, log(1 + e^{−yz}).

    >>> round(Logistic().value(0.0, 1.0), 6)
    0.693147
    """

    @property
    def labels(self):
        return "binary"

    def value(self, z, y):
        return log1pexp(-y * z)

    def derivative(self, z, y):
        return -y * sigmoid(-y * z)

    def conjugate(self, u, y):
        a = -u * y
        return xlogx(a) + xlogx(1.0 - a) if 0.0 <= a <= 1.0 else math.inf

    def dual_step(self, alpha, z, y, q):
        # The optimality condition log((1−a)/a) = yz + q(a − a_old), written in t = log((1−a)/a): its slope lies
        # between 1 and 1 + q/4 and its root in an interval of length q, so Newton with bisection can't fail.
        old = alpha * y
        margin = y * z
        low = margin - q * old
        high = low + q
        t = margin
        for _ in range(NEWTON_STEPS):
            a = sigmoid(-t)
            slack = t - margin - q * (a - old)
            if slack > 0.0:
                high = t
            else:
                low = t
            step = slack / (1.0 + q * a * (1.0 - a))
            t -= step
            if not low <= t <= high:
                t = 0.5 * (low + high)
            elif abs(step) <= 1e-13 * (1.0 + abs(t)):
                break
        return y * sigmoid(-t)

    def smoothness(self):
        return 0.25

    def lipschitz(self):
        return 1.0

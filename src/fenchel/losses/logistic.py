"""φ(z,y) = log(1 + e^{−yz})"""

from __future__ import annotations

import math
from typing import NamedTuple

from fenchel.core.compiled import compiled
from fenchel.core.elementary import exponential
from fenchel.core.numeric import log1pexp, sigmoid, xlogx

LARGEST = 745.0  # e^−745 is the smallest positive float
NEWTON_STEPS = 200  # an upper limit; two or three steps are usual
SHORT = 1e-3  # the last step relative to t, times 1 + q: a is then exact to about 1e-6, and to rounding where dual ascent has converged
SHORTEST = 1e-13  # the smallest such step asked for


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

    def curvature(self, z, y):
        e = exponential(-abs(y * z))  # y·z, not z: the compiler then sees that the derivative needs the same number
        return e / ((1.0 + e) * (1.0 + e))

    def conjugate(self, u, y):
        a = -u * y
        return xlogx(a) + xlogx(1.0 - a) if 0.0 <= a <= 1.0 else math.inf

    def dual_step(self, alpha, z, y, q):
        # The optimality condition log((1−a)/a) = yz + q(a − a_old), written in t = log((1−a)/a): its derivative lies
        # between 1 and 1 + q/4 and its root in an interval of length q. Newton's method may cycle where the derivative
        # changes fast, so a step longer than half the last one is replaced by bisection.
        old = alpha * y
        margin = y * z
        low = max(margin - q * old, -LARGEST)
        high = min(margin - q * old + q, LARGEST)
        if q > 4.0 and 0.0 < old < 1.0:  # the root lies between the margin and the t of the old a; a logarithm is worth its cost here
            before = math.log((1.0 - old) / old)
            low = max(low, min(margin, before))
            high = min(high, max(margin, before))
        short = max(SHORT / (1.0 + q), SHORTEST)
        t = margin
        last = math.inf
        for _ in range(NEWTON_STEPS):
            e = math.exp(-abs(t))
            a = (e if t >= 0.0 else 1.0) / (1.0 + e)
            slack = t - margin - q * (a - old)
            if slack > 0.0:
                high = t
            else:
                low = t
            step = slack / (1.0 + q * a * (1.0 - a))
            if abs(step) <= short * (1.0 + abs(t)):
                t -= step
                break
            if abs(step) > 0.5 * last or not low <= t - step <= high:
                step = t - 0.5 * (low + high)
            t -= step
            last = abs(step)
        return y * sigmoid(-t)

    def smoothness(self):
        return 0.25

    def lipschitz(self):
        return 1.0

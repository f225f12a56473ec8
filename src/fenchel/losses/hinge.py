"""φ(z,y) = max(0, 1 − yz)"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fenchel.core.compiled import compiled
from fenchel.core.numeric import clip


@compiled
class Hinge(NamedTuple):
    """The loss of support vector machines, max(0, 1 − yz).

    >>> Hinge().value(0.25, 1.0)
    0.75
    """

    @property
    def labels(self):
        return "binary"

    def value(self, z, y):
        return max(0.0, 1.0 - y * z)

    def derivative(self, z, y):
        return -y if y * z < 1.0 else 0.0

    def conjugate(self, u, y):
        return u * y if -1.0 <= u * y <= 0.0 else math.inf

    def dual_step(self, alpha, z, y, q):
        return y * clip(alpha * y + (1.0 - y * z) / q, 0.0, 1.0)

    def boxes(self, y):
        return [(y, np.minimum(y, 0.0), np.maximum(y, 0.0))]

    def smoothness(self):
        return math.inf

    def lipschitz(self):
        return 1.0

"""Ω(w) = strength/(2(p−1))·‖w‖_p²,  1 < p ≤ 2, optionally on the ball ‖w‖_p ≤ radius

The regularizer of *Inverse Time Dependency in Convex Regularized Learning*. It is strongly convex with respect to
‖·‖_p; with 1/p + 1/q = 1 its link function is

    w_j = ‖v‖_q^{2−q}·|v_j|^{q−1}·sgn(v_j) / ((q−1)·strength),      ‖w‖_p = ‖v‖_q / ((q−1)·strength),

scaled back to the radius if it lies outside (Corollary 2 of that paper; its Figure 2 prints ‖w‖_q for ‖w‖_p).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fenchel.core.compiled import compiled
from fenchel.core.errors import InputError
from fenchel.core.numeric import TINY, power
from fenchel.regularizers.parameters import ROUNDED, positive

OUTGROWN = 16.0  # how many times v may exceed the reference of the stored images
DIGITS = 200.0  # and a limit on the same factor in v^q, in powers of ten


@compiled
def p_norm(x, p):
    top = 0.0
    for j in range(x.shape[0]):
        top = max(top, abs(x[j]))
    if top == 0.0:
        return 0.0
    total = 0.0
    for j in range(x.shape[0]):
        total += (abs(x[j]) / top) ** p
    return top * total ** (1.0 / p)


@compiled
class SquaredLp(NamedTuple):
    """Half the squared l_p norm over p − 1: between ridge (p = 2) and lasso-like sparsity (p near 1).

    >>> import numpy as np
    >>> print(SquaredLp(1.0, p=2.0).value(np.array([3.0, 4.0])))
    12.5
    """

    strength: float
    p: float = 2.0
    radius: float = math.inf

    @property
    def separable(self):
        return False

    def check(self):
        positive(self, "strength")
        if not 1.0 < self.p <= 2.0:
            raise InputError(f"SquaredLp(p={self.p:g}): p must lie in (1, 2]; for p = 1 use L1.")
        if not self.radius > 0.0:
            raise InputError(f"SquaredLp(radius={self.radius:g}): the radius must be positive.")

    def dual_p(self):
        return self.p / (self.p - 1.0)

    def value(self, w):
        norm = p_norm(w, self.p)
        if norm > self.radius * ROUNDED:
            return math.inf
        return 0.5 * self.strength / (self.p - 1.0) * norm * norm

    def conjugate(self, v):
        curvature = self.strength / (self.p - 1.0)
        norm = p_norm(v, self.dual_p())
        reached = min(norm / curvature, self.radius)
        return reached * norm - 0.5 * curvature * reached * reached

    def reference(self, size):
        return 1.0 / max(size, TINY)

    def image(self, v, reference):
        return math.copysign(power(abs(v) * reference, self.dual_p() - 1.0), v)

    def mass(self, v, image, reference):
        return abs(v) * reference * abs(image)

    def factor(self, total, reference):
        return self.factor_of_multiple(total, reference, 1.0, math.inf)

    def factor_of_multiple(self, total, reference, c, radius):
        """The factor of ∇Ω*(c·v), from the images and the sum of v itself, with ‖w‖_p also bounded by ``radius``."""
        if total <= 0.0:
            return 0.0
        size = c / reference
        root = total ** (1.0 / self.dual_p())  # ‖v‖_q relative to the reference
        curvature = (self.dual_p() - 1.0) * self.strength
        norm = size * root / curvature
        return size * root * root / total / curvature * min(1.0, min(self.radius, radius) / max(norm, TINY))

    def radius_of_minimiser(self, objective_at_zero):
        """An upper bound on ‖w*‖_p: 2Ω(w*) ≤ P(0), because Ω(w*) = Ω*(v*) and P(w*) = D(α*) ≤ P(0) − Ω*(v*)."""
        return math.sqrt(objective_at_zero * (self.p - 1.0) / self.strength)

    def outgrown(self, size):
        return min(OUTGROWN, 10.0 ** (DIGITS / self.dual_p())) * size

    def gradient(self, w, out):
        norm = p_norm(w, self.p)
        for j in range(w.shape[0]):
            relative = abs(w[j]) / max(norm, TINY)
            out[j] = self.strength / (self.p - 1.0) * norm * math.copysign(relative ** (self.p - 1.0), w[j])

    @property
    def smooth(self):
        return math.isinf(self.radius)

    def shrink(self, w):
        """The factor that brings w into the ball."""
        return self.radius / float(np.linalg.norm(w, self.p))

    def bounded(self):
        return not math.isinf(self.radius)

    def strong_convexity(self):
        return self.strength

    def dual_order(self):
        return self.dual_p()

    def times(self, c):
        return SquaredLp(c * self.strength, self.p, self.radius)

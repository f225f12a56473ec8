"""Ω(w) = strength·min Σ_j w⁺_j log(2n·w⁺_j/radius) + w⁻_j log(2n·w⁻_j/radius)
over w = w⁺ − w⁻ with w⁺, w⁻ ≥ 0 and Σ(w⁺ + w⁻) = radius

The entropy on the l1 ball, whose link function is that of the exponentiated gradient method EG±:

    w_j = radius·(e^{v_j/s} − e^{−v_j/s}) / Σ_i (e^{v_i/s} + e^{−v_i/s}),     s = strength.

Σ|w|log|w|, as written in section VII of *Inverse Time Dependency in Convex Regularized Learning*, is not convex at 0;
the version with w split into two parts is. Ω is 0 at w = 0 and (strength/radius)-strongly convex with respect to ‖·‖₁.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fenchel.core.compiled import compiled
from fenchel.core.errors import InputError
from fenchel.core.numeric import TINY
from fenchel.regularizers.parameters import ROUNDED, positive

OUTGROWN = 30.0  # how far v/strength may exceed the reference of the stored images, in powers of e
NEWTON_STEPS = 100  # an upper limit


@compiled
def split(w, radius):
    """The s ≥ 0 with Σ_j √(w_j² + s²) = radius: at the minimum w⁺_j·w⁻_j = s²/4 for every j."""
    s = radius / w.shape[0]
    for _ in range(NEWTON_STEPS):
        total = -radius
        derivative = 0.0
        for j in range(w.shape[0]):
            root = math.sqrt(w[j] * w[j] + s * s)
            total += root
            derivative += s / root if root > 0.0 else 1.0
        step = total / max(derivative, 1e-300)
        # The sum is convex and increasing in s, so Newton's iterates decrease monotonically from a start above the root.
        if not step > 1e-15 * s:
            break
        s = max(s - step, 0.0)
    return s


@compiled
def _excess(x):
    """cosh x − 1, without cancellation near 0."""
    half = math.sinh(0.5 * x)
    return 2.0 * half * half


@compiled
class Entropy(NamedTuple):
    """Entropy on an l1 ball: multiplicative updates, for problems in which few of very many features matter.

    >>> import numpy as np
    >>> float(Entropy(1.0, radius=1.0).value(np.zeros(4)))
    0.0
    """

    strength: float
    radius: float = 1.0

    @property
    def separable(self):
        return False

    def check(self):
        positive(self, "strength")
        if not (self.radius > 0.0 and math.isfinite(self.radius)):
            raise InputError(f"Entropy(radius={self.radius:g}): the radius must be positive and finite.")

    def value(self, w):
        norm = 0.0
        for j in range(w.shape[0]):
            norm += abs(w[j])
        if norm > self.radius * ROUNDED:
            return math.inf
        # The maximum of <w, v> − Ω*(v), attained at the gradient; the definition as a sum would cancel near 0.
        s = split(w, self.radius)
        product = 0.0
        total = 0.0
        for j in range(w.shape[0]):
            x = math.asinh(w[j] / max(s, TINY))
            product += w[j] * x
            total += _excess(x)
        return self.strength * max(product - self.radius * math.log1p(total / w.shape[0]), 0.0)

    def conjugate(self, v):
        size = 0.0
        for j in range(v.shape[0]):
            size = max(size, abs(v[j]))
        total = 0.0
        if size <= self.strength:
            for j in range(v.shape[0]):
                total += _excess(v[j] / self.strength)
            return self.strength * self.radius * math.log1p(total / v.shape[0])
        top = self.reference(size)
        for j in range(v.shape[0]):
            total += self.mass(v[j], self.image(v[j], top), top)
        return self.strength * self.radius * (top + math.log(total / (2.0 * v.shape[0])))

    def reference(self, size):
        return size / self.strength

    def image(self, v, reference):
        x = abs(v) / self.strength
        return math.copysign(-math.expm1(-2.0 * x) * math.exp(x - reference), v)

    def mass(self, v, image, reference):
        # cosh from sinh, both relative to e^reference
        return math.sqrt(image * image + 4.0 * math.exp(-2.0 * reference))

    def factor(self, total, reference):
        return self.radius / total

    def outgrown(self, size):
        return size + OUTGROWN * self.strength

    def gradient(self, w, out):
        s = split(w, self.radius)
        for j in range(w.shape[0]):
            out[j] = self.strength * math.asinh(w[j] / max(s, 1e-300))

    def shrink(self, w):
        """The factor that brings w into the ball."""
        return self.radius / float(np.abs(w).sum())

    def bounded(self):
        return True

    def cancelled(self, v):
        """The size of what cancels in the conjugate of a large v: the exponent that is taken out, and the logarithm of up to e⁴⁰ terms."""
        size = float(np.abs(v).max())
        return self.radius * (size + 40.0 * self.strength) if size > self.strength else 0.0

    def strong_convexity(self):
        return self.strength / self.radius

    def dual_order(self):
        return math.inf

    def times(self, c):
        return Entropy(c * self.strength, self.radius)

"""φ_γ = (φ* + γ/2·u²)*: any loss that has a dual step, made 1/γ-smooth (Nesterov 2005).

    φ(z) − γ/2·max u² ≤ φ_γ(z) ≤ φ(z)

so a point ε/2-accurate for the smoothed problem with γ = ε (Lipschitz constant 1) is ε-accurate for the original:
section 4.5 of Shalev-Shwartz & Zhang, Accelerated Proximal Stochastic Dual Coordinate Ascent, 2014.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled
from fenchel.losses.multiclass_hinge import value_by_derivative
from fenchel.losses.outputs import has_several_outputs


@compiled
class Smoothed(NamedTuple):
    """A loss of one output, made smooth. ``Smoothed(Hinge(), γ)`` is ``SmoothHinge(γ)``."""

    loss: Any
    gamma: float

    @property
    def internal(self):
        return True  # made by solvers, not listed among the losses

    @property
    def labels(self):
        return self.loss.labels

    def value(self, z, y):
        u = self.derivative(z, y)
        return z * u - self.conjugate(u, y)

    def derivative(self, z, y):
        return -self.loss.dual_step(0.0, z, y, self.gamma)

    def conjugate(self, u, y):
        return self.loss.conjugate(u, y) + 0.5 * self.gamma * u * u

    def dual_step(self, alpha, z, y, q):
        # γ/2·a² + q/2·(a − α)² is one quadratic of curvature q + γ, centred at qα/(q + γ).
        return self.loss.dual_step(q * alpha / (q + self.gamma), z, y, q + self.gamma)

    def smoothness(self):
        return 1.0 / self.gamma


@compiled
class SmoothedVector(Smoothed):
    """The same for a loss of several outputs, which fills arrays in place of returning numbers."""

    def value(self, z, y):
        return value_by_derivative(self, z, y)

    def derivative(self, z, y, out):  # type: ignore[override]
        self.loss.dual_step(np.zeros(z.shape[0]), z, y, self.gamma, out)
        for k in range(z.shape[0]):
            out[k] = -out[k]

    def conjugate(self, u, y):
        total = self.loss.conjugate(u, y)
        for k in range(u.shape[0]):
            total += 0.5 * self.gamma * u[k] * u[k]
        return total

    def dual_step(self, alpha, z, y, q, out):  # type: ignore[override]
        self.loss.dual_step(q / (q + self.gamma) * alpha, z, y, q + self.gamma, out)


def smoothed(loss: Any, gamma: float) -> Smoothed:
    """The smoothed loss, for its number of outputs."""
    return (SmoothedVector if has_several_outputs(loss) else Smoothed)(loss, gamma)

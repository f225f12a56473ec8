"""Δα = s·(−φ'(z) − α), s = γ/(γ + q): a dual step for smooth losses that have none of their own.

Section 3.1 of Shalev-Shwartz & Zhang, Accelerated Proximal Stochastic Dual Coordinate Ascent, 2014, writes it
s = λmγ/(R² + λmγ); with the row's own norm in place of R the same analysis holds, and steps are longer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from fenchel.core.compiled import compiled
from fenchel.losses.outputs import has_several_outputs


@compiled
class StepRule(NamedTuple):
    """A smooth scalar loss, with the paper's step size rule as its dual step."""

    loss: Any
    gamma: float

    @property
    def internal(self):
        return True  # made by solvers, not listed among the losses

    @property
    def labels(self):
        return self.loss.labels

    def value(self, z, y):
        return self.loss.value(z, y)

    def derivative(self, z, y):
        return self.loss.derivative(z, y)

    def conjugate(self, u, y):
        return self.loss.conjugate(u, y)

    def dual_step(self, alpha, z, y, q):
        return alpha - self.gamma / (self.gamma + q) * (self.loss.derivative(z, y) + alpha)

    def smoothness(self):
        return 1.0 / self.gamma


@compiled
class VectorStepRule(StepRule):
    """The same for a loss of several outputs, which fills arrays in place of returning numbers."""

    def derivative(self, z, y, out):  # type: ignore[override]
        self.loss.derivative(z, y, out)

    def dual_step(self, alpha, z, y, q, out):  # type: ignore[override]
        self.loss.derivative(z, y, out)
        for k in range(z.shape[0]):
            out[k] = alpha[k] - self.gamma / (self.gamma + q) * (out[k] + alpha[k])


def with_step_rule(loss: Any) -> StepRule:
    """The loss with the step size rule for its smoothness, and its number of outputs."""
    return (VectorStepRule if has_several_outputs(loss) else StepRule)(loss, 1.0 / loss.smoothness())

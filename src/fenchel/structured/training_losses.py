"""The two losses of a structured model: what they ask of its decoder."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled, kernel
from fenchel.linalg.weights import untouched
from fenchel.structured.structured_model import LIKELIHOOD, MARGIN


@compiled
class Margin(NamedTuple):
    """max_y [Δ(y, y_i) + <w, ψ(x_i, y) − ψ(x_i, y_i)>]: it has corners."""

    def worst(self, examples, i, w, scale, d):
        """d ← parts(ŷ) − parts(y_i) for the ŷ that violates its margin most at scale·w; Δ(ŷ, y_i)."""
        y = np.empty(examples.outputs(i), dtype=np.int64)
        examples.decode(i, w, scale, 1.0, y)
        examples.difference(i, y, d)
        return examples.loss(i, y)

    def slope(self, examples, i, w, scale, d):
        """d ← parts of a subgradient of ℓ_i at scale·w; ℓ_i itself."""
        loss = self.worst(examples, i, w, scale, d)
        return max(0.0, loss + scale * examples.dot(i, d, w))  # the truth is an output: below 0 it is rounding

    def smoothness(self):
        return math.inf


@compiled
class Likelihood(NamedTuple):
    """log Σ_y exp<w, ψ(x_i, y)> − <w, ψ(x_i, y_i)>: smooth, but how smooth depends on the examples."""

    def slope(self, examples, i, w, scale, d):
        return max(0.0, examples.expected(i, w, scale, d))  # no probability is above 1


LOSSES = {MARGIN: Margin(), LIKELIHOOD: Likelihood()}


@kernel
def measure_slopes(examples, loss, w, slope, norms):
    for i in range(norms.shape[0]):
        d = np.empty(examples.parts(i))
        loss.slope(examples, i, w, 1.0, d)
        examples.add(i, 1.0, d, slope)
        norms[i] = math.sqrt(slope.square())
        slope.clear()


def norms_at_zero(examples: Any, loss: Any, n: int) -> np.ndarray:
    """The length of a subgradient of every example's loss at w = 0."""
    norms = np.empty(examples.count())
    measure_slopes(examples, loss, np.zeros(n), untouched(n), norms)
    return norms

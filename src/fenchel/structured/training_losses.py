"""The two training losses of a structured model, computed with its decoder."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled, kernel
from fenchel.linalg.weights import untouched
from fenchel.structured.structured_model import LIKELIHOOD, MARGIN


@compiled
class Margin(NamedTuple):
    """max_y [Δ(y, y_i) + <w, ψ(x_i, y) − ψ(x_i, y_i)>], which is not smooth."""

    def worst(self, examples, i, w, scale, d):
        """d ← parts(ŷ) − parts(y_i) for the most violating ŷ at scale·w; returns Δ(ŷ, y_i)."""
        y = np.empty(examples.outputs(i), dtype=np.int64)
        examples.decode(i, w, scale, 1.0, y)
        examples.difference(i, y, d)
        return examples.loss(i, y)

    def slope(self, examples, i, w, scale, d):
        """d ← the parts of a subgradient of ℓ_i at scale·w; returns ℓ_i."""
        loss = self.worst(examples, i, w, scale, d)
        return max(0.0, loss + scale * examples.dot(i, d, w))  # y = y_i gives 0: a negative value is a rounding error

    def smoothness(self):
        return math.inf


@compiled
class Likelihood(NamedTuple):
    """log Σ_y exp<w, ψ(x_i, y)> − <w, ψ(x_i, y_i)>, smooth with a constant that depends on the examples."""

    def slope(self, examples, i, w, scale, d):
        return max(0.0, examples.expected(i, w, scale, d))  # probabilities are at most 1: a negative value is a rounding error


LOSSES = {MARGIN: Margin(), LIKELIHOOD: Likelihood()}


@kernel
def subgradient_norms(examples, loss, w, subgradient, norms):
    for i in range(norms.shape[0]):
        d = np.empty(examples.parts(i))
        loss.slope(examples, i, w, 1.0, d)
        examples.add(i, 1.0, d, subgradient)
        norms[i] = math.sqrt(subgradient.square())
        subgradient.clear()


def norms_at_zero(examples: Any, loss: Any, n: int) -> np.ndarray:
    """The norm of a subgradient of each example's loss at w = 0."""
    norms = np.empty(examples.count())
    subgradient_norms(examples, loss, np.zeros(n), untouched(n), norms)
    return norms

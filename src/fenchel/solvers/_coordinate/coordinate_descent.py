"""min_w (1/m) Σ_i s_i φ(<w, x_i>, y_i) + Σ_j Ω_j(w_j), one coordinate at a time

    w_j ← prox_{Ω_j/β_j}(w_j − g_j/β_j),   g_j = (1/m) Σ_i s_i φ'(z_i, y_i)·x_ij,   z = X·w kept up to date

which never raises the objective while β_j bounds the second derivative along coordinate j: β_j = (1/γ)·(1/m)Σ_i s_i x_ij² for a
(1/γ)-smooth loss. A step reads one column of X. For K outputs a coordinate is a feature with its K weights, under the same β_j.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fenchel.core.compiled import kernel
from fenchel.core.numeric import TINY
from fenchel.core.validation import checked_choice
from fenchel.problems.problem import Problem
from fenchel.problems.result import Iterate
from fenchel.solvers._coordinate.column_products import column_squares
from fenchel.solvers._coordinate.derivatives import Derivatives, VectorDerivatives, refresh
from fenchel.solvers._coordinate.feature_weights import feature_weights

CURVATURES = ("column", "global")


@kernel
def coordinate_steps(columns, derivatives, feature, regularizer, w, beta, order):
    """One step on each coordinate of ``order``; the entries of X that they read."""
    accesses = 0
    for j in order:
        g = feature.gradient(columns, j, derivatives)
        step = feature.proximal_step(regularizer, w, j, g, beta[j])
        if not feature.is_zero(step):
            feature.add(columns, j, step, derivatives)
        accesses += columns.count(j)
    return accesses


class CoordinateDescent:
    """Coordinate steps on a problem, from a start: the weights, the predictions, and the entries read."""

    def __init__(self, problem: Problem, start: Iterate | None, beta: str = "column") -> None:
        self.problem = problem
        w, z = problem.starting_point(start)
        known = None if start is None else start.state.get("z")
        self.w, self.z = w.copy(), (z if known is None else known).copy()
        self.accesses = problem.design.nnz * bool(known is None and self.w.any())
        self.columns, self.feature = problem.design.columns, feature_weights(problem)
        self.beta = column_curvatures(problem, beta)

    def derivatives(self) -> Any:
        """The derivatives at the present predictions, as columns are multiplied with them."""
        common = (self.problem.loss, self.problem.y, self.problem.row_weights, self.z)
        if not self.problem.vector_valued:
            return Derivatives(*common)
        derivatives = VectorDerivatives(*common, np.empty_like(self.z))
        refresh(derivatives)
        return derivatives

    def step(self, order: np.ndarray) -> None:
        """A step on each of these coordinates, in this order."""
        common = (self.columns, self.derivatives(), self.feature, self.problem.regularizer)
        self.accesses += coordinate_steps(*common, self.w, self.beta, order)

    @property
    def passes(self) -> float:
        """Entries read, in units of the whole of X."""
        return self.accesses / max(1, self.problem.design.nnz)

    def iterate(self, **more: Any) -> Iterate:
        """What a solver yields."""
        return Iterate(self.w, self.passes, self.accesses, z=self.z, state={"z": self.z}, **more)


def column_curvatures(problem: Problem, kind: str = "column") -> np.ndarray:
    """β_j of every coordinate: its own, or the paper's one for all, which assumes that every |x_ij| is at least 1.

    A column of zeros has a tiny β_j, so that its weight minimises the penalty alone.
    """
    smoothness = problem.loss.smoothness()
    if checked_choice("beta", kind, CURVATURES) == "global":
        largest = float(problem.design.row_norms(math.inf).max())
        return np.full(problem.n, smoothness * max(1.0, largest**2))
    squares = np.empty(problem.n)
    column_squares(problem.design.columns, problem.row_weights, np.arange(problem.n), squares)
    return np.maximum(smoothness * squares, TINY)

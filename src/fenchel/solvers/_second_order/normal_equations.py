"""min_w P(w) for a quadratic loss from the products of all columns

The model at the origin is the problem itself:

    P(w) = P(0) + <g, w> + ½<w, G·w> + Ω(w),   G = Aᵀ·diag(h)·A,   h_i = s_i φ''/m

with A = X, or X less its means weighted by h beside an unpenalised intercept, which is then b − <means, w>. After G nothing reads X again.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack

from fenchel.linalg.moments import moments
from fenchel.problems.problem import Problem
from fenchel.solvers._second_order.curvatures import row_curvatures
from fenchel.solvers.declaration import is_quadratic


def has_normal_equations(problem: Problem) -> bool:
    """Whether the loss is quadratic, with one output, and the intercept, if there is one, is not penalised.

    Rows on disk would be copied if they are not dense and of float64.
    """
    design = problem.design
    in_place = design.on_disk is None or (not sp.issparse(design.storage) and design.storage.dtype == np.float64)
    return is_quadratic(problem) and not problem.vector_valued and (problem.free or not problem.intercept) and in_place


class NormalEquations:
    """The gradient g at the origin and the matrix G of second derivatives."""

    def __init__(self, problem: Problem) -> None:
        design, z = problem.design, problem.origin_predictions
        X = design.storage.toarray() if sp.issparse(design.storage) else design.storage
        h = np.empty(problem.m)
        row_curvatures(problem.loss, z, problem.y, problem.row_weights, h)
        a = problem.row_weights * problem.negative_derivatives(z, problem.y)
        self.problem = problem
        self.means, self.G, combination, self.squares, largest = moments(X, h, a, problem.free, problem.threads)
        self.g = -combination
        if largest is not None:
            design.set_largest(largest)

    def with_intercept(self, coef: np.ndarray) -> np.ndarray:
        """Weights of the columns, or rows of such weights, with their best unpenalised intercept last, if the problem has one."""
        if not self.problem.free:
            return coef
        return np.concatenate([coef, (self.problem.origin[-1] - coef @ self.means)[..., None]], axis=-1)

    def ridge(self, l2: float) -> np.ndarray | None:
        """The minimiser for Ω(w) = l2/2·‖w‖²; None if rounding leaves G + l2·I not positive definite."""
        H = self.G.copy()
        H[np.diag_indices_from(H)] += l2
        _, coef, info = lapack.dposv(H, -self.g, overwrite_a=1, lower=1)
        return self.with_intercept(coef) if info == 0 else None

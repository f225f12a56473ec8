"""A ridge problem with fewer rows than columns as one with as many columns as rows

The minimiser is a combination of the rows: w = Qᵀu with X = L·Q, where the rows of Q are orthonormal and XXᵀ = L·Lᵀ. Then X·w = L·u and
‖w‖ = ‖u‖, so that u minimises the same objective on the rows of L, in as many weights as there are rows, and w = Xᵀ·L⁻ᵀ·u. Dual points are
those of the problem itself. X is read twice, whatever the number of steps.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from fenchel.core.numeric import EPSILON
from fenchel.problems.problem import FREE, Problem
from fenchel.solvers._second_order.small_problems import steps_are_compiled

WIDE = 1.25  # fewest columns for each row
JITTER = 16.0 * EPSILON  # added to XXᵀ relative to its trace: rows may be dependent


def has_few_rows(problem: Problem) -> bool:
    """Whether the columns outnumber the rows so much that products of rows cost little, and the steps in their terms are compiled."""
    return not problem.vector_valued and WIDE * problem.m <= problem.design.width and steps_are_compiled(problem, weights=problem.m + 1)


class InTermsOfRows(NamedTuple):
    """The problem in u, and L."""

    problem: Problem
    original: Problem
    L: np.ndarray

    def weights(self, u: np.ndarray) -> np.ndarray | None:
        """w from u; None if products overflow."""
        by_rows = solve_triangular(self.L, u[: self.original.m], lower=True, trans=1, check_finite=False)
        w = np.concatenate([self.original.design.with_intercept(0.0).rmatvec(by_rows), u[self.original.m :]])
        return w if np.isfinite(w).all() else None


def in_terms_of_rows(problem: Problem) -> InTermsOfRows | None:
    """The problem in as many weights as there are rows; None if rounding leaves XXᵀ not positive definite, or products overflow."""
    K = problem.design.products_of_rows.copy()
    trace = float(K.trace())
    if not math.isfinite(trace):
        return None
    K[np.diag_indices_from(K)] += JITTER * trace
    try:
        L = cholesky(K, lower=True, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    intercept = FREE if problem.free else problem.intercept
    weights = problem.row_weights * problem.m
    small = Problem(L, problem.y, problem.loss, problem.penalised, sample_weight=weights, intercept=intercept, check_finite=False)
    return InTermsOfRows(small, problem, L)

"""Objectives and lower bounds of a quadratic loss from the products of all columns, without a pass over the data

With φ_i(z) = ½κ_i(z − t_i)² + e_i, and an unpenalised intercept at its best, the mean loss and its gradient are

    L(w) = L(0) + ½<w, g(0) + g(w)>,   g(w) = g(0) + G·w

The dual point c·α, α_i = −φ'(z_i) and 0 ≤ c ≤ 1, has v = −c·g(w), and with E = Σ_i s_i e_i/m the dual objective is

    D = c·(S − <w, g>) − ½c²·S + E − Ω*(−c·g),     S = 2(L(w) − E)

For Ω = l1·‖w‖₁ it is finite for c ≤ l1/max_j |g_j|. Rounding: with the columns' lengths d_j = (Σ_i h_i (x_ij − c_j)²)^½ as G was computed,
every sum above consists of terms that are at most (Σ_j d_j|w_j| + √S(0))² together, and of no more terms than rows and columns.
"""

from __future__ import annotations

import math

import numpy as np

from fenchel.core.numeric import TINY
from fenchel.problems.problem import Problem
from fenchel.problems.rounding import REPRESENTED, relative_error
from fenchel.solvers._second_order.curvatures import row_curvatures
from fenchel.solvers._second_order.normal_equations import NormalEquations

SUMS = 8  # that are rounded in an objective or a bound, at most: those of G, g, L(0), E, and what is computed from them


class GramCertificate:
    """What does not depend on w."""

    def __init__(self, equations: NormalEquations) -> None:
        problem = equations.problem
        self.G, self.g = equations.G, equations.g
        self.at_zero = problem.mean_loss(problem.origin_predictions)
        self.least = self.at_zero - 0.5 * self._squares_at_zero(problem)
        self.lengths = np.sqrt(equations.squares)
        self.size_at_zero = math.sqrt(2.0 * max(self.at_zero - self.least, 0.0))
        self.relative = SUMS * relative_error(problem.m + len(self.g))

    def _squares_at_zero(self, problem: Problem) -> float:
        """S(0) = Σ_i r_i φ_i'(0)²/κ_i, r_i = s_i/m."""
        h = np.empty(problem.m)
        row_curvatures(problem.loss, problem.origin_predictions, problem.y, problem.row_weights, h)
        slopes = problem.row_weights * problem.negative_derivatives(problem.origin_predictions, problem.y)
        return float(np.sum(np.divide(slopes * slopes, h, out=np.zeros_like(h), where=slopes != 0.0)))

    def gradient(self, w: np.ndarray) -> np.ndarray:
        """g(w), without the rounding errors of a gradient that was updated."""
        return np.asarray(self.g + self.G @ w)

    def bounds(self, w: np.ndarray, g: np.ndarray, l1: float, l2: float) -> tuple[float, float, float]:
        """P(w), how far rounding may have taken it, and a lower bound on min P."""
        sizes = np.abs(w)
        size = float(self.lengths @ sizes) + self.size_at_zero
        error = self.relative * size * size
        along = float(w @ g)
        loss = self.at_zero + 0.5 * (along + float(w @ self.g))
        objective = loss + l1 * float(sizes.sum()) + 0.5 * l2 * float(w @ w)
        slopes = np.abs(g) + self.relative * size * self.lengths  # at least those without rounding
        S = 2.0 * (loss - self.least)
        scales = [min(1.0, (1.0 - REPRESENTED) * l1 / max(float(slopes.max()), TINY))]
        if l2 > 0.0:
            scales.append(1.0)
        bounds = [c * (S - along) - 0.5 * c * c * S + self.least - conjugate(c * slopes, l1, l2) for c in scales]
        return objective, error, max(bounds) - error


def conjugate(v: np.ndarray, l1: float, l2: float) -> float:
    """Ω*(v) for Ω(w) = l1·‖w‖₁ + l2/2·‖w‖² and v ≥ 0, which at l2 = 0 is at most l1."""
    if l2 == 0.0:
        return 0.0
    excess = np.maximum(v - l1, 0.0)
    return float(excess @ excess) / (2.0 * l2)

"""A quadratic loss on many rows as least squares on as many rows as there are columns

With a_i = s_i φ''(z_i)/m, which does not depend on z for a quadratic loss, and ρ_i = −s_i φ'(0, y_i)/m the mean loss is

    ½·Σ_i a_i <w, x_i>² − Σ_i ρ_i <w, x_i> + const = ½·wᵀGw − <v, w> + const,     G = Xᵀ·diag(a)·X,  v = Xᵀρ

and with the eigenvalues and eigenvectors G = VΛVᵀ the first two terms are those of least squares on n rows √Λ·Vᵀ with targets √Λ⁻¹·Vᵀv,
up to another constant. Once G is known the cost does not depend on the number of rows. An unpenalised intercept b is eliminated first:
b = (Σρ − <x̄, w>·Σa)/Σa with the means x̄ = Xᵀa/Σa, which subtracts Σa·x̄x̄ᵀ from G and Σρ·x̄ from v.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from fenchel.core.numeric import TINY
from fenchel.linalg.gram import gram
from fenchel.losses import Squared
from fenchel.problems.problem import Problem
from fenchel.problems.result import Iterate, Result
from fenchel.problems.rounding import relative_error
from fenchel.solvers._second_order.curvatures import row_curvatures
from fenchel.solvers.declaration import is_quadratic

MOST_COLUMNS = 1000  # columns up to which the eigenvectors of G are computed: for more they take longer than they save
ROWS_PER_COLUMN = 4  # rows for each column from which a reduction pays
OFF_CENTRE = 100.0  # largest ratio of x̄_j² to the variance of column j: beyond it, centring G cancels too many digits
DEPENDENT = 1e-12  # relative to the largest eigenvalue of G: smaller eigenvalues are rounding errors
ROUNDING = 1e-10  # relative to P(0): how far the objectives of both problems may differ by rounding
TIGHTEST = 1e-9  # smallest tolerance that the rounding errors of G allow


class Reduction:
    """A smaller problem with the same minimisers, and the map from its results back to the original problem.

    >>> from fenchel.regularizers import L1
    >>> X = np.asfortranarray(np.random.default_rng(0).standard_normal((50, 3)))
    >>> problem = Problem(X, X[:, 0], Squared(), L1(0.1))
    >>> small = Reduction(problem)
    >>> small.problem.m, abs(small.problem.objective(np.ones(3)) + small.constant - problem.objective(np.ones(3))) < 1e-12
    (3, True)
    """

    def __init__(self, problem: Problem) -> None:
        self.free = problem.free
        G, v, constant = self._quadratic_form(problem)
        if not (np.isfinite(G).all() and np.isfinite(v).all()):
            self.is_exact = False
            return
        self.roots, self.size = np.sqrt(G.diagonal().clip(min=0.0)), math.sqrt(2.0 * abs(constant))
        self.relative = relative_error(problem.m) + problem.n * DEPENDENT
        rows, targets = least_squares(G, v)
        scale = np.sqrt(len(rows))  # the mean over the rows of the smaller problem divides by it again
        self.problem = Problem(np.asfortranarray(scale * rows), scale * targets, Squared(), problem.penalised)
        self.constant = constant - 0.5 * float(targets @ targets)

    def _quadratic_form(self, problem: Problem) -> tuple[np.ndarray, np.ndarray, float]:
        """G, v and the constant, with an unpenalised intercept eliminated."""
        design, zero = problem.design, np.zeros(problem.m)
        a, rho = np.empty(problem.m), problem.row_weights * problem.negative_derivatives(zero, problem.y)
        row_curvatures(problem.loss, zero, problem.y, problem.row_weights, a)
        G = gram(design.stored_columns.values, None, None, a, design.threads)
        v, constant = design.rmatvec(rho)[: design.width], problem.mean_loss(zero)
        self.means, self.mean = np.zeros(design.width), 0.0
        self.is_exact = True  #: whether centring left enough correct digits, and nothing overflowed
        if self.free:
            total = max(float(a.sum()), TINY)
            self.means, self.mean = design.rmatvec(a)[:-1] / total, float(rho.sum()) / total
            variances = (G.diagonal() / total - self.means**2).clip(min=0.0)
            self.is_exact = bool((self.means**2 <= OFF_CENTRE * variances).all())
            G -= total * np.outer(self.means, self.means)
            v = v - total * self.mean * self.means
            constant -= 0.5 * total * self.mean * self.mean
        return G, v, constant

    def agrees(self, result: Result, problem: Problem) -> bool:
        """Whether the original problem has the objective that ``result``, already mapped back, reports."""
        objective = problem.replace(regularizer=result.regularizer).objective(problem.with_offset(result.w))
        return bool(abs(objective - result.objective) <= ROUNDING * problem.objective_at_zero)

    def _rounding(self, w: np.ndarray) -> float:
        """How far rounding in G and v, and the eigenvalues left out, may take the objective at w: relative to terms as large as ½wᵀGw."""
        size = float(self.roots @ np.abs(w)) + self.size
        return self.relative * size * size

    def taken_back(self, result: Result, problem: Problem, tol: float) -> Result:
        """A result of the smaller problem as one of the original problem, without a dual point and the solver's state."""
        w = np.append(result.w, self.mean - float(self.means @ result.w)) if self.free else result.w
        coef, intercept = problem.split(w)
        objective, bound = result.objective + self.constant, result.dual_objective + self.constant - self._rounding(result.w)
        w = problem.without_offset(w)
        return replace(
            result, w=w, coef=coef, intercept=intercept, objective=objective, dual_objective=bound, alpha=None, tol=tol, iterate=Iterate(w)
        )


def least_squares(G: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows A and targets b with ½‖Aw − b‖² = ½·wᵀGw − <v, w> + const; at least one row.

    >>> A, b = least_squares(np.diag([4.0, 0.0]), np.array([2.0, 0.0]))
    >>> np.abs(A).tolist(), np.abs(b).tolist()
    ([[2.0, 0.0]], [1.0])
    """
    lengths = np.sqrt(G.diagonal().clip(min=0.0))
    units = np.where(lengths > 0.0, lengths, 1.0)  # columns of one length: an eigenvalue that is small then is a rounding error
    values, vectors = np.linalg.eigh(G / np.outer(units, units))
    kept = values > DEPENDENT * max(float(values[-1]), 0.0)
    root, basis = np.sqrt(values[kept]), vectors[:, kept].T
    if not len(root):
        return np.zeros((1, len(v))), np.zeros(1)
    return root[:, None] * basis * units, basis @ (v / units) / root


def reducible(problem: Problem, tol: float) -> bool:
    """Whether a reduction pays: a quadratic loss of one output on dense X with many more rows than columns."""
    design = problem.design
    dense = isinstance(design.storage, np.ndarray) and (problem.free or not design.intercept)
    fits = ROWS_PER_COLUMN * design.width <= problem.m and design.width <= MOST_COLUMNS and tol >= TIGHTEST
    return is_quadratic(problem) and not problem.vector_valued and dense and fits

"""Least squares on many rows as least squares on as many rows as there are columns

    ½·Σ_i s_i/m (<w, x_i> − y_i)² = ½·wᵀGw − <v, w> + ½·Σ_i s_i y_i²/m,     G = Xᵀ·diag(s/m)·X,  v = Xᵀ·diag(s/m)·y

and with the eigenvalues and eigenvectors G = VΛVᵀ the first two terms are those of n rows √Λ·Vᵀ and targets √Λ⁻¹·Vᵀv, but for another
constant. Once G is known nothing depends on the number of rows any more. For a free intercept X and y are centred in G and v.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fenchel.core.threads import one_thread
from fenchel.losses import Squared
from fenchel.problems.problem import Problem
from fenchel.problems.result import Iterate, Result
from fenchel.solvers._coordinate.gram_matrix import gram

MOST_COLUMNS = 1000  # eigenvectors of more take longer than they save
TALL = 4  # rows for each column, at least
OFF_CENTRE = 100.0  # times the variance: means whose squares are larger take too many digits with them
DEPENDENT = 1e-12  # of the largest eigenvalue: smaller ones are rounding
ROUNDED = 1e-10  # of P(0): by how much objectives may differ
TIGHTEST = 1e-9  # tolerance that the rounding of products leaves room for


class Reduction:
    """A smaller problem with the same minimisers, and what takes its answers back.

    >>> from fenchel.regularizers import L1
    >>> X = np.asfortranarray(np.random.default_rng(0).standard_normal((50, 3)))
    >>> problem = Problem(X, X[:, 0], Squared(), L1(0.1))
    >>> small = Reduction(problem)
    >>> small.problem.m, abs(small.problem.objective(np.ones(3)) + small.constant - problem.objective(np.ones(3))) < 1e-12
    (3, True)
    """

    def __init__(self, problem: Problem) -> None:
        design, row_weights = problem.design, problem.row_weights
        columns = np.arange(design.width)
        stored = design.stored_columns if problem.free else design.columns
        with one_thread:
            G = gram(stored.values, columns, None, row_weights, design.threads)
        v = design.rmatvec(row_weights * problem.y)[: design.width]
        self.free, self.mean = problem.free, 0.0
        self.is_exact = True  #: whether centring took no more digits than there are to spare
        self.means = np.zeros(design.width)
        square = float(row_weights @ problem.y**2)
        if self.free:
            self.means, self.mean = design.rmatvec(row_weights)[:-1], float(row_weights @ problem.y)
            self.is_exact = bool((self.means**2 <= OFF_CENTRE * (G.diagonal() - self.means**2).clip(min=0.0)).all())
            G -= np.outer(self.means, self.means)
            v = v - self.mean * self.means
            square -= self.mean**2
        lengths = np.sqrt(G.diagonal().clip(min=0.0))
        units = np.where(lengths > 0.0, lengths, 1.0)  # columns of one length: what is small then is so by rounding
        values, vectors = np.linalg.eigh(G / np.outer(units, units))
        kept = values > DEPENDENT * max(float(values[-1]), 0.0)
        root = np.sqrt(values[kept])
        rows, targets = root[:, None] * vectors[:, kept].T * units, vectors[:, kept].T @ (v / units) / root
        scale = np.sqrt(max(1, len(root)))  # the mean over rows takes it out again
        if not len(root):
            rows, targets = np.zeros((1, design.width)), np.zeros(1)
        self.problem = Problem(np.asfortranarray(scale * rows), scale * targets, Squared(), problem.penalised)
        self.constant = 0.5 * (square - float(targets @ targets))

    def agrees(self, result: Result, problem: Problem) -> bool:
        """Whether the problem itself gives an answer, already taken back, the objective that the smaller one does."""
        objective = problem.replace(regularizer=result.regularizer).objective(result.w)
        return bool(abs(objective - result.objective) <= ROUNDED * problem.objective_at_zero)

    def taken_back(self, result: Result, problem: Problem, tol: float) -> Result:
        """A result of the smaller problem as one of the problem itself; the dual point and the iterate stay behind."""
        w = np.append(result.w, self.mean - float(self.means @ result.w)) if self.free else result.w
        coef, intercept = problem.split(w)
        objective, bound = result.objective + self.constant, result.dual_objective + self.constant
        return replace(
            result, w=w, coef=coef, intercept=intercept, objective=objective, dual_objective=bound, alpha=None, tol=tol, iterate=Iterate(w)
        )


def reducible(problem: Problem, tol: float) -> bool:
    """Whether it is least squares on dense X with many more rows than columns."""
    design = problem.design
    dense = isinstance(design.storage, np.ndarray) and (problem.free or not design.intercept)
    fits = TALL * design.width <= problem.m and design.width <= MOST_COLUMNS and tol >= TIGHTEST
    return isinstance(problem.loss, Squared) and dense and fits

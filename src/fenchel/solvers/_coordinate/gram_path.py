"""Weights of a quadratic loss for many l1 strengths from one Gram matrix, to an estimated accuracy

For a quadratic loss the model at the origin is the problem itself:

    P(w) = P(0) + <g, w> + ½<w, G·w> + l1·‖w‖₁ + l2/2·‖w‖²,   G = Aᵀ·diag(h)·A,   h_i = s_i φ''/m

with A = X, or X less its means weighted by h beside an unpenalised intercept, which is then b − <means, w>. After G, whose cost is that of
one fit, no strength reads X again. The weights have no certificate: they are for validation errors of cross-validation.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from fenchel.problems.problem import Problem
from fenchel.solvers._coordinate.dense_model import minimise_by_gram
from fenchel.solvers._coordinate.gram_matrix import gram
from fenchel.solvers._second_order.curvatures import row_curvatures
from fenchel.solvers.declaration import is_quadratic

MOST_COLUMNS = 500  # of the Gram matrix, which costs the square of their number; a guess, not measured
MOST_FILLED_IN = 10_000_000  # entries of a sparse X that is made dense
MOST_STEPS = 200  # Newton steps for one strength


def has_gram_path(problem: Problem) -> bool:
    """Whether columns are few, no more than rows, and the loss is quadratic. With more columns the Newton steps on G are many and slow."""
    X = problem.design.storage
    is_narrow = X.shape[1] <= min(MOST_COLUMNS, X.shape[0]) and not (sp.issparse(X) and X.shape[0] * X.shape[1] > MOST_FILLED_IN)
    return is_narrow and is_quadratic(problem) and not problem.vector_valued and (problem.free or not problem.intercept)


def gram_path(problem: Problem, strengths: list[tuple[float, float]], accuracy: float) -> np.ndarray:
    """One row of weights, an unpenalised intercept last, for each pair of l1 and l2; the largest strengths first."""
    X, z = problem.design.storage, problem.origin_predictions
    X = X.toarray() if sp.issparse(X) else X
    h, weighted = np.empty(problem.m), problem.row_weights * problem.negative_derivatives(z, problem.y)
    row_curvatures(problem.loss, z, problem.y, problem.row_weights, h)
    means = h @ X / h.sum() if problem.free else np.zeros(X.shape[1])
    A = np.subtract(X, means, dtype=np.float64)
    G = gram(A.T, np.arange(A.shape[1]), None, h, problem.threads)
    w, g = np.zeros(A.shape[1]), -(weighted @ A)
    found = np.zeros((len(strengths), problem.n))
    for k, (l1, l2) in enumerate(strengths):
        minimise_by_gram(G, l1, l2, w, g, accuracy, MOST_STEPS)
        found[k, : len(w)] = w
    if problem.free:
        found[:, -1] = problem.origin[-1] - found[:, :-1] @ means
    return found

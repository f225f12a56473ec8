"""Weights of a quadratic loss for many l1 strengths by coordinate descent on the columns, to an estimated accuracy

    P(w) = ½‖a − Σ_j w_j A_j‖² + l1·‖w‖₁ + l2/2·‖w‖²

with the columns A_j of X and the residual a at the origin, both multiplied by √h_i, h_i = s_i φ''/m, and without their means under h beside
an unpenalised intercept. The mean of a sparse column is kept apart, so that it stays sparse. For problems with more columns than a Gram
matrix is worth: all strengths in turn, each from the weights of the one before, on the columns that are in use, with a sweep over all of
them when those are done (J. Friedman, T. Hastie and R. Tibshirani, *Regularization paths for generalized linear models via
coordinate descent*, J. Statistical Software 2010). The weights have no certificate: they are for validation errors of cross-validation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from fenchel.core.compiled import compiled, kernel
from fenchel.core.numeric import TINY, integers_below, soft_threshold
from fenchel.linalg.rows import DenseRows
from fenchel.linalg.views import csr_rows
from fenchel.linalg.weights import Plain
from fenchel.problems.problem import Problem
from fenchel.solvers._coordinate.line_of_solutions import LineOfSolutions
from fenchel.solvers._second_order.curvatures import row_curvatures
from fenchel.solvers.declaration import is_quadratic

MOST_SWEEPS = 300  # for one strength; a sweep over the columns in use counts as their share
MOST_INNER = 100  # sweeps over the columns in use between two sweeps over all
INNER = 0.1  # share of the estimated gap that is left on the columns in use
NEAR = 1000.0  # ratio of the estimate to the accuracy from which the gap is computed, because the estimate is far above it


def has_column_path(problem: Problem) -> bool:
    """Whether the loss is quadratic, and every weight but an unpenalised intercept penalised alike."""
    return is_quadratic(problem) and not problem.vector_valued and (problem.free or not problem.intercept)


def column_path(problem: Problem, strengths: list[tuple[float, float]], accuracy: float) -> Iterator[np.ndarray]:
    """The weights, an unpenalised intercept last, for each pair of l1 and l2 in turn; the largest strengths first."""
    z, h = problem.origin_predictions, np.empty(problem.m)
    row_curvatures(problem.loss, z, problem.y, problem.row_weights, h)
    root, total = np.sqrt(h), float(h.sum())
    a = problem.row_weights * problem.negative_derivatives(z, problem.y) / np.maximum(root, TINY)
    X = problem.design.storage
    means = np.asarray(h @ X) / total if problem.free else np.zeros(X.shape[1])
    columns, squares, apart = scaled_columns(X, root, means)
    squares = np.maximum(squares - total * apart**2, TINY)
    w, shift, start, line = np.zeros(X.shape[1]), np.zeros(1), a.copy(), LineOfSolutions()
    for l1, l2 in strengths:
        line.go_on(l1, w, a, shift)
        descend(columns, total * apart, apart, squares, l1, l2, accuracy, w, Plain(a), shift, start, total)
        yield np.append(w, problem.origin[-1] - float(w @ means)) if problem.free else w.copy()


def scaled_columns(X: Any, root: np.ndarray, means: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
    """The columns times √h, without their means if X is dense; their squared lengths; and the means that are kept apart."""
    if sp.issparse(X):
        by_columns = X.tocsc().astype(np.float64)
        by_columns = sp.csc_array((by_columns.data * root[by_columns.indices], by_columns.indices, by_columns.indptr), shape=X.shape)
        return csr_rows(by_columns), np.asarray(by_columns.multiply(by_columns).sum(axis=0)).ravel(), means
    A = np.ascontiguousarray(((X - means) * root[:, None]).T, dtype=np.float64)
    return DenseRows(A), np.einsum("ij,ij->i", A, A), np.zeros(len(means))


@kernel
def descend(columns, sums, means, squares, l1, l2, accuracy, w, a, shift, start, total):
    """Coordinate descent for one strength; w, the residual a and the part of it that the means make up are changed in place."""
    n = w.shape[0]
    used = np.empty(n, np.int64)
    everything = integers_below(n)
    steps = 0
    while steps < MOST_SWEEPS * n:
        steps += n
        estimate = sweep(columns, sums, means, squares, l1, l2, w, a, shift, everything, n)
        if estimate <= accuracy:
            return
        if estimate <= NEAR * accuracy and gap(columns, sums, l1, l2, w, a, shift[0], start, total) <= accuracy:
            return
        count = 0
        for j in range(n):
            if w[j] != 0.0:
                used[count] = j
                count += 1
        for _ in range(MOST_INNER):
            steps += count
            if sweep(columns, sums, means, squares, l1, l2, w, a, shift, used, count) <= INNER * estimate:
                break


@compiled
def sweep(columns, sums, means, squares, l1, l2, w, a, shift, which, count):
    """A step on each of the first ``count`` columns of ``which``; an estimate of the gap before."""
    violation, size = 0.0, 0.0
    for k in range(count):
        j = which[k]
        old = w[j]
        new = soft_threshold(columns.dot(j, a) + shift[0] * sums[j] + squares[j] * old, l1) / (squares[j] + l2)
        if new != old:
            columns.add(j, old - new, a)
            shift[0] += (new - old) * means[j]
            w[j] = new
            violation = max(violation, (squares[j] + l2) * abs(new - old))
        size += abs(new)
    return violation * size


@compiled
def gap(columns, sums, l1, l2, w, a, shift, start, total):
    """The duality gap of w and the residual, scaled until it is feasible; the part of the residual beside a is shift·√h.

    The elastic net is the lasso with √l2·w as further rows. With c = min(1, l1/max_j |<A_j, a> − l2·w_j|) and a' the residual at w = 0 it
    is ½(1 + c²)(‖a‖² + l2‖w‖²) + l1‖w‖₁ − c·<a, a'>.
    """
    largest, length, square = 0.0, 0.0, 0.0
    for j in range(w.shape[0]):
        largest = max(largest, abs(columns.dot(j, a) + shift * sums[j] - l2 * w[j]))
        length += abs(w[j])
        square += w[j] * w[j]
    norm, product = 0.0, 0.0
    for i in range(start.shape[0]):
        norm += a.v[i] * a.v[i]
        product += a.v[i] * start[i]
    # <a, √h> = −shift·Σh, because the whole residual is orthogonal to √h, as the one at w = 0 is.
    norm -= shift * shift * total
    c = min(1.0, l1 / max(largest, TINY))
    return 0.5 * (1.0 + c * c) * (norm + l2 * square) + l1 * length - c * product

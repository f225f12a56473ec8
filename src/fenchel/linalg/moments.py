"""The weighted mean and the weighted products of all columns of a dense matrix, less their means, without a copy of the matrix

Σ_i h_i (x_i − x̄)(x_i − x̄)ᵀ = Σ_i h_i (x_i − c)(x_i − c)ᵀ − Σh·(x̄ − c)(x̄ − c)ᵀ for any c. Digits are lost where c is far from x̄, compared
with how much a column varies: then the matrix is computed again with c = x̄.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fenchel.core.compiled import compiled, kernel, reassociated
from fenchel.core.threads import in_parallel
from fenchel.linalg.gram import gram
from fenchel.linalg.views import writable

FEW_COLUMNS = 24  # columns up to which one pass takes less time than BLAS: half on 24,000 × 6, 0.7 of it on 4,165 × 19
BLOCK = 256  # rows whose columns are copied to the fastest cache
PARALLEL_FROM = 2_000_000  # entries of X from which two products with vectors are computed at once: each takes about 0.5 ms
CENTRED = 1 << 16  # rows that are centred at once
LOST = 1e-4  # least share of a column's sum of squares that may be left of it: four digits are lost


class Moments(NamedTuple):
    """For rows x_i with weights h_i and numbers a_i."""

    means: np.ndarray  #: x̄ = Σ h_i x_i / Σh, or 0 if columns are not centred
    products: np.ndarray  #: Σ h_i (x_i − x̄)(x_i − x̄)ᵀ
    combination: np.ndarray  #: Σ a_i (x_i − x̄)
    squares: np.ndarray  #: Σ h_i (x_ij − c_j)² for the c that was used: rounding errors are relative to them
    largest: np.ndarray | None  #: max_i |x_ij|, where it was computed on the way


def moments(X: np.ndarray, h: np.ndarray, a: np.ndarray, centred: bool, threads: int) -> Moments:
    """Means and products, of the columns themselves if not ``centred``.

    >>> moments(np.array([[1.0], [3.0]]), np.ones(2), np.array([0.0, 1.0]), True, 1)[:4]
    (array([2.]), array([[2.]]), array([1.]), array([4.]))
    """
    n, largest = X.shape[1], None
    if n <= FEW_COLUMNS and X.flags.c_contiguous:
        shift = X[0].astype(np.float64) if centred else np.zeros(n)
        sums, combination, products, largest = np.zeros(n), np.zeros(n), np.zeros((n, n)), np.zeros(n)
        add_moments(writable(X), h, a, shift, sums, combination, products, largest)
        products += np.tril(products, -1).T
    else:
        X = X.astype(np.float64, copy=False)
        shift, sums, combination = np.zeros(n), np.empty(n), np.empty(n)
        in_parallel([(np.matmul, h, X, sums), (np.matmul, a, X, combination)], threads if X.size >= PARALLEL_FROM else 1)
        products = gram(X.T, None, None, h, threads)
    squares = products.diagonal().copy()
    if not centred:
        return Moments(shift, products, combination, squares, largest)
    total = float(h.sum())
    distance = sums / total
    means = shift + distance
    products -= np.multiply.outer(total * distance, distance)
    if (products.diagonal() >= LOST * squares).all():
        return Moments(means, products, combination - float(a.sum()) * distance, squares, largest)
    means, products, combination = h @ X / total, np.zeros_like(products), np.zeros(n)
    for first in range(0, len(X), CENTRED):  # not all rows at once, which would take as much memory as X
        rows = slice(first, first + CENTRED)
        A = X[rows] - means
        products += gram(A.T, None, None, h[rows], threads)
        combination += a[rows] @ A
    return Moments(means, products, combination, products.diagonal().copy(), largest)


@kernel
def add_moments(X, h, a, shift, sums, combination, products, largest):
    """Add Σ h_i (x_i − c), Σ a_i (x_i − c) and the lower triangle of Σ h_i (x_i − c)(x_i − c)ᵀ, and max |x_ij|, c being the ``shift``."""
    m, n = X.shape
    V, weighted = np.empty((n, BLOCK)), np.empty(BLOCK)
    for first in range(0, m, BLOCK):
        count = min(BLOCK, m - first)
        for j in range(n):
            total, largest[j] = load(X, first, count, j, shift[j], h, V[j], weighted, largest[j])
            sums[j] += total
            combination[j] += inner(a[first : first + count], V[j], count)
            for k in range(j + 1):
                products[j, k] += inner(weighted, V[k], count)


@compiled
@reassociated
def load(X, first, count, j, c, h, column, weighted, top):
    """Copy x_ij − c of some rows, and the same times h_i; the sum of the latter, and the larger of ``top`` and max |x_ij|."""
    total = 0.0
    for i in range(count):
        x = np.float64(X[first + i, j])
        column[i] = x - c
        weighted[i] = h[first + i] * column[i]
        total += weighted[i]
        top = max(top, abs(x))
    return total, top


@compiled
@reassociated
def inner(x, y, count):
    """Σ x_i y_i"""
    total = 0.0
    for i in range(count):
        total += x[i] * y[i]
    return total

"""Merging repeated rows into one row of larger weight, and dropping rows of zero weight."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import scipy.sparse as sp

from fenchel.linalg.design import Design
from fenchel.linalg.row_kernels import rows_dot
from fenchel.linalg.weights import Plain

DENSE = 2 / 3  # share of stored entries above which a dense array takes less memory than CSR
# The same above which fits to it take less time, and most entries for which memory does not matter: 70 random fits took 0.76 of the time of
# those to CSR with a share of 0.2 to 0.3, 0.72 with 0.3 to 0.4 and 0.65 with 0.4 to 0.5.
FASTER, SMALL = 0.25, 4_000_000
MIX = 0x9E3779B97F4A7C15  # an odd number whose bits look random: 2⁶⁴ divided by the golden ratio
MOST_ROWS = 2000  # rows; with more of them sorting would cost more than it saves


def rows_with_weight(X: Any, y: np.ndarray, weight: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
    """The rows of positive weight, if there are at most ``MOST_ROWS`` rows: the others would still change the steps of some solvers.

    >>> rows_with_weight(np.array([[2.0], [1.0]]), np.array([0, 1]), np.array([1.0, 0.0]))[0].tolist()
    [[2.0]]
    """
    if len(y) > MOST_ROWS or weight.all() or not weight.any():
        return X, y, weight
    rows = np.flatnonzero(weight)
    return X[rows], y[rows], weight[rows]


def distinct_rows(X: Any, y: np.ndarray, weight: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
    """The same problem with distinct rows in an order independent of the input's, if there are at most ``MOST_ROWS`` rows.

    Without this, stochastic solvers would return slightly different weights for a repeated row and a row of weight 2. Rows that are
    distinct and have the same weight are left as they are.

    >>> X, y, weight = distinct_rows(np.array([[2.0], [1.0], [2.0]]), np.array([0, 1, 0]), np.array([1.0, 0.0, 2.0]))
    >>> X.tolist(), y.tolist(), weight.tolist()
    ([[2.0]], [0], [3.0])
    """
    if len(y) > MOST_ROWS:
        return X, y, weight
    rows = np.flatnonzero(weight > 0.0)
    if not rows.size:
        return X, y, weight
    if rows.size == len(y) and (weight == weight[0]).all() and _are_distinct(X, y):
        return X, y, weight
    hashes = _hashes(X, y)
    _, first, place = np.unique(hashes[rows], return_index=True, return_inverse=True)
    chosen = X[rows[first]], y[rows[first]], np.bincount(place, weight[rows])
    is_same = np.array_equal(y[rows], chosen[1][place]) and _equal(X[rows], chosen[0][place])
    return chosen if is_same else (X, y, weight)  # two different rows have the same hash


def dense_if_cheaper(X: Any) -> Any:
    """X, converted to a dense array if more than two thirds of a sparse matrix are stored, or a quarter of a small one.

    >>> type(dense_if_cheaper(sp.csr_array(np.eye(2)))).__name__, type(dense_if_cheaper(sp.csr_array(np.eye(9)))).__name__
    ('ndarray', 'csr_array')
    """
    if not sp.issparse(X):
        return X
    entries = X.shape[0] * X.shape[1]
    return X.toarray() if X.nnz > (FASTER if entries <= SMALL else DENSE) * entries else X


def distinct_in_folds(X: Any, y: np.ndarray, weight: np.ndarray, splits: list[Any]) -> tuple[Any, np.ndarray, np.ndarray, list[Any]]:
    """The same for cross-validation: rows are merged only if they are in the same parts of every split."""
    member = np.zeros((len(y), 2 * len(splits)))
    for k, (train, test) in enumerate(splits):
        member[train, 2 * k] = member[test, 2 * k + 1] = 1.0
    rows, labels, weights = distinct_rows(X, np.column_stack([y, member]), weight)
    parts = [np.flatnonzero(part) for part in labels[:, 1:].T]
    return rows, labels[:, 0], weights, list(zip(parts[::2], parts[1::2], strict=True))


def _are_distinct(X: Any, y: np.ndarray) -> bool:
    """Whether <c, x_i> + <d, y_i> with random c and d are all different: the kernel adds equal rows in the same order."""
    design, labels = Design(X, check_finite=False), y.reshape(len(y), -1)
    sums = np.empty(len(y))
    rows_dot(design.stored_rows, Plain(_odd(X.shape[1]) * 2.0**-64), 0, len(y), sums)
    for column, factor in zip(labels.T, _odd(labels.shape[1]), strict=True):
        sums += column * (float(factor) * 2.0**-64)
    return bool((np.diff(np.sort(sums)) > 0.0).all())


def _hashes(X: Any, y: np.ndarray) -> np.ndarray:
    """A number for each row of X and y: Σ_j c_j h(x_ij) mod 2⁶⁴, with random odd c_j and h mixing the bits of a number."""
    if sp.issparse(X):
        X = X.tocsr()
        ends = np.append(0, np.cumsum(_mixed(X.data) * _odd(X.shape[1])[X.indices], dtype=np.uint64))
        total = np.diff(ends[X.indptr])
    else:
        total = (_mixed(X) * _odd(X.shape[1])).sum(axis=1, dtype=np.uint64)
    labels = y.reshape(len(y), -1)
    return total + (_mixed(labels.astype(np.float64)) * _odd(labels.shape[1])[::-1]).sum(axis=1, dtype=np.uint64) * np.uint64(MIX)


def _mixed(values: np.ndarray) -> np.ndarray:
    """The bits of numbers, mixed: those of whole numbers differ in their first bits only."""
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)
    bits = (bits ^ (bits >> np.uint64(32))) * np.uint64(MIX)
    return bits ^ (bits >> np.uint64(29))


@functools.lru_cache(maxsize=4)
def _odd(count: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 1 << 64, size=count, dtype=np.uint64) | np.uint64(1)


def _equal(A: Any, B: Any) -> bool:
    if not sp.issparse(A):
        return np.array_equal(A, B)
    A, B = A.tocsr(), B.tocsr()
    return np.array_equal(A.indptr, B.indptr) and np.array_equal(A.indices, B.indices) and np.array_equal(A.data, B.data)

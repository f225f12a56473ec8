"""Merging repeated rows into one row of larger weight, and dropping rows of zero weight."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

DENSE = 2 / 3  # share of stored entries above which a dense array takes less memory than CSR
MOST_ROWS = 2000  # rows; with more of them sorting would cost more than it saves


def distinct_rows(X: Any, y: np.ndarray, weight: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
    """The same problem with distinct rows in an order independent of the input's, if there are at most ``MOST_ROWS`` rows.

    Without this, stochastic solvers would return slightly different weights for a repeated row and a row of weight 2.

    >>> X, y, weight = distinct_rows(np.array([[2.0], [1.0], [2.0]]), np.array([0, 1, 0]), np.array([1.0, 0.0, 2.0]))
    >>> X.tolist(), y.tolist(), weight.tolist()
    ([[2.0]], [0], [3.0])
    """
    if len(y) > MOST_ROWS:
        return X, y, weight
    keys = [row + label.tobytes() for row, label in zip(_bytes_of_rows(X), np.ascontiguousarray(y), strict=True)]
    first: dict[bytes, int] = {}
    total: dict[bytes, float] = {}
    for i, key in enumerate(keys):
        if weight[i] > 0.0:
            first.setdefault(key, i)
            total[key] = total.get(key, 0.0) + weight[i]
    if not first:
        return X, y, weight
    order = sorted(first)
    rows = np.array([first[key] for key in order])
    return X[rows], y[rows], np.array([total[key] for key in order])


def dense_if_smaller(X: Any) -> Any:
    """X, converted to a dense array if that takes less memory: if more than two thirds of a sparse matrix are stored."""
    dense = sp.issparse(X) and X.nnz > DENSE * X.shape[0] * X.shape[1]
    return X.toarray() if dense else X


def distinct_in_folds(X: Any, y: np.ndarray, weight: np.ndarray, splits: list[Any]) -> tuple[Any, np.ndarray, np.ndarray, list[Any]]:
    """The same for cross-validation: rows are merged only if they are in the same parts of every split."""
    member = np.zeros((len(y), 2 * len(splits)))
    for k, (train, test) in enumerate(splits):
        member[train, 2 * k] = member[test, 2 * k + 1] = 1.0
    rows, labels, weights = distinct_rows(X, np.column_stack([y, member]), weight)
    parts = [np.flatnonzero(part) for part in labels[:, 1:].T]
    return rows, labels[:, 0], weights, list(zip(parts[::2], parts[1::2], strict=True))


def _bytes_of_rows(X: Any) -> list[bytes]:
    if not sp.issparse(X):
        return [row.tobytes() for row in np.ascontiguousarray(X)]
    X = X.tocsr()
    ends = zip(X.indptr[:-1], X.indptr[1:], strict=True)
    return [X.indices[a:b].astype(np.int64).tobytes() + X.data[a:b].tobytes() for a, b in ends]

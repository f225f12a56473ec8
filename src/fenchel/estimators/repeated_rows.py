"""Rows that come more than once are one row of more weight, and rows of no weight are none."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

FULL = 2 / 3  # of the entries
FEW = 2000  # rows; with more of them sorting would cost what it saves


def distinct_rows(X: Any, y: np.ndarray, weight: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
    """The same problem with every row once and in an order that does not depend on theirs, where rows are few.

    Methods that visit rows at random would otherwise end at slightly different weights for a row repeated and a row of weight 2.

    >>> X, y, weight = distinct_rows(np.array([[2.0], [1.0], [2.0]]), np.array([0, 1, 0]), np.array([1.0, 0.0, 2.0]))
    >>> X.tolist(), y.tolist(), weight.tolist()
    ([[2.0]], [0], [3.0])
    """
    if len(y) > FEW:
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


def filled_in(X: Any) -> Any:
    """X, or as an ordinary array where that takes less memory: where more than two thirds of a sparse matrix are stored."""
    full = sp.issparse(X) and X.nnz > FULL * X.shape[0] * X.shape[1]
    return X.toarray() if full else X


def distinct_in_folds(X: Any, y: np.ndarray, weight: np.ndarray, splits: list[Any]) -> tuple[Any, np.ndarray, np.ndarray, list[Any]]:
    """The same for rows that are split: rows are one where they are in the same parts of every split, too."""
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

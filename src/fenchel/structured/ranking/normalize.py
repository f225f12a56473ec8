"""Scaling features within queries."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from fenchel.structured.ranking.documents import grouped


def normalized(X: Any, qid: Any = None) -> np.ndarray:
    """Every feature scaled to [0, 1] within each query, as in LETOR; a feature that is constant within a query becomes 0.

    Args:
        X: one row for each document; a sparse matrix is converted to a dense one.
        qid: the query of each row; None if all belong to one.

    >>> normalized([[1.0, 7.0], [3.0, 7.0], [5.0, 0.0], [9.0, 2.0]], [1, 1, 2, 2]).tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [1.0, 1.0]]
    """
    rows = np.shape(X)[0]
    groups = grouped(X, np.zeros(rows), np.zeros(rows) if qid is None else qid)
    matrix = groups.X.matrix
    values = np.array(matrix.toarray() if sp.issparse(matrix) else matrix, dtype=np.float64)
    begins, sizes = groups.X.start[:-1], np.diff(groups.X.start)
    low, high = np.minimum.reduceat(values, begins), np.maximum.reduceat(values, begins)
    # Halves, because the difference of two finite numbers may overflow.
    span = np.repeat(0.5 * high - 0.5 * low, sizes, axis=0)
    above = 0.5 * values - 0.5 * np.repeat(low, sizes, axis=0)
    out = np.empty_like(values)
    out[groups.rows] = np.divide(above, span, out=np.zeros_like(values), where=span > 0.0)
    return out

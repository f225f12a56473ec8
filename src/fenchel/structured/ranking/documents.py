"""Documents of queries: one matrix with the query of each row, or one matrix per query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fenchel.core.errors import InputError, prefixed
from fenchel.core.messages import counted
from fenchel.linalg.storage import as_storage
from fenchel.structured.ranking.grades import checked_grades, is_informative


class Documents(Sequence[Any]):
    """A list of matrices, one per query, that are blocks of rows of one matrix, without copying.

    >>> documents = Documents(np.eye(3), np.array([0, 2, 3]))
    >>> len(documents), documents[1].tolist()
    (2, [[0.0, 0.0, 1.0]])
    """

    def __init__(self, matrix: Any, start: np.ndarray, names: Any = None) -> None:
        if len(start) < 1 or start[0] != 0 or start[-1] != matrix.shape[0] or (np.diff(start) < 0).any():
            raise InputError(f"start must increase from 0 to {matrix.shape[0]}, the number of rows of the matrix.")
        self.matrix = matrix
        self.start = start
        self.names = np.arange(len(start) - 1) if names is None else names

    def __len__(self) -> int:
        return len(self.start) - 1

    def __getitem__(self, i: Any) -> Any:
        i = range(len(self))[i]
        return self.matrix[self.start[i] : self.start[i + 1]]


class Groups(NamedTuple):
    """Documents by query: ``X`` and ``y`` in the format of :class:`~fenchel.structured.ranking.Ranking`."""

    X: Documents
    y: list[np.ndarray]
    rows: np.ndarray  #: the row of each document in the input matrix, in the order of ``X``


def grouped(X: Any, y: Any, qid: Any) -> Groups:
    """Group the rows of one matrix by query; if the rows of each query are contiguous, nothing is copied.

    Args:
        X: one row for each document.
        y: the grade of each document.
        qid: the query of each document: numbers or strings.

    >>> groups = grouped([[1.0], [2.0], [3.0]], [0, 2, 1], ["b", "a", "b"])
    >>> [block.tolist() for block in groups.X], [grades.tolist() for grades in groups.y], groups.X.names.tolist()
    ([[[2.0]], [[1.0], [3.0]]], [[2.0], [0.0, 1.0]], ['a', 'b'])
    """
    X = as_storage(X)
    grades, qid = _column("y", _numbers(y), X.shape[0]), _column("qid", _identifiers(qid), X.shape[0])
    names, code = np.unique(qid, return_inverse=True)
    rows = np.argsort(code, kind="stable")
    if np.count_nonzero(np.diff(code)) == len(names) - 1:
        first = np.flatnonzero(np.diff(code, prepend=-1))
        names, rows, start = names[code[first]], np.arange(len(code)), np.append(first, len(code))
    else:
        start = np.append(0, np.cumsum(np.bincount(code)))
        X = X.tocsr()[rows] if sp.issparse(X) else X[rows]
    return Groups(Documents(X, start, names), np.split(grades[rows], start[1:-1]), rows)


def informative_queries(X: Any, y: Any, qid: Any) -> tuple[Any, np.ndarray, np.ndarray, int]:
    """The rows, grades and query names of the queries in which grades differ, and the number of these queries.

    >>> X, y, qid, queries = informative_queries(np.eye(4), [0, 1, 1, 1], ["a", "b", "a", "b"])
    >>> y.tolist(), qid.tolist(), queries
    ([0.0, 1.0], ['a', 'a'], 1)
    """
    groups = grouped(X, y, qid)
    informative = [is_informative(checked_grades(grades, name)) for grades, name in zip(groups.y, groups.X.names, strict=True)]
    if not any(informative):
        raise InputError(
            f"No two documents of a query differ in grade in {counted(len(groups.rows), 'sample')}: "
            "give queries with documents of different grades."
        )
    y, qid = np.asarray(y, dtype=np.float64), np.asarray(qid)
    if all(informative):
        return X, y, qid, len(informative)
    rows = np.sort(groups.rows[np.repeat(informative, np.diff(groups.X.start))])
    return (X.tocsr() if sp.issparse(X) else X)[rows], y[rows], qid[rows], sum(informative)


def _numbers(y: Any) -> np.ndarray:
    try:
        return np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("y must contain numbers: the grade of each document, 0 for not relevant.") from None


def _identifiers(qid: Any) -> np.ndarray:
    values = np.asarray(qid)
    missing = np.isnan(values) if values.dtype.kind == "f" else np.array([name is None for name in values.flat])
    if missing.any():
        raise InputError(f"qid[{np.flatnonzero(missing)[0]}] is missing: give the query of every document.")
    return values.astype(str) if values.dtype == object else values


def _column(name: str, values: np.ndarray, rows: int) -> np.ndarray:
    if values.shape != (rows,):
        raise InputError(f"{name} has shape {values.shape} for the {rows:,} rows of X: give one value per row.")
    return values


def joined(X: Any) -> Documents:
    """A list of matrices, one per query, as blocks of one matrix."""
    if isinstance(X, Documents):
        return X
    if not isinstance(X, Sequence) or isinstance(X, str):
        raise InputError(
            "X must be a list of matrices, one for each query: "
            "fenchel.structured.grouped(X, y, qid) creates it from a matrix and the query of each row."
        )
    if not X:
        raise InputError("There are no queries: give at least one matrix.")
    blocks = [_block(block, i) for i, block in enumerate(X)]
    width = blocks[0].shape[1]
    for i, block in enumerate(blocks):
        if block.shape[1] != width:
            raise InputError(f"query {i} has {block.shape[1]} features, but query 0 has {width}: give all documents the same features.")
    stacked = sp.vstack(blocks, format="csr") if any(map(sp.issparse, blocks)) else np.vstack(blocks)
    return Documents(stacked, np.cumsum([0] + [block.shape[0] for block in blocks]))


def _block(block: Any, i: int) -> Any:
    if np.ndim(block) == 2 and np.shape(block)[0] == 0:
        raise InputError(f"query {i} has no documents: leave it out.")
    try:
        return as_storage(block)
    except InputError as error:
        raise prefixed(f"query {i}: ", error) from None

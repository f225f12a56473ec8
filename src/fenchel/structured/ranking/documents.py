"""Documents that belong to queries: one matrix with the query of each row, or one matrix a query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fenchel.core.errors import InputError, prefixed
from fenchel.core.messages import counted
from fenchel.linalg.storage import as_storage
from fenchel.structured.ranking.grades import checked_grades, tells


class Documents(Sequence[Any]):
    """A list of matrices, one a query, that are blocks of rows of one matrix: nothing is copied.

    >>> documents = Documents(np.eye(3), np.array([0, 2, 3]))
    >>> len(documents), documents[1].tolist()
    (2, [[0.0, 0.0, 1.0]])
    """

    def __init__(self, matrix: Any, start: np.ndarray, names: Any = None) -> None:
        if len(start) < 1 or start[0] != 0 or start[-1] != matrix.shape[0] or (np.diff(start) < 0).any():
            raise InputError(f"start must rise from 0 to the {matrix.shape[0]} rows of the matrix.")
        self.matrix = matrix
        self.start = start
        self.names = np.arange(len(start) - 1) if names is None else names

    def __len__(self) -> int:
        return len(self.start) - 1

    def __getitem__(self, i: Any) -> Any:
        i = range(len(self))[i]
        return self.matrix[self.start[i] : self.start[i + 1]]


class Groups(NamedTuple):
    """Documents by query: ``X`` and ``y`` as :class:`~fenchel.structured.ranking.Ranking` takes them."""

    X: Documents
    y: list[np.ndarray]
    rows: np.ndarray  #: the row of the matrix handed in that each document was, query after query


def grouped(X: Any, y: Any, qid: Any) -> Groups:
    """The documents of one matrix by query; rows of a query need not be neighbours, and are not copied where they are.

    Args:
        X: one row for each document.
        y: its grade.
        qid: its query: numbers or strings.

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


def those_that_tell(X: Any, y: Any, qid: Any) -> tuple[Any, np.ndarray, np.ndarray, int]:
    """The rows of the queries in which grades differ, with grade and query of each, and how many queries they are.

    >>> X, y, qid, queries = those_that_tell(np.eye(4), [0, 1, 1, 1], ["a", "b", "a", "b"])
    >>> y.tolist(), qid.tolist(), queries
    ([0.0, 1.0], ['a', 'a'], 1)
    """
    groups = grouped(X, y, qid)
    told = [tells(checked_grades(grades, name)) for grades, name in zip(groups.y, groups.X.names, strict=True)]
    if not any(told):
        raise InputError(
            f"No two documents of a query differ in grade in {counted(len(groups.rows), 'sample')}: "
            "there is nothing to learn an order from."
        )
    y, qid = np.asarray(y, dtype=np.float64), np.asarray(qid)
    if all(told):
        return X, y, qid, len(told)
    rows = np.sort(groups.rows[np.repeat(told, np.diff(groups.X.start))])
    return (X.tocsr() if sp.issparse(X) else X)[rows], y[rows], qid[rows], sum(told)


def _numbers(y: Any) -> np.ndarray:
    try:
        return np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("y must hold numbers: the grade of each document, 0 for one that is not relevant.") from None


def _identifiers(qid: Any) -> np.ndarray:
    values = np.asarray(qid)
    missing = np.isnan(values) if values.dtype.kind == "f" else np.array([name is None for name in values.flat])
    if missing.any():
        raise InputError(f"qid[{np.flatnonzero(missing)[0]}] is missing: every document belongs to a query.")
    return values.astype(str) if values.dtype == object else values


def _column(name: str, values: np.ndarray, rows: int) -> np.ndarray:
    if values.shape != (rows,):
        raise InputError(f"{name} has shape {values.shape} for the {rows:,} rows of X: give one value for each row.")
    return values


def joined(X: Any) -> Documents:
    """A list of matrices, one a query, as blocks of one."""
    if isinstance(X, Documents):
        return X
    if not isinstance(X, Sequence) or isinstance(X, str):
        raise InputError(
            "X must be a list of matrices, one for each query: "
            "fenchel.structured.grouped(X, y, qid) makes one of a matrix and the query of each row."
        )
    if not X:
        raise InputError("There are no queries: nothing can be learnt from an empty list.")
    blocks = [_block(block, i) for i, block in enumerate(X)]
    width = blocks[0].shape[1]
    for i, block in enumerate(blocks):
        if block.shape[1] != width:
            raise InputError(f"query {i} has {block.shape[1]} features, and query 0 has {width}: all must have the same.")
    stacked = sp.vstack(blocks, format="csr") if any(map(sp.issparse, blocks)) else np.vstack(blocks)
    return Documents(stacked, np.cumsum([0] + [block.shape[0] for block in blocks]))


def _block(block: Any, i: int) -> Any:
    if np.ndim(block) == 2 and np.shape(block)[0] == 0:
        raise InputError(f"query {i} has no documents: leave it out.")
    try:
        return as_storage(block)
    except InputError as error:
        raise prefixed(f"query {i}: ", error) from None

"""Rows, labels and their metadata, as readers return them and writers accept them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    from fenchel.datasets.tables.encoding import Encoding


@dataclass(frozen=True, eq=False)
class Data:
    """A data set in memory: ``X, y = data``, or ``X, y, qid = data`` for one with queries.

    ``y`` is None for a table without a target column, which is enough for prediction. ``encoding`` maps the columns of a table to those
    of ``X`` and can be applied to further tables; ``index_base`` is the index of the first column in svmlight text.

    >>> X, y = Data(np.eye(2), np.array([1.0, -1.0]), name="two")
    >>> Data(X, y, name="two")
    Data('two': 2 rows x 2 features, dense float64; labels -1, 1)
    """

    X: Any
    y: np.ndarray | None
    feature_names: Sequence[str] | None = None
    target_name: str | None = None
    qid: np.ndarray | None = None
    name: str = ""
    encoding: Encoding | None = None
    sample_weight: np.ndarray | None = None
    index_base: int | None = None

    def __iter__(self) -> Iterator[Any]:
        yield from (self.X, self.y) if self.qid is None else (self.X, self.y, self.qid)

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def __repr__(self) -> str:
        m, n = self.X.shape
        storage = f"dense {self.X.dtype}"
        if sp.issparse(self.X):
            storage = f"{self.X.format} {self.X.dtype}, {self.X.nnz:,} stored values ({self.X.nnz / max(m * n, 1):.2%})"
        queries = "" if self.qid is None else f"; {len(np.unique(self.qid)):,} queries"
        return f"Data({self.name!r}: {m:,} rows x {n:,} features, {storage}; {_described(self.y)}{queries})"


def _described(y: np.ndarray | None) -> str:
    if y is None:
        return "no labels"
    values = np.unique(y)
    if len(values) > 10:
        return f"{len(values):,} different labels, {values[0]} to {values[-1]}"
    return "labels " + ", ".join(f"{value:g}" if values.dtype.kind == "f" else str(value) for value in values)

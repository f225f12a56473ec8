"""Write svmlight text, with the shortest decimals that are read back as the same numbers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from fenchel.core.errors import Argument, InputError
from fenchel.datasets.svmlight.decimals import ENTRY_ROOM, put_rows
from fenchel.datasets.svmlight.parse import HIGHEST_QID
from fenchel.datasets.text_files import writing
from fenchel.linalg.storage import as_storage, with_sorted_indices

ENTRIES = 1 << 18  # written at a time


def write_svmlight(
    path: str | os.PathLike[str],
    X: Any,
    y: Sequence[Any] | np.ndarray,
    *,
    qid: Sequence[int] | np.ndarray | None = None,
    index_base: int = 1,
    comment: str | None = None,
) -> None:
    """Write rows and labels as svmlight text, compressed if the name ends in .gz, .bz2 or .xz.

    Args:
        path: the file; an existing one is replaced once all rows are written.
        X: the rows, sparse or dense. Every value is read back exactly, float32 values as float32.
        y: a label for each row, or a sequence of labels for each row.
        qid: a query id for each row.
        index_base: the index of the first column, 0 or 1.
        comment: text for the top of the file.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "two.svm"
    ...     write_svmlight(file, np.array([[0.5, 0.0], [0.0, 1e-7]]), [1, -1])
    ...     print(file.read_text(), end="")
    1 1:0.5
    -1 2:1e-07
    """
    if index_base not in (0, 1):
        raise InputError(Argument("index_base", index_base), ": give 0 or 1, the index of the first column.")
    rows = _rows(X)
    labels = _label_texts(y, rows.shape[0])
    ids = None if qid is None else _checked_ids(qid, rows.shape[0])
    _check_no_empty_lines(labels, ids, rows.indptr)
    with writing(path) as file:
        if comment is not None:
            file.writelines(f"# {line}\n".encode() for line in comment.splitlines())
        for first, last in _blocks(rows.indptr):
            file.write(_lines(rows, labels, ids, first, last, index_base))


def _rows(X: Any) -> sp.csr_array:
    shape = X.shape if sp.issparse(X) else np.shape(X)
    return sp.csr_array(with_sorted_indices(as_storage(X)) if len(shape) != 2 or 0 not in shape else shape)


def _label_texts(y: Any, m: int) -> list[str]:
    """The labels of each row as text."""
    if len(y) != m:
        raise InputError(f"There are {len(y)} labels for {m} rows: give one, or one sequence of labels, for each row.")
    several = any(isinstance(label, Sequence | np.ndarray) and not isinstance(label, str) for label in y)
    sets = [np.asarray(labels, dtype=np.float64).reshape(-1) for labels in y] if several else [np.asarray(y, dtype=np.float64)]
    bad = next((i for i, labels in enumerate(sets) if not np.isfinite(labels).all()), None)
    if bad is not None:
        raise InputError(f"Label {sets[bad][~np.isfinite(sets[bad])][0]} is not finite: replace or drop such rows before writing.")
    return [",".join(_texts(labels)) for labels in sets] if several else _texts(sets[0])


def _checked_ids(qid: Any, m: int) -> list[int]:
    ids = np.asarray(qid)
    if ids.shape != (m,) or ids.dtype.kind not in "iu" or (m and max(abs(int(ids.min())), abs(int(ids.max()))) > HIGHEST_QID):
        raise InputError(f"qid must be {m} whole numbers of magnitude at most {HIGHEST_QID}, one per row.")
    return ids.tolist()


def _check_no_empty_lines(labels: list[str], ids: list[int] | None, indptr: np.ndarray) -> None:
    """Refuse rows whose line would be empty, because the reader would skip it."""
    if ids is None:
        bad = next((i for i, label in enumerate(labels) if not label and indptr[i] == indptr[i + 1]), None)
        if bad is not None:
            raise InputError(f"Row {bad} has neither labels nor entries, which svmlight text cannot express: drop it or give it a label.")


def _blocks(indptr: np.ndarray) -> Iterator[tuple[int, int]]:
    """Ranges of rows that are written together."""
    first, m = 0, len(indptr) - 1
    while first < m:
        last = int(np.searchsorted(indptr, indptr[first] + ENTRIES, side="right")) - 1
        last = min(max(last, first + 1), first + ENTRIES, m)
        yield first, last
        first = last


def _lines(rows: sp.csr_array, labels: list[str], ids: list[int] | None, first: int, last: int, base: int) -> np.ndarray:
    """The text of some rows."""
    queries = [""] * (last - first) if ids is None else [f" qid:{query}" for query in ids[first:last]]
    starts = [label + query for label, query in zip(labels[first:last], queries, strict=True)]
    begin, end = int(rows.indptr[first]), int(rows.indptr[last])
    bounds, indices = (part.astype(np.int64) for part in (rows.indptr[first : last + 1] - begin, rows.indices[begin:end]))
    values = rows.data[begin:end].astype(np.float64)  # always float64, like the indices int64, so that the kernel is compiled once
    text = np.frombuffer(bytearray("".join(starts).encode()), dtype=np.uint8)
    ends = np.cumsum([len(start) for start in starts], dtype=np.int64)
    out = np.empty(len(text) + len(values) * ENTRY_ROOM + len(starts), dtype=np.uint8)
    left = np.empty((len(values), 2), dtype=np.int64)
    with np.errstate(over="ignore"):  # integers wrap around by design; without compilation NumPy would warn
        size, count = put_rows(text, ends, bounds, indices + base, values, rows.dtype == np.float32, out, left)
    for place, entry in left[:count].tolist():
        number = repr(float(values[entry])).encode()
        out[place : place + len(number)] = np.frombuffer(number, dtype=np.uint8)
    return out[:size]


def _texts(labels: np.ndarray) -> list[str]:
    return [repr(label).removesuffix(".0") for label in labels.tolist()]

"""Files as a sequence of chunks of rows, for :class:`fenchel.Stream` and ``partial_fit``"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from fenchel.core.errors import Argument, InputError
from fenchel.core.validation import checked_whole
from fenchel.datasets.row_store.manifest import is_store
from fenchel.datasets.row_store.sources import TABLES, common_format, expanded
from fenchel.datasets.row_store.stored_data import open as open_store
from fenchel.datasets.row_store.svmlight_rows import Place, svmlight_rows
from fenchel.datasets.row_store.table_rows import TableRows
from fenchel.datasets.svmlight.parse import Rules
from fenchel.datasets.svmlight.reader import BASES


def chunks(
    sources: str | os.PathLike[str] | IO[bytes] | Sequence[Any],
    rows: int = 10_000,
    *,
    format: str | None = None,
    target: str | None = None,
    features: int | str | Sequence[str] | None = None,
    drop: str | Sequence[str] = (),
    missing: str | None = None,
    max_categories: int | None = None,
    dtype: Any = np.float64,
    index_base: int | str = "auto",
    max_bytes: int | None = None,
) -> Iterator[tuple[Any, np.ndarray]]:
    """Pairs of rows and labels from files, ``rows`` at a time but for the last, in bounded memory.

    ``sources`` are stores, or files of one format, as for :func:`fenchel.datasets.convert`: svmlight text, .csv, .tsv or .parquet,
    patterns, or svmlight text opened in binary mode. ``features`` is the number of columns of svmlight text; without it files are read once
    before, to find the highest index; where that is impossible, the width of a chunk is that of its own rows. The other options are those
    of :func:`fenchel.datasets.read`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.svm").write_text("1 1:1\\n-1 3:2\\n1 2:1\\n")
    ...     [(X.shape, y.tolist()) for X, y in chunks(Path(folder, "a.svm"), rows=2)]
    [((2, 3), [1.0, -1.0]), ((1, 3), [1.0])]
    """
    count, files = checked_whole("rows", rows), expanded(sources)
    stores = [isinstance(file, Path) and is_store(file) for file in files]
    if any(stores):
        if not all(stores):
            raise InputError("Some of the sources are stores and others are not: give stores alone, or files alone.")
        parts: Iterator[tuple[Any, Any]] = _of_stores(files, count)
    else:
        options = {"target": target, "drop": drop, "missing": missing, "max_categories": max_categories}
        kind, given = common_format(files, format, options)
        if kind in TABLES:
            parts = _of_tables(files, kind, features, given, np.dtype(dtype), max_bytes)
        else:
            if index_base not in BASES:
                raise InputError(Argument("index_base", index_base), ": give 0 or 1, the index of the first column, or 'auto'.")
            width = None if features is None else checked_whole("features", features)
            parts = _of_text(files, BASES[index_base], width, np.dtype(dtype), max_bytes)
    yield from _regrouped(parts, count)


def _of_stores(files: list[Any], count: int) -> Iterator[tuple[Any, Any]]:
    for file in files:
        data = open_store(file)
        if data.y is None:
            raise InputError(f"{file} has no labels.")
        for first in range(0, len(data), count):
            yield data.X[first : first + count], data.y[first : first + count]


def _of_tables(
    files: list[Any], kind: str, features: Any, given: dict[str, Any], dtype: np.dtype[Any], max_bytes: int | None
) -> Iterator[tuple[Any, Any]]:
    table = TableRows(files, kind, features, given, dtype, max_bytes)
    for _, data, _ in table.batches(table.encoding(), 0):
        yield data.X, data.y


def _of_text(
    files: list[Any], base: int | None, width: int | None, dtype: np.dtype[Any], max_bytes: int | None
) -> Iterator[tuple[Any, Any]]:
    rules = Rules(base, width, dtype, False, False)
    if (width is None or base is None) and all(isinstance(file, Path) and file.is_file() for file in files):
        lowest, highest = 1, -1
        for file in files:
            for part in svmlight_rows(file, rules, Place(), max_bytes):
                lowest, highest = min(lowest, part.lowest), max(highest, part.highest)
        base = base if base is not None else 0 if lowest == 0 else 1
        width = width or max(1, highest - base + 1)
    base = 1 if base is None else base
    for file in files:
        for part in svmlight_rows(file, rules, Place(), max_bytes):
            if part.lowest < base and len(part.indices):
                raise InputError("The index 0 occurs in text that cannot be read twice: give ", Argument("index_base", 0), ".")
            needed = max(width or 0, part.highest - base + 1, 1)
            if width is not None and needed > width:
                raise InputError(f"The index {part.highest} exceeds ", Argument("features", width), ".")
            indptr = np.concatenate([[0], part.ends])
            X = sp.csr_array((part.values.astype(dtype), part.indices - base, indptr), shape=(len(part.ends), needed))
            yield X, part.labels.copy()


def _regrouped(parts: Iterator[tuple[Any, Any]], count: int) -> Iterator[tuple[Any, np.ndarray]]:
    """The same rows, so many at a time."""
    waiting: list[tuple[Any, Any]] = []
    size = 0
    for X, y in parts:
        first = 0
        while first < X.shape[0]:
            taken = min(count - size, X.shape[0] - first)
            waiting.append((X[first : first + taken], y[first : first + taken]))
            size, first = size + taken, first + taken
            if size == count:
                yield _joined(waiting)
                waiting, size = [], 0
    if waiting:
        yield _joined(waiting)


def _joined(parts: list[tuple[Any, Any]]) -> tuple[Any, np.ndarray]:
    if len(parts) == 1:
        return parts[0]
    rows, labels = [X for X, _ in parts], np.concatenate([y for _, y in parts])
    if not any(sp.issparse(X) for X in rows):
        return np.vstack(rows), labels
    width = max(X.shape[1] for X in rows)
    wide = [sp.csr_array((A.data, A.indices, A.indptr), shape=(A.shape[0], width)) for A in map(sp.csr_array, rows)]
    return sp.vstack(wide, format="csr"), labels

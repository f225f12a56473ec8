"""Columns of Arrow tables as NumPy arrays: the only module that handles Arrow's types."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fenchel.core.errors import Argument, InputError, InputTypeError
from fenchel.core.messages import counted, near

LONGEST_LABEL = 1000  # characters of a class name; longer text is hardly a class
LONGEST_NAME = 1000  # characters of a column's name
LABELS = 2**30  # bytes that the labels of any table may take: NumPy gives every text the length of the longest
MULTIPLE = 32  # the memory that more labels may take, relative to the column


def as_table(table: Any) -> Any:
    """An Arrow table from any object with the Arrow stream protocol, without the index of a pandas frame."""
    import pyarrow as pa

    if not isinstance(table, pa.Table):
        if not hasattr(table, "__arrow_c_stream__"):
            raise InputTypeError(f"{type(table).__name__} is not a table: give an Arrow table, or a data frame of pandas or polars.")
        table = pa.RecordBatchReader.from_stream(table).read_all()
    index = [name for name in _pandas_index(table) if name in table.column_names]
    table = table.drop_columns(index) if index else table
    check_names(table.column_names)
    if table.num_rows == 0:
        raise InputError("The table has no rows: give a table with rows.")
    return table


def check_names(names: list[str]) -> None:
    """Refuse columns with the same name, and names that are hardly names."""
    long = next((name for name in names if len(name) > LONGEST_NAME), None)
    if long is not None:
        raise InputError(f"The name of a column has {len(long):,} characters and begins with {long[:40]!r}: give a table with a heading.")
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise InputError(f"Two columns are called {twice!r}: give every column a different name.")


def _pandas_index(table: Any) -> list[str]:
    try:
        stored = json.loads((table.schema.metadata or {}).get(b"pandas", b"{}"))
        return [name for name in stored.get("index_columns", ()) if isinstance(name, str)]
    except (ValueError, AttributeError, TypeError, RecursionError):
        return []


def check_present(table: Any, names: list[str]) -> None:
    """Raise an error if there is no column with one of these names."""
    present = set(table.column_names)
    for name in names:
        if not isinstance(name, str) or name not in present:
            raise InputError(f"There is no column {name!r}: {near(str(name), table.column_names)}")


def is_text(held: Any) -> bool:
    """Whether an Arrow type is text."""
    import pyarrow.types as types

    return types.is_string(held) or types.is_large_string(held) or types.is_string_view(held)


def _is_numeric(held: Any) -> bool:
    import pyarrow.types as types

    return types.is_integer(held) or types.is_floating(held) or types.is_boolean(held) or types.is_decimal(held) or types.is_null(held)


def is_flat(held: Any) -> bool:
    """Whether an Arrow type is text or has values of a few bytes each: numbers, dates and times."""
    import pyarrow.types as types

    held = held.value_type if types.is_dictionary(held) else held
    return is_text(held) or _is_numeric(held) or types.is_temporal(held)


def column_kind(name: str, values: Any, role: str = "column") -> str:
    """Whether a column holds numbers or categories; other types are refused."""
    import pyarrow.types as types

    if types.is_dictionary(values.type) or is_text(values.type):
        return "category"
    if _is_numeric(values.type):
        return "number"
    advice = "turn it into numbers or text" + (f", or leave it out with drop=[{name!r}]" if role == "column" else "")
    raise InputError(f"Column {name!r} holds values of the type {values.type}, which are neither numbers nor text: {advice}.")


def numbers(name: str, values: Any) -> tuple[np.ndarray, np.ndarray]:
    """A column of numbers as floats, and which of them are missing."""
    import pyarrow as pa

    floats = np.array(values.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)
    infinite = np.flatnonzero(np.isinf(floats))
    if len(infinite):
        raise InputError(
            f"Column {name!r} is {floats[infinite[0]]} in row {infinite[0] + 1:,}, counting from 1: every number must be finite."
        )
    return floats, np.isnan(floats)


def _coded(values: Any) -> Iterator[tuple[np.ndarray, list[str]]]:
    """A column of texts, chunk by chunk, as indices into a list of texts whose last element, empty, represents missing values.

    Texts are never copied row by row: a small file may repeat a long text a million times.
    """
    import pyarrow as pa
    import pyarrow.types as types

    if not types.is_dictionary(values.type):
        values = values.cast(pa.large_string()).dictionary_encode()
    last, texts = None, [""]
    for chunk in values.chunks:
        if last is None or not chunk.dictionary.equals(last):
            last = chunk.dictionary
            texts = [text or "" for text in last.cast(pa.large_string()).to_pylist()] + [""]
        yield np.asarray(chunk.indices.cast(pa.int64()).fill_null(-1)), texts


def different(values: Any) -> set[str]:
    """The distinct texts of a column; missing values are the empty text."""
    return {texts[place] for places, texts in _coded(values) for place in np.unique(places).tolist()}


class Mixture(NamedTuple):
    """A column of texts most of which are numbers: the counts, and the first text that is not a number, with its row, from 1."""

    numbers: int
    total: int
    text: str
    row: int


def mixture(values: Any) -> Mixture | None:
    """The mixture in a column of texts if at least half of them, but not all, are numbers; else None."""
    numbers, total, read, first = 0, 0, 0, None
    for places, texts in _coded(values):
        is_number = np.array([_is_number(text) for text in texts])
        held = np.array([text != "" for text in texts])[places]
        others = np.flatnonzero(held & ~is_number[places])
        if first is None and len(others):
            first = texts[places[others[0]]], read + int(others[0]) + 1
        read, total, numbers = read + len(places), total + int(held.sum()), numbers + int(is_number[places].sum())
    return Mixture(numbers, total, *first) if first is not None and 2 * numbers >= total else None


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text))) and "_" not in text
    except ValueError:
        return False


def codes(values: Any, categories: tuple[str, ...]) -> tuple[np.ndarray, set[str]]:
    """The index of each text among the categories, -1 for unknown texts, and the set of unknown texts."""
    known = {category: place for place, category in enumerate(categories)}
    found, unknown = [np.empty(0, dtype=np.int32)], set()
    for places, texts in _coded(values):
        found.append(np.array([known.get(text, -1) for text in texts], dtype=np.int32)[places])
        unknown |= {texts[place] for place in np.unique(places[found[-1] < 0]).tolist()}
    return np.concatenate(found), unknown


def labels(name: str | None, values: Any, role: str) -> np.ndarray:
    """A target column as floats or texts; an error if values are missing."""
    if role == "category":
        longest = max((len(text) for text in different(values)), default=0)
        if longest > LONGEST_LABEL:
            raise InputError(
                f"Column {name!r} has a text of {longest:,} characters, too long for a class: give another ", Argument("target", ...), "."
            )
        if 4 * longest * len(values) > max(LABELS, MULTIPLE * values.nbytes):
            raise InputError(
                f"Column {name!r} has {len(values):,} rows and a text of {longest:,} characters, which take too much memory as classes: "
                "use shorter names."
            )
        held = np.concatenate([np.array(texts, dtype=np.str_)[places] for places, texts in _coded(values)])
        absent = values.null_count
    elif column_kind(str(name), values, "target") == "category":
        raise InputError(f"Column {name!r} must hold numbers but holds text: convert it.")
    else:
        held, missing = numbers(str(name), values)
        absent = int(missing.sum())
    if absent:
        raise InputError(
            f"Column {name!r} has {counted(absent, 'missing value')} in {len(held):,} rows, and every row needs a value: drop those rows."
        )
    return held


def assemble(pieces: list[np.ndarray], widths: list[int], m: int, dtype: Any) -> Any:
    """The matrix of all columns, floats unchanged and codes as 0/1 columns; CSR if that takes less than half the memory."""
    n, size = sum(widths), np.dtype(dtype).itemsize
    nonzeros = sum(np.count_nonzero(piece) if piece.dtype.kind == "f" else np.count_nonzero(piece >= 0) for piece in pieces)
    first = np.concatenate([[0], np.cumsum(widths)])
    if m * n * size <= 2 * (nonzeros * (size + 4) + 4 * (m + 1)):  # per entry, dense rows are read several times as fast
        return _dense(pieces, first, m, n, dtype)
    entries = [_entries(piece, offset, dtype) for piece, offset in zip(pieces, first[:-1], strict=True)]
    data, rows, at = (np.concatenate(parts) for parts in zip(*entries, strict=True))
    return sp.csr_array(sp.coo_array((data, (rows, at)), shape=(m, n)).tocsr())


def _dense(pieces: list[np.ndarray], first: np.ndarray, m: int, n: int, dtype: Any) -> np.ndarray:
    X = np.zeros((m, n), dtype=dtype)
    for piece, offset in zip(pieces, first[:-1], strict=True):
        if piece.dtype.kind == "f":
            X[:, offset] = piece
        else:
            rows = np.flatnonzero(piece >= 0)
            X[rows, offset + piece[rows]] = 1.0
    return X


def _entries(piece: np.ndarray, offset: int, dtype: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if piece.dtype.kind == "f":
        rows = np.flatnonzero(piece).astype(np.int32)
        return piece[rows].astype(dtype), rows, np.full(len(rows), offset, dtype=np.int32)
    rows = np.flatnonzero(piece >= 0).astype(np.int32)
    return np.ones(len(rows), dtype=dtype), rows, (offset + piece[rows]).astype(np.int32)

"""Reading svmlight text, the format of LIBSVM, liblinear and SVMlight: ``label[,label...] [qid:n] index:value ... # comment``."""

from __future__ import annotations

import os
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from fenchel.datasets.files import Lines, name_of, open_binary
from fenchel.datasets.parse import HIGHEST_INDEX, Rules
from fenchel.datasets.pieces import Piece, read_pieces
from fenchel.matrices import available_threads
from fenchel.storage import INT32_MAX

BASES: dict[Any, int | None] = {"auto": None, 0: 0, 1: 1}


def read_svmlight(
    path: str | os.PathLike[str] | IO[bytes],
    features: int | None = None,
    *,
    dtype: Any = np.float64,
    index_base: int | str = "auto",
    multilabel: bool = False,
    qid: bool = False,
    threads: int | None = None,
) -> tuple[Any, ...]:
    """Rows and labels of a file in svmlight text, plain or compressed with gz, bz2 or xz.

    Args:
        path: the file, or one that is open in binary mode.
        features: the number of columns, by default the highest index that occurs: give test rows those of the training rows.
        dtype: float64 or float32, of the values. Every number is the nearest there is, as Python's ``float`` reads it.
        index_base: the index of the first column: 0, 1 or "auto", which is 1 unless the index 0 occurs.
        multilabel: whether rows may have any number of labels, with commas between them; y is then a list of sorted tuples.
        qid: whether to return the query ids too, which every row must then have.
        threads: how many processors to use, by default all.

    Returns ``X, y`` or, with ``qid``, ``X, y, qid``. What does not keep to the format is refused, with its line and column.

    >>> import io
    >>> X, y = read_svmlight(io.BytesIO(b"+1 1:0.5 3:2  # a comment\\n-1 2:1\\n"))
    >>> X.shape, y.tolist()
    ((2, 3), [1.0, -1.0])
    """
    if index_base not in BASES:
        raise ValueError(f"index_base={index_base!r}: the first column has the index 0 or 1; 'auto' finds out.")
    if np.dtype(dtype) not in (np.float64, np.float32):
        raise ValueError(f"dtype={dtype!r}: values are read as float64 or float32.")
    rules = Rules(BASES[index_base], _count(features, "features"), np.dtype(dtype), bool(multilabel), bool(qid))
    name = name_of(path)
    with open_binary(path) as (file, compressed):
        pieces = read_pieces(Lines(file, compressed), rules, _count(threads, "threads") or available_threads())
    _refuse_faults(pieces, name)
    X = _matrix(pieces, _first_column(pieces, rules, name), rules.features)
    y = _label_sets(pieces) if multilabel else np.concatenate([piece.labels for piece in pieces])
    return (X, y, np.concatenate([piece.rows[:, 2] for piece in pieces])) if qid else (X, y)


def _count(value: int | None, name: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer) or not 1 <= value <= HIGHEST_INDEX:
        raise ValueError(f"{name}={value!r}: give a whole number of at least 1.")
    return int(value)


def _refuse_faults(pieces: list[Piece], name: str) -> None:
    before = 0
    for piece in pieces:
        if piece.fault:
            column = f", column {piece.fault.column}" if piece.fault.column else ""
            raise ValueError(f"{name}, line {before + piece.fault.line}{column}: {piece.fault.sentence}")
        before += piece.state.lines


def _first_column(pieces: list[Piece], rules: Rules, name: str) -> int:
    """The index of the first column."""
    if rules.base is not None:
        return rules.base
    if min(piece.state.lowest for piece in pieces) > 0:
        return 1
    before = 0
    for piece in pieces:
        if piece.state.highest == rules.features:
            raise ValueError(
                f"{name}, line {before + piece.state.line + 1}: the index {rules.features} is past features={rules.features}, "
                f"for the index 0 occurs too; give features={rules.features + 1}."
            )
        before += piece.state.lines
    return 0


def _matrix(pieces: list[Piece], base: int, features: int | None) -> sp.csr_array:
    entries = sum(piece.state.entries for piece in pieces)
    columns = max(0, max(piece.state.highest for piece in pieces) + 1 - base) if features is None else features
    index_type = np.int64 if max(columns, entries) > INT32_MAX else np.int32
    indices = np.empty(entries, dtype=index_type)
    ends = [np.zeros(1, dtype=index_type)]
    first = 0
    for piece in pieces:
        np.subtract(piece.indices, base, out=indices[first : first + piece.state.entries])
        ends.append((piece.rows[:, 0] + first).astype(index_type))
        first += piece.state.entries
    values = np.concatenate([piece.values for piece in pieces])
    indptr = np.concatenate(ends)
    return sp.csr_array((values, indices, indptr), shape=(len(indptr) - 1, columns))


def _label_sets(pieces: list[Piece]) -> list[tuple[float, ...]]:
    sets: list[tuple[float, ...]] = []
    for piece in pieces:
        labels, ends = piece.labels.tolist(), piece.rows[:, 1].tolist()
        sets += [tuple(sorted(labels[a:b])) for a, b in zip([0, *ends], ends, strict=False)]
    return sets

"""Reading svmlight text, the format of LIBSVM, liblinear and SVMlight: ``label[,label...] [qid:n] index:value ... # comment``."""

from __future__ import annotations

import itertools
import os
from typing import IO, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fenchel.core.errors import Argument, InputError
from fenchel.core.threads import available_threads
from fenchel.datasets.svmlight.parse import HIGHEST_INDEX, Rules
from fenchel.datasets.svmlight.pieces import ParsedFile, parse_file
from fenchel.datasets.text_files import Lines, name_of, open_binary
from fenchel.linalg.storage import INT32_MAX

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
    max_bytes: int | None = None,
) -> tuple[Any, ...]:
    """Read rows and labels from svmlight text, plain or compressed with gz, bz2 or xz.

    Args:
        path: a path, or a file opened in binary mode.
        features: the number of columns, by default the highest index that occurs; for test rows give that of the training rows.
        dtype: of the values, float64 or float32. Every number is rounded to the nearest one, as by Python's ``float``.
        index_base: the index of the first column: 0, 1 or "auto", which is 1 unless the index 0 occurs.
        multilabel: whether rows may have any number of labels, separated by commas; y is then a list of sorted tuples.
        qid: whether to return the query ids too; every row must then have one.
        threads: the number of threads, by default that of the processors.
        max_bytes: the bytes that a compressed file may expand to, by default the larger of 64 MiB and 100 times its size.

    Returns ``X, y`` or, with ``qid``, ``X, y, qid``. Errors in the format are reported with line and column.

    >>> import io
    >>> X, y = read_svmlight(io.BytesIO(b"+1 1:0.5 3:2  # a comment\\n-1 2:1\\n"))
    >>> X.shape, y.tolist()
    ((2, 3), [1.0, -1.0])
    """
    found = read_parts(path, features, dtype, index_base, multilabel, qid, threads, max_bytes)
    return (found.X, found.y, found.qid) if qid else (found.X, found.y)


class Parts(NamedTuple):
    """The contents of a file, and the index of its first column."""

    X: sp.csr_array
    y: Any
    qid: np.ndarray | None
    index_base: int


def read_parts(
    path: Any,
    features: int | None,
    dtype: Any,
    index_base: int | str,
    multilabel: bool,
    qid: bool,
    threads: int | None = None,
    max_bytes: int | None = None,
) -> Parts:
    """The same as :func:`read_svmlight`, and the index of the first column."""
    if index_base not in BASES:
        raise InputError(Argument("index_base", index_base), ": give 0 or 1, the index of the first column, or 'auto'.")
    if np.dtype(dtype) not in (np.float64, np.float32):
        raise InputError(Argument("dtype", dtype), ": give float64 or float32.")
    rules = Rules(BASES[index_base], _count(features, "features"), np.dtype(dtype), bool(multilabel), bool(qid))
    name = name_of(path)
    with open_binary(path, "svmlight", max_bytes) as (file, raw):
        found = parse_file(Lines(file, raw), rules, _count(threads, "threads") or available_threads())
    if found.fault:
        line, column, sentence = found.fault
        raise InputError(f"{name}, line {line}{f', column {column}' if column else ''}: {sentence}")
    base = _first_column(found, name)
    y = _label_sets(found) if multilabel else found.labels.finish()
    return Parts(_matrix(found, base), y, found.qids.finish() if qid else None, base)


def _count(value: int | None, name: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer) or not 1 <= value <= HIGHEST_INDEX:
        raise InputError(Argument(name, value), ": give a whole number of at least 1.")
    return int(value)


def _first_column(found: ParsedFile, name: str) -> int:
    """The index of the first column."""
    base, features = found.rules.base, found.rules.features
    if base is None:
        base = 0 if found.lowest == 0 else 1
    if features is not None and found.highest - base >= features:
        raise InputError(
            f"{name}, line {found.highest_line}: the index {found.highest} exceeds ",
            Argument("features", features),
            ", because the index 0 occurs too; give ",
            Argument("features", features + 1),
            ".",
        )
    return base


def _matrix(found: ParsedFile, base: int) -> sp.csr_array:
    columns = found.rules.features or max(0, found.highest + 1 - base)
    indices, values = found.indices.finish(), found.values.finish()
    indices -= base
    index_type = np.int64 if max(columns, len(indices)) > INT32_MAX else np.int32
    indptr = found.ends.finish().astype(index_type, copy=False)
    return sp.csr_array((values, indices.astype(index_type, copy=False), indptr), shape=(len(indptr) - 1, columns))


def _label_sets(found: ParsedFile) -> list[tuple[float, ...]]:
    labels, ends = found.labels.finish().tolist(), found.label_ends.finish().tolist()
    return [tuple(sorted(labels[a:b])) for a, b in itertools.pairwise([0, *ends])]

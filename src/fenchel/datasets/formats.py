"""Read and write data files by their endings: svmlight text, tables and .npz."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fenchel.core.errors import Argument, InputError
from fenchel.core.validation import checked_choice, checked_whole
from fenchel.datasets.data import Data
from fenchel.datasets.npz import read_npz, write_npz
from fenchel.datasets.row_store.manifest import is_store
from fenchel.datasets.svmlight.query_detection import has_queries
from fenchel.datasets.svmlight.reader import read_parts
from fenchel.datasets.svmlight.writer import write_svmlight
from fenchel.datasets.tables.encoding import Encoding
from fenchel.datasets.tables.read import read_table, write_table
from fenchel.datasets.text_files import OPENERS, writing

ENDINGS = {".csv": "csv", ".tsv": "tsv", ".parquet": "parquet", ".pq": "parquet", ".npz": "npz"}
SVMLIGHT = ("", ".svm", ".svmlight", ".libsvm", ".txt", ".dat")  # endings accepted for writing; any other may be a typing error
FORMATS = ("csv", "npz", "parquet", "svmlight", "tsv")


def read(
    path: str | Path,
    *,
    target: str | None = None,
    features: int | str | Sequence[str] | None = None,
    format: str | None = None,
    sample_weight: str | None = None,
    encoding: Encoding | None = None,
    dtype: Any = np.float64,
    drop: str | Sequence[str] = (),
    missing: str | None = None,
    max_categories: int | None = None,
    index_base: int | str = "auto",
    max_bytes: int | None = None,
) -> Data:
    """Read a file in the format of its ending or ``format``: .csv, .tsv, .parquet, .npz; any other ending is svmlight text.

    A store, the folder that ``convert`` writes, is opened and not read.

    Text may be compressed (.gz, .bz2, .xz). For a table, ``target`` names the column to predict, ``features`` those to train on, ``drop``
    those to leave out and ``sample_weight`` the one with the sample weights; ``Encoding`` explains how columns become features and what
    ``missing`` and ``max_categories`` do. To predict, read a table with the ``encoding`` of the training table. For svmlight text,
    ``features`` is the number of columns, and ``index_base`` the index of the first, as in ``read_svmlight``.

    Memory and time are proportional to the file. A compressed file may expand to 64 MiB (.npz and .parquet to 256 MiB) or 200 times its
    size (svmlight text 100 times), whichever is larger; ``max_bytes`` or the environment variable ``FENCHEL_MAX_BYTES`` sets another limit.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "cars.csv"
    ...     _ = file.write_text("hp,fuel,class\\n90,diesel,old\\n120,petrol,new\\n")
    ...     data = read(file)
    >>> data.feature_names, data.X.tolist(), data.y.tolist()
    (('hp', 'fuel=diesel', 'fuel=petrol'), [[90.0, 1.0, 0.0], [120.0, 0.0, 1.0]], ['old', 'new'])
    """
    path = Path(path)
    if is_store(path):
        options = {"target": target, "features": features, "format": format, "sample_weight": sample_weight, "drop": drop or None}
        return _open_store(path, encoding, {**options, "missing": missing, "max_categories": max_categories})
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a directory: give a file in it.")
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}: check the path.")
    format = format_of(path, format)
    if np.dtype(dtype) not in (np.float32, np.float64):
        raise InputError(Argument("dtype", dtype), ": give numpy.float32 or numpy.float64.")
    options = {"target": target, "sample_weight": sample_weight, "missing": missing, "max_categories": max_categories, "drop": drop or None}
    given = {name: value for name, value in options.items() if value is not None}
    if format in ("csv", "tsv", "parquet"):
        data = _read_table(path, format, features, encoding, given, dtype, max_bytes)
    else:
        for name in [*given, *(["encoding"] if encoding is not None else [])]:
            raise InputError(
                Argument(name, ...), f" is for tables, and {path} is read as {format}: leave it out, or give ", Argument("format", ...), "."
            )
        if format == "svmlight":
            data = _read_svmlight(path, features, dtype, index_base, max_bytes)
        else:
            data = _read_npz(path, features, dtype, max_bytes)
    return replace(data, name=path.name)


def _open_store(path: Path, encoding: Encoding | None, options: dict[str, Any]) -> Data:
    from fenchel.datasets.row_store.stored_data import open

    for name, value in options.items():
        if value is not None:
            raise InputError(Argument(name, ...), f" was chosen when {path} was converted: leave it out.")
    data = open(path)
    if encoding is not None and (data.encoding is None or data.encoding.columns != encoding.columns):
        raise InputError(f"{path} has other columns than the model: convert the data again with --like and the store of the training rows.")
    return data


def _read_table(
    path: Path, format: str, features: Any, encoding: Encoding | None, given: dict[str, Any], dtype: Any, max_bytes: int | None
) -> Data:
    if isinstance(features, int):
        raise InputError(Argument("features", features), ": for a table give a list of columns.")
    if encoding is None:
        table = read_table(path, format, [], max_bytes)
        return Encoding.fit(table, features=features, **given).transform(table, dtype)
    for name in [*given, *(["features"] if features is not None else [])]:
        raise InputError(Argument(name, ...), " is determined by the encoding: leave it out.")
    return encoding.transform(read_table(path, format, encoding.text_columns(), max_bytes), dtype)


def format_of(path: Path, format: str | None) -> str:
    """The given format, else that of the file's ending."""
    if format is not None:
        return checked_choice("format", {"libsvm": "svmlight"}.get(format, format), FORMATS)
    return ENDINGS.get(_ending(path), "svmlight")


def _ending(path: Path) -> str:
    plain = path.with_suffix("") if path.suffix in OPENERS else path
    return plain.suffix.lower()


def format_to_write(path: Path, format: str | None) -> str:
    """The format to write: the given one, else that of the ending, which must be a known one."""
    if format is None and _ending(path) not in (*ENDINGS, *SVMLIGHT):
        known = ", ".join([*ENDINGS, ".store", *SVMLIGHT[1:]])
        raise InputError(f"{path}: the ending {_ending(path)} belongs to no known format: use one of {known}, or give the format.")
    return format_of(path, format)


def _read_svmlight(path: Path, features: Any, dtype: Any, index_base: int | str, max_bytes: int | None) -> Data:
    columns = None if features is None else checked_whole("features", features)
    qid = has_queries(path, max_bytes)
    found = read_parts(path, columns, dtype, index_base, multilabel=False, qid=qid, max_bytes=max_bytes)
    return Data(found.X, found.y, qid=found.qid, index_base=found.index_base)


def _read_npz(path: Path, features: Any, dtype: Any, max_bytes: int | None) -> Data:
    if features is not None:
        raise InputError(Argument("features", ...), f" is for tables and svmlight text, and {path} is read as npz: leave it out.")
    return read_npz(path, dtype, max_bytes)


def write(path: str | Path, data: Data, *, format: str | None = None) -> None:
    """Write data to a file in the format of its ending or ``format``; the file is complete or not written at all.

    Svmlight text ends in .svm, .svmlight, .libsvm, .txt, .dat or has no ending; unknown endings are refused.
    A table gets one column per feature, also for sparse data, and the target as its last column: data with thousands of
    columns are better written as svmlight text or .npz. Svmlight text can hold neither names nor labels that are text.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(Path(folder) / "two.csv", Data(np.eye(2), np.array([1.0, -1.0])))
    ...     (Path(folder) / "two.csv").read_text().split()
    ['"x1","x2","target"', '1,0,1', '0,1,-1']
    """
    path = Path(path)
    format = format_to_write(path, format)
    if data.y is not None and len(data.y) != data.X.shape[0]:
        raise InputError(f"y has {len(data.y)} labels and X has {data.X.shape[0]} rows: give one label per row.")
    if format == "svmlight":
        _write_svmlight(path, data)
        return
    with writing(path) as file:
        if format == "npz":
            write_npz(file, data)
        else:
            write_table(file, data, format)


def _write_svmlight(path: Path, data: Data) -> None:
    if data.y is None or data.y.dtype.kind not in "fiub":
        raise InputError("Svmlight text needs a number as the label of each row: number the classes, or write a table or .npz.")
    if data.sample_weight is not None:
        raise InputError("Svmlight text cannot hold sample weights: write a table or .npz.")
    write_svmlight(path, data.X, data.y, qid=data.qid)

"""Convert files into a store in bounded memory; a conversion that was interrupted goes on where it was when it is started again"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from fenchel.core.errors import Argument, InputError
from fenchel.core.validation import checked_whole
from fenchel.datasets.row_store.checking import remember
from fenchel.datasets.row_store.manifest import Manifest, is_store, read_manifest
from fenchel.datasets.row_store.shuffling import shuffled
from fenchel.datasets.row_store.sources import TABLES, common_format, expanded
from fenchel.datasets.row_store.store_writer import StoreWriter, checksum_of, partial_folder, remove
from fenchel.datasets.row_store.svmlight_rows import Place, svmlight_rows
from fenchel.datasets.row_store.table_rows import TableRows
from fenchel.datasets.svmlight.parse import Rules
from fenchel.datasets.svmlight.query_detection import has_queries
from fenchel.datasets.tables.encoding import Encoding
from fenchel.linalg.storage import INT32_MAX

Told = Callable[["Progress"], None]


class Progress(NamedTuple):
    """How far a conversion is."""

    rows: int
    share: float  #: of the bytes of all files; nan if their size is not known


def convert(
    sources: str | os.PathLike[str] | IO[bytes] | Sequence[Any],
    output: str | os.PathLike[str],
    *,
    format: str | None = None,
    target: str | None = None,
    features: int | str | Sequence[str] | None = None,
    drop: str | Sequence[str] = (),
    missing: str | None = None,
    max_categories: int | None = None,
    sample_weight: str | None = None,
    dtype: Any = np.float64,
    index_base: int | str = "auto",
    like: str | os.PathLike[str] | None = None,
    shuffle: bool = False,
    seed: int = 0,
    max_bytes: int | None = None,
    callback: Told | None = None,
) -> None:
    """Convert files into a store, a folder of plain arrays that :func:`fenchel.datasets.open` opens, in bounded memory.

    ``sources`` are files of one format: svmlight text, plain or compressed, .csv, .tsv or .parquet; patterns such as ``part-*.svm`` are
    replaced by the files that match. Svmlight text may also be a file opened in binary mode, such as ``sys.stdin.buffer``. The options
    are those of :func:`fenchel.datasets.read`; a table is read twice, first for its encoding. ``like`` is another store whose columns
    the new one gets: that of the training rows, for rows to predict. ``shuffle`` brings the rows into random order once, also in bounded
    memory. Everything is written under a temporary name beside the store. When a conversion that was interrupted is started again with
    the same arguments, it goes on where it was; text on standard input begins again.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "cars.csv").write_text("hp,fuel,class\\n90,diesel,old\\n120,petrol,new\\n")
    ...     convert(Path(folder, "cars.csv"), Path(folder, "cars.store"))
    ...     sorted(file.name for file in Path(folder, "cars.store").iterdir())
    ['data.npy', 'manifest.json', 'y.npy']
    """
    files, place = expanded(sources), Path(output)
    if np.dtype(dtype) not in (np.float32, np.float64):
        raise InputError(Argument("dtype", dtype), ": give numpy.float32 or numpy.float64.")
    _check_place(place, files)
    options = {"target": target, "drop": drop, "missing": missing, "max_categories": max_categories, "sample_weight": sample_weight}
    kind, given = common_format(files, format, options)
    request = {"files": [_described(file) for file in files], "format": kind, "dtype": np.dtype(dtype).str, "features": features, **given}
    model = None if like is None else _like(Path(like), kind, {**given, **({} if features is None else {"features": features})})
    if model is not None and kind not in TABLES:
        features, index_base = model.features, model.index_base if model.index_base is not None else index_base
    request |= {"index_base": index_base, "like": None if model is None else [model.features, model.encoding]}
    unshuffled = place.with_name(f".{place.name}.unshuffled") if shuffle else place
    try:
        if not (shuffle and is_store(unshuffled) and _is_of(unshuffled, request)):
            if kind in TABLES:
                encoding = None if model is None or model.encoding is None else Encoding.from_json(model.encoding)
                rows = TableRows(files, kind, features, given, np.dtype(dtype), max_bytes)
                _from_tables(rows, encoding, unshuffled, request, callback)
            else:
                count = None if features is None else checked_whole("features", features)
                _from_svmlight(files, unshuffled, request, np.dtype(dtype), index_base, count, max_bytes, callback)
    except InputError:
        remove(partial_folder(unshuffled))  # nothing can go on from files that have to be corrected first
        raise
    if shuffle:
        shuffled(unshuffled, place, seed)
    else:  # what a process that was killed while it removed them has left
        for name in (".unshuffled", ".buckets"):
            remove(place.with_name(f".{place.name}{name}"))
    remember(place, read_manifest(place))


def _like(path: Path, kind: str, given: dict[str, Any]) -> Manifest:
    """The manifest of a store whose columns are to be used."""
    for name in given:
        raise InputError(Argument(name, ...), " is determined by ", Argument("like", os.fspath(path)), ": leave one of them out.")
    found = read_manifest(path)
    if (found.encoding is not None) != (kind in TABLES):
        raise InputError(f"{path} was not made from files of the format {kind}: give a store that was.")
    return found


def _check_place(place: Path, files: list[Any]) -> None:
    if not place.absolute().parent.is_dir():
        raise FileNotFoundError(f"{place}: there is no directory {place.absolute().parent}; make it first.")
    if place.exists() and not is_store(place):
        raise FileExistsError(f"{place} exists and is no store: give another name.")
    for file in files:
        if isinstance(file, Path) and not file.exists():
            raise FileNotFoundError(f"There is no file {file}: check the path.")
        if isinstance(file, Path) and file.is_dir():
            raise IsADirectoryError(f"{file} is a directory: give files.")


def _is_of(store: Path, request: dict[str, Any]) -> bool:
    """Whether a store was made from these files, with these options; the encoding of tables, which is found on the way, belongs to them."""
    found = read_manifest(store)
    return found.request in (checksum_of(request), checksum_of({**request, "encoding": found.encoding}))


def _described(file: Any) -> Any:
    """What tells a file from another, or from itself after a change."""
    if not isinstance(file, Path):
        return None
    status = file.stat()
    return [os.fspath(file), status.st_size, status.st_mtime_ns]


def _names(files: list[Any]) -> list[str]:
    return [file.name if isinstance(file, Path) else "-" for file in files]


def _sizes(files: list[Any]) -> list[int]:
    return [file.stat().st_size if isinstance(file, Path) else 0 for file in files]


def _from_svmlight(
    files: list[Any],
    output: Path,
    request: dict[str, Any],
    dtype: np.dtype[Any],
    index_base: int | str,
    features: int | None,
    max_bytes: int | None,
    callback: Told | None,
) -> Manifest:
    from fenchel.datasets.svmlight.reader import BASES

    if index_base not in BASES:
        raise InputError(Argument("index_base", index_base), ": give 0 or 1, the index of the first column, or 'auto'.")
    regular = all(isinstance(file, Path) and file.is_file() for file in files)
    qid = bool(regular) and has_queries(files[0], max_bytes)
    rules = Rules(BASES[index_base], features, dtype, False, qid)
    writer = StoreWriter(output, request)
    state = writer.position if writer.position is not None and regular else None
    if writer.position is not None and state is None:  # a pipe cannot be read again
        writer.close()
        writer = StoreWriter(output, {**request, "again": os.urandom(8).hex()})
    state = state or {"file": 0, "place": [0, 0], "lowest": None, "highest": -1, "base": rules.base}
    sizes = _sizes(files)
    try:
        for number in range(state["file"], len(files)):
            place = Place(*state["place"]) if number == state["file"] else Place()
            for rows in svmlight_rows(files[number], rules, place, max_bytes):
                if len(rows.indices):
                    state["lowest"] = rows.lowest if state["lowest"] is None else min(rows.lowest, state["lowest"])
                    state["highest"] = max(rows.highest, state["highest"])
                if state["base"] is None:  # taken to be 1 unless the index 0 occurs at once; if it does later, all are shifted at the end
                    state["base"] = 0 if rows.lowest == 0 else 1
                if state["highest"] - state["base"] > INT32_MAX:
                    raise InputError(
                        f"The index {state['highest']:,} is past the {INT32_MAX:,} columns that fenchel addresses: hash the columns."
                    )
                writer.append_rows(rows.values.astype(dtype, copy=False), rows.ends, rows.indices - state["base"], rows.labels)
                if rows.qids is not None:
                    writer.append("qid", rows.qids)
                state |= {"file": number, "place": list(rows.place)}
                writer.commit(state)
                if callback is not None:
                    done = sum(sizes[:number]) + min(rows.place.bytes, sizes[number])
                    callback(Progress(writer.rows, done / sum(sizes) if all(sizes) else float("nan")))
            state |= {"file": number + 1, "place": [0, 0]}
        base = 0 if rules.base is None and state["lowest"] == 0 else state["base"]
        needed = state["highest"] - base + 1
        if features is not None and needed > features:
            raise InputError(f"The index {state['highest']} exceeds ", Argument("features", features), ", because the index 0 occurs too.")
        writer.commit(state, at_once=True)
        width = features or max(needed, 1)
        return writer.finish(width, state["base"] - base, index_base=base, sources=_names(files))
    finally:
        writer.close()


def _from_tables(rows: TableRows, encoding: Encoding | None, output: Path, request: dict[str, Any], callback: Told | None) -> Manifest:
    encoding = rows.encoding() if encoding is None else rows.with_encoding(encoding)
    writer = StoreWriter(output, {**request, "encoding": encoding.to_json()})
    state = writer.position or {"batch": 0, "classes": [], "sparse": None}
    classes: dict[str, int] = {name: k for k, name in enumerate(state["classes"])}
    try:
        for number, data, share in rows.batches(encoding, state["batch"]):
            _append_batch(writer, data, state, classes)
            state |= {"batch": number + 1, "classes": list(classes)}
            writer.commit(state)
            if callback is not None:
                callback(Progress(writer.rows, share))
        writer.commit(state, at_once=True)
        facts: dict[str, Any] = {"encoding": encoding.to_json(), "feature_names": list(encoding.feature_names)}
        facts |= {"target_name": encoding.target.name if encoding.target else None, "sources": _names(rows.files)}
        return writer.finish(len(encoding.feature_names), classes=state["classes"] or None, **facts)
    finally:
        writer.close()


def _append_batch(writer: StoreWriter, data: Any, state: dict[str, Any], classes: dict[str, int]) -> None:
    """Write the rows of a batch, all batches in the form of the first."""
    import scipy.sparse as sp

    if state["sparse"] is None:
        state["sparse"] = sp.issparse(data.X)
    y = data.y
    if y is not None and y.dtype.kind in "US":
        names, codes = np.unique(y, return_inverse=True)
        numbers = [classes.setdefault(str(name), len(classes)) for name in names]
        y = np.array(numbers, dtype=np.int32)[codes]
    if state["sparse"]:
        X = sp.csr_array(data.X)
        X.sort_indices()
        writer.append_rows(X.data, X.indptr[1:], X.indices, y)
    else:
        writer.append_rows(data.X.toarray() if sp.issparse(data.X) else data.X, None, None, y)
    if data.sample_weight is not None:
        writer.append("weights", data.sample_weight)

"""What a store says of itself: ``manifest.json``, which is validated, because it may come from an untrusted source"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fenchel.core.atomic_files import replacing
from fenchel.core.errors import InputError
from fenchel.datasets.row_store.array_file import HEADER
from fenchel.linalg.storage import INT32_MAX

FORMAT, VERSION = "fenchel store", 1
FILE = "manifest.json"
LONGEST = 1 << 28  # bytes of a manifest
MOST_ROWS = 2**53
DTYPES = {"data": ("<f4", "<f8"), "indices": ("<i4",), "indptr": ("<i4", "<i8"), "y": ("<f8", "<i4"), "qid": ("<i8",), "weights": ("<f8",)}


@dataclass(frozen=True)
class ArrayFacts:
    """An array: its type, the number of its entries, and the checksums of its blocks."""

    dtype: str
    entries: int
    checksums: list[int]


@dataclass(frozen=True)
class Manifest:
    """The arrays of a store and what they mean."""

    rows: int
    features: int
    arrays: dict[str, ArrayFacts]
    classes: list[str] | None = None  #: the texts that the labels are numbers of
    values: list[float] | None = None  #: the different labels, if they are few
    feature_names: list[str] | None = None
    target_name: str | None = None
    encoding: str | None = None  #: of a table, as JSON text
    index_base: int | None = None
    shuffled: bool = False
    sources: list[str] = field(default_factory=list)
    request: str = ""  #: a checksum of the files and options that it was made from

    @property
    def is_sparse(self) -> bool:
        """Whether X is a sparse matrix."""
        return "indices" in self.arrays

    @property
    def size(self) -> int:
        """Bytes of all arrays."""
        return sum(facts.entries * np.dtype(facts.dtype).itemsize for facts in self.arrays.values())

    def shape_of(self, name: str) -> tuple[int, ...]:
        """The shape of an array."""
        return (self.rows, self.features) if name == "data" and not self.is_sparse else (self.arrays[name].entries,)

    def write(self, folder: Path) -> None:
        """Write it to a folder."""
        text = json.dumps({"format": FORMAT, "version": VERSION, **asdict(self)}, ensure_ascii=False, allow_nan=False, indent=1)
        with replacing(folder / FILE) as file:
            file.write_text(text + "\n", encoding="utf-8")


def is_store(path: Path) -> bool:
    """Whether a path is a folder with a manifest."""
    return path.is_dir() and (path / FILE).is_file()


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a store; an error if it is missing, damaged or of a later version."""
    if folder.is_file():
        raise InputError(f"{folder} is a file and no store: convert it with fenchel convert, or read it with fenchel.datasets.read.")
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no store {folder}: check the path.")
    path = folder / FILE
    if not path.is_file():
        raise InputError(f"{folder} is no store: it has no {FILE}, which fenchel convert writes.")
    if path.stat().st_size > LONGEST:
        raise InputError(f"{path} is damaged: it is too long.")
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(found, dict) and found.get("format") == FORMAT and found.get("version") != VERSION:
            raise InputError(
                f"{folder} has version {found.get('version')!r} of the format, and this fenchel reads {VERSION}: update fenchel."
            )
        return _checked(found)
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} is damaged ({str(error)[:100]}): convert the data again.") from None


def _checked(found: Any) -> Manifest:
    _need(isinstance(found, dict) and found.get("format") == FORMAT, "it is not the manifest of a store")
    arrays = {name: _facts(name, facts) for name, facts in _mapping(found["arrays"]).items()}
    rows, features = _count(found["rows"]), _count(found["features"])
    _need(1 <= rows <= MOST_ROWS and 1 <= features <= INT32_MAX, "it has no rows or columns, or too many")
    _need("data" in arrays and ("indices" in arrays) == ("indptr" in arrays), "an array is missing")
    if "indices" in arrays:
        _need(
            arrays["indptr"].entries == rows + 1 and arrays["indices"].entries == arrays["data"].entries, "its arrays do not fit together"
        )
    else:
        _need(arrays["data"].entries == rows * features, "its arrays do not fit together")
    _need(all(arrays[name].entries == rows for name in ("y", "qid", "weights") if name in arrays), "its arrays do not fit together")
    classes = _texts(found.get("classes"))
    _need((classes is not None) == ("y" in arrays and arrays["y"].dtype == "<i4"), "its classes do not fit its labels")
    names = _texts(found.get("feature_names"))
    _need(names is None or len(names) == features, "it does not name every column")
    target, encoding, base = found.get("target_name"), found.get("encoding"), found.get("index_base")
    _need(isinstance(target, str | None) and isinstance(encoding, str | None) and base in (None, 0, 1), "a field has the wrong type")
    values = found.get("values")
    _need(values is None or all(isinstance(value, int | float) for value in values), "its labels are not numbers")
    return Manifest(
        rows,
        features,
        arrays,
        classes,
        values,
        names,
        target,
        encoding,
        base,
        bool(found.get("shuffled", False)),
        _texts(found.get("sources")) or [],
        str(found.get("request", "")),
    )


def _mapping(found: Any) -> dict[str, Any]:
    _need(isinstance(found, dict) and set(found) <= set(DTYPES), "it has unknown arrays")
    return dict(found)


def _facts(name: str, found: Any) -> ArrayFacts:
    _need(isinstance(found, dict) and found["dtype"] in DTYPES[name], f"the type of {name} is unknown")
    checksums = found["checksums"]
    _need(isinstance(checksums, list) and all(isinstance(value, int) for value in checksums), f"{name} has no checksums")
    return ArrayFacts(found["dtype"], _count(found["entries"]), checksums)


def _count(found: Any) -> int:
    _need(isinstance(found, int) and not isinstance(found, bool) and 0 <= found <= MOST_ROWS, "a count is not a whole number")
    return int(found)


def _texts(found: Any) -> list[str] | None:
    _need(found is None or (isinstance(found, list) and all(isinstance(text, str) for text in found)), "a list holds more than texts")
    return found


def _need(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


def file_of(folder: Path, name: str) -> Path:
    """The file of an array."""
    return folder / f"{name}.npy"


def check_sizes(folder: Path, manifest: Manifest) -> None:
    """Refuse a store with a file that is missing, too short or too long."""
    for name, facts in manifest.arrays.items():
        path = file_of(folder, name)
        if not path.is_file():
            raise InputError(f"{folder} is incomplete: {path.name} is missing; copy the store again, or convert the data again.")
        expected, size = HEADER + facts.entries * np.dtype(facts.dtype).itemsize, path.stat().st_size
        if size != expected:
            raise InputError(
                f"{path} is damaged: it has {size:,} bytes in place of {expected:,}; copy the store or convert the data again."
            )

"""Write a store piece by piece, so that a run that was killed goes on where it was

Everything is written to a folder with a temporary name beside the store, which becomes the store at the end. ``progress.json`` there says
how far all arrays are written, and what comes next; it is replaced after everything it speaks of is on disk.
"""

from __future__ import annotations

import json
import os
import shutil
import time
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from fenchel.core.atomic_files import replacing
from fenchel.core.errors import InputError
from fenchel.datasets.row_store.array_file import HEADER, ArrayWriter, Written, mapped
from fenchel.datasets.row_store.manifest import DTYPES, ArrayFacts, Manifest, file_of, is_store
from fenchel.linalg.storage import INT32_MAX

PROGRESS = "progress.json"
BETWEEN = 2.0  # seconds between two records of progress
FEW = 1000  # different labels that the manifest lists
AT_ONCE = 1 << 22  # entries rewritten at a time


def partial_folder(output: Path) -> Path:
    """The folder in which a store is written."""
    return output.with_name(f".{output.name}.converting")


def checksum_of(request: dict[str, Any]) -> str:
    """A checksum of what is converted, and how."""
    return f"{zlib.crc32(json.dumps(request).encode()):08x}"


def remove(folder: Path) -> None:
    """Remove a folder, which has another name at once: a process that is killed meanwhile leaves no half of it under its own."""
    removed = folder.with_name(f"{folder.name}.removed")
    shutil.rmtree(removed, ignore_errors=True)
    if folder.exists():
        os.replace(folder, removed)
        shutil.rmtree(removed, ignore_errors=True)


class StoreWriter:
    """The arrays of a store that is being written.

    ``request`` says what is converted, and how: a run goes on where an earlier one was only if that had the same request. ``position``
    is where in its sources that one was, or None for a new store.
    """

    def __init__(self, output: Path, request: dict[str, Any]) -> None:
        self.output, self.folder, self.request = output, partial_folder(output), request
        self.replaced = output.with_name(f".{output.name}.replaced")
        self._tidy()
        found = self._progress()
        self.position: Any = None
        if found is None:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir()
            self.arrays: dict[str, ArrayWriter] = {}
            self.rows, self.values = 0, set[float]()
        else:
            self.position, self.rows = found["position"], int(found["rows"])
            self.values = set(found["values"])
            self.arrays = {
                name: ArrayWriter(file_of(self.folder, name), dtype, Written(entries, checksums))
                for name, (dtype, entries, checksums) in found["arrays"].items()
            }
        self.committed = time.monotonic()

    def _tidy(self) -> None:
        """Complete what a process that was killed while it replaced a store has begun."""
        if self.replaced.exists() and not self.output.exists():
            os.replace(self.replaced, self.output)
        shutil.rmtree(self.replaced, ignore_errors=True)

    def _progress(self) -> Any:
        """What an earlier run with the same request recorded."""
        try:
            found = json.loads((self.folder / PROGRESS).read_text(encoding="utf-8"))
            complete = all(
                file_of(self.folder, name).stat().st_size >= HEADER + entries * np.dtype(dtype).itemsize
                for name, (dtype, entries, _) in found["arrays"].items()
            )
            return found if found["request"] == json.loads(json.dumps(self.request)) and complete else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def append(self, name: str, part: np.ndarray) -> None:
        """Write further entries of an array."""
        if name not in self.arrays:
            self.arrays[name] = ArrayWriter(file_of(self.folder, name), part.dtype)
        self.arrays[name].append(part)

    def append_rows(self, data: np.ndarray, ends: np.ndarray | None, indices: np.ndarray | None, y: np.ndarray | None) -> None:
        """Write rows: dense ones, or sparse ones with the ends of each, relative to the first entry."""
        if ends is None or indices is None:
            count = len(data)
        else:
            count, before = len(ends), self.arrays["indices"].entries if "indices" in self.arrays else 0
            if not self.rows:
                self.append("indptr", np.zeros(1, np.int32))
            if before + len(indices) > INT32_MAX and self.arrays["indptr"].dtype == np.int32:
                self._rewrite("indptr", np.dtype(np.int64))
            self.append("indptr", ends + np.int64(before))
            self.append("indices", indices.astype(np.int32, copy=False))
        self.append("data", data)
        self.rows += count
        if y is not None:
            self.append("y", y)
            if len(self.values) <= FEW:
                self.values.update(np.unique(y)[: FEW + 1].tolist())

    def commit(self, position: Any, at_once: bool = False) -> None:
        """Record the position in the sources up to which everything is written, if the last record is some time ago."""
        if not at_once and time.monotonic() - self.committed < BETWEEN:
            return
        arrays = {name: (array.dtype.str, *array.synchronised()) for name, array in self.arrays.items()}
        found = {"request": self.request, "position": position, "rows": self.rows, "values": sorted(self.values), "arrays": arrays}
        with replacing(self.folder / PROGRESS) as file:
            file.write_text(json.dumps(found), encoding="utf-8")
        self.committed = time.monotonic()

    def finish(self, features: int, shift: int = 0, **facts: Any) -> Manifest:
        """Complete the arrays and the manifest, and give the store its name. ``shift`` is added to all column numbers."""
        if not self.rows:
            raise InputError("There are no rows to convert: give files with rows.")
        if shift:
            self._rewrite("indices", np.dtype(np.int32), shift)
        described = {}
        for name, array in self.arrays.items():
            shape = (self.rows, features) if name == "data" and "indices" not in self.arrays else (array.entries,)
            described[name] = ArrayFacts(array.dtype.str, array.entries, array.checksums)
            assert array.dtype.str in DTYPES[name]
            array.finish(shape)
        values = sorted(self.values) if "y" in self.arrays and len(self.values) <= FEW and facts.get("classes") is None else None
        manifest = Manifest(self.rows, features, described, values=values, request=checksum_of(self.request), **facts)
        manifest.write(self.folder)
        if is_store(self.output):  # replaced as a whole: a store that is read at this moment keeps its files
            os.replace(self.output, self.replaced)
        os.replace(self.folder, self.output)
        (self.output / PROGRESS).unlink(missing_ok=True)  # until now an interrupted run could have gone on from it
        shutil.rmtree(self.replaced, ignore_errors=True)
        return manifest

    def _rewrite(self, name: str, dtype: np.dtype[Any], shift: int = 0) -> None:
        """Write an array again, with another type or with a number added; the old file stays until the new one is complete."""
        old = self.arrays[name]
        old.synchronised()
        source = mapped(old.path, old.dtype, (old.entries,))
        temporary = old.path.with_suffix(".new")
        new = ArrayWriter(temporary, dtype)
        for first in range(0, old.entries, AT_ONCE):
            new.append(source[first : first + AT_ONCE].astype(dtype) + dtype.type(shift))
        old.close()
        os.replace(temporary, old.path)
        new.path = old.path
        self.arrays[name] = new

    def close(self) -> None:
        """Leave the arrays as they are, for a later run."""
        for array in self.arrays.values():
            array.close()

"""Whether the arrays of a store are what its manifest says: read once, then remembered for as long as the files do not change

Kernels read rows without checking bounds, so that every index is checked, not only the checksums, which anyone can compute. What was
checked is remembered in the user's cache directory by the size and the times of change of every file, not in the store.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from fenchel.core import kernel_cache
from fenchel.core.atomic_files import replacing
from fenchel.core.compiled import kernel
from fenchel.core.errors import InputError
from fenchel.core.threads import available_threads, in_parallel
from fenchel.datasets.row_store.array_file import checksums_of
from fenchel.datasets.row_store.manifest import FILE, Manifest, file_of
from fenchel.linalg.storage import are_finite
from fenchel.linalg.views import writable

ROWS_AT_ONCE = 1 << 16


def check(folder: Path, manifest: Manifest, arrays: dict[str, np.ndarray]) -> None:
    """Read all arrays and compare them with the manifest, unless that was done before and no file has changed since."""
    record, state = _record(folder), _state(folder, manifest)
    if record is not None and _remembered(record) == state:
        return
    jobs = [(_check_checksums, file_of(folder, name), array, manifest.arrays[name].checksums) for name, array in arrays.items()]
    in_parallel(jobs, available_threads())
    _check_rows(folder, manifest, arrays)
    remember(folder, manifest)


def remember(folder: Path, manifest: Manifest) -> None:
    """Take the arrays as checked until a file changes."""
    record = _record(folder)
    if record is None:
        return
    try:
        record.parent.mkdir(parents=True, exist_ok=True)
        with replacing(record) as file:
            file.write_text(json.dumps(_state(folder, manifest)), encoding="utf-8")
    except OSError:
        pass  # it will be checked again


def _record(folder: Path) -> Path | None:
    """The file that remembers a store."""
    cache = kernel_cache.cache_directory()
    if cache is None:
        return None
    return cache.parent.parent / "stores" / f"{hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:32]}.json"


def _remembered(record: Path) -> Any:
    try:
        return json.loads(record.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _state(folder: Path, manifest: Manifest) -> dict[str, list[int]]:
    files = [folder / FILE, *(file_of(folder, name) for name in manifest.arrays)]
    return {path.name: [(status := path.stat()).st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino] for path in files}


def _check_checksums(path: Path, array: np.ndarray, expected: list[int]) -> None:
    found = checksums_of(array)
    wrong = [k for k, (a, b) in enumerate(zip(found, expected, strict=False)) if a != b]
    if len(found) != len(expected) or wrong:
        where = f"block {wrong[0] + 1} of {len(found)} differs from its checksum" if wrong else "it has another number of blocks"
        raise InputError(f"{path} is damaged: {where}; copy the store again, or convert the data again.")


def _check_rows(folder: Path, manifest: Manifest, arrays: dict[str, np.ndarray]) -> None:
    if not manifest.is_sparse:
        m = manifest.rows
        if not all(are_finite(arrays["data"][first : first + ROWS_AT_ONCE]) for first in range(0, m, ROWS_AT_ONCE)):
            raise InputError(f"{file_of(folder, 'data')} holds values that are not finite: convert the data again.")
    else:
        data, indices, indptr = (writable(arrays[name]) for name in ("data", "indices", "indptr"))
        ends = np.diff(indptr)
        if indptr[0] != 0 or indptr[-1] != len(indices) or (ends < 0).any():
            raise InputError(f"{file_of(folder, 'indptr')} is damaged: it does not describe the rows; convert the data again.")
        threads = available_threads()
        bounds = [manifest.rows * k // threads for k in range(threads + 1)]
        bad = np.full(threads, -1, dtype=np.int64)
        ranges = enumerate(itertools.pairwise(bounds))
        in_parallel([(find_bad_row, data, indices, indptr, manifest.features, a, b, bad[k : k + 1]) for k, (a, b) in ranges])
        if (bad >= 0).any():
            row = int(bad[bad >= 0][0])
            raise InputError(f"{folder} is damaged: row {row:,}, counting from 0, has a wrong column or value; convert the data again.")
    for name in ("y", "weights"):
        if name in arrays and arrays[name].dtype.kind == "f" and not np.isfinite(arrays[name]).all():
            raise InputError(f"{file_of(folder, name)} holds values that are not finite: convert the data again.")
    if manifest.classes is not None and not (arrays["y"].min() >= 0 and arrays["y"].max() < len(manifest.classes)):
        raise InputError(f"{file_of(folder, 'y')} is damaged: it holds a class that has no name; convert the data again.")


@kernel
def find_bad_row(data, indices, indptr, features, first, last, bad):
    """The first row whose columns are not ascending from 0 to below ``features``, or with a value that is not finite."""
    for i in range(first, last):
        before = -1
        total = 0.0
        for e in range(np.uintp(indptr[i]), np.uintp(indptr[i + 1])):
            j = indices[e]
            if j <= before or j >= features:
                bad[0] = i
                return
            before = j
            total += 0.0 * data[e]
        if total != 0.0:  # NaN is not equal to itself
            bad[0] = i
            return

"""Open a store: data whose rows stay on disk until they are read"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from fenchel.datasets.data import Data
from fenchel.datasets.row_store import checking
from fenchel.datasets.row_store.array_file import loaded, mapped
from fenchel.datasets.row_store.manifest import Manifest, check_sizes, file_of, read_manifest

MAPPED = ("data", "indices", "indptr")


def open(path: str | os.PathLike[str]) -> Data:
    """The data of a store, a folder that ``fenchel convert`` or :func:`fenchel.datasets.convert` has written.

    X is an ordinary array or sparse matrix whose entries are mapped, not read: they take no memory of the process's own, and the system
    keeps in its cache what fits. Labels are in memory. When a store is opened for the first time, or after a file has changed, it is
    read once and compared with its checksums.

    >>> import fenchel as fl, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "two.svm").write_text("+1 1:0.5 3:2\\n-1 2:1\\n")
    ...     fl.datasets.convert(Path(folder, "two.svm"), Path(folder, "two.store"))
    ...     fl.datasets.open(Path(folder, "two.store"))
    Data('two.store': 2 rows x 3 features, csr float64, 3 stored values (50.00%); labels -1, 1)
    """
    folder = Path(path)
    manifest = read_manifest(folder)
    check_sizes(folder, manifest)
    arrays = arrays_of(folder, manifest)
    checking.check(folder, manifest, arrays)
    return _data(folder, manifest, arrays)


def arrays_of(folder: Path, manifest: Manifest) -> dict[str, np.ndarray]:
    """All arrays of a store: the entries of X mapped, the others in memory."""
    return {name: _array(folder, manifest, name) for name in manifest.arrays}


def _array(folder: Path, manifest: Manifest, name: str) -> np.ndarray:
    facts = manifest.arrays[name]
    if name in MAPPED:
        return mapped(file_of(folder, name), facts.dtype, manifest.shape_of(name))
    return loaded(file_of(folder, name), facts.dtype, facts.entries)


def _data(folder: Path, manifest: Manifest, arrays: dict[str, np.ndarray]) -> Data:
    y: Any = arrays.get("y")
    if manifest.classes is not None:
        y = np.array(manifest.classes)[y]
    encoding = None
    if manifest.encoding is not None:
        from fenchel.datasets.tables.encoding import Encoding

        encoding = Encoding.from_json(manifest.encoding)
    return Data(
        _rows(manifest, arrays),
        y,
        manifest.feature_names,
        manifest.target_name,
        arrays.get("qid"),
        folder.name,
        encoding,
        arrays.get("weights"),
        manifest.index_base,
    )


def _rows(manifest: Manifest, arrays: dict[str, np.ndarray]) -> Any:
    """X, marked as checked, so that no problem on it reads all of it for that."""
    if not manifest.is_sparse:
        X: Any = arrays["data"]
    else:
        X = sp.csr_array((manifest.rows, manifest.features), dtype=arrays["data"].dtype)
        X.data, X.indices, X.indptr = (arrays[name] for name in MAPPED)  # the constructor would copy them
        X.has_sorted_indices = X.has_canonical_format = True
    if hasattr(X, "__dict__"):
        X.is_checked = True
    return X

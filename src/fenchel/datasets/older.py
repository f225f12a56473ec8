"""Stand-ins for ``files.py``, ``svmlight.py`` and ``write.py``, to be deleted when those are here."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from fenchel.datasets.read import OPENERS
from fenchel.datasets.read import read_svmlight as read_plain

__all__ = ["OPENERS", "read_svmlight", "replacing", "write_svmlight"]


def read_svmlight(path: Path, features: int | None = None, *, dtype: Any = np.float64, qid: bool = False) -> tuple[Any, ...]:
    """X, y, and with ``qid`` the query of each row."""
    from sklearn.datasets import load_svmlight_file

    if not qid:
        X, y = read_plain(path, features)
        return X.astype(dtype, copy=False), y
    with OPENERS.get(path.suffix, open)(path, "rb") as file:
        X, y, queries = load_svmlight_file(file, n_features=features, query_id=True, dtype=dtype)
    return sp.csr_array(X), y, queries


def write_svmlight(path: Path, X: Any, y: np.ndarray, *, qid: np.ndarray | None = None) -> None:
    """Write svmlight text, indices from 1."""
    from sklearn.datasets import dump_svmlight_file

    with replacing(path) as file:
        dump_svmlight_file(X, y, file, zero_based=False, query_id=qid)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Any]:
    """A file to write, compressed as its name says, that takes the place of what was there once all of it is written."""
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"{path}: there is no directory {path.absolute().parent}.")
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.absolute().parent)
    os.close(handle)
    try:
        with OPENERS.get(path.suffix, open)(name, "wb") as file:
            yield file
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise

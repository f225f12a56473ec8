"""Data from files."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def read_svmlight(path: str | Path, features: int | None = None) -> tuple[sp.csr_array, np.ndarray]:
    """Rows and labels of a file in svmlight text, plain or compressed with gz, bz2 or xz.

    ``features`` is the number of columns, by default the highest index that occurs: give test rows those of the training rows.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "two.txt"
    ...     _ = file.write_text("+1 1:0.5 3:2\\n-1 2:1\\n")
    ...     X, y = read_svmlight(file)
    >>> X.shape, y.tolist()
    ((2, 3), [1.0, -1.0])
    """
    from sklearn.datasets import load_svmlight_file

    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}: check the path.")
    try:
        with OPENERS.get(path.suffix, open)(path, "rb") as file:
            X, y = load_svmlight_file(file, n_features=features)
    except (ValueError, OSError, EOFError, lzma.LZMAError) as error:
        raise ValueError(f"{path} is not svmlight text (label index:value ...): {error}.") from None
    if X.nnz < 2**31:
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return sp.csr_array(X), y

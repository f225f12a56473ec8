"""Row views on the arrays of a SciPy matrix, and arrays as kernels take them"""

from __future__ import annotations

from typing import Any

import numpy as np

from fenchel.linalg.rows import CsrRows


def csr_rows(X: Any) -> CsrRows:
    """The rows of a CSR matrix, or the columns of a CSC matrix."""
    return CsrRows(writable(X.data), writable(X.indices), writable(X.indptr))


class _Alias:
    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.__array_interface__ = {**array.__array_interface__, "data": (array.ctypes.data, False)}


def writable(array: np.ndarray) -> np.ndarray:
    """The same memory as a plain array that is not marked read-only.

    Numba would compile every kernel a second time for read-only arrays (memory maps, shared data); kernels never write to X.
    """
    if array.flags.writeable and type(array) is np.ndarray:
        return array
    return np.asarray(_Alias(array))

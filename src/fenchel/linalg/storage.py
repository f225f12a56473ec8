"""The storage of X: a NumPy array or a SciPy sparse matrix, checked once, copied only where its layout forces it

Kernels read without checking bounds, so that a damaged, masked or non-finite matrix is refused here, with the position of the fault.
"""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import scipy.sparse as sp

from fenchel.core.errors import InputError
from fenchel.linalg.row_kernels import has_repeated, sum_of_zeros
from fenchel.linalg.views import writable

log = logging.getLogger("fenchel")
INT32_MAX = 2**31 - 1
NOT_NUMBERS = "X must hold real numbers: encode text, dates and categories as numeric columns first."


def as_storage(X: Any, check_finite: bool = True) -> Any:
    """X as an array in C or Fortran order, or a CSR or CSC matrix without repeated indices, of float32 or float64.

    Indices need not be sorted: those of scikit-learn's text features are not, and sorting them takes as long as several passes.
    ``check_finite=False`` skips the search for values that are not finite, for an X that has been checked already.
    """
    if getattr(X, "is_checked", False):  # a store's, which was checked when it was opened
        return X
    storage = _sparse_storage(X) if sp.issparse(X) else _dense_storage(X)
    if check_finite:
        _check_finite(storage)
    m, n = storage.shape
    if m == 0 or n == 0:
        raise InputError(f"X has no {'rows' if m == 0 else 'columns'} (its shape is {m} x {n}): give at least one.")
    if n > INT32_MAX:
        raise InputError(
            f"X has {n:,} columns, past the {INT32_MAX:,} that fenchel addresses: drop the columns that are never used, or hash them."
        )
    return storage


def _dense_storage(X: Any) -> np.ndarray:
    if np.ma.is_masked(X):
        raise InputError("X is a masked array with masked entries: fill or drop them before fitting.")
    values = np.asarray(X)
    if values.ndim != 2:
        raise InputError(
            f"X must be a matrix of rows and columns; it has {values.ndim} dimension(s): reshape it, for instance with X.reshape(-1, 1)."
        )
    if values.dtype not in (np.float32, np.float64):
        values = _as_float64(values)
    if not (values.flags.c_contiguous or values.flags.f_contiguous):
        log.debug("X is a strided view; kernels need C or Fortran order: copying %d values.", values.size)
        values = np.ascontiguousarray(values)
    return values


def _as_float64(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind not in "fiubO":
        raise InputError(NOT_NUMBERS)
    log.debug("X is %s; kernels need float32 or float64: copying %d values.", values.dtype, values.size)
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(NOT_NUMBERS) from None


def _sparse_storage(X: Any) -> Any:
    if X.ndim != 2:
        raise InputError(f"X must be a matrix of rows and columns; it has {X.ndim} dimension(s).")
    if X.format == "coo" and X.nnz and any(c.min() < 0 or c.max() >= size for c, size in zip(X.coords, X.shape, strict=True)):
        raise InputError("X is a damaged COO matrix: it holds an index outside its shape.")
    if X.format not in ("csr", "csc"):
        log.debug("X is %s; kernels need CSR or CSC: copying %d values.", X.format, X.nnz)
        X = X.tocsr()
    if X.dtype not in (np.float32, np.float64):
        if X.dtype.kind not in "fiub":
            raise InputError(f"X must hold real numbers, not {X.dtype}.")
        log.debug("X is %s; kernels need float32 or float64: copying %d values.", X.dtype, X.nnz)
        X = X.astype(np.float64)
    _check_indices(X)
    X = _with_plain_indices(X)
    if not X.has_canonical_format and _has_repeated_indices(X):
        log.debug("X has repeated indices; kernels need unique ones: copying %d values.", X.nnz)
        X = X.copy()
        X.sum_duplicates()
    return X


def _with_plain_indices(X: Any) -> Any:
    """The same matrix with contiguous arrays and indices of one type: for every other layout Numba would compile all kernels again."""
    parts = X.data, X.indices, X.indptr
    fits = len(X.indices) <= np.iinfo(X.indices.dtype).max
    if all(part.flags.c_contiguous and part.dtype.isnative for part in parts) and (X.indptr.dtype == X.indices.dtype or not fits):
        return X
    log.debug("X has strided arrays, or indices of several types or of another machine: copying up to %d values.", X.nnz)
    kind = (X.indices if fits else X.indptr).dtype.newbyteorder("=")
    plain = type(X)(X.shape, dtype=X.dtype)  # of which the constructor would choose the type of the indices
    plain.data, plain.indices, plain.indptr = (
        np.ascontiguousarray(X.data),
        np.ascontiguousarray(X.indices, kind),
        np.ascontiguousarray(X.indptr, kind),
    )
    return plain


def with_sorted_indices(X: Any) -> Any:
    """The same array, or sparse matrix with ascending indices in every row or column; copied if they are not."""
    if not sp.issparse(X) or X.has_sorted_indices:
        return X
    return X.tocsc().tocsr() if X.format == "csr" else X.tocsr().tocsc()  # half the time of sorting every row


def _has_repeated_indices(X: Any) -> bool:
    """Whether a row, or a column, has two entries at the same place."""
    width = X.shape[1 if X.format == "csr" else 0]
    return bool(has_repeated(writable(X.indices), writable(X.indptr), np.full(width, -1, dtype=np.int64)))


def _check_finite(storage: Any) -> None:
    """Refuse NaN and infinity, with their position."""
    sparse = sp.issparse(storage)
    bad = _first_nonfinite(storage.data[: storage.indptr[-1]] if sparse else storage)
    if bad is None:
        return
    if sparse:
        entry = bad[0]
        value, position = storage.data[entry], (int(np.searchsorted(storage.indptr, entry, side="right")) - 1, int(storage.indices[entry]))
        i, j = position if storage.format == "csr" else position[::-1]
    else:
        value, (i, j) = storage[bad], bad
    raise InputError(f"X[{i}, {j}] is {value}: replace or drop values that are not finite before fitting.")


def _check_indices(X: Any) -> None:
    """Kernels do not check bounds, so a damaged matrix is refused here."""
    vectors = "rows" if X.format == "csr" else "columns"
    count, width = X.shape if X.format == "csr" else X.shape[::-1]
    start_ok = len(X.indptr) == count + 1 and X.indptr[0] == 0 and X.indptr[-1] <= min(len(X.indices), len(X.data))
    if not start_ok or (np.diff(X.indptr) < 0).any():
        raise InputError(f"X is a damaged {X.format.upper()} matrix: its indptr does not describe {count} {vectors} of stored entries.")
    used = X.indices[: X.indptr[-1]]
    if used.size and (used.min() < 0 or used.max() >= width):
        raise InputError(f"X is a damaged {X.format.upper()} matrix: it holds an index outside 0..{width - 1}.")


def are_finite(values: np.ndarray) -> bool:
    """Whether all numbers of an array of float32 or float64 are finite.

    >>> are_finite(np.array([1.0, 1e308, 1e308])), are_finite(np.array([[1.0, np.nan]]))
    (True, False)
    """
    return bool(sum_of_zeros(writable(values.ravel("K"))) == 0.0)


def _first_nonfinite(values: np.ndarray) -> tuple[int, ...] | None:
    if are_finite(values):
        return None
    block = max(1, (1 << 20) // max(1, values[:1].size))
    for first in range(0, len(values), block):
        bad = np.argwhere(~np.isfinite(values[first : first + block]))
        if len(bad):
            return (int(bad[0][0]) + first, *(int(index) for index in bad[0][1:]))
    return None

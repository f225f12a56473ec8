"""The data matrix: its rows and columns as kernels take them, and the products X·w and Xᵀ·a"""

from __future__ import annotations

import copy
import itertools
import logging
import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from fenchel.core.threads import available_threads, in_parallel, one_thread
from fenchel.linalg.constant_feature import ColumnsWithConstant, RowsWithConstant
from fenchel.linalg.gram import gram
from fenchel.linalg.moments import FEW_COLUMNS
from fenchel.linalg.row_kernels import (
    add_with_sizes,
    largest_entries,
    largest_of_dense_columns,
    rows_add,
    rows_add_squares,
    rows_adds,
    rows_dot,
    rows_dots,
    rows_lengths,
    rows_norms,
)
from fenchel.linalg.rows import CsrRows, DenseRows
from fenchel.linalg.rows_on_disk import rows_on_disk
from fenchel.linalg.storage import as_storage, with_sorted_indices
from fenchel.linalg.views import csr_rows, writable
from fenchel.linalg.weights import Compensated, Plain

log = logging.getLogger("fenchel")
BLOCK = 2048  # rows in one call of BLAS
# Share of stored entries from which products of rows take less time in a dense array: about 1/√30, where BLAS is 30 times as fast.
FILLED_IN = 0.18
OVERLAPPING = 0.05  # share of stored entries from which rows count as overlapping
PARALLEL_FROM = 500_000  # entries from which a product uses threads: it takes 0.3 to 0.6 ms, and handing half of it over about 0.05 ms
# Entries from which several problems on one matrix are solved in parallel. For fewer, Python's lock takes more time than two threads save:
# 3 classes take 1.0 to 1.3 times as long with 100,000 entries, 0.8 to 0.9 times with 500,000, 0.7 times with 1,000,000.
PROBLEMS_IN_PARALLEL_FROM = 500_000
SMALLEST_SINGLE, LARGEST_SINGLE = 1e-12, 1e12  # the largest entry of X for sums of squares in single precision
SHORTEST, LONGEST = 1e-150, 1e150  # lengths of rows whose squares neither underflow nor overflow
READ_IN_A_PASS = 8  # times that vectors of weights are read or written beside the entries of X


def threads_for_problems(X: Any, threads: int | None, outputs: int = 1) -> int:
    """How many of several problems on the array or sparse matrix X, with one prediction for each row or K of them, are solved at the same
    time if ``threads``, or all (None), may be used.

    >>> threads_for_problems(np.zeros((100, 10)), 4)
    1
    """
    entries = outputs * (X.size + READ_IN_A_PASS * X.shape[1])
    return (threads or available_threads()) if entries >= PROBLEMS_IN_PARALLEL_FROM else 1


class Design:
    """The checked data matrix, in its original storage.

    >>> design = Design(np.array([[1.0, 2.0], [0.0, 3.0]]))
    >>> design.matvec(np.array([1.0, 1.0])).tolist()
    [3.0, 3.0]
    >>> design.rmatvec(np.array([1.0, 1.0])).tolist()
    [1.0, 5.0]
    """

    def __init__(self, X: Any, intercept: float = 0.0, width: int | None = None, check_finite: bool = True) -> None:
        self.storage = as_storage(X, check_finite)
        self.m, self.width = self.storage.shape
        self.width = self.width if width is None else width  # columns beyond those stored are zero
        self.intercept = float(intercept)
        self.n = self.width + bool(intercept)
        self.nnz = int(self.storage.nnz) if sp.issparse(self.storage) else self.m * self.width
        self.nnz += self.m * bool(intercept)
        self.threads = available_threads()
        self._csr: CsrRows | None = None
        self._columns: Any = None
        self._largest: np.ndarray | None = None
        self.on_disk = rows_on_disk(self.storage)  #: blocks of the rows, if they do not fit into the memory that may be taken
        self.hidden_terms = 0  # terms that an entry may be the rounded root of a sum of, where columns were merged
        self.memo: dict[str, Any] = {}  # shared by solvers of all problems on this matrix

    def with_intercept(self, intercept: float) -> Design:
        """The same matrix with another constant feature, or none."""
        other = copy.copy(self)
        other.intercept, other.n = intercept, self.width + bool(intercept)
        other.nnz = self.nnz + self.m * (bool(intercept) - bool(self.intercept))
        other._largest = None if self._largest is None else self._largest[: self.width]
        other.memo = {}
        return other

    @property
    def bytes(self) -> int:
        """The memory that the entries take, with their places."""
        X = self.storage
        return int(X.data.nbytes + X.indices.nbytes if sp.issparse(X) else X.nbytes)

    @property
    def stored_by_columns(self) -> bool:
        """Whether a column's entries are neighbours in memory (CSC, Fortran order)."""
        if sp.issparse(self.storage):
            return self.storage.format == "csc"
        return not self.storage.flags.c_contiguous

    @property
    def overlapping(self) -> bool:
        """Whether rows share so many coordinates that a step on one row changes the predictions of most others."""
        return self.nnz >= OVERLAPPING * self.m * self.n

    @property
    def rows(self) -> Any:
        """The rows as kernels take them, the constant feature included."""
        rows = self.stored_rows
        return RowsWithConstant(rows, self.intercept, self.width) if self.intercept else rows

    @property
    def stored_rows(self) -> Any:
        """The rows without the constant feature; copied once if X is sparse and stored by columns."""
        if sp.issparse(self.storage):
            if self._csr is None:
                if self.stored_by_columns:
                    log.debug("X is CSC; row-wise methods need CSR: copying %d values.", self.storage.nnz)
                self._csr = csr_rows(self.storage.tocsr())
            return self._csr
        # Rows in Fortran order are read in strides; a block order of the rows uses every cache line for several of them.
        return DenseRows(writable(self.storage))

    @property
    def columns(self) -> Any:
        """The columns as kernels take them, as rows of Xᵀ, the constant feature included."""
        columns = self.stored_columns
        return ColumnsWithConstant(columns, self.intercept, self.width, self.m) if self.intercept else columns

    @property
    def stored_columns(self) -> Any:
        """The columns without the constant feature; copied once if X is stored by rows."""
        if self._columns is None:
            if not self.stored_by_columns:
                log.debug("X is stored by rows; coordinate methods need columns: copying %d values.", self.nnz)
            if sp.issparse(self.storage):
                self._columns = csr_rows(self.storage.tocsc())
            else:
                self._columns = DenseRows(writable(np.asfortranarray(self.storage).T))
        return self._columns

    @cached_property
    def sorted_rows(self) -> CsrRows:
        """The rows of a sparse matrix, each with its columns in ascending order."""
        if self.stored_by_columns:  # the conversion to rows has sorted them
            return self.stored_rows
        return csr_rows(with_sorted_indices(self.storage))

    @cached_property
    def products_of_rows(self) -> np.ndarray:
        """XXᵀ without the constant feature, computed once for all problems on this matrix; for few rows."""
        X = self.storage
        if sp.issparse(X):
            X = X.astype(np.float64, copy=False)
            if X.nnz < FILLED_IN * self.m * self.width:
                return np.asarray((X @ X.T).toarray())
            X = X.toarray()
        return gram(X, None, None, np.ones(self.width), self.threads)

    @property
    def contiguous(self) -> tuple[Any, int]:
        """The rows, or the columns as rows of Xᵀ, whichever X is stored by, without the constant feature; and how many there are."""
        if self.stored_by_columns:
            columns = csr_rows(self.storage) if sp.issparse(self.storage) else DenseRows(writable(self.storage.T))
            return columns, self.width
        return self.stored_rows, self.m

    def matvec(self, w: np.ndarray) -> np.ndarray:
        """X·w, for one weight vector or one per output."""
        if not w[: self.width].any():
            return np.full((self.m, *w.shape[1:]), self.intercept * w[-1])
        product = self._blocks(w) if self._by_blas(w) else self._product(w[: self.width], forward=not self.stored_by_columns, size=self.m)
        return product + self.intercept * w[-1] if self.intercept else product

    def rmatvec(self, a: np.ndarray) -> np.ndarray:
        """Xᵀ·a, for one number per row or one per row and output."""
        if not self._by_blas(a):
            whole = self._product(a, forward=self.stored_by_columns, size=self.n)
        elif not self.intercept:
            return self._transposed_blocks(a)
        else:
            whole = np.empty((self.n, *a.shape[1:]))
            whole[:-1] = self._transposed_blocks(a)
        if self.intercept:
            whole[-1] = self.intercept * a.sum(axis=0)
        return whole

    def rmatvec_with_size(self, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Xᵀ·a by compensated sums, off by the rounding of its terms alone, and |X|ᵀ·|a|."""
        total = [np.zeros((self.n, *a.shape[1:])) for _ in range(3)]
        add: Any = rows_add if a.ndim == 1 else rows_adds
        add(self.rows, np.ascontiguousarray(a, dtype=np.float64), 0, self.m, Compensated(*(part.reshape(-1) for part in total)))
        return total[0] + total[1], total[2]

    @property
    def knows_largest(self) -> bool:
        """Whether ``largest`` is computed already, or costs little."""
        return self._largest is not None or not sp.issparse(self.storage)

    @property
    def suits_single(self) -> bool:
        """Whether squares of the largest entry are far from the limits of single precision."""
        return SMALLEST_SINGLE <= float(self.largest.max()) <= LARGEST_SINGLE

    def rmatvec_with_sizes(self, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Xᵀ·a and |X|ᵀ·|a| by ordinary sums, for one number per row of a sparse matrix stored by rows."""
        rows = self.stored_rows
        bounds = self.ranges(rows, self.m)
        parts = [np.zeros((self.n, 2)) for _ in bounds]
        in_parallel([(add_with_sizes, rows, a, first, last, part) for (first, last), part in zip(bounds, parts, strict=True)])
        total = sum(parts[1:], start=parts[0])
        if self.intercept:
            total[-1] = self.intercept * a.sum(), abs(self.intercept) * np.abs(a).sum()
        return np.ascontiguousarray(total[:, 0]), np.ascontiguousarray(total[:, 1])

    def _by_blas(self, operand: np.ndarray) -> bool:
        """Whether BLAS is faster than the kernels: for dense X, but not for one vector where X would have to be converted to float64."""
        return not sp.issparse(self.storage) and (operand.ndim == 2 or self.storage.dtype == np.float64)

    @property
    def _in_one_call(self) -> bool:
        """Whether BLAS multiplies the whole matrix at once, in one thread."""
        return self.on_disk is None and self.storage.dtype == np.float64 and (self.threads == 1 or self.nnz < PARALLEL_FROM)

    @property
    def _block(self) -> int:
        """Rows that BLAS multiplies at once: few if they have to be converted to float64 for it."""
        return self.m if self.storage.dtype == np.float64 else BLOCK

    def _blocks(self, w: np.ndarray) -> np.ndarray:
        """X·w for a dense matrix, by BLAS."""
        if self._in_one_call:
            with one_thread:
                return self.storage @ w[: self.width]
        out = np.empty((self.m, *w.shape[1:]))

        def multiply(first: int, last: int) -> None:
            for a in range(first, last, self._block):
                b = min(a + self._block, last)
                np.matmul(self.storage[a:b].astype(np.float64, copy=False), w[: self.width], out=out[a:b])

        with one_thread:
            for ranges in self._pieces(self.ranges(self.stored_rows, self.m)):
                in_parallel([(multiply, a, b) for a, b in ranges])
        return out

    def _transposed_blocks(self, rows: np.ndarray) -> np.ndarray:
        """Xᵀ·a for a dense matrix, as (aᵀ·X)ᵀ: for few outputs BLAS needs half to all of the time of Xᵀ·a."""
        if self._in_one_call:
            with one_thread:
                return np.ascontiguousarray((rows.T @ self.storage).T)
        bounds = self.ranges(self.stored_rows, self.m)
        parts = [np.zeros((*rows.shape[1:], self.width)) for _ in bounds]

        def add(first: int, last: int, total: np.ndarray) -> None:
            for a in range(first, last, self._block):
                b = min(a + self._block, last)
                total += rows[a:b].T @ self.storage[a:b].astype(np.float64, copy=False)

        with one_thread:
            for ranges in self._pieces(bounds):
                in_parallel([(add, a, b, part) for (a, b), part in zip(ranges, parts, strict=True)])
        return np.ascontiguousarray(sum(parts[1:], start=parts[0]).T)

    def _product(self, operand: np.ndarray, forward: bool, size: int) -> np.ndarray:
        vectors, count = self.contiguous
        flat = np.ascontiguousarray(operand, dtype=np.float64)
        out = np.zeros((size, *operand.shape[1:]))
        one = operand.ndim == 1
        bounds = self.ranges(vectors, count)
        if forward:
            dot: Any = rows_dot if one else rows_dots
            for ranges in self._pieces(bounds):
                in_parallel([(dot, vectors, Plain(flat.reshape(-1)), a, b, out) for a, b in ranges])
            return out
        add: Any = rows_add if one else rows_adds
        parts = [out] + [np.zeros_like(out) for _ in bounds[1:]]
        for ranges in self._pieces(bounds):
            jobs = zip(ranges, parts, strict=True)
            in_parallel([(add, vectors, flat, a, b, Plain(part.reshape(-1))) for (a, b), part in jobs])
        for part in parts[1:]:
            out += part
        return out

    def _pieces(self, bounds: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
        """The ranges of all threads at once; for rows on disk, those within one block after another, which are fetched ahead."""
        if self.on_disk is None:
            yield bounds
            return
        threads = len(bounds)
        for first, last in self.on_disk.in_order():
            yield [(first + (last - first) * k // threads, first + (last - first) * (k + 1) // threads) for k in range(threads)]

    def ranges(self, vectors: Any, count: int) -> list[tuple[int, int]]:
        """Consecutive ranges of rows or columns, one for each thread, with about as many entries each."""
        threads = self.threads if self.nnz >= PARALLEL_FROM else 1
        if threads == 1:
            return [(0, count)]
        if hasattr(vectors, "indptr"):
            # Marks of the type of indptr: for others NumPy would convert all of it first.
            marks = [int(vectors.indptr[-1]) * k // threads for k in range(1, threads)]
            bounds = np.searchsorted(vectors.indptr, np.array(marks, vectors.indptr.dtype))
        else:
            bounds = np.linspace(0, count, threads + 1)[1:-1].astype(np.int64)
        edges = [0, *(int(bound) for bound in bounds), count]
        return list(itertools.pairwise(edges))

    def row_norms(self, order: float = 2.0, which: np.ndarray | None = None) -> np.ndarray:
        """‖x_i‖ of every row, or of some, the constant feature included."""
        which = np.arange(self.m) if which is None else which
        norms = np.empty(len(which))
        if order != 2.0:
            rows_norms(self.rows, float(order), which, norms)
            return norms
        rows_lengths(self.rows, which, norms)
        extreme = ~((norms > SHORTEST) & (norms < LONGEST))
        if extreme.any():
            again = np.empty(int(extreme.sum()))
            rows_norms(self.rows, 2.0, which[extreme], again)
            norms[extreme] = again
        return norms

    def column_squares(self, h: np.ndarray) -> np.ndarray:
        """Σ_i h_i x_ij² for every column j, the constant feature included."""
        out = np.zeros(self.n)
        rows_add_squares(self.rows, h, out)
        return out

    @property
    def largest(self) -> np.ndarray:
        """max_i |x_ij| for every column j, the constant feature included; computed once."""
        if self._largest is None:
            self._largest = self._largest_of_columns()
        if self._largest.size < self.n:
            self._largest = np.concatenate([self._largest, [abs(self.intercept)]])
        return self._largest

    @property
    def norm_of_largest(self) -> float:
        """‖·‖₂ of ``largest``, rounded up; computed once."""
        if "norm of largest" not in self.memo:
            top = float(self.largest.max())
            norm = top * math.sqrt(float(np.square(self.largest / top).sum())) if top > 0.0 else 0.0
            self.memo["norm of largest"] = (1.0 + 1e-9) * norm
        return self.memo["norm of largest"]

    @property
    def bound_on_length(self) -> float:
        """A length that no row exceeds, in less time than the lengths take; it may be infinite where none of them is."""
        if self._largest is None and not sp.issparse(self.storage) and self.width <= FEW_COLUMNS:
            top = max(float(self.storage.max()), -float(self.storage.min()), abs(self.intercept))
            return math.sqrt(self.n) * top
        return math.sqrt(float(self.largest @ self.largest))

    def set_largest(self, stored: np.ndarray) -> None:
        """Keep max_i |x_ij| of the columns stored, which was computed elsewhere."""
        if self._largest is None and len(stored) == self.width:
            self._largest = stored

    def _largest_of_columns(self) -> np.ndarray:
        out = np.zeros(self.width)
        if not sp.issparse(self.storage):
            if self.stored_by_columns:
                out[: self.storage.shape[1]] = np.maximum(self.storage.max(axis=0), -self.storage.min(axis=0))
            else:
                largest_of_dense_columns(writable(self.storage), out)
            return out
        data = self.storage.data[: self.storage.indptr[-1]]
        if self.stored_by_columns:
            used = np.flatnonzero(np.diff(self.storage.indptr))
            if used.size:
                first = self.storage.indptr[used]
                out[used] = np.maximum(np.maximum.reduceat(data, first), -np.minimum.reduceat(data, first))
        else:
            largest_entries(writable(self.storage.indices), writable(data), out)
        return out

    @cached_property
    def longest_row(self) -> int:
        """An upper bound on the entries of a row, the constant feature and hidden terms included."""
        by_rows = sp.issparse(self.storage) and not self.stored_by_columns
        return (int(np.diff(self.storage.indptr).max()) if by_rows else self.width) + 1 + self.hidden_terms

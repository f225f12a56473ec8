"""Data matrices: rows that kernels read, and products X·w and Xᵀ·a, on NumPy and SciPy storage without copying it.

Row views (``DenseRows``, ``CsrRows``) have the same methods, so a kernel is written once:

    dot(i, w)  = <w, x_i>           add(i, c, w):  w ← w + c·x_i
    dots, adds:  the same for K outputs, w holding coordinate j of output k at j·K + k
    dot4, add4:  the same for four outputs v[:, lane, 0:4] of a plain array: unrolled, for a fraction of what four times one costs
    norm(i, order) = ‖x_i‖_order    count(i) = entries stored in row i
    square(i, h) = Σ_j h_j x_ij²    add_squares(i, c, out):  out_j ← out_j + c·x_ij²

where w is any of the weights of :mod:`fenchel.weights`. Columns of X are the rows of Xᵀ: CSC storage is CsrRows of Xᵀ.
Values may be float32 or float64; sums are always float64, for a certificate is worth no more than its arithmetic.
"""

from __future__ import annotations

import copy
import itertools
import logging
import math
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fenchel.blas import one_thread
from fenchel.compiled import compiled, kernel, reassociated
from fenchel.storage import as_storage
from fenchel.weights import Plain

log = logging.getLogger("fenchel")
BLOCK = 2048  # rows that BLAS is given at a time
CROWDED = 0.05  # share of the entries that are stored
PARALLEL_FROM = 2_000_000  # entries; below, starting threads costs more than it saves


@compiled
class DenseRows(NamedTuple):
    values: np.ndarray

    @reassociated
    def dot(self, i, w):
        total = 0.0
        for j in range(self.values.shape[1]):
            total += self.values[i, j] * w.raw(j)
        return w.factor() * total

    def add(self, i, c, w):
        change = 0.0
        for j in range(self.values.shape[1]):
            change += w.shift(j, c * self.values[i, j])
        w.settle(change)

    def dots(self, i, w, z):
        K = z.shape[0]
        z[:] = 0.0
        for j in range(self.values.shape[1]):
            for k in range(K):
                z[k] += self.values[i, j] * w.raw(j * K + k)
        z *= w.factor()

    def adds(self, i, c, w):
        K = c.shape[0]
        change = 0.0
        for j in range(self.values.shape[1]):
            for k in range(K):
                change += w.shift(j * K + k, c[k] * self.values[i, j])
        w.settle(change)

    def dot4(self, i, v, lane):
        a = b = c = d = 0.0
        for j in range(self.values.shape[1]):
            x = self.values[i, j]
            a += x * v[j, lane, 0]
            b += x * v[j, lane, 1]
            c += x * v[j, lane, 2]
            d += x * v[j, lane, 3]
        return a, b, c, d

    def add4(self, i, a, b, c, d, v, lane):
        for j in range(self.values.shape[1]):
            x = self.values[i, j]
            v[j, lane, 0] += a * x
            v[j, lane, 1] += b * x
            v[j, lane, 2] += c * x
            v[j, lane, 3] += d * x

    def norm(self, i, order):
        top = 0.0
        for j in range(self.values.shape[1]):
            top = max(top, np.float64(abs(self.values[i, j])))
        total = 0.0
        for j in range(self.values.shape[1]):
            total += _power(np.float64(abs(self.values[i, j])), top, order)
        return _root(total, top, order)

    def count(self, i):
        return self.values.shape[1]

    @reassociated
    def square(self, i, h):
        total = 0.0
        for j in range(self.values.shape[1]):
            total += h[j] * self.values[i, j] * self.values[i, j]
        return total

    def add_squares(self, i, c, out):
        for j in range(self.values.shape[1]):
            out[j] += c * self.values[i, j] * self.values[i, j]


@compiled
class CsrRows(NamedTuple):
    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray

    # Unsigned positions throughout: for signed ones Numba also looks after counting from the end, at a third more time.

    def dot(self, i, w):
        total = 0.0
        for e in range(np.uintp(self.indptr[i]), np.uintp(self.indptr[i + 1])):
            total += self.data[e] * w.raw(np.uintp(self.indices[e]))
        return w.factor() * total

    def add(self, i, c, w):
        change = 0.0
        for e in range(np.uintp(self.indptr[i]), np.uintp(self.indptr[i + 1])):
            change += w.shift(np.uintp(self.indices[e]), c * self.data[e])
        w.settle(change)

    def dots(self, i, w, z):
        K = np.uintp(z.shape[0])
        z[:] = 0.0
        for e in range(np.uintp(self.indptr[i]), np.uintp(self.indptr[i + 1])):
            first = np.uintp(self.indices[e]) * K
            for k in range(K):
                z[k] += self.data[e] * w.raw(first + k)
        z *= w.factor()

    def adds(self, i, c, w):
        K = np.uintp(c.shape[0])
        change = 0.0
        for e in range(np.uintp(self.indptr[i]), np.uintp(self.indptr[i + 1])):
            first = np.uintp(self.indices[e]) * K
            for k in range(K):
                change += w.shift(first + k, c[k] * self.data[e])
        w.settle(change)

    def dot4(self, i, v, lane):
        a = b = c = d = 0.0
        for e in range(np.uintp(self.indptr[i]), np.uintp(self.indptr[i + 1])):
            x, j = self.data[e], np.uintp(self.indices[e])
            a += x * v[j, lane, 0]
            b += x * v[j, lane, 1]
            c += x * v[j, lane, 2]
            d += x * v[j, lane, 3]
        return a, b, c, d

    def add4(self, i, a, b, c, d, v, lane):
        for e in range(np.uintp(self.indptr[i]), np.uintp(self.indptr[i + 1])):
            x, j = self.data[e], np.uintp(self.indices[e])
            v[j, lane, 0] += a * x
            v[j, lane, 1] += b * x
            v[j, lane, 2] += c * x
            v[j, lane, 3] += d * x

    def norm(self, i, order):
        top = 0.0
        for e in range(np.uintp(self.indptr[i]), np.uintp(self.indptr[i + 1])):
            top = max(top, np.float64(abs(self.data[e])))
        total = 0.0
        for e in range(np.uintp(self.indptr[i]), np.uintp(self.indptr[i + 1])):
            total += _power(np.float64(abs(self.data[e])), top, order)
        return _root(total, top, order)

    def count(self, i):
        return self.indptr[i + 1] - self.indptr[i]

    def square(self, i, h):
        total = 0.0
        for e in range(np.uintp(self.indptr[i]), np.uintp(self.indptr[i + 1])):
            total += h[np.uintp(self.indices[e])] * self.data[e] * self.data[e]
        return total

    def add_squares(self, i, c, out):
        for e in range(np.uintp(self.indptr[i]), np.uintp(self.indptr[i + 1])):
            out[np.uintp(self.indices[e])] += c * self.data[e] * self.data[e]

    def add_outer(self, i, c, G):
        # The lower triangle alone, whichever way the indices are ordered.
        first, last = np.uintp(self.indptr[i]), np.uintp(self.indptr[i + 1])
        for e in range(first, last):
            j, x = np.uintp(self.indices[e]), c * self.data[e]
            for f in range(first, last):
                k = np.uintp(self.indices[f])
                if k <= j:
                    G[j, k] += x * self.data[f]


@compiled
class WithConstant(NamedTuple):
    """Rows with one more feature of the same value everywhere: a penalised intercept, X itself left alone."""

    rows: Any
    scale: float
    last: int

    def dot(self, i, w):
        return self.rows.dot(i, w) + w.factor() * self.scale * w.raw(self.last)

    def add(self, i, c, w):
        self.rows.add(i, c, w)
        w.settle(w.shift(self.last, c * self.scale))

    def dots(self, i, w, z):
        self.rows.dots(i, w, z)
        for k in range(z.shape[0]):
            z[k] += w.factor() * self.scale * w.raw(self.last * z.shape[0] + k)

    def adds(self, i, c, w):
        self.rows.adds(i, c, w)
        for k in range(c.shape[0]):
            w.settle(w.shift(self.last * c.shape[0] + k, c[k] * self.scale))

    def dot4(self, i, v, lane):
        a, b, c, d = self.rows.dot4(i, v, lane)
        x, j = self.scale, np.uintp(self.last)
        return a + x * v[j, lane, 0], b + x * v[j, lane, 1], c + x * v[j, lane, 2], d + x * v[j, lane, 3]

    def add4(self, i, a, b, c, d, v, lane):
        self.rows.add4(i, a, b, c, d, v, lane)
        x, j = self.scale, np.uintp(self.last)
        v[j, lane, 0] += a * x
        v[j, lane, 1] += b * x
        v[j, lane, 2] += c * x
        v[j, lane, 3] += d * x

    def norm(self, i, order):
        rows = self.rows.norm(i, order)
        top = max(rows, abs(self.scale))
        return _root(_power(rows, top, order) + _power(abs(self.scale), top, order), top, order)

    def count(self, i):
        return self.rows.count(i) + 1

    def add_squares(self, i, c, out):
        self.rows.add_squares(i, c, out)
        out[self.last] += c * self.scale * self.scale


@compiled
class WithConstantLine(NamedTuple):
    """Columns as lines, with one more of the same value everywhere: the constant feature again, read by columns."""

    lines: Any
    scale: float
    last: int
    size: int

    def dot(self, j, w):
        if j != self.last:
            return self.lines.dot(j, w)
        total = 0.0
        for i in range(self.size):
            total += w.raw(i)
        return self.scale * w.factor() * total

    def add(self, j, c, w):
        if j != self.last:
            self.lines.add(j, c, w)
        else:
            change = 0.0
            for i in range(self.size):
                change += w.shift(i, c * self.scale)
            w.settle(change)

    def dots(self, j, w, z):
        if j != self.last:
            self.lines.dots(j, w, z)
        else:
            z[:] = 0.0
            for i in range(self.size):
                for k in range(z.shape[0]):
                    z[k] += self.scale * w.factor() * w.raw(i * z.shape[0] + k)

    def adds(self, j, c, w):
        if j != self.last:
            self.lines.adds(j, c, w)
        else:
            change = 0.0
            for i in range(self.size):
                for k in range(c.shape[0]):
                    change += w.shift(i * c.shape[0] + k, c[k] * self.scale)
            w.settle(change)

    def norm(self, j, order):
        if j != self.last:
            return self.lines.norm(j, order)
        return abs(self.scale) * (1.0 if math.isinf(order) else self.size ** (1.0 / order))

    def count(self, j):
        return self.lines.count(j) if j != self.last else self.size

    def square(self, j, h):
        if j != self.last:
            return self.lines.square(j, h)
        total = 0.0
        for i in range(self.size):
            total += h[i]
        return self.scale * self.scale * total


@compiled
def _power(x, top, order):
    """(x/top)^order: powers of x itself may leave the range of floating point."""
    if order == 2.0:
        return (x / top) * (x / top) if top > 0.0 else 0.0
    return (x / top) ** order if top > 0.0 and not math.isinf(order) else 0.0


@compiled
def _root(total, top, order):
    if math.isinf(order):
        return top
    return top * (math.sqrt(total) if order == 2.0 else total ** (1.0 / order))


@kernel
def rows_norms(rows, order, which, out):
    for i in range(out.shape[0]):
        out[i] = rows.norm(which[i], order)


@kernel
def rows_dot(rows, w, first, last, out):
    for i in range(first, last):
        out[i] = rows.dot(i, w)


@kernel
def rows_add(rows, a, first, last, w):
    for i in range(first, last):
        if a[i] != 0.0:
            rows.add(i, a[i], w)


@kernel
def rows_dots(rows, w, first, last, out):
    for i in range(first, last):
        rows.dots(i, w, out[i])


@kernel
def rows_adds(rows, a, first, last, w):
    for i in range(first, last):
        rows.adds(i, a[i], w)


class Design:
    """The validated data matrix, in the storage it came in.

    >>> design = Design(np.array([[1.0, 2.0], [0.0, 3.0]]))
    >>> design.matvec(np.array([1.0, 1.0])).tolist()
    [3.0, 3.0]
    >>> design.rmatvec(np.array([1.0, 1.0])).tolist()
    [1.0, 5.0]
    """

    def __init__(self, X: Any, intercept: float = 0.0, columns: int | None = None) -> None:
        self.storage = as_storage(X)
        self.m, self.columns = self.storage.shape
        self.columns = self.columns if columns is None else columns  # more than are stored: the others are zero
        self.intercept = float(intercept)
        self.n = self.columns + bool(intercept)
        self.nnz = int(self.storage.nnz) if sp.issparse(self.storage) else self.m * self.columns
        self.nnz += self.m * bool(intercept)
        self.threads = available_threads()
        self._csr: CsrRows | None = None
        self._by_columns: Any = None

    def with_intercept(self, intercept: float) -> Design:
        """The same matrix with another constant feature, or none."""
        other = copy.copy(self)
        other.intercept, other.n = intercept, self.columns + bool(intercept)
        other.nnz = self.nnz + self.m * (bool(intercept) - bool(self.intercept))
        return other

    @property
    def by_columns(self) -> bool:
        """Whether a column's entries are neighbours in memory (CSC, Fortran order)."""
        if sp.issparse(self.storage):
            return self.storage.format == "csc"
        return not self.storage.flags.c_contiguous

    @property
    def crowded(self) -> bool:
        """Whether rows share so many coordinates that steps on one undo those on others."""
        return self.nnz >= CROWDED * self.m * self.n

    @property
    def rows(self) -> Any:
        """The rows as kernels take them, the constant feature included."""
        rows = self._stored_rows()
        return WithConstant(rows, self.intercept, self.columns) if self.intercept else rows

    def _stored_rows(self) -> Any:
        if sp.issparse(self.storage):
            if self._csr is None:
                if self.by_columns:
                    log.debug("X is CSC; row-wise methods need CSR: copying %d values.", self.storage.nnz)
                self._csr = _csr_rows(self.storage.tocsr())
            return self._csr
        # Column-major rows are read in strides: block order brings neighbouring rows in with the same cache lines.
        return DenseRows(_writable(self.storage))

    @property
    def lines(self) -> Any:
        """The columns as kernels take them, as rows of Xᵀ, the constant feature included; copied once if X is stored by rows."""
        if self._by_columns is None:
            if not self.by_columns:
                log.debug("X is stored by rows; coordinate methods need columns: copying %d values.", self.nnz)
            if sp.issparse(self.storage):
                self._by_columns = _csr_rows(self.storage.tocsc())
            else:
                self._by_columns = DenseRows(_writable(np.asfortranarray(self.storage).T))
        return WithConstantLine(self._by_columns, self.intercept, self.columns, self.m) if self.intercept else self._by_columns

    @property
    def _lines(self) -> tuple[Any, int]:
        """The storage's own lines (rows of X or of Xᵀ), without the constant feature, and how many there are."""
        if self.by_columns:
            lines = _csr_rows(self.storage) if sp.issparse(self.storage) else DenseRows(_writable(self.storage.T))
            return lines, self.columns
        return self._stored_rows(), self.m

    def matvec(self, w: np.ndarray) -> np.ndarray:
        """X·w, for one weight vector or one per output."""
        if not w.any():
            return np.zeros((self.m, *w.shape[1:]))
        dense = w.ndim == 2 and not sp.issparse(self.storage)
        product = self._blocks(w) if dense else self._product(w[: self.columns], forward=not self.by_columns, size=self.m)
        return product + self.intercept * w[-1] if self.intercept else product

    def rmatvec(self, a: np.ndarray) -> np.ndarray:
        """Xᵀ·a, for one number a row or one per output."""
        dense = a.ndim == 2 and not sp.issparse(self.storage)
        product = self._transposed_blocks(a) if dense else self._product(a, forward=self.by_columns, size=self.columns)
        return np.concatenate([product, [self.intercept * a.sum(axis=0)]]) if self.intercept else product

    def _blocks(self, w: np.ndarray) -> np.ndarray:
        """X·w for several outputs of a dense matrix, which BLAS is made for."""
        out = np.empty((self.m, w.shape[1]))

        def multiply(first: int, last: int) -> None:
            for a in range(first, last, BLOCK):
                b = min(a + BLOCK, last)
                np.matmul(self.storage[a:b].astype(np.float64, copy=False), w[: self.columns], out=out[a:b])

        with one_thread:
            in_parallel([(multiply, a, b) for a, b in self._shares(self._stored_rows(), self.m)])
        return out

    def _transposed_blocks(self, rows: np.ndarray) -> np.ndarray:
        """Xᵀ·a for several outputs of a dense matrix."""
        shares = self._shares(self._stored_rows(), self.m)
        parts = [np.zeros((self.columns, rows.shape[1])) for _ in shares]

        def add(first: int, last: int, total: np.ndarray) -> None:
            for a in range(first, last, BLOCK):
                b = min(a + BLOCK, last)
                total += self.storage[a:b].astype(np.float64, copy=False).T @ rows[a:b]

        with one_thread:
            in_parallel([(add, a, b, part) for (a, b), part in zip(shares, parts, strict=True)])
        return sum(parts[1:], start=parts[0])

    def _product(self, operand: np.ndarray, forward: bool, size: int) -> np.ndarray:
        lines, count = self._lines
        flat = np.ascontiguousarray(operand, dtype=np.float64)
        out = np.zeros((size, *operand.shape[1:]))
        one = operand.ndim == 1
        bounds = self._shares(lines, count)
        if forward:
            dot: Any = rows_dot if one else rows_dots
            in_parallel([(dot, lines, Plain(flat.reshape(-1)), a, b, out) for a, b in bounds])
            return out
        add: Any = rows_add if one else rows_adds
        parts = [out] + [np.zeros_like(out) for _ in bounds[1:]]
        jobs = zip(bounds, parts, strict=True)
        in_parallel([(add, lines, flat, a, b, Plain(part.reshape(-1))) for (a, b), part in jobs])
        for part in parts[1:]:
            out += part
        return out

    def _shares(self, lines: Any, count: int) -> list[tuple[int, int]]:
        """Consecutive ranges of lines, one a thread, with about as many entries each."""
        threads = self.threads if self.nnz >= PARALLEL_FROM else 1
        if isinstance(lines, CsrRows):
            marks = np.searchsorted(lines.indptr, np.linspace(0, lines.indptr[-1], threads + 1)[1:-1])
        else:
            marks = np.linspace(0, count, threads + 1)[1:-1].astype(np.int64)
        edges = [0, *(int(mark) for mark in marks), count]
        return list(itertools.pairwise(edges))

    def row_norms(self, order: float = 2.0, which: np.ndarray | None = None) -> np.ndarray:
        """‖x_i‖ of every row, or of some, the constant feature included."""
        which = np.arange(self.m) if which is None else which
        norms = np.empty(len(which))
        rows_norms(self.rows, float(order), which, norms)
        return norms


def in_parallel(jobs: list[tuple[Any, ...]]) -> None:
    """Call every job, a function with its arguments, in a thread of its own."""
    if len(jobs) == 1:
        run, *arguments = jobs[0]
        run(*arguments)
        return
    with ThreadPoolExecutor(len(jobs)) as pool:
        for future in [pool.submit(*job) for job in jobs]:
            future.result()


def available_threads() -> int:
    """The number of processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _csr_rows(X: Any) -> CsrRows:
    return CsrRows(_writable(X.data), _writable(X.indices), _writable(X.indptr))


class _Alias:
    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.__array_interface__ = {**array.__array_interface__, "data": (array.ctypes.data, False)}


def _writable(array: np.ndarray) -> np.ndarray:
    """The same memory as a plain array that is not marked read-only.

    Numba compiles every kernel a second time for read-only arrays (memory maps, shared data); kernels never write to X.
    """
    if array.flags.writeable and type(array) is np.ndarray:
        return array
    return np.asarray(_Alias(array))

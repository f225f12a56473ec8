"""Rows of a data matrix as kernels read them, on NumPy and SciPy storage without copying it.

Row views (``DenseRows``, ``CsrRows``) have the same methods, so a kernel is written once:

    dot(i, w)  = <w, x_i>           add(i, c, w):  w ← w + c·x_i
    dots, adds:  the same for K outputs, w holding coordinate j of output k at j·K + k
    dot4, add4:  the same for four outputs v[:, lane, 0:4] of a plain array: unrolled, for a fraction of what four times one costs
    norm(i, order) = ‖x_i‖_order    count(i) = entries stored in row i
    square(i, h) = Σ_j h_j x_ij²    add_squares(i, c, out):  out_j ← out_j + c·x_ij²

where w is any of the weights of :mod:`fenchel.linalg.weights`. Columns of X are the rows of Xᵀ: CSC storage is CsrRows of Xᵀ.
Values may be float32 or float64; sums are always float64, for a certificate is worth no more than its arithmetic.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled, kernel, reassociated


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
class RowsWithConstant(NamedTuple):
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
class ColumnsWithConstant(NamedTuple):
    """Columns, as rows of Xᵀ, with one more of the same value everywhere: the constant feature again, read by columns."""

    columns: Any
    scale: float
    last: int
    size: int

    def dot(self, j, w):
        if j != self.last:
            return self.columns.dot(j, w)
        total = 0.0
        for i in range(self.size):
            total += w.raw(i)
        return self.scale * w.factor() * total

    def add(self, j, c, w):
        if j != self.last:
            self.columns.add(j, c, w)
        else:
            change = 0.0
            for i in range(self.size):
                change += w.shift(i, c * self.scale)
            w.settle(change)

    def dots(self, j, w, z):
        if j != self.last:
            self.columns.dots(j, w, z)
        else:
            z[:] = 0.0
            for i in range(self.size):
                for k in range(z.shape[0]):
                    z[k] += self.scale * w.factor() * w.raw(i * z.shape[0] + k)

    def adds(self, j, c, w):
        if j != self.last:
            self.columns.adds(j, c, w)
        else:
            change = 0.0
            for i in range(self.size):
                for k in range(c.shape[0]):
                    change += w.shift(i * c.shape[0] + k, c[k] * self.scale)
            w.settle(change)

    def norm(self, j, order):
        if j != self.last:
            return self.columns.norm(j, order)
        return abs(self.scale) * (1.0 if math.isinf(order) else self.size ** (1.0 / order))

    def count(self, j):
        return self.columns.count(j) if j != self.last else self.size

    def square(self, j, h):
        if j != self.last:
            return self.columns.square(j, h)
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
def rows_add_squares(rows, h, out):
    for i in range(h.shape[0]):
        rows.add_squares(i, h[i], out)


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


def csr_rows(X: Any) -> CsrRows:
    return CsrRows(writable(X.data), writable(X.indices), writable(X.indptr))


class _Alias:
    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.__array_interface__ = {**array.__array_interface__, "data": (array.ctypes.data, False)}


def writable(array: np.ndarray) -> np.ndarray:
    """The same memory as a plain array that is not marked read-only.

    Numba compiles every kernel a second time for read-only arrays (memory maps, shared data); kernels never write to X.
    """
    if array.flags.writeable and type(array) is np.ndarray:
        return array
    return np.asarray(_Alias(array))

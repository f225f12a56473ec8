"""Rows of a data matrix as kernels read them, on NumPy and SciPy storage without copying it

Row views (``DenseRows``, ``CsrRows``) have the same methods, so that a kernel is written once for both:

    dot(i, w)  = <w, x_i>           add(i, c, w):  w ← w + c·x_i
    dots, adds:  the same for K outputs, w holding coordinate j of output k at j·K + k
    dot4, add4:  the same for the four outputs v[:, batch, 0:4] of a plain array: unrolled, for less time than four single ones
    norm(i, order) = ‖x_i‖_order    length(i) = ‖x_i‖₂, where its square neither underflows nor overflows
    count(i) = entries stored in row i
    fetch(i):  have the processor load row i into its caches (for rows in random order, ``AHEAD`` rows before they are used)
    square(i, h) = Σ_j h_j x_ij²    add_squares(i, c, out):  out_j ← out_j + c·x_ij²

where w is any of the weights of :mod:`fenchel.linalg.weights`. Columns of X are the rows of Xᵀ: CSC storage is CsrRows of Xᵀ.
Values may be float32 or float64; sums are always float64, because the certificate is as accurate as its sums.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fenchel.core.compiled import compiled, prefetch, reassociated

NEAR = 8  # entries in a cache line, if they take eight bytes
# One dual pass over 200,000 rows of 75 entries took 0.81, 0.65, 0.65 and 0.60 of X @ w plus X.T @ a with 1, 2, 3 and 4, and 1.3 without.
AHEAD = 4
FEW_OUTPUTS = 5  # most outputs whose sums are kept in registers: from 6 on that gains nothing on long, scattered rows


@compiled
class DenseRows(NamedTuple):
    values: np.ndarray

    def fetch(self, i):
        for j in range(0, self.values.shape[1], NEAR):
            prefetch(self.values, i, j)

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

    def dot4(self, i, v, batch):
        a = b = c = d = 0.0
        for j in range(self.values.shape[1]):
            x = self.values[i, j]
            a += x * v[j, batch, 0]
            b += x * v[j, batch, 1]
            c += x * v[j, batch, 2]
            d += x * v[j, batch, 3]
        return a, b, c, d

    def add4(self, i, a, b, c, d, v, batch):
        for j in range(self.values.shape[1]):
            x = self.values[i, j]
            v[j, batch, 0] += a * x
            v[j, batch, 1] += b * x
            v[j, batch, 2] += c * x
            v[j, batch, 3] += d * x

    @reassociated
    def length(self, i):
        total = 0.0
        for j in range(self.values.shape[1]):
            total += np.float64(self.values[i, j]) * np.float64(self.values[i, j])
        return math.sqrt(total)

    def norm(self, i, order):
        top = 0.0
        for j in range(self.values.shape[1]):
            top = max(top, np.float64(abs(self.values[i, j])))
        total = 0.0
        for j in range(self.values.shape[1]):
            total += scaled_power(np.float64(abs(self.values[i, j])), top, order)
        return scaled_root(total, top, order)

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

    def fetch(self, i):
        first, near = np.uintp(self.indptr[i]), np.uintp(NEAR)
        prefetch(self.data, first)
        prefetch(self.indices, first)
        prefetch(self.data, first + near)
        for e in range(first + near + near, np.uintp(self.indptr[i + 1]), near):
            prefetch(self.data, e)
            prefetch(self.indices, e)

    # Positions are unsigned: for signed ones Numba also handles negative indices, which takes a third more time.

    def dot(self, i, w):
        # Several sums at once: each addition waits for the one before it.
        first, last = np.uintp(self.indptr[i]), np.uintp(self.indptr[i + 1])
        a = b = c = d = 0.0
        e = first
        for _ in range((last - first) >> np.uintp(2)):
            a += self.data[e] * w.raw(np.uintp(self.indices[e]))
            b += self.data[e + np.uintp(1)] * w.raw(np.uintp(self.indices[e + np.uintp(1)]))
            c += self.data[e + np.uintp(2)] * w.raw(np.uintp(self.indices[e + np.uintp(2)]))
            d += self.data[e + np.uintp(3)] * w.raw(np.uintp(self.indices[e + np.uintp(3)]))
            e += np.uintp(4)
        for k in range(e, last):
            a += self.data[k] * w.raw(np.uintp(self.indices[k]))
        return w.factor() * ((a + b) + (c + d))

    def add(self, i, c, w):
        change = 0.0
        for e in range(np.uintp(self.indptr[i]), np.uintp(self.indptr[i + 1])):
            change += w.shift(np.uintp(self.indices[e]), c * self.data[e])
        w.settle(change)

    def dots(self, i, w, z):
        if z.shape[0] <= FEW_OUTPUTS:
            self.few_dots(i, w, z)
            return
        K = np.uintp(z.shape[0])
        z[:] = 0.0
        for e in range(np.uintp(self.indptr[i]), np.uintp(self.indptr[i + 1])):
            first = np.uintp(self.indices[e]) * K
            for k in range(K):
                z[k] += self.data[e] * w.raw(first + k)
        z *= w.factor()

    def few_dots(self, i, w, z):
        # Two sums at a time: on a9a with 2, 3 and 4 outputs a quarter to two fifths of the time of the loop over outputs above.
        K, two = np.uintp(z.shape[0]), np.uintp(2)
        first, last = np.uintp(self.indptr[i]), np.uintp(self.indptr[i + 1])
        k = np.uintp(0)
        while k + two <= K:
            a = b = 0.0
            for e in range(first, last):
                j = np.uintp(self.indices[e]) * K + k
                a += self.data[e] * w.raw(j)
                b += self.data[e] * w.raw(j + np.uintp(1))
            z[k], z[k + np.uintp(1)] = w.factor() * a, w.factor() * b
            k += two
        if k < K:
            a = 0.0
            for e in range(first, last):
                a += self.data[e] * w.raw(np.uintp(self.indices[e]) * K + k)
            z[k] = w.factor() * a

    def adds(self, i, c, w):
        K = np.uintp(c.shape[0])
        change = 0.0
        for e in range(np.uintp(self.indptr[i]), np.uintp(self.indptr[i + 1])):
            first = np.uintp(self.indices[e]) * K
            for k in range(K):
                change += w.shift(first + k, c[k] * self.data[e])
        w.settle(change)

    def dot4(self, i, v, batch):
        a = b = c = d = 0.0
        for e in range(np.uintp(self.indptr[i]), np.uintp(self.indptr[i + 1])):
            x, j = self.data[e], np.uintp(self.indices[e])
            a += x * v[j, batch, 0]
            b += x * v[j, batch, 1]
            c += x * v[j, batch, 2]
            d += x * v[j, batch, 3]
        return a, b, c, d

    def add4(self, i, a, b, c, d, v, batch):
        for e in range(np.uintp(self.indptr[i]), np.uintp(self.indptr[i + 1])):
            x, j = self.data[e], np.uintp(self.indices[e])
            v[j, batch, 0] += a * x
            v[j, batch, 1] += b * x
            v[j, batch, 2] += c * x
            v[j, batch, 3] += d * x

    @reassociated
    def length(self, i):
        total = 0.0
        for e in range(np.uintp(self.indptr[i]), np.uintp(self.indptr[i + 1])):
            total += np.float64(self.data[e]) * np.float64(self.data[e])
        return math.sqrt(total)

    def norm(self, i, order):
        top = 0.0
        for e in range(np.uintp(self.indptr[i]), np.uintp(self.indptr[i + 1])):
            top = max(top, np.float64(abs(self.data[e])))
        total = 0.0
        for e in range(np.uintp(self.indptr[i]), np.uintp(self.indptr[i + 1])):
            total += scaled_power(np.float64(abs(self.data[e])), top, order)
        return scaled_root(total, top, order)

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
        # The lower triangle alone: indices ascend within a row.
        first, last = np.uintp(self.indptr[i]), np.uintp(self.indptr[i + 1])
        for e in range(first, last):
            j, x = np.uintp(self.indices[e]), c * self.data[e]
            for f in range(first, e + np.uintp(1)):
                G[j, np.uintp(self.indices[f])] += x * self.data[f]


@compiled
def scaled_power(x, top, order):
    """(x/top)^order, 0 for an infinite order: powers of x itself may overflow."""
    if order == 2.0:
        return (x / top) * (x / top) if top > 0.0 else 0.0
    return (x / top) ** order if top > 0.0 and not math.isinf(order) else 0.0


@compiled
def scaled_root(total, top, order):
    """The norm of which the largest entry is ``top`` and the sum of scaled powers ``total``."""
    if math.isinf(order):
        return top
    return top * (math.sqrt(total) if order == 2.0 else total ** (1.0 / order))

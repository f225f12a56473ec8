"""Rows and columns of X with a constant feature, an intercept, added on the fly: the methods of :mod:`fenchel.linalg.rows`"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled
from fenchel.linalg.rows import scaled_power, scaled_root


@compiled
class RowsWithConstant(NamedTuple):
    """Rows with one more feature of the same value in every row: an intercept, without a copy of X."""

    rows: Any
    scale: float
    last: int

    def fetch(self, i):
        self.rows.fetch(i)

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

    def dot4(self, i, v, batch):
        a, b, c, d = self.rows.dot4(i, v, batch)
        x, j = self.scale, np.uintp(self.last)
        return a + x * v[j, batch, 0], b + x * v[j, batch, 1], c + x * v[j, batch, 2], d + x * v[j, batch, 3]

    def add4(self, i, a, b, c, d, v, batch):
        self.rows.add4(i, a, b, c, d, v, batch)
        x, j = self.scale, np.uintp(self.last)
        v[j, batch, 0] += a * x
        v[j, batch, 1] += b * x
        v[j, batch, 2] += c * x
        v[j, batch, 3] += d * x

    def length(self, i):
        return math.sqrt(self.rows.length(i) ** 2 + self.scale**2)

    def norm(self, i, order):
        rows = self.rows.norm(i, order)
        top = max(rows, abs(self.scale))
        return scaled_root(scaled_power(rows, top, order) + scaled_power(abs(self.scale), top, order), top, order)

    def count(self, i):
        return self.rows.count(i) + 1

    def add_squares(self, i, c, out):
        self.rows.add_squares(i, c, out)
        out[self.last] += c * self.scale * self.scale


@compiled
class ColumnsWithConstant(NamedTuple):
    """Columns, as rows of Xᵀ, with one more column of the same value in every row."""

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

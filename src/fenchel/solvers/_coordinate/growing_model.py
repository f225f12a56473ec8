"""The columns of X in use, and the matrix of second derivatives of their weights, which grow as columns come into use

    G = C·diag(h)·Cᵀ − (Σh)·μμᵀ,     h_i = s_i φ''(z_i)/m at some predictions z,     μ = C·h/Σh

The rows of C are columns of X. Beside an unpenalised intercept, dense ones are taken less their means at the origin, so that no digits
cancel in G, and μ is what the best intercept takes up of them; otherwise μ = 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from fenchel.core.threads import in_parallel
from fenchel.linalg.gram import PARALLEL_PRODUCTS, gram
from fenchel.problems.problem import Problem
from fenchel.problems.sums import in_ranges
from fenchel.solvers._second_order.curvatures import row_curvatures

BLAS_IN_PARALLEL_FROM = 2_000_000  # entries of C from which a product uses threads: it takes about 0.5 ms
FEW_ROWS = 4096  # most rows for which C is multiplied as a whole, not by blocks of its columns
ROOM = 1.25  # for columns to come, relative to those there are when C and G are copied
FEW = 4  # weights for each one that changes, from which the columns of these are copied before they are multiplied


class GrowingModel:
    """C, G and h; ``which`` are the columns of X in use, in the order in which they came into use.

    G is the upper left corner of ``products``, which has room for more.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem, X = problem, problem.design.storage
        self.X: Any = X.tocsc() if sp.issparse(X) else X
        self.is_sparse = sp.issparse(X)
        self.which, self.is_used = np.empty(0, dtype=np.int64), np.zeros(X.shape[1], dtype=bool)
        self._columns: Any = sp.csr_array((0, problem.m)) if self.is_sparse else np.empty((0, problem.m))
        self.centres, self.means, self.products = np.empty(0), np.empty(0), np.empty((0, 0))
        self.h = np.empty(problem.m)
        self._set_curvatures(problem.origin_predictions)
        self.first_h = self.h.copy()

    @property
    def G(self) -> np.ndarray:
        return self.products[: len(self.which), : len(self.which)]

    @property
    def columns(self) -> Any:
        """C"""
        return self._columns if self.is_sparse else self._columns[: len(self.which)]

    def _set_curvatures(self, z: np.ndarray) -> None:
        problem = self.problem
        in_ranges(problem.threads, row_curvatures, problem.loss, (z, problem.y, problem.row_weights, self.h))
        self.total = float(self.h.sum()) if problem.free else 0.0

    def add(self, wanted: np.ndarray) -> int:
        """Use the columns for which ``wanted`` is true as well; how many are new."""
        new = np.flatnonzero(wanted & ~self.is_used)
        if not new.size:
            return 0
        old = len(self.which)
        self.is_used[new] = True
        self._append(new)
        if len(self.which) > len(self.products):
            before, room = self.products[:old, :old], self._room()
            self.products = np.empty((room, room))
            self.products[:old, :old] = before
        G = self.G
        G[old:] = self._products(old)
        G[:old, old:] = G[old:, :old].T
        return len(new)

    def _room(self) -> int:
        return min(int(ROOM * len(self.which)), len(self.is_used))

    def _append(self, new: np.ndarray) -> None:
        old = len(self.which)
        self.which = np.concatenate([self.which, new])
        if self.is_sparse:
            columns: Any = self.X[:, new].T.tocsr().astype(np.float64)
            self._columns, centres = sp.vstack([self._columns, columns], format="csr"), np.zeros(len(new))
        else:
            if len(self.which) > len(self._columns):
                before = self._columns[:old]
                self._columns = np.empty((self._room(), self.problem.m))
                self._columns[:old] = before
            columns = self._columns[old : len(self.which)]
            columns[:] = self.X[:, new].T
            centres = columns @ self.first_h / self.first_h.sum() if self.problem.free else np.zeros(len(new))
            columns -= centres[:, None]
        self.centres = np.concatenate([self.centres, centres])
        self.means = np.concatenate([self.means, self._means(columns)])

    def _means(self, columns: Any) -> np.ndarray:
        return columns @ self.h / self.total if self.problem.free else np.zeros(columns.shape[0])

    def _products(self, first: int) -> np.ndarray:
        """The rows of G from the first one on."""
        count = len(self.which)
        if self.is_sparse:
            products = (self.columns[first:].multiply(self.h) @ self.columns.T).toarray()
        elif self.problem.m <= FEW_ROWS:
            products = self._products_of_few_rows(first)
        elif first == 0:
            products = gram(self.columns, None, None, self.h, self.problem.threads)
        else:
            products = gram(self.columns, np.arange(first, count), np.arange(count), self.h, self.problem.threads)
        return np.asarray(products - self.total * np.outer(self.means[first:], self.means))

    def _products_of_few_rows(self, first: int) -> np.ndarray:
        """C·diag(h)·Cᵀ from its row number ``first`` on, those rows divided among threads."""
        scaled, count = self.columns[first:] * self.h, len(self.which)
        out = np.empty((count - first, count))
        ranges = self._ranges(len(out)) if out.size * self.problem.m >= PARALLEL_PRODUCTS else [(0, len(out))]
        in_parallel([(np.matmul, scaled[i:j], self.columns.T, out[i:j]) for i, j in ranges])
        return out

    def renew(self, z: np.ndarray) -> None:
        """Compute G at other predictions."""
        self._set_curvatures(z)
        self.means = self._means(self.columns)
        self.G[:] = self._products(0)

    def dots(self, a: np.ndarray) -> np.ndarray:
        """C·a"""
        if self.is_sparse or self.columns.size < BLAS_IN_PARALLEL_FROM:
            return np.asarray(self.columns @ a)
        out = np.empty(len(self.which))
        in_parallel([(np.matmul, self.columns[i:j], a, out[i:j]) for i, j in self._ranges(len(out))])
        return out

    def combined(self, change: np.ndarray) -> np.ndarray:
        """Cᵀ·change"""
        used = np.flatnonzero(change)
        columns, change = (self.columns[used], change[used]) if FEW * len(used) < len(change) else (self.columns, change)
        if self.is_sparse or columns.size < BLAS_IN_PARALLEL_FROM:
            return np.asarray(change @ columns)
        out = np.empty(self.problem.m)
        in_parallel([(np.matmul, change, columns[:, i:j], out[i:j]) for i, j in self._ranges(len(out))])
        return out

    def _ranges(self, count: int) -> list[tuple[int, int]]:
        threads = self.problem.threads
        return [(count * k // threads, count * (k + 1) // threads) for k in range(threads)]

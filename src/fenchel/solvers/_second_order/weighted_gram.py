"""The matrix Xᵀ·diag(h)·X with the constant feature, n × n, in the way that costs least on this storage

``dense``      X is an array: blocks of rows by BLAS.
``scattered``  X is sparse: Σ_i h_i x_i x_iᵀ row by row, (non-zeros of the row)² operations each.
``filled in``  X is sparse with so many non-zeros that blocks of rows are made dense.

Rows with h_i = 0, such as those that a squared hinge does not penalise, are left out.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from fenchel.core.compiled import kernel
from fenchel.core.threads import in_parallel
from fenchel.linalg.design import BLOCK, Design
from fenchel.linalg.gram import PARALLEL_PRODUCTS, gram
from fenchel.linalg.weights import Plain

FEW = 0.5  # share of the rows with h_i ≠ 0 below which they are copied
BLAS_SPEED = 30.0  # multiplications of BLAS in the time of one that is scattered over memory
SINGLE = 1e-6  # least ridge penalty, relative to the trace, for single precision: the smallest eigenvalues of the sum keep a digit or more
RANGE = 1e-20, 1e20  # of penalties with which no entry is too small or too large for single precision


class WeightedGram:
    """The function that takes h to the matrix, of which the lower triangle is valid; l2 is what will be added to its diagonal.

    Of the next matrix only the difference is computed, where fewer h_i have changed than are not 0. The matrix of equal h, with which runs
    from the origin begin, is kept with the design for the next run.
    """

    def __init__(self, design: Design, l2: float = 0.0) -> None:
        self.design, self.l2 = design, l2
        self.h: np.ndarray | None = None  # of the last matrix
        self.last = np.empty(0)  # the last matrix
        self.is_single = False  # whether it was computed in single precision
        self.squares = None
        if not sp.issparse(design.storage):
            self.sums: Callable[..., np.ndarray] = _dense
            if filled_in_cost(design) >= PARALLEL_PRODUCTS and RANGE[0] < l2 < RANGE[1]:
                self.squares = design.row_norms() ** 2
        else:
            self.sums = _filled_in if BLAS_SPEED * scattered_cost(design) > filled_in_cost(design) else _scattered

    def __call__(self, h: np.ndarray, rough: bool = False) -> np.ndarray:
        """With ``rough`` that of a large dense X is computed in single precision, in less time, unless l2 is too small for that."""
        single = rough and self.squares is not None and SINGLE * float(h @ self.squares) <= self.l2
        if self.h is None and h.min() == h.max() > 0.0:
            G = h[0] * self._of_ones(single)
        elif self.h is not None and single >= self.is_single and np.count_nonzero(h != self.h) < np.count_nonzero(h):
            G = self.last.copy()
            self._add(h - self.h, single, G)
        else:
            G = self.sums(self.design, h, single)
        self.h, self.last, self.is_single = h.copy(), G.copy(), single
        return G

    def _add(self, h: np.ndarray, single: bool, G: np.ndarray) -> None:
        """G ← G + Σ h_i x_i x_iᵀ, its lower triangle, for h of any sign."""
        if self.sums is _scattered:
            add_bordered(self.design.sorted_rows, h, 0, self.design.m, self.design.intercept, G, Plain(G[-1]))
            return
        for sign in (1.0, -1.0):
            part = np.maximum(sign * h, 0.0)
            if part.any():
                G += sign * self.sums(self.design, part, single)

    def _of_ones(self, single: bool) -> np.ndarray:
        """The matrix of h = 1, computed once for all runs that may use its precision."""
        kept: dict[bool, np.ndarray] = self.design.memo.setdefault("gram of ones", {})
        if False in kept:
            return kept[False]
        if single not in kept:
            kept[single] = self.sums(self.design, np.ones(self.design.m), single)
        return kept[single]


def gram_cost(design: Design) -> float:
    """About how long it takes, in units of one scattered multiplication."""
    by_blas = filled_in_cost(design) / BLAS_SPEED
    return min(by_blas, scattered_cost(design)) if sp.issparse(design.storage) else by_blas


def filled_in_cost(design: Design) -> float:
    """Multiplications where blocks of rows are dense."""
    return float(design.m) * design.width**2


def scattered_cost(design: Design) -> float:
    """Multiplications where each row is multiplied with itself."""
    counts = np.diff(design.stored_rows.indptr).astype(np.float64)
    return float(counts @ counts) / 2.0


def _dense(design: Design, h: np.ndarray, single: bool) -> np.ndarray:
    X, used = design.storage, np.flatnonzero(h)
    if 0 < used.size < FEW * design.m:
        X, h = X[used], h[used]
    return gram(X.T, None, None, h, design.threads, design.intercept, single).astype(np.float64, copy=False)


@kernel
def add_bordered(rows, h, first, last, constant, G, border):
    """G ← G + Σ h_i x_i x_iᵀ, its lower triangle, where a constant that is not 0 is one more feature; ``border`` is the last row of G."""
    total = 0.0
    for i in range(first, last):
        if h[i] != 0.0:
            rows.add_outer(i, h[i], G)
            total += h[i]
            if constant != 0.0:
                rows.add(i, constant * h[i], border)
    if constant != 0.0:
        G[-1, -1] += constant * constant * total


def _scattered(design: Design, h: np.ndarray, single: bool = False) -> np.ndarray:
    rows = design.sorted_rows
    bounds = design.ranges(rows, design.m)
    parts = [np.zeros((design.n, design.n)) for _ in bounds]
    in_parallel([(add_bordered, rows, h, a, b, design.intercept, G, Plain(G[-1])) for (a, b), G in zip(bounds, parts, strict=True)])
    return sum(parts[1:], start=parts[0])


def _filled_in(design: Design, h: np.ndarray, single: bool = False) -> np.ndarray:
    X, used = design.storage.tocsr(), np.flatnonzero(h)
    bounds = design.ranges(design.stored_rows, design.m)
    if 0 < used.size < FEW * design.m:
        X, h, bounds = X[used], h[used], [(0, used.size)]
    parts = [np.zeros((design.n, design.n)) for _ in bounds]

    def add(first: int, last: int, G: np.ndarray) -> None:
        for a in range(first, last, BLOCK):
            b = min(a + BLOCK, last)
            A = np.full((b - a, design.n), design.intercept)
            A[:, : design.width] = X[a:b].toarray()
            A *= np.sqrt(h[a:b])[:, None]
            G += A.T @ A

    in_parallel([(add, a, b, G) for (a, b), G in zip(bounds, parts, strict=True)])
    return sum(parts[1:], start=parts[0])

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

Gram = Callable[..., np.ndarray]


def weighted_gram(design: Design, l2: float = 0.0) -> Gram:
    """The function that takes h to the matrix, of which the lower triangle is valid; l2 is what will be added to its diagonal.

    With ``rough=True`` that of a large dense X is computed in single precision, in less time, unless l2 is too small for that.
    """
    if not sp.issparse(design.storage):
        squares = design.row_norms() ** 2
        may_be_single = filled_in_cost(design) >= PARALLEL_PRODUCTS and RANGE[0] < l2 < RANGE[1]
        return lambda h, rough=False: _dense(design, h, rough and may_be_single and SINGLE * float(h @ squares) <= l2)
    filled_in = BLAS_SPEED * scattered_cost(design) > filled_in_cost(design)
    return lambda h, rough=False: (_filled_in if filled_in else _scattered)(design, h)


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
def add_outer_products(rows, h, first, last, G, sums):
    """G ← G + Σ h_i x_i x_iᵀ, its lower triangle, and sums ← sums + Σ h_i x_i."""
    for i in range(first, last):
        if h[i] != 0.0:
            rows.add_outer(i, h[i], G)
            rows.add(i, h[i], sums)


def _scattered(design: Design, h: np.ndarray) -> np.ndarray:
    rows = design.sorted_rows
    bounds = design.ranges(rows, design.m)
    parts = [np.zeros((design.width, design.width)) for _ in bounds]
    sums = [np.zeros(design.width) for _ in bounds]
    in_parallel([(add_outer_products, rows, h, a, b, G, Plain(s)) for (a, b), G, s in zip(bounds, parts, sums, strict=True)])
    return _bordered(design, sum(parts[1:], start=parts[0]), sum(sums[1:], start=sums[0]), float(h.sum()))


def _bordered(design: Design, G: np.ndarray, sums: np.ndarray, total: float) -> np.ndarray:
    """G with the row of the constant feature: ``sums`` is Σ h_i x_i and ``total`` is Σ h_i."""
    if not design.intercept:
        return G
    c = design.intercept
    return np.block([[G, c * sums[:, None]], [c * sums, np.array([c * c * total])]])


def _filled_in(design: Design, h: np.ndarray) -> np.ndarray:
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

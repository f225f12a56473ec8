"""Gram matrices Xᵀ·diag(h)·X of some columns of dense X, by blocks of rows that fit the cache, one thread of BLAS for each block"""

from __future__ import annotations

import threading

import numpy as np
from scipy.linalg import blas

from fenchel.core.threads import in_parallel

ROWS_AT_ONCE = 1024  # in one call of BLAS
PARALLEL_PRODUCTS = 10_000_000  # multiplications from which threads are used: about a millisecond of one thread of BLAS
LARGEST_GRAM = 2000  # most columns of a Gram matrix
NEIGHBOURS = 64  # consecutive rows in each block of a sample
SAMPLE_PER_COLUMN = 50  # rows of a sample for each column
REPRESENTATIVE = 0.2  # smallest ratio of a diagonal entry of a sample's Gram matrix to the expected one


def gram(
    columns: np.ndarray,
    left: np.ndarray | None,
    right: np.ndarray | None,
    h: np.ndarray,
    threads: int,
    constant: float = 0.0,
    single: bool = False,
) -> np.ndarray:
    """Σ_i h_i x_ij x_ik for j in ``left`` (all columns if None) and k in ``right`` (``left`` again if None).

    A ``constant`` that is not 0 is one more column of this value in ``left``, where ``right`` is None. ``single`` precision takes half the
    time.

    >>> gram(np.array([[1.0, 2.0], [0.0, 3.0]]), None, None, np.ones(2), 1).tolist()
    [[5.0, 6.0], [6.0, 9.0]]
    """
    m, count = columns.shape[1], len(columns) if left is None else len(left)
    size = count + bool(constant)
    across = size if right is None else len(right)
    rows_per_thread = max(ROWS_AT_ONCE, -(-m // threads)) if m * size * across >= PARALLEL_PRODUCTS else m
    precision = np.dtype(np.float32 if single else np.float64)
    same_weights = right is None and not constant and h.min() == h.max()  # then BLAS takes the columns as they are
    rows_at_once = m if same_weights and columns.dtype == precision else ROWS_AT_ONCE
    by_columns = left is not None or columns.flags.c_contiguous
    multiply = blas.ssyrk if single else blas.dsyrk
    parts: dict[int, np.ndarray] = {}

    def part(first: int, last: int) -> None:
        total: np.ndarray = np.zeros((size, across), order="F", dtype=precision)
        scaled: np.ndarray = np.empty(0 if same_weights else size * min(rows_at_once, last - first), dtype=precision)
        for a in range(first, last, rows_at_once):
            b = min(a + rows_at_once, last)
            chosen = columns[:, a:b] if left is None else columns[left, a:b]
            if same_weights:
                A = chosen.astype(precision, copy=False)
            else:
                weights = np.sqrt(h[a:b]) if right is None else h[a:b]
                A = scaled[: size * (b - a)].reshape((size, b - a), order="C" if by_columns else "F")  # transposing takes as long as BLAS
                np.multiply(chosen, weights, out=A[:count], casting="same_kind")
                A[count:] = constant * weights
            if right is None:
                multiply(1.0, A if A.flags.f_contiguous else A.T, 1.0, total, not A.flags.f_contiguous, lower=True, overwrite_c=True)
            else:
                total += A @ columns[right, a:b].T
        parts[first] = h[0] * total if same_weights else total

    in_parallel([(part, a, min(a + rows_per_thread, m)) for a in range(0, m, rows_per_thread)])
    total = sum((parts[first] for first in sorted(parts)[1:]), start=parts[0])  # in a fixed order, because rounding depends on it
    return total + np.tril(total, -1).T if right is None else total


def evenly_spread(m: int, count: int) -> np.ndarray:
    """About ``count`` of m rows, in blocks of consecutive rows at even distances.

    >>> evenly_spread(1000, 128)[[0, 63, 64]].tolist()
    [0, 63, 936]
    """
    starts = np.linspace(0, m - NEIGHBOURS, max(1, count // NEIGHBOURS), dtype=np.int64) if m > count else np.zeros(1, dtype=np.int64)
    return (starts[:, None] + np.arange(min(m, NEIGHBOURS) if m > count else m)).ravel()


def gram_of_sample(columns: np.ndarray, W: np.ndarray, h: np.ndarray, squares: np.ndarray, threads: int) -> tuple[np.ndarray | None, int]:
    """An estimate of Σ_i h_i x_ij x_ik for j and k in W from some rows, and how many entries were read.

    None where half the rows would not be enough, or where the sample lacks what a column varies by: its diagonal is compared with
    Σh·``squares``, which it would be if h were constant. ``squares`` are the weighted means of x_ij².
    """
    m = columns.shape[1]
    if m <= 2 * SAMPLE_PER_COLUMN * len(W):
        return None, 0
    rows = evenly_spread(m, SAMPLE_PER_COLUMN * len(W))
    total, part = float(h.sum()), float(h[rows].sum())
    if not part > 0.0:
        return None, 0
    G = gram(np.ascontiguousarray(columns[W][:, rows]), None, None, h[rows], threads) * (total / part)
    representative = (G.diagonal() >= REPRESENTATIVE * total * squares).all()
    return (G if representative else None), len(rows) * len(W)


class Products:
    """Gram matrices under weights h that stay the same: every product is computed once and kept."""

    def __init__(self, columns: np.ndarray, threads: int) -> None:
        self.columns, self.threads, self.lock = columns, threads, threading.Lock()
        self.discard()

    def discard(self) -> None:
        """Discard all products."""
        self.place = np.full(len(self.columns), -1)
        self.known = np.zeros(0, dtype=np.int64)
        self.G = np.zeros((0, 0))

    def missing(self, W: np.ndarray) -> int:
        """How many of these columns have no products yet."""
        return int((self.place[W] < 0).sum())

    def of(self, W: np.ndarray, h: np.ndarray) -> np.ndarray:
        """Σ_i h_i x_ij x_ik for j and k in W."""
        with self.lock:
            if len(self.known) + self.missing(W) > 2 * LARGEST_GRAM:
                self.discard()
            new = W[self.place[W] < 0]
            if new.size:
                columns, threads = self.columns, self.threads
                across = gram(columns, self.known, new, h, threads) if self.known.size else np.zeros((0, new.size))
                G = np.block([[self.G, across], [across.T, gram(columns, new, None, h, threads)]])
                known = np.concatenate([self.known, new])
                self.place[new] = len(self.known) + np.arange(len(new))
                self.G, self.known = G, known
            return self.G[np.ix_(self.place[W], self.place[W])]

"""Gram matrices of the columns of a working set: those of a sample of the rows, and those that are kept from one set to the next"""

from __future__ import annotations

import threading

import numpy as np

from fenchel.linalg.gram import gram

LARGEST_GRAM = 2000  # most columns of a Gram matrix
NEIGHBOURS = 64  # consecutive rows in each block of a sample
SAMPLE_PER_COLUMN = 50  # rows of a sample for each column
REPRESENTATIVE = 0.2  # smallest ratio of a diagonal entry of a sample's Gram matrix to the expected one


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

"""Products with some of the columns of X, and what they cost in entries read."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import scipy.sparse as sp

from fenchel.compiled import kernel
from fenchel.matrices import PARALLEL_FROM, Design, in_parallel
from fenchel.weights import Plain


@kernel
def line_dots(lines, a, which, out, first, last):
    for k in range(first, last):
        out[k] = lines.dot(which[k], a)


@kernel
def line_dots_and_squares(lines, a, h, which, out, squares, first, last):
    """Both at once, for a column that has just been read is still in the cache."""
    for k in range(first, last):
        out[k] = lines.dot(which[k], a)
        squares[k] = lines.square(which[k], h)


@kernel
def line_adds(lines, which, change, z):
    for k in range(which.shape[0]):
        if change[k] != 0.0:
            lines.add(which[k], change[k], z)


@kernel
def line_squares(lines, h, which, out):
    """Σ_i h_i x_ij² of some columns."""
    for k in range(which.shape[0]):
        out[k] = lines.square(which[k], h)


class Columns:
    """The columns of a design as lines, and how many of their entries have been read; ``stored`` leaves the constant feature out."""

    def __init__(self, design: Design, stored: bool) -> None:
        self.lines = design.lines.lines if stored and design.intercept else design.lines
        self.m, self.n, self.threads = design.m, design.columns, design.threads
        self.values: Any = getattr(self.lines, "values", None)  #: one column a row, where X is dense
        self.accesses = 0
        inner = getattr(self.lines, "lines", self.lines)
        counts = np.diff(inner.indptr) if hasattr(inner, "indptr") else np.full(self.n, self.m)
        self.counts = np.append(counts, self.m)  # the constant feature's last, if there is one

    def entries(self, which: np.ndarray) -> int:
        """How many there are in some columns."""
        return int(self.counts[which].sum())

    def dots(self, which: np.ndarray, a: np.ndarray) -> np.ndarray:
        """<a, x_j> of some columns."""
        out = np.empty(len(which))
        self._in_shares(which, line_dots, self.lines, Plain(a), which, out)
        return out

    def dots_and_squares(self, which: np.ndarray, a: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """<a, x_j> and Σ_i h_i x_ij² of some columns."""
        out, squares = np.empty(len(which)), np.empty(len(which))
        self._in_shares(which, line_dots_and_squares, self.lines, Plain(a), h, which, out, squares)
        return out, squares

    def _in_shares(self, which: np.ndarray, *job: Any) -> None:
        """Call a kernel on ranges of the columns, one a thread, with about as many entries each."""
        total = np.cumsum(self.counts[which])
        entries = int(total[-1]) if len(total) else 0
        self.accesses += entries
        shares = np.linspace(0, entries, (self.threads if entries >= PARALLEL_FROM else 1) + 1)[1:-1]
        marks = [0, *np.searchsorted(total, shares).tolist(), len(which)]
        in_parallel([(*job, first, last) for first, last in itertools.pairwise(marks)])

    def squares(self, which: np.ndarray, h: np.ndarray) -> np.ndarray:
        """Σ_i h_i x_ij² of some columns."""
        out = np.empty(len(which))
        line_squares(self.lines, h, which, out)
        self.accesses += self.entries(which)
        return out

    def add(self, which: np.ndarray, change: np.ndarray, z: np.ndarray) -> None:
        """z ← z + Σ_j change_j·x_j"""
        line_adds(self.lines, which, change, Plain(z))
        self.accesses += self.entries(which[change != 0.0])

    def filled_in(self, which: np.ndarray) -> np.ndarray:
        """Some columns as an array, one a row; of few rows even sparse ones are small."""
        self.accesses += self.entries(which)
        if self.values is not None:
            return np.asarray(self.values[which], dtype=np.float64)
        stored = sp.csc_array((self.lines.data, self.lines.indices, self.lines.indptr), shape=(self.m, self.n))
        return np.asarray(stored[:, which].toarray().T, dtype=np.float64)

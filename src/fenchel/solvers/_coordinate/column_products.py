"""Products with some of the columns of X, and how many entries they read"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import scipy.sparse as sp

from fenchel.core.compiled import kernel
from fenchel.core.threads import in_parallel
from fenchel.linalg.design import PARALLEL_FROM, Design
from fenchel.linalg.weights import Plain


@kernel
def column_dots(columns, a, which, out, first, last):
    for k in range(first, last):
        out[k] = columns.dot(which[k], a)


@kernel
def column_dots_and_squares(columns, a, h, which, out, squares, first, last):
    """<x_j, a> and Σ_i h_i x_ij² of some columns, with one read of each: the second product finds the column in the cache."""
    for k in range(first, last):
        out[k] = columns.dot(which[k], a)
        squares[k] = columns.square(which[k], h)


@kernel
def add_columns(columns, which, change, z):
    for k in range(which.shape[0]):
        if change[k] != 0.0:
            columns.add(which[k], change[k], z)


@kernel
def column_squares(columns, h, which, out):
    """Σ_i h_i x_ij² of some columns."""
    for k in range(which.shape[0]):
        out[k] = columns.square(which[k], h)


class ColumnProducts:
    """The columns of a design, and how many of their entries have been read; without the constant feature if ``stored``."""

    def __init__(self, design: Design, stored: bool) -> None:
        self.columns = design.stored_columns if stored else design.columns
        self.m, self.n, self.threads = design.m, design.width, design.threads
        self.values: Any = getattr(self.columns, "values", None)  #: the columns as rows of an array, where X is dense
        self.accesses = 0
        inner = design.stored_columns
        counts = np.diff(inner.indptr) if hasattr(inner, "indptr") else np.full(self.n, self.m)
        self.counts = np.append(counts, self.m)  # the last is that of the constant feature, if there is one

    def entries(self, which: np.ndarray) -> int:
        """The number of entries of some columns."""
        return int(self.counts[which].sum())

    def dots(self, which: np.ndarray, a: np.ndarray) -> np.ndarray:
        """<a, x_j> of some columns."""
        out = np.empty(len(which))
        self._in_ranges(which, column_dots, self.columns, Plain(a), which, out)
        return out

    def dots_and_squares(self, which: np.ndarray, a: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """<a, x_j> and Σ_i h_i x_ij² of some columns."""
        out, squares = np.empty(len(which)), np.empty(len(which))
        self._in_ranges(which, column_dots_and_squares, self.columns, Plain(a), h, which, out, squares)
        return out, squares

    def _in_ranges(self, which: np.ndarray, *job: Any) -> None:
        """Call a kernel on one range of the columns for each thread, with about as many entries each."""
        total = np.cumsum(self.counts[which])
        entries = int(total[-1]) if len(total) else 0
        self.accesses += entries
        positions = np.linspace(0, entries, (self.threads if entries >= PARALLEL_FROM else 1) + 1)[1:-1]
        bounds = [0, *np.searchsorted(total, positions).tolist(), len(which)]
        in_parallel([(*job, first, last) for first, last in itertools.pairwise(bounds)])

    def squares(self, which: np.ndarray, h: np.ndarray) -> np.ndarray:
        """Σ_i h_i x_ij² of some columns."""
        out = np.empty(len(which))
        column_squares(self.columns, h, which, out)
        self.accesses += self.entries(which)
        return out

    def add(self, which: np.ndarray, change: np.ndarray, z: np.ndarray) -> None:
        """z ← z + Σ_j change_j·x_j"""
        add_columns(self.columns, which, change, Plain(z))
        self.accesses += self.entries(which[change != 0.0])

    def filled_in(self, which: np.ndarray) -> np.ndarray:
        """Some columns as the rows of an array; for X with few rows, so that the array is small even where X is sparse."""
        self.accesses += self.entries(which)
        if self.values is not None:
            return np.asarray(self.values[which], dtype=np.float64)
        stored = sp.csc_array((self.columns.data, self.columns.indices, self.columns.indptr), shape=(self.m, self.n))
        return np.asarray(stored[:, which].toarray().T, dtype=np.float64)

"""Code shared by the benchmarks: data, timing, tables."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from rich.console import Console
from rich.table import Table

from fenchel.datasets import make_text, read_svmlight


def best(action: Callable[[], object], repeats: int = 5) -> float:
    """The shortest of several times, in seconds: the one least disturbed by other processes."""
    times = []
    for _ in range(repeats):
        clock = time.perf_counter()
        action()
        times.append(time.perf_counter() - clock)
    return min(times)


def dense(m: int = 100_000, n: int = 100) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, n))
    return X, np.where(X @ rng.standard_normal(n) + rng.standard_normal(m) > 0, 1.0, -1.0)


def real(name: str) -> tuple[sp.csr_array, np.ndarray] | None:
    """A binary data set from $FENCHEL_DATA, or None if it is not there."""
    path = Path(os.environ.get("FENCHEL_DATA", "")) / f"{name}.xz"
    if not os.environ.get("FENCHEL_DATA") or not path.exists():
        return None
    X, y = read_svmlight(path)
    return X, np.where(y == y.max(), 1.0, -1.0)


def split(name: str, seed: int = 0) -> tuple[tuple[sp.csr_array, np.ndarray], tuple[sp.csr_array, np.ndarray]] | None:
    """Training and test rows of a real data set: the test rows are its test file, or a fifth of its rows."""
    found = real(name)
    if found is None:
        return None
    X, y = found
    test = real(f"{name}.t")
    if test is not None:
        width = max(X.shape[1], test[0].shape[1])
        for A in (X, test[0]):
            A.resize(A.shape[0], width)
        return (X, y), test
    order = np.random.default_rng(seed).permutation(len(y))
    held = len(y) // 5
    return (sp.csr_array(X[order[held:]]), y[order[held:]]), (sp.csr_array(X[order[:held]]), y[order[:held]])


def text(m: int = 200_000) -> tuple[sp.csr_array, np.ndarray]:
    return make_text(m)


def show(title: str, columns: list[str], rows: list[list[object]]) -> None:
    table = Table(*columns, title=title, title_justify="left")
    for row in rows:
        table.add_row(*(f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in row))
    Console(width=140).print(table)

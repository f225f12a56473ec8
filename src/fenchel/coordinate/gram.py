"""Gram matrices Xᵀ·diag(h)·X of some columns of dense X, by blocks of rows that fit the cache, one thread of BLAS each."""

from __future__ import annotations

import functools
import threading
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from fenchel.matrices import in_parallel

BLOCK = 2048  # rows


@functools.cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


class _OneThread:
    """A context in which BLAS uses one thread, for as long as any thread of ours is in it: its setting is the whole process's."""

    def __init__(self) -> None:
        self.lock, self.inside = threading.Lock(), 0
        self.limited: Any = None

    def __enter__(self) -> None:
        with self.lock:
            if self.inside == 0:
                self.limited = _controller().limit(limits=1, user_api="blas")
            self.inside += 1

    def __exit__(self, *error: Any) -> None:
        with self.lock:
            self.inside -= 1
            if self.inside == 0:
                self.limited.restore_original_limits()


# Several threads of BLAS wait for each other, for long if the machine is busy, and these matrices are small.
one_thread = _OneThread()


def gram(columns: np.ndarray, left: np.ndarray, right: np.ndarray | None, h: np.ndarray | None, threads: int) -> np.ndarray:
    """Σ_i h_i x_ij x_ik for j in ``left`` and k in ``right`` (``left`` again if None); h of ones if None.

    >>> gram(np.array([[1.0, 2.0], [0.0, 3.0]]), np.array([0, 1]), None, None, 1).tolist()
    [[5.0, 6.0], [6.0, 9.0]]
    """
    m = columns.shape[1]
    share = max(BLOCK, -(-m // threads))
    parts: dict[int, np.ndarray] = {}

    def part(first: int, last: int) -> None:
        total = np.zeros((len(left), len(left if right is None else right)))
        for a in range(first, last, BLOCK):
            b = min(a + BLOCK, last)
            A = columns[left, a:b].astype(np.float64, copy=False)
            if right is None:
                A = A if h is None else A * np.sqrt(h[a:b])
                total += A @ A.T
            else:
                total += (A if h is None else A * h[a:b]) @ columns[right, a:b].T
        parts[first] = total

    in_parallel([(part, a, min(a + share, m)) for a in range(0, m, share)])
    return sum((parts[first] for first in sorted(parts)[1:]), start=parts[0])  # in their order, for sums depend on it

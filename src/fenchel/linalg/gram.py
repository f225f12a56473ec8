"""Gram matrices Xᵀ·diag(h)·X of dense X, by blocks of rows that fit the cache, one thread of BLAS for each block"""

from __future__ import annotations

import numpy as np

from fenchel.core.threads import in_parallel

ROWS_AT_ONCE = 1024  # in one call of BLAS
PARALLEL_PRODUCTS = 50_000_000  # multiplications from which threads are used: about a millisecond of one thread of BLAS


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

    A ``constant`` that is not 0 is one more column of this value in ``left``, where ``right`` is None. ``single`` precision takes 0.7
    of the time.

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
    parts: dict[int, np.ndarray] = {}

    def part(first: int, last: int) -> None:
        total: np.ndarray = np.zeros((size, across), dtype=precision)
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
            # NumPy multiplies half of A·Aᵀ, as BLAS's syrk, but unlike SciPy's functions of BLAS without Python's lock.
            total += A @ (A.T if right is None else columns[right, a:b].T)
        parts[first] = h[0] * total if same_weights else total

    in_parallel([(part, a, min(a + rows_per_thread, m)) for a in range(0, m, rows_per_thread)])
    return sum((parts[first] for first in sorted(parts)[1:]), start=parts[0])  # in a fixed order, because rounding depends on it

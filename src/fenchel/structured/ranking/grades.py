"""Grades of documents, the gains of grades and the discounts of ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from fenchel.core.errors import InputError
from fenchel.core.validation import checked_whole

HIGHEST = 60.0  # the limit on grades: sums of 2^g − 1 stay far from overflow


def checked_grades(grades: Any, query: Any) -> np.ndarray:
    """The grades of a query's documents, checked to lie between 0 and ``HIGHEST``."""
    try:
        values = np.asarray(grades, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"query {query}: grades must be numbers, one per document.") from None
    if values.ndim != 1:
        raise InputError(f"query {query}: grades have shape {values.shape}: give one per document.")
    wrong = np.flatnonzero(~((values >= 0.0) & (values <= HIGHEST)))
    if len(wrong):
        d = wrong[0]
        raise InputError(f"query {query}: the grade of document {d} is {values[d]:g}: give grades from 0 (not relevant) to {HIGHEST:g}.")
    return values


def checked_depth(k: Any) -> int | None:
    """The number of ranks that count: a whole number of at least 1, or None for all."""
    return None if k is None else checked_whole("k", k)


def is_informative(grades: np.ndarray) -> bool:
    """Whether two of the grades differ; otherwise they contain no information about the order.

    >>> is_informative(np.array([1.0, 1.0])), is_informative(np.array([0.0, 1.0]))
    (False, True)
    """
    return bool(grades.min() < grades.max())


def gains(grades: np.ndarray) -> np.ndarray:
    """2^g − 1.

    >>> gains(np.array([0.0, 1.0, 2.0])).tolist()
    [0.0, 1.0, 3.0]
    """
    # expm1 avoids cancellation near 0; exp2 gives exact integers for integer grades, which expm1 does not.
    return np.where(grades < 1.0, np.expm1(grades * np.log(2.0)), np.exp2(grades) - 1.0)


def discounts(n: int, k: int | None) -> np.ndarray:
    """1/log2(1 + r) for ranks r = 1, …, n; 0 beyond rank k.

    >>> discounts(4, 3).round(3).tolist()
    [1.0, 0.631, 0.5, 0.0]
    """
    rank = np.arange(1.0, n + 1.0)
    return np.where(rank <= (n if k is None else k), 1.0 / np.log2(1.0 + rank), 0.0)

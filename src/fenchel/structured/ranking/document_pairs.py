"""Pairs of documents with different grades, as rows of a binary classification problem.

    mean over queries of the mean over their pairs of  φ(<w, x_i − x_j>),  g_i > g_j

is :class:`fenchel.Problem` on the rows x_i − x_j, weighted so that every query counts the same. Every other row and its label are
negated: the loss is the same, and both classes occur.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fenchel.core.errors import Argument, InputError, InputWarning, users_line
from fenchel.core.validation import checked_whole
from fenchel.structured.ranking.documents import grouped
from fenchel.structured.ranking.grades import checked_grades

MOST_PAIRS = 500_000  # the default limit, beyond which pairs are sampled


class Pairs(NamedTuple):
    """A binary classification problem: ``fl.Problem(pairs.X, pairs.y, fl.Hinge(), fl.L2(0.01), sample_weight=pairs.weight)``."""

    X: Any  #: differences of documents, one row per pair
    y: np.ndarray  #: +1 where the better document comes first, −1 where the worse does
    weight: np.ndarray  #: 1 over the number of pairs of the same query


def pairwise(X: Any, y: Any, qid: Any, most: int = MOST_PAIRS, seed: int = 0) -> Pairs:
    """The pairs of documents of a query whose grades differ, as rows for :class:`fenchel.Problem`.

    Args:
        X: one row for each document, dense or sparse.
        y: the grade of each document.
        qid: the query of each document.
        most: the maximal number of pairs in all; if there are more, the queries with the most pairs keep a random sample, with a
            warning.
        seed: the seed of that sample.

    >>> pairs = pairwise([[1.0], [2.0], [5.0]], [0, 1, 2], [7, 7, 7])
    >>> pairs.X.ravel().tolist(), pairs.y.tolist(), pairs.weight.round(3).tolist()
    ([1.0, -4.0, 3.0], [1.0, -1.0, 1.0], [0.333, 0.333, 0.333])
    """
    groups = grouped(X, y, qid)
    queries = [_Query(checked_grades(grades, name)) for grades, name in zip(groups.y, groups.X.names, strict=True)]
    sizes = np.array([query.pairs for query in queries])
    if not sizes.any():
        raise InputError("No two documents of a query differ in grade: give queries with documents of different grades.")
    if checked_whole("most", most) < np.count_nonzero(sizes):
        raise InputError(
            Argument("most", most), f": give at least one pair for each of the {np.count_nonzero(sizes):,} queries in which grades differ."
        )
    cap = _cap(sizes, most)
    if cap < sizes.max():
        warnings.warn(
            InputWarning(
                f"{int(sizes.sum()):,} pairs are more than ",
                Argument("most", most),
                f": queries with more than {cap:,} pairs keep a random sample of {cap:,}.",
            ),
            stacklevel=users_line(),
        )
    rng = np.random.default_rng(seed)
    pairs = [query.sampled(cap, rng) + first for query, first in zip(queries, groups.X.start, strict=False)]
    better, worse = np.concatenate(pairs, axis=1)
    counts = np.minimum(sizes, cap)
    label = np.where(np.arange(len(better)) % 2 == 0, 1.0, -1.0)
    weight = np.repeat(1.0 / np.maximum(counts, 1), counts)
    return Pairs(_differences(groups.X.matrix, better, worse, label), label, weight)


class _Query:
    """The pairs of one query, numbered implicitly: in ascending order of grade, each document forms a pair with all of lower grade."""

    def __init__(self, grades: np.ndarray) -> None:
        self.order = np.argsort(grades, kind="stable")
        ascending = grades[self.order]
        self.end = np.cumsum(np.searchsorted(ascending, ascending, side="left"))
        self.pairs = int(self.end[-1])

    def sampled(self, cap: int, rng: np.random.Generator) -> np.ndarray:
        """The better and the worse documents of all pairs, or of a random sample of ``cap``."""
        which = np.arange(self.pairs) if self.pairs <= cap else np.sort(rng.choice(self.pairs, cap, replace=False, shuffle=False))
        better = np.searchsorted(self.end, which, side="right")
        begin = np.concatenate([[0], self.end])[better]
        return np.stack([self.order[better], self.order[which - begin]])


def _cap(sizes: np.ndarray, most: int) -> int:
    """The largest number with Σ min(size, number) ≤ most."""
    rising = np.sort(sizes)
    before = np.concatenate([[0], np.cumsum(rising)[:-1]])
    fits = before + rising * np.arange(len(rising), 0, -1) <= most
    if fits.all():
        return int(rising[-1])
    j = int(np.argmin(fits))
    return int((most - before[j]) // (len(rising) - j))


def _differences(matrix: Any, better: np.ndarray, worse: np.ndarray, label: np.ndarray) -> Any:
    if not sp.issparse(matrix):
        out = matrix[better] - matrix[worse]
        return np.multiply(out, label[:, None], out=out, casting="same_kind")
    rows = np.tile(np.arange(len(better)), 2)
    sign = np.concatenate([label, -label])
    picks = sp.csr_array((sign, (rows, np.concatenate([better, worse]))), shape=(len(better), matrix.shape[0]))
    return sp.csr_array(picks @ matrix)

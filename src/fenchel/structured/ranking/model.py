"""Ranking by a linear score, trained for NDCG

O. Chapelle, Q. Le and A. Smola, *Large margin optimization of ranking measures*, NIPS workshop on learning to rank, 2007: a ranking y
of a query's documents scores Σ_d c[y(d)]·<w, x_d> with coefficients c that decrease with the rank, so that the best ranking sorts by
<w, x_d>, and the most violating one is a linear assignment. The true ranking sorts by grade. If grades are equal, several rankings
are correct, and ψ of the truth is the mean over them: ℓ stays convex, and is never below 1 − NDCG of the ranking by score.

``coefficients="grades"`` takes c from the grades themselves: c[r] is the grade at rank r of the true ranking, scaled to [0, 1].
Then all correct rankings have the same ψ, and the scores of documents of equal grade may differ at no cost; coefficients that
depend only on the rank penalise such differences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from fenchel.core.errors import Argument, InputError
from fenchel.core.validation import checked_choice
from fenchel.linalg.design import Design
from fenchel.structured.ranking.documents import Documents, joined
from fenchel.structured.ranking.grades import checked_depth, checked_grades, discounts, gains, is_informative
from fenchel.structured.ranking.queries import Queries
from fenchel.structured.ranking.ranking_scores import ndcg
from fenchel.structured.structured_model import MARGIN, StructuredModel, check_lengths

COEFFICIENTS = ("grades", "linear", "root")


@dataclass(frozen=True)
class Ranking(StructuredModel):
    """Order the documents of each query; Δ = 1 − NDCG@k.

    ``X`` is a list of dense or sparse matrices, one per query, with a row per document; ``Y`` is a list of arrays of grades, one grade per
    document, 0 for not relevant. :func:`fenchel.structured.grouped` creates both from one matrix and the query of each row. An output is
    the list of documents, the best first. A query whose documents all have the same grade has zero loss.

    Args:
        k: the number of ranks that count; None for all.
        coefficients: c for the ranks r = 1, 2, …: "grades", the grade at rank r of the true ranking, scaled to [0, 1]; "linear",
            max(0, 1 − (r − 1)/k); or "root", 1/√r.
        features: the number of features; 0 means that of the training data.

    >>> import fenchel as fl
    >>> X, Y = [np.array([[1.0], [3.0], [2.0]]), np.array([[5.0], [4.0]])], [[0, 2, 1], [1, 0]]
    >>> problem = fl.structured.Problem(Ranking(), X, Y, fl.L2(0.1))
    >>> [order.tolist() for order in problem.decode(np.array([1.0]))]
    [[1, 2, 0], [0, 1]]
    """

    k: int | None = 10
    coefficients: str = "grades"
    features: int = 0

    losses: ClassVar[tuple[str, ...]] = (MARGIN,)

    def __post_init__(self) -> None:
        checked_depth(self.k)
        checked_choice("coefficients", self.coefficients, COEFFICIENTS)
        if not isinstance(self.features, (int, np.integer)) or self.features < 0:
            raise InputError(
                Argument("features", self.features), ": give the number of features of a document, or 0 to take it from the data."
            )

    def fitted(self, X: Any, Y: Any) -> Ranking:
        """The model with the number of features filled in."""
        return replace(self, features=self.features or int(joined(X).matrix.shape[1]))

    @property
    def n(self) -> int:
        """One weight for each feature."""
        return self.features

    def examples(self, X: Any, Y: Any = None) -> Queries:
        """The queries in the form that kernels use."""
        documents = joined(X)
        design = Design(documents.matrix)
        if design.n != self.features:
            raise InputError(f"Documents have {design.n} features, but the model was fitted with {self.features}.")
        grades = [np.zeros(size) for size in np.diff(documents.start)] if Y is None else _checked(documents, Y)
        D = discounts(max(len(g) for g in grades), self.k)
        kind = np.concatenate([np.unique(g, return_inverse=True)[1] for g in grades])
        slots = [self._slots(g, D[: len(g)]) for g in grades]
        b, ideal, c, truth = np.concatenate(slots, axis=1)
        reach = np.array([_reach(D[: len(g)], slot[2]) for g, slot in zip(grades, slots, strict=True)])
        return Queries(design.rows, documents.start.astype(np.int64), kind.astype(np.int64), b, ideal, c, truth, reach, D)

    def _slots(self, grades: np.ndarray, D: np.ndarray) -> np.ndarray:
        """b, ideal, c and truth of one query; all 0 if its grades are equal."""
        if not is_informative(grades):
            return np.zeros((4, len(grades)))
        order = np.argsort(-grades, kind="stable")
        gain = gains(grades)
        b = gain / (gain[order] @ D)
        c = self._coefficients(grades[order])
        return np.stack([b, b[order], c, _mean_within(grades, order, c)])

    def _coefficients(self, grades: np.ndarray) -> np.ndarray:
        """c for ranks 1, …, n of a query, from its grades in decreasing order."""
        rank = np.arange(1.0, len(grades) + 1.0)
        if self.coefficients == "grades":
            return (grades - grades[-1]) / (grades[0] - grades[-1])
        if self.coefficients == "root":
            return 1.0 / np.sqrt(rank)
        return np.maximum(0.0, 1.0 - (rank - 1.0) / min(self.k or len(rank), len(rank)))

    def output(self, examples: Any, i: int, y: np.ndarray) -> np.ndarray:
        """The documents, the best first."""
        return np.argsort(y)

    def score(self, truths: Sequence[Any], outputs: Sequence[Any]) -> float:
        """The mean NDCG@k over all queries with a relevant document."""
        check_lengths(outputs, truths, "outputs")
        grades = [checked_grades(truth, i) for i, truth in enumerate(truths)]
        places = [-np.argsort(output) for output in outputs]  # the first document gets the highest score
        return ndcg(np.concatenate(grades), np.concatenate(places), np.repeat(np.arange(len(grades)), [len(g) for g in grades]), self.k)

    def to_json(self) -> dict[str, Any]:
        """The model as JSON values."""
        return {"k": self.k, "coefficients": self.coefficients, "features": int(self.features)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Ranking:
        """The inverse of ``to_json``."""
        if set(data) != {"k", "coefficients", "features"}:
            raise InputError(
                f"A ranking model is described by k, coefficients and features, not by {', '.join(map(str, data)) or 'nothing'}."
            )
        return cls(**data)


def _checked(documents: Documents, Y: Any) -> list[np.ndarray]:
    """The grades of every query, checked to be one per document."""
    check_lengths(documents, Y, "queries")
    found = []
    for name, size, grades in zip(documents.names, np.diff(documents.start), Y, strict=True):
        values = checked_grades(grades, name)
        if len(values) != size:
            raise InputError(f"query {name} has {size} documents but {len(values)} grades: give one grade per document.")
        found.append(values)
    return found


def _mean_within(grades: np.ndarray, order: np.ndarray, c: np.ndarray) -> np.ndarray:
    """The coefficient of each document in the mean of all correct rankings."""
    _, first, kind = np.unique(grades[order], return_index=True, return_inverse=True)
    base = c[first]  # averaging the differences to it is exact if c is constant within each grade
    mean = base + np.bincount(kind, weights=c - base[kind]) / np.bincount(kind)
    truth = np.empty(len(c))
    truth[order] = mean[kind]
    return truth


def _reach(D: np.ndarray, c: np.ndarray) -> int:
    """The number of ranks before the last ones with c = 0 and D = 0."""
    return int(np.flatnonzero((D != 0.0) & c.any() | (c != 0.0)).max(initial=-1)) + 1

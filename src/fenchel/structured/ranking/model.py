"""Rankings by a linear score, learnt for NDCG

O. Chapelle, Q. Le and A. Smola, *Large margin optimization of ranking measures*, NIPS workshop on learning to rank, 2007: a ranking y
of a query's documents scores Σ_d c[y(d)]·<w, x_d> with coefficients c that fall with the rank, so that sorting by <w, x_d> is the best
ranking, and the most violating one is a linear assignment. The right ranking sorts by grade. Where grades are equal several
rankings are right, and the truth is the mean of them: ℓ stays convex, and is nowhere below 1 − NDCG of the ranking by score.

``coefficients="grades"`` takes c from the grades themselves, c[r] = the grade that the right ranking has at rank r, from 1 down to 0.
Then all right rankings have the same ψ, and documents of equal grade may have any scores at no cost; with coefficients that
depend on the rank alone, the loss pulls their scores together for nothing.
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
from fenchel.structured.ranking.grades import checked_depth, checked_grades, discounts, gains, tells
from fenchel.structured.ranking.queries import Queries
from fenchel.structured.ranking.ranking_scores import ndcg
from fenchel.structured.structured_model import MARGIN, StructuredModel, check_lengths

COEFFICIENTS = ("grades", "linear", "root")


@dataclass(frozen=True)
class Ranking(StructuredModel):
    """Order the documents of each query; Δ = 1 − NDCG@k.

    ``X`` is a list of matrices, dense or sparse, one a query and one row a document; ``Y`` a list of grades, one a document, 0 for one that
    is not relevant. :func:`fenchel.structured.grouped` makes both of one matrix and the query of each row. An output is the list of
    documents, the best first. A query whose documents all have the same grade says nothing, and adds nothing to the loss.

    Args:
        k: how many ranks count; None for all.
        coefficients: c, falling with the rank r = 1, 2, …: "grades", the grade of the right ranking at rank r, scaled to [0, 1]; "linear",
            max(0, 1 − (r − 1)/k); or "root", 1/√r.
        features: how many features documents have; those of the training data by default.

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
                Argument("features", self.features), ": give how many features a document has, or 0 to learn it from the data."
            )

    def fitted(self, X: Any, Y: Any) -> Ranking:
        """The same model with as many features as documents have."""
        return replace(self, features=self.features or int(joined(X).matrix.shape[1]))

    @property
    def n(self) -> int:
        """One weight for each feature."""
        return self.features

    def examples(self, X: Any, Y: Any = None) -> Queries:
        """The queries as kernels take them."""
        documents = joined(X)
        design = Design(documents.matrix)
        if design.n != self.features:
            raise InputError(f"Documents have {design.n} features, and the model was made for {self.features}.")
        grades = [np.zeros(size) for size in np.diff(documents.start)] if Y is None else _checked(documents, Y)
        D = discounts(max(len(g) for g in grades), self.k)
        kind = np.concatenate([np.unique(g, return_inverse=True)[1] for g in grades])
        slots = [self._slots(g, D[: len(g)]) for g in grades]
        b, ideal, c, truth = np.concatenate(slots, axis=1)
        reach = np.array([_reach(D[: len(g)], slot[2]) for g, slot in zip(grades, slots, strict=True)])
        return Queries(design.rows, documents.start.astype(np.int64), kind.astype(np.int64), b, ideal, c, truth, reach, D)

    def _slots(self, grades: np.ndarray, D: np.ndarray) -> np.ndarray:
        """b, ideal, c and truth of one query; all 0 for one that says nothing."""
        if not tells(grades):
            return np.zeros((4, len(grades)))
        order = np.argsort(-grades, kind="stable")
        worth = gains(grades)
        b = worth / (worth[order] @ D)
        c = self._coefficients(grades[order])
        return np.stack([b, b[order], c, _mean_within(grades, order, c)])

    def _coefficients(self, falling: np.ndarray) -> np.ndarray:
        """c for ranks 1, …, n of a query, from its grades in falling order."""
        rank = np.arange(1.0, len(falling) + 1.0)
        if self.coefficients == "grades":
            return (falling - falling[-1]) / (falling[0] - falling[-1])
        if self.coefficients == "root":
            return 1.0 / np.sqrt(rank)
        return np.maximum(0.0, 1.0 - (rank - 1.0) / min(self.k or len(rank), len(rank)))

    def output(self, examples: Any, i: int, y: np.ndarray) -> np.ndarray:
        """The documents, the best first."""
        return np.argsort(y)

    def score(self, truths: Sequence[Any], outputs: Sequence[Any]) -> float:
        """The mean NDCG@k over the queries that have a relevant document."""
        check_lengths(outputs, truths, "outputs")
        grades = [checked_grades(truth, i) for i, truth in enumerate(truths)]
        places = [-np.argsort(output) for output in outputs]  # the first of the list has the highest score
        return ndcg(np.concatenate(grades), np.concatenate(places), np.repeat(np.arange(len(grades)), [len(g) for g in grades]), self.k)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"k": self.k, "coefficients": self.coefficients, "features": int(self.features)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Ranking:
        """The model of which ``to_json`` made these values."""
        if set(data) != {"k", "coefficients", "features"}:
            raise InputError(f"A ranking model has k, coefficients and features, and this one {', '.join(map(str, data)) or 'nothing'}.")
        return cls(**data)


def _checked(documents: Documents, Y: Any) -> list[np.ndarray]:
    """The grades of every query, as many as it has documents."""
    check_lengths(documents, Y, "queries")
    found = []
    for name, size, grades in zip(documents.names, np.diff(documents.start), Y, strict=True):
        values = checked_grades(grades, name)
        if len(values) != size:
            raise InputError(f"query {name} has {size} documents and {len(values)} grades: give one grade for each document.")
        found.append(values)
    return found


def _mean_within(grades: np.ndarray, order: np.ndarray, c: np.ndarray) -> np.ndarray:
    """The coefficient of each document in the mean of all right rankings."""
    _, first, kind = np.unique(grades[order], return_index=True, return_inverse=True)
    base = c[first]  # and means of what is left: where c is the same for all of a grade, so is the result, to the last bit
    mean = base + np.bincount(kind, weights=c - base[kind]) / np.bincount(kind)
    truth = np.empty(len(c))
    truth[order] = mean[kind]
    return truth


def _reach(D: np.ndarray, c: np.ndarray) -> int:
    """How many ranks come before those that count nothing."""
    return int(np.flatnonzero((D != 0.0) & c.any() | (c != 0.0)).max(initial=-1)) + 1

"""Scores of rankings: NDCG, and the scores of LETOR 4.0's evaluation script.

    NDCG@k = DCG@k over the DCG@k of the best ranking,   DCG@k = Σ_{r ≤ k} (2^g_r − 1) / log2(1 + r)

LETOR's evaluation script differs: ranks 1 and 2 both have discount 1, and rank r > 2 has discount 1/log2(r); a query with fewer than k
documents has NDCG@k = 0; a query without relevant documents is included with NDCG 0. Mean NDCG is the mean of NDCG@1, …, NDCG@n over a
query's n documents. Documents of equal score keep their input order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fenchel.core.errors import InputError
from fenchel.structured.ranking.documents import grouped
from fenchel.structured.ranking.grades import checked_depth, checked_grades, discounts, gains

POSITIONS = 10  # LETOR reports NDCG@1 to NDCG@10


def ndcg(y: Any, scores: Any, qid: Any = None, k: int | None = 10) -> float:
    """The mean NDCG@k over all queries with a relevant document (a grade above 0).

    Args:
        y: the grade of each document.
        scores: the score of each document; documents are ranked by decreasing score.
        qid: the query of each document; None if all belong to one.
        k: the number of ranks that count; None for all.

    >>> ndcg([0, 2, 1], [0.1, 0.9, 0.5]), round(ndcg([0, 2, 1], [0.9, 0.5, 0.1]), 3)
    (1.0, 0.659)
    """
    checked_depth(k)
    found = [_ndcg(grades, k) for grades in _ranked(y, scores, qid) if grades.any()]
    if not found:
        raise InputError("No query has a relevant document (a grade above 0), so NDCG is undefined: check y.")
    return float(np.mean(found))


def letor_scores(y: Any, scores: Any, qid: Any = None) -> dict[str, float]:
    """MAP, mean NDCG and NDCG@1 to NDCG@10 as computed by LETOR 4.0's evaluation script, averaged over all queries.

    Args:
        y, scores, qid: as in :func:`ndcg`; for MAP a document is relevant from grade 1 on.

    >>> found = letor_scores([0, 2, 1], [0.9, 0.5, 0.1])
    >>> [(name, round(found[name], 3)) for name in ("map", "mean_ndcg", "ndcg@1", "ndcg@3", "ndcg@4")]
    [('map', 0.583), ('mean_ndcg', 0.553), ('ndcg@1', 0.0), ('ndcg@3', 0.908), ('ndcg@4', 0.0)]
    """
    queries = _ranked(y, scores, qid)
    curves = [_letor_curve(grades) for grades in queries]
    found = {"map": np.mean([_average_precision(grades >= 1.0) for grades in queries]), "mean_ndcg": np.mean([c.mean() for c in curves])}
    for k in range(1, POSITIONS + 1):
        found[f"ndcg@{k}"] = np.mean([curve[k - 1] if len(curve) >= k else 0.0 for curve in curves])
    return {name: float(value) for name, value in found.items()}


def _ranked(y: Any, scores: Any, qid: Any) -> list[np.ndarray]:
    """The grades of each query's documents, ranked by score."""
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 1:
        raise InputError(f"scores have shape {scores.shape}: give one number per document.")
    groups = grouped(scores[:, None], y, np.zeros(len(scores)) if qid is None else qid)
    pairs = zip(groups.X, groups.y, groups.X.names, strict=True)
    return [checked_grades(grades, name)[np.argsort(-column[:, 0], kind="stable")] for column, grades, name in pairs]


def _ndcg(ranked: np.ndarray, k: int | None) -> float:
    discount = discounts(len(ranked), k)
    return float(gains(ranked) @ discount / (np.sort(gains(ranked))[::-1] @ discount))


def _letor_curve(ranked: np.ndarray) -> np.ndarray:
    """NDCG@1, …, NDCG@n; all 0 without a relevant document."""
    discount = 1.0 / np.log2(np.maximum(np.arange(1, len(ranked) + 1), 2))
    best = np.cumsum(np.sort(gains(ranked))[::-1] * discount)
    reached = np.cumsum(gains(ranked) * discount)
    return np.divide(reached, best, out=np.zeros(len(ranked)), where=best > 0.0)


def _average_precision(relevant: np.ndarray) -> float:
    """The mean of the precision at every relevant document; 0 if there is none."""
    precision = np.cumsum(relevant) / np.arange(1, len(relevant) + 1)
    return float(precision[relevant].mean()) if relevant.any() else 0.0

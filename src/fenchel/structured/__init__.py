"""Structured prediction: models of structured outputs, and the problem of learning their weights

>>> import numpy as np, fenchel as fl
>>> X, Y = np.eye(3), ["a", "b", "a"]
>>> problem = fl.structured.Problem(fl.structured.Multiclass(), X, Y, fl.L2(0.1), loss="likelihood")
>>> fl.minimize(problem, tol=1e-6).converged
True
"""

from __future__ import annotations

from fenchel.structured.chain import Chain, chunk_scores, sentences, token_accuracy, token_features
from fenchel.structured.multiclass import Multiclass
from fenchel.structured.problem import Problem
from fenchel.structured.ranking import Ranking, grouped, letor_scores, ndcg, normalized, pairwise
from fenchel.structured.rna import RnaFold
from fenchel.structured.structured_model import StructuredModel

__all__ = [
    "Chain",
    "Multiclass",
    "Problem",
    "Ranking",
    "RnaFold",
    "StructuredModel",
    "chunk_scores",
    "grouped",
    "letor_scores",
    "ndcg",
    "normalized",
    "pairwise",
    "sentences",
    "token_accuracy",
    "token_features",
]


def __dir__() -> list[str]:
    return sorted(__all__)

"""Learning to rank: a structured model for NDCG, document pairs for binary losses, and scores of rankings."""

from __future__ import annotations

from fenchel.structured.ranking.document_pairs import Pairs, pairwise
from fenchel.structured.ranking.documents import Documents, Groups, grouped
from fenchel.structured.ranking.model import Ranking
from fenchel.structured.ranking.normalize import normalized
from fenchel.structured.ranking.ranking_scores import letor_scores, ndcg

__all__ = ["Documents", "Groups", "Pairs", "Ranking", "grouped", "letor_scores", "ndcg", "normalized", "pairwise"]

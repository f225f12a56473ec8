"""Tagging the tokens of sentences: the chain model, attributes from templates, and scores of predictions."""

from __future__ import annotations

from fenchel.structured.chain.features import token_features
from fenchel.structured.chain.model import Chain
from fenchel.structured.chain.sentence_matrices import sentences
from fenchel.structured.chain.tagging_scores import chunk_scores, token_accuracy

__all__ = ["Chain", "chunk_scores", "sentences", "token_accuracy", "token_features"]

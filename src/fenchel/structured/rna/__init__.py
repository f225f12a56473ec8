"""RNA secondary structure."""

from __future__ import annotations

from fenchel.structured.rna.model import RnaFold
from fenchel.structured.rna.pair_accuracy import Accuracy, accuracy

__all__ = ["Accuracy", "RnaFold", "accuracy"]

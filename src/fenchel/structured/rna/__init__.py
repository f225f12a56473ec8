"""RNA secondary structure."""

from __future__ import annotations

from fenchel.structured.rna.model import RnaFold

__all__ = ["RnaFold"]

"""Data to learn from."""

from __future__ import annotations

from fenchel.datasets.generate import make_text

__all__ = ["make_text"]

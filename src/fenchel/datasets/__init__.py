"""Data to learn from."""

from __future__ import annotations

from fenchel.datasets.generate import make_text
from fenchel.datasets.read import read_svmlight

__all__ = ["make_text", "read_svmlight"]

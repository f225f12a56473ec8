"""Data to learn from."""

from __future__ import annotations

from fenchel.datasets.generate import make_text
from fenchel.datasets.svmlight import read_svmlight
from fenchel.datasets.write import write_svmlight

__all__ = ["make_text", "read_svmlight", "write_svmlight"]

"""Data to learn from."""

from __future__ import annotations

from fenchel.datasets.data import Data
from fenchel.datasets.encoding import Encoding
from fenchel.datasets.formats import read, write
from fenchel.datasets.generate import make_text, with_noise_features
from fenchel.datasets.read import read_svmlight
from fenchel.datasets.store import Listing, available, load, path

__all__ = ["Data", "Encoding", "Listing", "available", "load", "make_text", "path", "read", "read_svmlight", "with_noise_features", "write"]

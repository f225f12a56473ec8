"""Fitted models as files: our own format, and those of others."""

from __future__ import annotations

from fenchel.models.exports import export
from fenchel.models.files import ModelFileError, load, save

__all__ = ["ModelFileError", "export", "load", "save"]

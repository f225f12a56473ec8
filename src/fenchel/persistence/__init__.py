"""Save, load and export fitted models."""

from __future__ import annotations

from fenchel.persistence.exports import export
from fenchel.persistence.model_files import ModelFileError, load, save

__all__ = ["ModelFileError", "export", "load", "save"]


def __dir__() -> list[str]:
    return sorted(__all__)

"""Validation of the strengths of regularizers, and the rounding of the radius of a ball."""

from __future__ import annotations

import math
from typing import Any

from fenchel.core.errors import InputError

ROUNDED = 1.0 + 1e-11  # the link reaches the sphere only up to rounding: the ball is this much larger than its radius


def positive(regularizer: Any, field: str, instead: str = "") -> None:
    """Raise unless the field is a positive, finite number."""
    value = getattr(regularizer, field)
    if not (value > 0.0 and math.isfinite(value)):
        hint = f" ({instead})" if instead and value == 0.0 else ""
        raise InputError(f"{type(regularizer).__name__}({field}={value:g}): the strength must be positive and finite{hint}.")

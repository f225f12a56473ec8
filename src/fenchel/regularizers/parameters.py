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


def elastic_net_strengths(regularizer: Any) -> tuple[float, float]:
    """l1 and l2 of Ω(w) = l1·‖w‖₁ + l2/2·‖w‖², and two zeros for any other Ω.

    >>> from fenchel.regularizers import L2, Box
    >>> elastic_net_strengths(L2(0.5)), elastic_net_strengths(Box(0.0, 1.0, L2(0.5)))
    ((0.0, 0.5), (0.0, 0.0))
    """
    if not getattr(regularizer, "is_elastic_net", False):
        return 0.0, 0.0
    return float(getattr(regularizer, "l1", 0.0)), float(getattr(regularizer, "l2", 0.0))

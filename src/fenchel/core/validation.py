"""Validation of numbers, names and counts given by users."""

from __future__ import annotations

from typing import Any

import numpy as np

from fenchel.core.errors import Argument, InputError
from fenchel.core.messages import near


def is_number(value: Any) -> bool:
    """Whether the value is a Python or NumPy scalar number."""
    return isinstance(value, (int, float, np.number))


def checked_whole(option: str, value: Any) -> int:
    """A whole number of at least 1."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 1:
        raise InputError(Argument(option, value), ": give a whole number of at least 1.")
    return int(value)


def checked_choice(option: str, value: Any, offered: Any) -> Any:
    """The value, if it is one of the choices ``offered``."""
    if not isinstance(value, str) or value not in offered:
        raise InputError(Argument(option, value), f": {near(str(value), offered)}")
    return value

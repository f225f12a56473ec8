"""A few numbers that kernels read and change by name."""

from __future__ import annotations

from typing import Any

import numpy as np


def record(**fields: float) -> Any:
    """A mutable record of float64 fields, in Python and in kernels alike.

    A compiled ``NamedTuple`` can't change its own fields; what changes while a kernel runs goes into such a record.

    >>> state = record(t=0.0, scale=1.0)
    >>> state.t += 1.0
    >>> print(state.t, state.copy().scale)
    1.0 1.0
    """
    made = np.zeros(1, dtype=[(name, np.float64) for name in fields]).view(np.recarray)[0]
    for name, value in fields.items():
        made[name] = value
    return made

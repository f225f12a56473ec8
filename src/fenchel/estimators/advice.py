"""What would help a run that ended before its tolerance: one hint, the one that fits."""

from __future__ import annotations

from typing import Any

import numpy as np

from fenchel.curvature import column_squares
from fenchel.problem import Problem
from fenchel.result import Result

UNEVEN = 1e3  # times the typical length of a column: a scale that slows every first-order method down
WEAK = 1e-6  # of the mean of ‖x‖²: a strength that asks for very many passes
NAMED = 3  # columns at most


def advice(problem: Problem, result: Result, names: Any, passes: str) -> str:
    """The hint, as the end of a sentence; ``passes`` is what the estimator calls its limit of passes, and what it is now."""
    large = uneven_columns(problem)
    if len(large) and result.status != "time_limit":
        shown = ", ".join(str(names[j]) if names is not None else str(j) for j in large[:NAMED])
        more = f" and {len(large) - NAMED} more" if len(large) > NAMED else ""
        return f"scale the columns, for instance with StandardScaler, as {shown}{more} are over {UNEVEN:g} times as long as most"
    if result.status == "time_limit":
        return "give a longer time_limit"
    if result.status in ("stalled", "diverged"):
        return "floating point allows no more here, so give a larger tol"
    strength = problem.penalised.strong_convexity()
    if 0.0 < strength < WEAK * float(problem.share @ problem.row_norms**2):
        return f"give a stronger penalty, as this one is weak for these data, or more {passes}"
    return f"give more {passes}"


def uneven_columns(problem: Problem) -> np.ndarray:
    """The columns that are far longer than most, longest first."""
    length = np.sqrt(column_squares(problem.design, problem.share)[: problem.design.columns])
    used = length[length > 0.0]
    if not used.size:
        return np.zeros(0, dtype=np.int64)
    large = np.flatnonzero(length > UNEVEN * np.median(used))
    return large[np.argsort(-length[large])]

"""The warning of a run that ended above its tolerance, with one hint about what would help"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from fenchel.core.errors import Argument, users_line
from fenchel.problems.result import STATUS, Result

UNEVEN = 1e3  # ratio of a column's largest entry to the median of all columns from which it slows first-order methods down
WEAK = 1e-6  # strength relative to the mean of ‖x‖² below which very many passes are needed
NAMED_COLUMNS = 3  # most columns that a hint names

Words = tuple[str | Argument, ...]


@np.errstate(all="ignore")  # at extreme scales, squared norms overflow
def warn_not_certified(
    subject: Words,
    problem: Any,
    worst: Result,
    limit: Argument,
    names: Sequence[str] | None = None,
    resumable: bool = False,
    scale_name: str = "the objective at w = 0",
) -> None:
    """Warn that ``subject`` (the start of the sentence) stopped at a gap above the tolerance, with what would help.

    ``limit`` is the limit on passes under the name of the user's parameter, ``names`` are those of the columns, and ``resumable`` says
    whether the user has a result to continue from. ``scale_name`` is what the tolerance is relative to.
    """
    from fenchel.driver.not_certified import NotCertifiedWarning

    end: Words = (f": {STATUS[worst.status]}: ",)
    if worst.certified and worst.status not in ("diverged", "contradiction"):
        scale = worst.target / worst.tol if worst.tol > 0.0 else problem.scale
        relative = f"{worst.gap / scale:.2g} of {scale_name}" if scale > 0.0 else f"{worst.gap:.2g}"
        gap = f" stopped at a certified gap of {relative}, and "
        end = (gap, Argument("tol", worst.tol), " was asked for: ")
    resume = ", or continue from here with start=result" if resumable and worst.status == "max_passes" else ""
    message = NotCertifiedWarning(*subject, *end, *hint(problem, worst, limit, names), f"{resume}.")
    warnings.warn(message, stacklevel=users_line())


def hint(problem: Any, result: Result, limit: Argument, names: Sequence[str] | None = None) -> Words:
    """What to change, as the end of a sentence."""
    if result.status == "time_limit":
        return ("give a longer ", Argument("time_limit"))
    large = uneven_columns(problem)
    if len(large):
        shown = ", ".join(str(names[j]) if names is not None else str(j) for j in large[:NAMED_COLUMNS])
        more = f" and {len(large) - NAMED_COLUMNS} more" if len(large) > NAMED_COLUMNS else ""
        return (f"scale the columns, for instance with StandardScaler, as {shown}{more} are over {UNEVEN:g} times as large as most",)
    if result.status == "diverged":
        return ("scale the columns of X, or use another solver",)
    if result.status == "contradiction":
        return ("check the loss, whose value, derivative and conjugate disagree, or scale the columns of X",)
    if result.status == "stalled":
        return ("rounding prevents a smaller gap, so give a larger ", Argument("tol"))
    more_passes = ("more ", Argument(limit.name), f" (now {limit.value!r})")
    if is_weak(problem):
        return ("give a stronger penalty, as this one is weak for these data, or ", *more_passes)
    return ("give ", *more_passes, ", or a larger ", Argument("tol"))


def is_weak(problem: Any) -> bool:
    """Whether the penalty is so weak, relative to the norms of the rows, that many passes are needed."""
    if problem.structured or not problem.in_memory:
        return False
    return 0.0 < problem.penalised.strong_convexity() < WEAK * float(problem.row_weights @ problem.row_norms**2)


def uneven_columns(problem: Any) -> np.ndarray:
    """The columns with far larger entries than most, largest first."""
    if problem.structured or not problem.in_memory:
        return np.zeros(0, dtype=np.int64)
    sizes = problem.design.largest[: problem.design.width]
    used = sizes[sizes > 0.0]
    if not used.size:
        return np.zeros(0, dtype=np.int64)
    large = np.flatnonzero(sizes / np.median(used) > UNEVEN)
    return large[np.argsort(-sizes[large])]

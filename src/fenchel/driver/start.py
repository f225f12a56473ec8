"""The first iterate of a run: the origin, or what the user gives as ``start``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fenchel.core.errors import InputError
from fenchel.core.random_numbers import RandomNumbers
from fenchel.problems.result import Iterate, Result


def as_start(problem: Any, start: Iterate | Result | np.ndarray | None, key: Any, rng: RandomNumbers) -> Iterate | None:
    """The start as an iterate of this problem, with its predictions; private state goes only to the same solver on the same problem."""
    if start is None:
        return None
    start = start.iterate if isinstance(start, Result) else start
    iterate = start if isinstance(start, Iterate) else Iterate(np.asarray(start, dtype=np.float64))
    if iterate.w.shape != problem.shape:
        raise InputError(f"start has weights of shape {iterate.w.shape}; this problem's have shape {problem.shape}.")
    if not np.isfinite(iterate.w).all():
        raise InputError("start holds weights that are not finite: start from others, or from none.")
    w = problem.nearest(problem.with_offset(np.ascontiguousarray(iterate.w, dtype=np.float64), iterate.offset))
    z = problem.predict(w) if problem.in_memory else None
    iterate = iterate._replace(w=w, passes=0.0, accesses=0, v=None, z=z, lower_bound=-math.inf, offset=problem.offset)
    if iterate.alpha is not None and not problem.is_dual_point(iterate.alpha):
        iterate = iterate._replace(alpha=None)
    if iterate.state.get("key") != key:
        return iterate._replace(state={}, regularizer=None)
    rng.state = iterate.state["rng"]
    return iterate


def origin_of(problem: Any) -> Iterate:
    """The first iterate without a start; the bound of α = 0 needs no pass over the data."""
    if not problem.in_memory:
        return Iterate(problem.origin)
    if not hasattr(problem.loss, "conjugate"):
        return Iterate(problem.origin, z=problem.origin_predictions)
    return Iterate(problem.origin, alpha=np.zeros(problem.dual_shape), v=np.zeros(problem.shape), z=problem.origin_predictions)

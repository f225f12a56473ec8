"""The course of a run as the papers draw it: objective, density and error of every iterate against passes, accesses and seconds

Solvers are run without the driver, which would spend most of the time on certificates that the papers do not draw.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compile_notice import compilations
from fenchel.driver import minimize
from fenchel.solvers import solvers


class CoursePoint(NamedTuple):
    """An iterate."""

    passes: float
    accesses: float  # entries of X read
    seconds: float  # in the solver, without the evaluations here and without compiling
    objective: float
    nnz: int
    w: np.ndarray


def course(problem: Any, solver: str, seed: int = 0, accuracy: float = 1e-12, **options: Any) -> Iterator[CoursePoint]:
    """The iterates of a solver, without end unless it ends by itself; the first is the origin.

    >>> import itertools
    >>> import fenchel as fl
    >>> problem = fl.Problem([[1.0], [2.0]], [1.0, 3.0], fl.Squared(), fl.L2(0.1))
    >>> [round(point.objective, 3) for point in itertools.islice(course(problem, "sdca"), 3)]
    [2.5, 0.164, 0.156]
    """
    rng = np.random.default_rng(seed)
    yield CoursePoint(0.0, 0.0, 0.0, problem.objective_at_zero, 0, np.zeros(problem.shape))
    with np.errstate(all="ignore"):
        iterates = solvers()[solver].run(problem, start=None, rng=rng, accuracy=accuracy, **options)
        seconds = 0.0
        while True:
            clock, compiled = time.perf_counter(), compilations.seconds
            iterate = next(iterates, None)
            seconds += time.perf_counter() - clock - (compilations.seconds - compiled)
            if iterate is None:
                return
            w = np.array(iterate.w, copy=True)
            yield CoursePoint(iterate.passes, float(iterate.accesses), seconds, problem.objective(w), int(np.count_nonzero(w)), w)


def points(problem: Any, solver: str, most: float, stop: Callable[[CoursePoint], bool] | None = None, **options: Any) -> list[CoursePoint]:
    """The iterates until so many passes are made, or until ``stop``."""
    found = []
    for point in course(problem, solver, **options):
        found.append(point)
        if point.passes >= most or (stop is not None and stop(point)):
            break
    return found


def optimum(problem: Any, tol: float = 1e-6, time_limit: float = 60.0) -> tuple[float, float]:
    """The smallest objective found, and a proven lower bound on the smallest possible."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = minimize(problem, tol=tol, time_limit=time_limit, max_passes=100_000)
    return result.objective, result.dual_objective


def error_rate(X: Any, y: np.ndarray, w: np.ndarray) -> float:
    """The share of rows whose sign w predicts wrongly."""
    return float(np.mean(np.where(X @ w > 0.0, 1.0, -1.0) != y))


def thinned(found: list[CoursePoint], most: int = 60) -> list[CoursePoint]:
    """At most so many points, spread evenly in the logarithm of their number, the first and the last among them."""
    if len(found) <= most:
        return found
    kept = np.unique(np.round(np.geomspace(1, len(found), most)).astype(int)) - 1
    return [found[0], *(found[k] for k in kept if k > 0)]

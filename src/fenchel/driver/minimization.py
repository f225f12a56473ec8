"""Run a solver on a problem: check the arguments, find the solver, run it, and warn where the result is not certified"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from fenchel.core.errors import Argument, InputError, InputTypeError
from fenchel.core.messages import near
from fenchel.core.random_numbers import RandomNumbers
from fenchel.core.threads import one_thread
from fenchel.core.validation import is_number
from fenchel.driver.advice import warn_not_certified
from fenchel.driver.checkpoint import Earlier, checkpoint_of
from fenchel.driver.choice import choose, stages_for
from fenchel.driver.patient_run import PatientRun
from fenchel.driver.progress import progress_bar
from fenchel.driver.run import Evaluation, Run
from fenchel.driver.start import as_start, origin_of
from fenchel.driver.stream_run import StreamRun
from fenchel.driver.trial import Stage, after_start, in_stages, is_promising
from fenchel.problems.objective import Objective
from fenchel.problems.result import History, Iterate, Result
from fenchel.solvers import Solver, solvers
from fenchel.solvers.names import SolverName

LEAST_OBJECTIVE = 1e-290  # a smaller objective has few correct digits, because its terms are below the smallest normal number
WARNED = ("max_passes", "stalled", "diverged", "contradiction")  # a time limit, a callback or an interrupt ends a run at the user's request


def minimize(
    problem: Objective,
    solver: SolverName = "auto",
    *,
    tol: float = 1e-3,
    max_passes: float = 1000,
    time_limit: float | None = None,
    seed: int = 0,
    start: Iterate | Result | np.ndarray | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    callback: Callable[[Evaluation], bool | None] | None = None,
    progress: bool = False,
    **options: Any,
) -> Result:
    """Minimise a problem to a certified accuracy: stop when the duality gap is at most ``tol``·P(0).

    Args:
        problem: what to minimise: a :class:`fenchel.Problem`, a :class:`fenchel.structured.Problem`, or, for the online solvers, a
            :class:`fenchel.Stream`.
        solver: a name from :func:`fenchel.solvers.solvers`, or "auto" for one that suits the problem.
        tol: the accuracy, relative to the objective at w = 0.
        max_passes: how many passes over the data at most.
        time_limit: how many seconds at most, evaluations included.
        seed: of the solver's random choices; the same seed and threads give the same result.
        start: an earlier result, iterate or weight vector to continue from.
        threads: for products with the whole matrix; all available processors by default.
        memory: the bytes that rows mapped from files, such as those of a store, may take, or a text such as "500MB". If they take more,
            they are read from disk in every pass. By default ``$FENCHEL_MEMORY``, else half of what is available.
        checkpoint: a file for the state of the run, written every minute and at the end. If it exists, the run goes on from it; one of
            other data or arguments is refused. ``max_passes`` counts all passes, ``time_limit`` the time since the last start.
        callback: called after every evaluation; return True to stop.
        progress: show a progress bar on standard error.
        **options: the solver's own; an unknown one is an error.

    Interrupting (Ctrl-C) returns the best iterate so far, with ``status`` "interrupted". A run that ends by itself before
    the gap is small enough gives a ``ConvergenceWarning``. Solvers and their options: ``fenchel.solvers.solvers()``.

    >>> import fenchel as fl
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 5)); y = np.sign(X[:, 0])
    >>> result = fl.minimize(fl.Problem(X, y, fl.Logistic(), fl.L2(0.01)), tol=1e-6)
    >>> result.converged, result.gap <= 1e-6
    (True, True)
    """
    result = solve(
        problem,
        solver,
        tol=tol,
        max_passes=max_passes,
        time_limit=time_limit,
        seed=seed,
        start=start,
        threads=threads,
        memory=memory,
        checkpoint=checkpoint,
        callback=callback,
        progress=progress,
        **options,
    )
    if not result.converged and tol > 0.0 and result.status in WARNED:
        warn_not_certified((result.solver,), problem, result, Argument("max_passes", max_passes), resumable=True)
    return result


@one_thread
@np.errstate(all="ignore")  # trial points may overflow, which the run checks for: NumPy's warnings would tell the user nothing else
def solve(
    problem: Any,
    solver: str = "auto",
    *,
    tol: float = 1e-3,
    max_passes: float = 1000,
    time_limit: float | None = None,
    seed: int = 0,
    start: Iterate | Result | np.ndarray | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    callback: Callable[[Evaluation], bool | None] | None = None,
    progress: bool = False,
    patience: float | None = None,
    watched: Callable[[np.ndarray], float] | None = None,
    **options: Any,
) -> Result:
    """The same as :func:`minimize` without its warning, for callers that check ``converged`` themselves.

    With ``patience`` the run ends as :mod:`fenchel.driver.patient_run` says, where ``watched`` takes the weights to the value watched.
    """
    check_limits(tol, max_passes, time_limit, seed, threads)
    if not isinstance(problem, Objective):
        raise InputTypeError(
            f"minimize takes a fenchel.Problem, not {type(problem).__name__}: build one with fenchel.Problem(X, y, loss, regularizer)."
        )
    if problem.in_memory:
        problem = problem.centred()
        if not math.isfinite(problem.objective_at_zero):
            raise InputError("The objective at w = 0 is not finite, so no accuracy can be relative to it: scale y, or use another loss.")
        if 0.0 < problem.objective_at_zero < LEAST_OBJECTIVE:
            raise InputError(f"The objective at w = 0 is {problem.objective_at_zero:.0e}, too small for floating point: scale y.")
        problem = problem.with_threads(threads)
        problem = problem if problem.structured else problem.with_memory(memory)
    else:
        problem = problem.limited(max_passes, threads)  # type: ignore[attr-defined]
    posed = problem
    if patience is not None and problem.free and solvers()[solver].refusal(problem) is not None:
        posed = problem.with_intercept(1.0)  # a patient run takes an intercept that the solver penalises for one that is not penalised
    chosen, options = find_solver(posed, solver, options)
    rng: Any = RandomNumbers(int(seed))
    if patience is not None:
        run: Run = PatientRun(problem, chosen.name, options, tol, callback, patience=patience, watched=watched)
    else:
        run = (Run if problem.in_memory else StreamRun)(problem, chosen.name, options, tol, callback)
    stages = [Stage(chosen.name, options)]
    if solver == "auto" and patience is None and tol > 0.0 and posed.in_memory and not posed.structured:
        stages = after_start(stages_for(posed, stages[0]), start, posed)
        run.set_solver(stages[0].solver, stages[0].options)
    kept = checkpoint_of(checkpoint, problem, solver, options, tol, seed) if problem.in_memory and patience is None else None
    if kept is None and checkpoint is not None:
        raise InputError(Argument("checkpoint", os.fspath(checkpoint)), ": a stream is read once and cannot be read from the middle on.")
    earlier = None if kept is None else kept.load()
    if earlier is not None:
        known = next((stage for stage in stages if stage.solver == earlier.solver), None)
        if known is None:
            find_solver(posed, earlier.solver, earlier.options)  # refuses what it does not know
        stages = [known or Stage(earlier.solver, earlier.options)]
        run.set_solver(*stages[0][:2])
        start, max_passes = earlier.iterate._replace(state={**earlier.iterate.state, "key": run.key}), max_passes - earlier.passes
    begin = as_start(posed, start, run.key, rng)

    def begun(stage: Stage, start: Iterate | None) -> Iterator[Iterate]:
        solver = solvers()[stage.solver]
        limits = {"most_passes": max_passes} if solver.limited else {}
        run.set_solver(stage.solver, stage.options, 0.0 if start is begin or start is None else start.passes)
        return solver.run(posed, start=start, rng=rng, accuracy=run.target, **limits, **stage.options)

    evaluates_start = solvers()[stages[0].solver].evaluates_start
    if len(stages) == 1:
        iterates = begun(stages[0], begin)
    else:
        goes_on = lambda stage, before: is_promising(run.history, run.target, stage, before)  # noqa: E731
        iterates = in_stages(stages, begun, goes_on, begin)
    run.checkpoint = kept
    if earlier is not None and (best := as_start(posed, earlier.best, (), rng)) is not None:
        run.evaluate(best)
        evaluates_start = False
    with progress_bar(chosen.name, progress, max_passes) as run.show:
        result = run.until_done(iterates, begin or origin_of(problem), rng, max_passes, time_limit, evaluates_start)
    return result if earlier is None else joined(result, earlier)


def joined(result: Result, earlier: Earlier) -> Result:
    """A result of a run that went on from a checkpoint, with the passes, the seconds and the history of all of it."""
    history = History(earlier.followed_by(result.history.rows))
    return replace(result, passes=result.passes + earlier.passes, seconds=result.seconds + earlier.seconds, history=history)


@np.errstate(all="ignore")
def certified(
    problem: Any, solver: str, point: Iterate, *, tol: float, callback: Callable[[Evaluation], bool | None] | None = None
) -> Result:
    """The result of a solver that yields this point and no other; ``status`` is "stalled" if its gap is above the tolerance."""
    run = Run(problem, solver, {}, tol, callback)
    nothing: Iterator[Iterate] = (other for other in list[Iterate]())
    return run.until_done(nothing, point, RandomNumbers(0), math.inf, None, False)


def uninterrupted(result: Result) -> Result:
    """The result; KeyboardInterrupt if Ctrl-C ended the run, for callers that do not use the best weights so far."""
    if result.status == "interrupted":
        raise KeyboardInterrupt
    return result


def find_solver(problem: Any, name: str, options: dict[str, Any]) -> tuple[Solver, dict[str, Any]]:
    """The solver of that name and its options, if it suits the problem; otherwise an error that names those that do."""
    known = solvers()
    if name == "auto":
        name, defaults = choose(problem)
        options = {**defaults, **options}
    if name not in known:
        raise InputError(f"There is no solver {name!r}: {near(str(name), [*known, 'auto'])}")
    chosen = known[name]
    unknown = [option for option in options if option not in chosen.options]
    if unknown:
        offered = near(unknown[0], chosen.options) if chosen.options else "it has no options."
        raise InputTypeError(f"{name} has no option {unknown[0]!r}: {offered}")
    reason = chosen.refusal(problem)
    if reason is not None:
        able = [other for other in known.values() if other.refusal(problem) is None]
        names = [other.name for other in able if not other.online] or [other.name for other in able]
        hint = f"use solver={' or '.join(map(repr, names))}" if names else "no solver takes this pair"
        raise InputError(f"{name} needs {reason}: {hint}.")
    return chosen, options


def check_limits(tol: float, max_passes: float, time_limit: float | None, seed: int, threads: int | None) -> None:
    """Refuse limits that are not valid."""
    if not (is_number(tol) and tol >= 0.0 and math.isfinite(tol)):
        raise InputError(Argument("tol", tol), ": give a number that is not negative, for instance 1e-3.")
    if not (is_number(max_passes) and max_passes >= 0.0):
        raise InputError(Argument("max_passes", max_passes), ": give a number that is not negative.")
    if time_limit is not None and not (is_number(time_limit) and time_limit > 0.0):
        raise InputError(Argument("time_limit", time_limit), ": give a positive number of seconds, or None.")
    if not isinstance(seed, (int, np.integer)) or seed < 0:
        raise InputError(Argument("seed", seed), ": give a whole number that is not negative.")
    if threads is not None and (not isinstance(threads, (int, np.integer)) or threads < 1):
        raise InputError(Argument("threads", threads), ": give a whole number of at least 1, or None for all processors.")

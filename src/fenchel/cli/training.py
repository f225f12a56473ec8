"""Training on the command line: interrupts that keep the best model so far, the report, and the exit code."""

from __future__ import annotations

import contextlib
import math
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import typer

from fenchel.cli.exits import DONE, INTERRUPTED, NOT_CERTIFIED
from fenchel.cli.screen import passes, print_facts, print_json, print_message

CERTIFICATE = ("objective", "dual_objective", "gap", "converged", "solver")


def limits(solver: str, tol: float, max_passes: float, time_limit: float | None, seed: int, threads: int | None) -> dict[str, Any]:
    """The options that choose the solver and its limits, by the names that estimators use."""
    given = {"solver": solver, "tol": tol, "max_passes": max_passes, "time_limit": time_limit}
    return {**given, "random_state": seed, "n_jobs": threads}


def is_progress_shown(progress: bool | None, quiet: bool) -> bool:
    """Whether to show a progress bar: as requested, else if standard error is a terminal."""
    return progress if progress is not None else sys.stderr.isatty() and not quiet


@contextlib.contextmanager
def resources(memory: str | None, checkpoint: Path | None) -> Iterator[None]:
    """Keep to the memory that was given, and keep checkpoints where that was asked for."""
    from fenchel.core.memory import memory_limited
    from fenchel.driver import checkpoints

    with memory_limited(memory), contextlib.nullcontext() if checkpoint is None else checkpoints(checkpoint):
        yield


class Outcome(NamedTuple):
    """The time a fit took and whether it was interrupted."""

    seconds: float
    interrupted: bool

    def also(self, interrupted: bool) -> Outcome:
        """The same, interrupted if it was or if ``interrupted``."""
        return self._replace(interrupted=self.interrupted or interrupted)


def fit(estimator: Any, learn: Callable[[], Any]) -> Outcome:
    """Call ``learn``. After an interrupt the estimator has the best weights so far; if it has none, the interrupt is raised."""
    clock, interrupted = time.perf_counter(), False
    try:
        learn()
    except KeyboardInterrupt:
        if not hasattr(estimator, "coef_"):
            raise
        interrupted = True
    return Outcome(time.perf_counter() - clock, interrupted)


def certificate(model: Any) -> dict[str, Any]:
    """The certificate of a fitted model, by name; values are nan if there is none."""
    histories = model.history_ if isinstance(model.history_, list) else [model.history_]
    count = max((float(history["passes"][-1]) for history in histories if len(history)), default=0.0)
    return {**{name: getattr(model, f"{name}_") for name in CERTIFICATE}, "passes": count}


def outcome_facts(model: Any, outcome: Outcome) -> dict[str, Any]:
    """Facts about the training of any model."""
    return {"tol": model.tol, **certificate(model), "interrupted": outcome.interrupted, "seconds": outcome.seconds}


def gap_in_words(objective: float, dual_objective: float, gap: float) -> str:
    """A bound on the distance of the objective from its minimum, in words.

    >>> gap_in_words(1.0002, 1.0, 0.0002)
    'at most 0.02 % above the smallest possible objective'
    >>> gap_in_words(0.5, -0.1, 0.6)
    'at most 0.6 above the smallest possible objective'
    """
    if not math.isfinite(gap):
        return "none: no lower bound on the smallest possible objective is known"
    if dual_objective > 0.0 and gap / dual_objective < 1.0:
        return f"at most {100.0 * gap / dual_objective:.2g} % above the smallest possible objective"
    return f"at most {gap:.3g} above the smallest possible objective"


def certificate_lines(facts: dict[str, Any], minimised: str) -> dict[str, str]:
    """The lines of a report on the objective, the certificate and the solver."""
    return {
        "objective": f"{facts['objective']:.6g} ({minimised})",
        "certificate": gap_in_words(facts["objective"], facts["dual_objective"], facts["gap"]),
        "solver": f"{facts['solver']}, {passes(facts['passes'])}, {facts['seconds']:.2f} s",
    }


def end(facts: dict[str, Any], lines: dict[str, str], model: Path, as_json: bool, quiet: bool) -> NoReturn:
    """Report on a trained and saved model, as JSON or as lines, and exit with the code for the outcome."""
    if as_json:
        print_json(facts)
    elif not quiet:
        print_facts(lines)
    if facts["interrupted"]:
        print_message(f"Interrupted: the best model so far is in {model}.")
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit(DONE if facts["converged"] or facts["tol"] == 0.0 else NOT_CERTIFIED)

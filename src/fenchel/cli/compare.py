"""``fenchel compare``: several solvers on one problem, side by side."""

from __future__ import annotations

import contextlib
import functools
import math
import sys
import warnings
from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

from fenchel.cli import options as opt
from fenchel.cli.exits import DONE, INTERRUPTED, NOT_CERTIFIED
from fenchel.cli.screen import err, out, print_json, say, table
from fenchel.core.errors import InputError

SMALL = 300  # rows of the run that compiles a solver's kernels before its time counts
KEYS = ("passes", "seconds", "objective", "dual_objective", "gap")


def command(
    data: opt.Data,
    solvers: Annotated[str | None, typer.Option(help="Names with commas between; by default all that can take the problem.")] = None,
    task: opt.Task = "auto",
    loss: opt.Loss = None,
    penalty: opt.Penalty = "l2",
    strength: opt.Strength = 1e-4,
    l1_ratio: opt.L1Ratio = 0.5,
    p: opt.P = 1.5,
    tol: opt.Tol = 1e-3,
    max_passes: opt.MaxPasses = 1000.0,
    time_limit: Annotated[float, typer.Option(min=0.0, metavar="SECONDS", help="For each solver.")] = 10.0,
    seed: opt.Seed = 0,
    threads: opt.Threads = None,
    target: opt.Target = None,
    features: opt.Features = None,
    drop: opt.Drop = None,
    missing: opt.Missing = None,
    sample_weight: opt.SampleWeight = None,
    format: opt.Format = None,
    plot: opt.Plot = None,
    as_json: opt.Json = False,
) -> None:
    """Run several solvers on one problem and compare their certified gaps.

    The intercept is the weight of a constant feature of value 1, penalised like any other, for all solvers can take that. Kernels are
    compiled before the clock starts. The exit code is 0 if at least one solver is certified to the tolerance, 3 if none is, and 130 after
    Ctrl-C, with what the solvers before it have found.

    Keys of --json: rows, features, loss, penalty, tol, intercept, interrupted, refused (by solver, with the reason), plot, and runs, a
    list of solver, passes, seconds, objective, dual_objective, gap, converged, status; the fastest to the tolerance first.

    Example: fenchel compare train.svm --solvers sdca,lbfgs --loss logistic --time-limit 5
    """
    from fenchel import Problem, plots
    from fenchel.cli import formulation, inputs

    if plot is not None:
        plots.check_file(plot)
    rows = inputs.to_learn_from(data, inputs.TableOptions(target, features, drop, missing, sample_weight, format))
    labels = formulation.labels_and_loss(inputs.task_of(task, data, rows.y), loss, rows.y)
    regularizer = formulation.penalty_of(penalty, strength, l1_ratio, p)
    problem = Problem(rows.X, labels.y, labels.loss, regularizer, sample_weight=rows.sample_weight, intercept=1.0)
    able, refused = _sorted_out(problem, solvers)
    limits = {"tol": tol, "max_passes": max_passes, "time_limit": time_limit or None, "seed": seed, "threads": threads}
    results, interrupted = _run_all(problem, able, limits)
    if not results:
        raise KeyboardInterrupt
    order = sorted(
        results, key=lambda name: (not results[name].converged, results[name].seconds if results[name].converged else results[name].gap)
    )
    if plot is not None:
        plots.save(plots.compare({name: results[name] for name in order}), plot)
    if as_json:
        facts = {"rows": len(rows), "features": rows.X.shape[1], "loss": repr(labels.loss), "penalty": repr(regularizer), "tol": tol}
        ends = {"intercept": "penalised", "interrupted": interrupted, "refused": refused, "plot": plot}
        print_json({**facts, **ends, "runs": [_run(name, results[name]) for name in order]})
    else:
        out().print(_table([(name, results[name], _ending(results[name])) for name in order]))
        out().print(f"Certified: a gap of at most {tol:g} of the objective at w = 0.", markup=False)
        out().print("The intercept is penalised like any other weight, for that is a problem that every solver can take.", markup=False)
        for name, reason in refused.items():
            out().print(f"{name} needs {reason}.", markup=False)
    if interrupted:
        say(f"Interrupted: {', '.join(name for name in able if name not in results)} did not finish.")
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit(DONE if tol == 0.0 or any(result.converged for result in results.values()) else NOT_CERTIFIED)


def _sorted_out(problem: Any, wanted: str | None) -> tuple[list[str], dict[str, str]]:
    """The solvers that can take the problem, and why others can't."""
    from fenchel.core.messages import near
    from fenchel.solvers import solvers

    known = solvers()
    names = list(known) if wanted is None else [name.strip() for name in wanted.split(",")]
    for name in names:
        if name not in known:
            raise InputError(f"There is no solver {name!r}: {near(name, known)}")
    reasons = {name: known[name].refusal(problem) for name in names}
    refused = {name: reason for name, reason in reasons.items() if reason is not None}
    able = [name for name in names if name not in refused]
    if not able:
        raise InputError(
            "No solver can take this problem: " + "; ".join(f"{name} needs {reason}" for name, reason in refused.items()) + "."
        )
    return able, refused


def _run_all(problem: Any, names: list[str], limits: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Run one after the other, and show what is known of each meanwhile; the results, and whether an interrupt kept others away."""
    small = problem.on_rows(_few_rows(problem))
    done: dict[str, Any] = {}
    with _live(names) as show, contextlib.suppress(KeyboardInterrupt):
        for name in names:
            show(done, name, None)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                _uninterrupted(small, name, **{**limits, "max_passes": 20, "time_limit": None})
            done[name] = _uninterrupted(problem, name, callback=functools.partial(show, done, name), **limits)
    return done, len(done) < len(names)


def _uninterrupted(problem: Any, name: str, **options: Any) -> Any:
    """The result, unless an interrupt ended it early."""
    from fenchel.driver import solve

    result = solve(problem, name, **options)
    if result.status == "interrupted":
        raise KeyboardInterrupt
    return result


def _few_rows(problem: Any) -> np.ndarray:
    """Some rows, with one of each class among them."""
    first = np.unique(problem.y, return_index=True)[1][:SMALL] if problem.labels != "real" else np.zeros(0, dtype=np.int64)
    return np.unique(np.concatenate([first, np.arange(min(SMALL, problem.m))]))


@contextlib.contextmanager
def _live(names: list[str]) -> Iterator[Any]:
    """A function that shows results, and where the solver that runs stands; it does nothing without a terminal."""
    if not sys.stderr.isatty():
        yield lambda done, running, evaluation: None
        return
    from rich.live import Live

    with Live(console=err(), transient=True, auto_refresh=False) as live:

        def show(done: dict[str, Any], running: str, evaluation: Any) -> None:
            lines = [(name, done[name], _ending(done[name])) for name in names if name in done]
            lines += [(running, evaluation, "running" if evaluation is not None else "compiling")]
            waiting = names[names.index(running) + 1 :]
            live.update(_table([*lines, *((name, None, "waiting") for name in waiting)]), refresh=True)

        yield show


def _run(name: str, result: Any) -> dict[str, Any]:
    numbers = {key: float(getattr(result, key)) for key in KEYS}
    return {"solver": name, **numbers, "converged": result.converged, "status": result.status}


def _ending(result: Any) -> str:
    return "certified" if result.converged else result.status.replace("_", " ")


def _table(lines: list[tuple[str, Any, str]]) -> Table:
    shown = table(["solver"], ["passes", "seconds", "objective", "gap"], [""])
    for name, run, note in lines:
        cells = ("", "", "", "")
        if run is not None:
            gap = f"{run.gap:.1e}" if math.isfinite(run.gap) else "none"
            cells = (f"{run.passes:.4g}", f"{run.seconds:.3f}", f"{run.objective:.6g}", gap)
        shown.add_row(name, *cells, note)
    return shown

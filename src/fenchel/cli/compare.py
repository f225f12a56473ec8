"""``fenchel compare``: run several solvers on one problem."""

from __future__ import annotations

import contextlib
import functools
import math
import sys
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from fenchel.cli import options as opt
from fenchel.cli.exits import DONE, INTERRUPTED, NOT_CERTIFIED
from fenchel.cli.screen import err, out, print_json, print_message, table
from fenchel.core.errors import InputError

if TYPE_CHECKING:
    import numpy as np

WARM_UP_ROWS = 300  # rows of the untimed run that compiles a solver's kernels
KEYS = ("passes", "seconds", "objective", "dual_objective", "gap")


def command(
    data: opt.Data,
    solvers: Annotated[str | None, typer.Option(help="Names separated by commas; by default all solvers that support the problem.")] = None,
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

    The intercept is the weight of a constant feature of value 1 and is penalised like any other weight, because every solver supports
    that. Kernels are compiled before the clock starts. The exit code is 0 if at least one solver is certified to the tolerance, 3 if none
    is, and 130 after Ctrl-C; the results of the solvers that have finished are then still printed.

    Keys of --json: rows, features, loss, penalty, tol, intercept, interrupted, refused (by solver, with the reason), plot, and runs, a
    list of solver, passes, seconds, objective, dual_objective, gap, converged, status; the fastest to reach the tolerance comes first.

    Example: fenchel compare train.svm --solvers sdca,lbfgs --loss logistic --time-limit 5
    """
    from fenchel import Problem, plots
    from fenchel.cli import formulation, inputs

    if plot is not None:
        plots.check_file(plot)
    rows = inputs.read_training_rows(data, inputs.TableOptions(target, features, drop, missing, sample_weight, format))
    labels = formulation.labels_and_loss(inputs.task_of(task, data, rows.y), loss, rows.y)
    regularizer = formulation.penalty_of(penalty, strength, l1_ratio, p)
    problem = Problem(rows.X, labels.y, labels.loss, regularizer, sample_weight=rows.sample_weight, intercept=1.0)
    supported, refused = _split_by_support(problem, solvers)
    limits = {"tol": tol, "max_passes": max_passes, "time_limit": time_limit or None, "seed": seed, "threads": threads}
    results, interrupted = _run_all(problem, supported, limits)
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
        out().print("The intercept is penalised like any other weight, because every solver supports that.", markup=False)
        for name, reason in refused.items():
            out().print(f"{name} needs {reason}.", markup=False)
    if interrupted:
        print_message(f"Interrupted: {', '.join(name for name in supported if name not in results)} did not finish.")
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit(DONE if tol == 0.0 or any(result.converged for result in results.values()) else NOT_CERTIFIED)


def _split_by_support(problem: Any, wanted: str | None) -> tuple[list[str], dict[str, str]]:
    """The solvers that support the problem, and for each of the others the reason why it does not."""
    from fenchel.core.messages import near
    from fenchel.solvers import solvers

    known = solvers()
    names = list(known) if wanted is None else [name.strip() for name in wanted.split(",")]
    for name in names:
        if name not in known:
            raise InputError(f"There is no solver {name!r}: {near(name, known)}")
    reasons = {name: known[name].refusal(problem) for name in names}
    refused = {name: reason for name, reason in reasons.items() if reason is not None}
    supported = [name for name in names if name not in refused]
    if not supported:
        raise InputError(
            "No solver supports this problem: " + "; ".join(f"{name} needs {reason}" for name, reason in refused.items()) + "."
        )
    return supported, refused


def _run_all(problem: Any, names: list[str], limits: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Run the solvers one after another and show their progress; the results, and whether an interrupt prevented some of the runs."""
    small = problem.on_rows(_warm_up_rows(problem))
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
    from fenchel.driver import solve, uninterrupted

    return uninterrupted(solve(problem, name, **options))


def _warm_up_rows(problem: Any) -> np.ndarray:
    """The first rows, and at least one row of each class."""
    import numpy as np

    first = np.unique(problem.y, return_index=True)[1][:WARM_UP_ROWS] if problem.labels != "real" else np.zeros(0, dtype=np.int64)
    return np.unique(np.concatenate([first, np.arange(min(WARM_UP_ROWS, problem.m))]))


@contextlib.contextmanager
def _live(names: list[str]) -> Iterator[Any]:
    """A function that shows the results so far and the progress of the running solver; it does nothing without a terminal."""
    if not sys.stderr.isatty():
        yield lambda done, running, evaluation: None
        return
    from rich.live import Live

    with Live(console=err(), transient=True, auto_refresh=False) as live:

        def show(done: dict[str, Any], running: str, evaluation: Any) -> None:
            rows = [(name, done[name], _ending(done[name])) for name in names if name in done]
            rows += [(running, evaluation, "running" if evaluation is not None else "compiling")]
            waiting = names[names.index(running) + 1 :]
            live.update(_table([*rows, *((name, None, "waiting") for name in waiting)]), refresh=True)

        yield show


def _run(name: str, result: Any) -> dict[str, Any]:
    numbers = {key: float(getattr(result, key)) for key in KEYS}
    return {"solver": name, **numbers, "converged": result.converged, "status": result.status}


def _ending(result: Any) -> str:
    return "certified" if result.converged else result.status.replace("_", " ")


def _table(rows: list[tuple[str, Any, str]]) -> Table:
    shown = table(["solver"], ["passes", "seconds", "objective", "gap"], [""])
    for name, run, note in rows:
        cells = ("", "", "", "")
        if run is not None:
            gap = f"{run.gap:.1e}" if math.isfinite(run.gap) else "none"
            cells = (f"{run.passes:.4g}", f"{run.seconds:.3f}", f"{run.objective:.6g}", gap)
        shown.add_row(name, *cells, note)
    return shown

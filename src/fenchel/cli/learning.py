"""What ``tag``, ``rank`` and ``fold`` share: how a training run is reported and ends, and models of the right kind."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import typer

from fenchel.cli.errors import DONE, INTERRUPTED, NOT_CERTIFIED
from fenchel.cli.screen import passes, print_facts, print_json, say

KEYS = ("objective", "dual_objective", "gap", "converged", "solver")


def limits(
    solver: str, tol: float, max_passes: float, time_limit: float | None, seed: int, threads: int | None, progress: bool | None, quiet: bool
) -> dict[str, Any]:
    """The options that say how to learn and for how long, as estimators name them."""
    show = progress if progress is not None else sys.stderr.isatty() and not quiet
    found: dict[str, Any] = {"solver": solver, "tol": tol, "max_passes": max_passes, "time_limit": time_limit}
    return {**found, "random_state": seed, "n_jobs": threads, "verbose": int(show)}


def train(estimator: Any, fit: Callable[[], Any], counts: dict[str, int], model: Path, as_json: bool, quiet: bool) -> NoReturn:
    """Fit, save and report; the exit code tells how it went. An interrupt keeps the model as far as it came."""
    from fenchel import save

    clock, interrupted = time.perf_counter(), False
    try:
        fit()
    except KeyboardInterrupt:
        if not hasattr(estimator, "coef_"):
            raise
        interrupted = True
    estimator.set_params(verbose=0)
    save(estimator, model)
    facts = {
        **counts,
        "weights": int(estimator.coef_.size),
        "loss": estimator.loss,
        "l2": getattr(estimator, "l2_", estimator.l2),
        **{key: getattr(estimator, f"{key}_") for key in KEYS},
        "tol": estimator.tol,
        "passes": estimator.n_iter_,
        "interrupted": interrupted,
        "seconds": time.perf_counter() - clock,
        "model": model,
    }
    if as_json:
        print_json(facts)
    elif not quiet:
        _report(facts, counts)
    if interrupted:
        say(f"Interrupted: the best model so far is in {model}.")
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit(DONE if facts["converged"] or facts["tol"] == 0.0 else NOT_CERTIFIED)


def _report(facts: dict[str, Any], counts: dict[str, int]) -> None:
    from fenchel.cli.fitting import gap_in_words

    print_facts(
        {
            **{name: f"{count:,}" for name, count in counts.items()},
            "weights": f"{facts['weights']:,}",
            "objective": f"{facts['objective']:.6g} ({facts['loss']} loss, l2 {facts['l2']:g})",
            "certificate": gap_in_words(facts["objective"], facts["dual_objective"], facts["gap"]),
            "solver": f"{facts['solver']}, {passes(facts['passes'])}, {facts['seconds']:.2f} s",
            "model": str(facts["model"]),
        }
    )


def located(data: str) -> str:
    """The file of that name, or of a data set of that name: conll2000, conll2000:test."""
    from fenchel import datasets
    from fenchel.cli.inputs import check_known

    if Path(data).exists():
        return data
    check_known(data)
    name, _, split = data.partition(":")
    return str(datasets.path(name, split=split or "train"))


def judge(found: dict[str, Any], as_json: bool) -> None:
    """Print counts and shares."""
    if as_json:
        print_json(found)
        return
    print_facts({name: f"{value:,}" if isinstance(value, int) else f"{value:.4f}" for name, value in found.items()})


def model_of(kind: str, file: Path, data: str) -> Any:
    """The model in the file, if it is of that kind."""
    from fenchel.cli.inputs import COMMANDS_OF, load_model

    model = load_model(file, data)
    if type(model).__name__ != kind:
        told = COMMANDS_OF.get(type(model).__name__)
        use = f"use fenchel {told}" if told else "use fenchel predict or evaluate"
        raise ValueError(f"{file} holds a {type(model).__name__}, and this command is for a {kind}: {use}.")
    return model


def write(text: str, output: Path, *sources: str | Path) -> None:
    """To standard output for -, else to a file that is not one of those read."""
    from fenchel.files import checked_place, replacing

    if str(output) == "-":
        typer.echo(text, nl=False)
        return
    checked_place(output, *sources)
    with replacing(output) as path:
        path.write_text(text, encoding="utf-8", newline="")

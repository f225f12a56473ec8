"""Code shared by ``tag``, ``rank`` and ``fold``: training, loading models, writing results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import typer

from fenchel.cli import training
from fenchel.cli.exits import interrupts_keep_the_model
from fenchel.cli.screen import print_facts, print_json
from fenchel.core.errors import InputError


def train(
    estimator: Any, learn: Callable[[], Any], counts: dict[str, int], model: Path, as_json: bool, quiet: bool, checkpoint: Path | None
) -> NoReturn:
    """Fit, save and report, and exit with the code for the outcome. After an interrupt the best model so far is saved."""
    from fenchel import save

    with interrupts_keep_the_model() as postponed, training.resources(None, checkpoint):
        outcome = training.fit(estimator, learn)
        estimator.set_params(verbose=0)
        save(estimator, model)
    outcome = outcome.also(postponed.came)
    facts = {
        **counts,
        "weights": int(estimator.coef_.size),
        "loss": estimator.loss,
        "l2": getattr(estimator, "l2_", estimator.l2),
        **training.outcome_facts(estimator, outcome),
        "model": model,
    }
    lines = {
        **{name: f"{count:,}" for name, count in counts.items()},
        "weights": f"{facts['weights']:,}",
        **training.certificate_lines(facts, f"{facts['loss']} loss, l2 {facts['l2']:g}"),
        "model": str(model),
    }
    training.end(facts, lines, model, as_json, quiet)


def resolve_path(data: str) -> str:
    """The path of a file or of a named data set: conll2000, conll2000:test."""
    from fenchel import datasets
    from fenchel.cli.inputs import check_known

    if Path(data).exists():
        return data
    check_known(data)
    name, _, split = data.partition(":")
    return str(datasets.path(name, split=split or "train"))


def print_scores(found: dict[str, Any], as_json: bool) -> None:
    """Print counts and scores."""
    if as_json:
        print_json(found)
        return
    print_facts({name: f"{value:,}" if isinstance(value, int) else f"{value:.4f}" for name, value in found.items()})


def load_model_of_kind(kind: str, file: Path, data: str) -> Any:
    """Load the model; an error if it is not of this class."""
    from fenchel.cli.inputs import COMMANDS_OF, load_model

    model = load_model(file, data)
    if type(model).__name__ != kind:
        group = COMMANDS_OF.get(type(model).__name__)
        use = f"use fenchel {group}" if group else "use fenchel predict or evaluate"
        raise InputError(f"{file} holds a {type(model).__name__}, and this command is for a {kind}: {use}.")
    return model


def write_text(text: str, output: Path, *sources: str | Path) -> None:
    """Write to standard output if ``output`` is -, else to a file; an error if that is one of the sources."""
    from fenchel.core.atomic_files import checked_place, replacing

    if str(output) == "-":
        typer.echo(text, nl=False)
        return
    checked_place(output, *sources)
    with replacing(output) as path:
        path.write_text(text, encoding="utf-8", newline="")

"""``fenchel path``: solve for many strengths of an l1 penalty and select the best."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fenchel.cli import options as opt, training
from fenchel.cli.exits import DONE, INTERRUPTED, NOT_CERTIFIED, interrupts_keep_the_model
from fenchel.cli.screen import out, print_json, print_message, table
from fenchel.core.errors import InputError

SHOWN = {"strength": ".4g", "nnz": ",d", "objective": ".6g", "gap": ".1e", "validation_loss": ".6g", "validation_error": ".4f"}
HEADS = {"nnz": "non-zero", "validation_loss": "validation loss", "validation_error": "validation error"}


def command(
    data: opt.Data,
    task: opt.Task = "auto",
    loss: opt.Loss = None,
    l1_ratio: Annotated[float, typer.Option(max=1.0, help="The share of the l1 norm in the penalty, above 0; 1 is the lasso.")] = 1.0,
    strengths: Annotated[int, typer.Option(min=1, help="Number of strengths.")] = 100,
    ratio: Annotated[float, typer.Option(help="The last strength divided by the first, which is the smallest that gives w = 0.")] = 1e-3,
    cv: Annotated[int | None, typer.Option(min=2, help="Folds of cross-validation, to evaluate each strength on held-out rows.")] = None,
    model: Annotated[Path | None, typer.Option("--model", "-m", metavar="OUT", help="Write the model that --cv finds best.")] = None,
    tol: opt.Tol = 1e-4,
    max_passes: opt.MaxPasses = 1000.0,
    seed: opt.Seed = 0,
    threads: opt.Threads = None,
    target: opt.Target = None,
    features: opt.Features = None,
    drop: opt.Drop = None,
    missing: opt.Missing = None,
    sample_weight: opt.SampleWeight = None,
    format: opt.Format = None,
    memory: opt.Memory = None,
    checkpoint: opt.Checkpoint = None,
    plot: opt.Plot = None,
    as_json: opt.Json = False,
) -> None:
    """Solve for many strengths of an l1 penalty, each certified, with an unpenalised intercept.

    Keys of --json: task, loss, l1_ratio, classes, best, model, plot, and points, a list of strength, nnz, objective, gap, converged and,
    with --cv, validation_loss, validation_sd, validation_error.

    Example: fenchel path train.csv --strengths 10 --cv 3 --model best.fenchel
    """
    from fenchel import path as solve_path, plots
    from fenchel.cli import formulation, inputs
    from fenchel.core.atomic_files import checked_place

    if model is not None:
        checked_place(model, data)
        if cv is None:
            raise InputError("--model writes the best model of the path, which only cross-validation can select: give --cv 5 as well.")
    if plot is not None:
        plots.check_file(plot)
    rows = inputs.read_training_rows(data, inputs.TableOptions(target, features, drop, missing, sample_weight, format))
    kind = inputs.task_of(task, data, rows.y)
    labels = formulation.labels_and_loss(kind, loss, rows.y)
    options: dict[str, Any] = {"tol": tol, "max_passes": max_passes, "seed": seed, "threads": threads}
    grid: dict[str, Any] = {"l1_ratio": l1_ratio, "n_strengths": strengths, "ratio": ratio, "cv": cv}
    weight: dict[str, Any] = {"sample_weight": rows.sample_weight, "intercept": "free"}
    with interrupts_keep_the_model() as postponed, training.resources(memory, checkpoint):
        found = solve_path(rows.X, labels.y, labels.loss, **grid, **weight, **options)
        selected, limits = found.folds > 0, {"tol": tol, "max_passes": max_passes, "random_state": seed, "n_jobs": threads}
        stopped = model is not None and selected and _write_best(model, rows, kind, loss, found, limits)
    if plot is not None:
        plots.save(plots.path(found), plot)
    facts = {"task": kind, "loss": loss or formulation.DEFAULT_LOSS[kind], "l1_ratio": l1_ratio, "classes": labels.classes}
    best = found.best if selected else None
    if as_json:
        print_json({**facts, "best": best, "model": model if selected else None, "plot": plot, "points": _points(found)})
    else:
        _print_table(found, best)
        if model is not None and selected:
            out().print(f"The model at strength {found.strengths[found.best]:.4g} is in {model}.", markup=False)
    if found.interrupted or stopped or postponed.came:
        print_message(_what_is_done(found, strengths, cv, model))
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit(DONE if found["converged"].all() or tol == 0.0 else NOT_CERTIFIED)


def _write_best(model: Path, rows: Any, task: str, loss: str | None, found: Any, limits: dict[str, Any]) -> bool:
    """Fit a model with the best strength on all rows, and save it; whether the fit was interrupted."""
    from fenchel import save
    from fenchel.cli import linear_models

    penalty = {"penalty": "elasticnet", "strength": float(found.strengths[found.best]), "l1_ratio": found.l1_ratio}
    estimator = linear_models.model_for(task, {"loss": loss, **penalty, **limits})
    outcome = linear_models.fit_with_progress(estimator, rows, None, visible=False)
    save(estimator, model)
    return outcome.interrupted


def _what_is_done(found: Any, strengths: int, cv: int | None, model: Path | None) -> str:
    done = f"Interrupted: {len(found)} of {strengths} strengths are done."
    if cv is None:
        return done
    written = "" if model is None else f" {model} has the best of them." if found.folds else f" {model} is not written."
    return f"{done[:-1]}, with {found.folds} of {cv} folds.{written}"


def _points(found: Any) -> list[dict[str, Any]]:
    names = [name for name in found.columns if name not in ("passes", "seconds")]
    return [{name: found[name][k].item() for name in names} for k in range(len(found))]


def _print_table(found: Any, best: int | None) -> None:
    names = [name for name in SHOWN if name in found.columns]
    shown = table([], [HEADS.get(name, name) for name in names], [""])
    for k in range(len(found)):
        mark = "best" if k == best else "" if found["converged"][k] else "not certified"
        shown.add_row(*(format(found[name][k], SHOWN[name]) for name in names), mark)
    out().print(shown)

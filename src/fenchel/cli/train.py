"""``fenchel train``: train a linear model and report its certificate."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from fenchel.cli import options as opt, training
from fenchel.cli.exits import interrupts_keep_the_model
from fenchel.cli.screen import listed, shown_path


def command(
    data: opt.Data,
    model: opt.ModelOut,
    task: opt.Task = "auto",
    loss: opt.Loss = None,
    penalty: opt.Penalty = "l2",
    strength: opt.Strength = 1e-4,
    l1_ratio: opt.L1Ratio = 0.5,
    p: opt.P = 1.5,
    no_intercept: Annotated[bool, typer.Option("--no-intercept", help="Fit no intercept.", rich_help_panel=opt.LEARNING)] = False,
    class_weight: opt.ClassWeight = None,
    multiclass: opt.Multiclass = "auto",
    calibration: Annotated[
        str | None,
        typer.Option(help="sigmoid: calibrate probabilities in five folds, for losses that have none.", rich_help_panel=opt.LEARNING),
    ] = None,
    solver: opt.Solver = "auto",
    tol: opt.Tol = 1e-4,
    max_passes: opt.MaxPasses = 1000.0,
    time_limit: opt.TimeLimit = None,
    memory: opt.Memory = None,
    checkpoint: opt.Checkpoint = None,
    seed: opt.Seed = 0,
    threads: opt.Threads = None,
    validation: Annotated[
        str | None, typer.Option(metavar="FILE|SHARE", help="Rows to evaluate the model on: a file, or a share such as 0.2.")
    ] = None,
    target: opt.Target = None,
    features: opt.Features = None,
    drop: opt.Drop = None,
    missing: opt.Missing = None,
    sample_weight: opt.SampleWeight = None,
    format: opt.Format = None,
    plot: opt.Plot = None,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
    progress: opt.Progress = None,
) -> None:
    """Train a linear model and write it to a file.

    The model is saved even if the run stops before the tolerance (exit code 3) or is interrupted with Ctrl-C (exit code 130).

    Keys of --json: task, rows, features, classes, loss, penalty, strength, solver, tol, objective, dual_objective, gap, converged,
    interrupted, passes, seconds, nonzeros, weights, validation, model, plot.

    Example: fenchel train train.csv --model cars.fenchel --validation 0.2

    Example: fenchel train train.svm --loss logistic --penalty elasticnet --strength 1e-3 --model text.fenchel --json
    """
    from fenchel import plots, save
    from fenchel.cli import inputs, linear_models
    from fenchel.cli.model_scores import scores
    from fenchel.core.atomic_files import checked_place
    from fenchel.core.memory import memory_limited

    checked_place(model, data)
    if plot is not None:
        plots.check_file(plot)
    columns = inputs.TableOptions(target, features, drop, missing, sample_weight, format)
    with memory_limited(memory):
        rows, held = linear_models.held_out(inputs.read_training_rows(data, columns), validation, seed, format)
    kind = inputs.task_of(task, data, rows.y)
    limits = training.limits(solver, tol, max_passes, time_limit, seed, threads)
    penalised = {"loss": loss, "penalty": penalty, "strength": strength, "l1_ratio": l1_ratio, "p": p, "fit_intercept": not no_intercept}
    of_classes = {"class_weight": class_weight, "multiclass": multiclass, "calibration": calibration}
    estimator = linear_models.model_for(kind, {**penalised, **limits, **of_classes})
    with interrupts_keep_the_model() as postponed, training.resources(memory, checkpoint):
        outcome = linear_models.fit_with_progress(estimator, rows, held, training.is_progress_shown(progress, quiet))
        save(estimator, model)
    outcome = outcome.also(postponed.came)
    facts = {
        "task": kind,
        **_facts(estimator, rows, outcome),
        "validation": None if held is None else scores(estimator, held.X, held.y),
        "model": model,
        "plot": plot,
    }
    if plot is not None:
        plots.save(plots.history(estimator, x="seconds"), plot)
    training.end(facts, _lines(facts), model, as_json, quiet)


def _facts(model: Any, rows: Any, outcome: Any) -> dict[str, Any]:
    from fenchel.cli import linear_models

    weights = linear_models.weight_rows(model)
    return {
        "rows": len(rows),
        "features": weights.shape[1],
        "classes": linear_models.classes_of(model),
        **linear_models.described(model),
        **training.outcome_facts(model, outcome),
        "nonzeros": int((weights != 0.0).sum()),
        "weights": weights.size,
    }


def _lines(facts: dict[str, Any]) -> dict[str, str]:
    """The report on a trained model, by line."""
    from fenchel.cli.model_scores import in_words

    classes = facts["classes"]
    penalty = f"penalty {facts['penalty']} of strength {facts['strength']:g}" if facts["penalty"] else "no penalty"
    return {
        "rows": f"{facts['rows']:,}",
        "features": f"{facts['features']:,}",
        "task": facts["task"],
        "classes": "" if classes is None else listed(classes),
        **training.certificate_lines(facts, f"{facts['loss']} loss, {penalty}"),
        "non-zero": f"{facts['nonzeros']:,} of {facts['weights']:,} weights",
        "validation": "" if facts["validation"] is None else in_words(facts["validation"]),
        "model": str(facts["model"]),
        "plot": shown_path(facts["plot"]),
    }

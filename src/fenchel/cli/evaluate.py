"""``fenchel evaluate``: evaluate a model on rows with known labels."""

from __future__ import annotations

from typing import Any

from rich.markup import escape

from fenchel.cli import options as opt
from fenchel.cli.screen import out, print_facts, print_json, shown_path, table
from fenchel.core.errors import InputError

SHARES = ("accuracy", "error")
MOST_CLASSES = 30  # shown in the table; --json lists all of them


def command(
    model: opt.Model,
    data: opt.Data,
    target: opt.Target = None,
    format: opt.Format = None,
    plot: opt.Plot = None,
    as_json: opt.Json = False,
) -> None:
    """Evaluate a model on rows with known labels.

    Classification: accuracy, error, log loss if the model gives probabilities, the area under the ROC curve for two classes, and precision,
    recall and F1 of each class. Regression: RMSE, MAE and R². The figure is a ROC curve, a confusion matrix, or predictions against labels.

    Keys of --json: task, rows, accuracy, error, log_loss, auc, classes, unknown_classes; or rmse, mae, r2; mean_loss, plot.

    Example: fenchel evaluate cars.fenchel test.csv
    """
    from fenchel import plots
    from fenchel.cli.figures import evaluation_figure
    from fenchel.cli.inputs import TableOptions, load_linear_model, read_for_model
    from fenchel.cli.model_scores import is_classifier, mean_loss, scores

    if plot is not None:
        plots.check_file(plot)
    estimator = load_linear_model(model, data)
    rows = read_for_model(estimator, data, TableOptions(target=target, format=format))
    if rows.y is None:
        raise InputError(f"{data} has no labels to evaluate the model on: give rows with the target column.")
    found = {"task": "classify" if is_classifier(estimator) else "regress", **scores(estimator, rows.X, rows.y)}
    found |= {"mean_loss": mean_loss(estimator, rows.X, rows.y), "plot": plot}
    if plot is not None:
        plots.save(evaluation_figure(estimator, rows.X, rows.y), plot)
    if as_json:
        print_json(found)
    else:
        _report(found)


def _report(found: dict[str, Any]) -> None:
    names = {"accuracy": "accuracy", "error": "error", "log_loss": "log loss", "auc": "AUC", "rmse": "RMSE", "mae": "MAE", "r2": "R²"}
    numbers = {name: f"{100.0 * found[key]:.2f} %" if key in SHARES else f"{found[key]:.6g}" for key, name in names.items() if key in found}
    loss = "" if found["mean_loss"] is None else f"{found['mean_loss']:.6g}"
    unknown = ", ".join(map(str, found.get("unknown_classes", ())))
    print_facts({"rows": f"{found['rows']:,}", **numbers, "mean loss": loss, "unknown": unknown, "plot": shown_path(found["plot"])})
    if "classes" not in found:
        return
    shown = table(["class"], ["precision", "recall", "F1", "rows"])
    for row in found["classes"][:MOST_CLASSES]:
        shown.add_row(escape(str(row["class"])), *(f"{row[name]:.4f}" for name in ("precision", "recall", "f1")), f"{row['rows']:,}")
    out().print(shown)
    if len(found["classes"]) > MOST_CLASSES:
        out().print(f"... and {len(found['classes']) - MOST_CLASSES} more classes; --json lists all of them.")

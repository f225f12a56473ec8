"""``fenchel predict``: predictions of a model for rows of data."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fenchel.cli import options as opt
from fenchel.cli.screen import label, print_json
from fenchel.core.errors import InputError

if TYPE_CHECKING:
    import numpy as np

ENDINGS = (".csv", ".tsv", ".npz", ".txt")


def command(
    model: opt.Model,
    data: opt.Data,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="OUT", help="A .csv, .tsv, .npz or .txt file, or - for standard output.")
    ] = Path("-"),
    probabilities: Annotated[bool, typer.Option("--probabilities", help="Print the probability of each class as well.")] = False,
    scores: Annotated[bool, typer.Option("--scores", help="Print the scores, X·w plus the intercept, as well.")] = False,
    target: opt.Target = None,
    format: opt.Format = None,
    as_json: opt.Json = False,
) -> None:
    """Print the prediction of a model for every row, one per line.

    With --probabilities or --scores, or for a .csv file, the output is a table with a heading. Labels are those of the training data.
    Tables may have their columns in any order; the target column may be present or not.

    Keys of --json: predictions, and if requested probabilities, scores, classes.

    Example: fenchel predict cars.fenchel test.csv

    Example: fenchel predict cars.fenchel test.csv --probabilities -o predicted.csv
    """
    from fenchel.cli.inputs import TableOptions, load_linear_model, read_for_model
    from fenchel.core.atomic_files import checked_place

    if str(output) != "-":
        checked_place(output, data, model)
        if output.suffix.lower() not in ENDINGS:
            raise InputError(f"{output}: the ending must be one of {', '.join(ENDINGS)}.")
    estimator = load_linear_model(model, data)
    X = read_for_model(estimator, data, TableOptions(target=target, format=format)).X
    found = predictions(estimator, X, probabilities, scores)
    if as_json:
        print_json(found)
    elif output.suffix.lower() == ".npz":
        _write_npz(output, found)
    else:
        _write_text(output, found)


def predictions(model: Any, X: Any, probabilities: bool, scores: bool) -> dict[str, Any]:
    """The requested outputs by name."""
    if (probabilities or scores) and not hasattr(model, "classes_"):
        raise InputError("The model is for regression and has neither probabilities nor scores: leave the option out.")
    found: dict[str, Any] = {"predictions": model.predict(X)}
    if probabilities:
        found["probabilities"] = _probabilities(model, X)
    if scores:
        found["scores"] = model.decision_function(X)
    if probabilities or scores:
        found["classes"] = model.classes_
    return found


def _probabilities(model: Any, X: Any) -> np.ndarray:
    if not hasattr(model, "predict_proba"):
        raise InputError(f"A model with the loss {model.loss!r} gives no probabilities: train it with --calibration sigmoid.")
    return model.predict_proba(X)


def _columns(found: dict[str, Any]) -> dict[str, Any]:
    """The columns to write, by heading."""
    columns = {"prediction": [str(label(value)) for value in found["predictions"]]}
    for name, short in (("probabilities", "p"), ("scores", "score")):
        if name in found:
            values = found[name].reshape(len(found[name]), -1)
            heads = [short] if values.shape[1] == 1 else [f"{short}({label(kind)})" for kind in found["classes"]]
            columns |= {head: [repr(value) for value in values[:, k].tolist()] for k, head in enumerate(heads)}
    return columns


def _write_text(output: Path, found: dict[str, Any]) -> None:
    import csv
    import io

    from fenchel.core.atomic_files import replacing

    columns = _columns(found)
    ending = output.suffix.lower()
    text = io.StringIO()
    if len(columns) == 1 and ending not in (".csv", ".tsv"):
        text.writelines(f"{value}\n" for value in columns["prediction"])
    else:
        writer = csv.writer(text, delimiter="," if ending == ".csv" else "\t", lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    if str(output) == "-":
        typer.echo(text.getvalue(), nl=False)
        return
    with replacing(output) as path:
        path.write_text(text.getvalue(), encoding="utf-8", newline="")


def _write_npz(output: Path, found: dict[str, Any]) -> None:
    import numpy as np

    from fenchel.core.atomic_files import replacing

    arrays = {name: values.astype(np.str_) if values.dtype == object else values for name, values in found.items()}
    with replacing(output) as path, open(path, "wb") as file:
        np.savez_compressed(file, **arrays)
        file.flush()
        os.fsync(file.fileno())

"""``fenchel info``: describe a data file or a model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from fenchel.cli import options as opt
from fenchel.cli.exits import sentence
from fenchel.cli.screen import label, listed, out, passes, print_facts, print_json, table

if TYPE_CHECKING:
    import numpy as np

LARGEST = 10  # number of weights that are listed by name
MOST_CLASSES = 20
MOST_COLUMNS = 100  # shown in the report; --json lists all of them


def command(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help=f"A model, or data: {opt.DATA_HELP}", show_default=False)],
    target: opt.Target = None,
    drop: opt.Drop = None,
    missing: opt.Missing = None,
    format: opt.Format = None,
    as_json: opt.Json = False,
) -> None:
    """Describe a data set or a model.

    For a table it lists the columns; a target column is not required.

    Keys of --json for data: kind, name, rows, features, storage, nonzeros, density, dtype, bytes, smallest, largest, index_base, labels,
    task, queries, and for a table columns, a list of name, kind, missing, different, smallest, largest. For a table that cannot be used
    for training as it is: kind, name, rows, columns, obstacle. For a model: kind, class, parameters, version, classes, features, nonzeros,
    weights, certificate, largest.

    Example: fenchel info train.csv

    Example: fenchel info cars.fenchel --json
    """
    from fenchel.cli.inputs import TableOptions, is_model

    columns = TableOptions(target, None, drop, missing, format=format)
    facts = model_facts(Path(file)) if is_model(Path(file)) else data_or_table_facts(file, columns, ctx.command)
    if as_json:
        print_json(facts)
        return
    print_facts(REPORTS[facts["kind"]](facts))
    if facts.get("columns"):
        out().print(_columns_table(facts["columns"]))
    if facts.get("obstacle"):
        out().print(f"To train on it: {facts['obstacle']}", markup=False)


def data_or_table_facts(source: str, columns: Any, command: Any) -> dict[str, Any]:
    """Facts about data; for a table also its columns, and only those if it cannot be used for training and no options were given."""
    from fenchel.cli.inputs import is_table

    if not Path(source).is_file() or not is_table(source, columns.format):
        return data_facts(source, columns)
    table, summaries = _summarised(source, columns.format)
    try:
        return {**data_facts(source, columns), "columns": summaries}
    except ValueError as error:
        if columns.target or columns.drop or columns.missing:
            raise
        return {
            "kind": "table",
            "name": Path(source).name,
            "rows": table.num_rows,
            "columns": summaries,
            "obstacle": sentence(error, command),
        }


def _summarised(source: str, format: str | None) -> tuple[Any, list[dict[str, Any]]]:
    from fenchel.datasets.formats import format_of
    from fenchel.datasets.tables.read import read_table
    from fenchel.datasets.tables.survey import survey

    table = read_table(Path(source), format_of(Path(source), format), [])
    return table, [summary._asdict() for summary in survey(table)]


def _table_report(facts: dict[str, Any]) -> dict[str, str]:
    return {"table": facts["name"], "rows": f"{facts['rows']:,}", "columns": f"{len(facts['columns']):,}"}


def _cell(value: Any) -> str:
    return "" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else str(value)


def _columns_table(columns: list[dict[str, Any]]) -> Any:
    shown = table(["column", "kind"], ["missing", "different", "smallest", "largest"])
    for column in columns[:MOST_COLUMNS]:
        values = (column[key] for key in ("missing", "different", "smallest", "largest"))
        shown.add_row(escape(column["name"]), column["kind"], *map(_cell, values))
    if len(columns) > MOST_COLUMNS:
        shown.add_row(f"... and {len(columns) - MOST_COLUMNS:,} more")
    return shown


def data_facts(source: str, columns: Any) -> dict[str, Any]:
    """Facts about rows and labels."""
    import numpy as np
    import scipy.sparse as sp

    from fenchel.cli.inputs import guessed_task, read_rows

    data = read_rows(source, columns)
    X, (m, n) = data.X, data.X.shape
    sparse = sp.issparse(X)
    values = X.data if sparse else X
    parts = (X.data, X.indices, X.indptr) if sparse else (X,)
    nonzeros = int(np.count_nonzero(values))
    return {
        "kind": "data",
        "name": data.name,
        "rows": m,
        "features": n,
        "storage": X.format if sparse else "dense",
        "nonzeros": nonzeros,
        "density": nonzeros / max(m * n, 1),
        "dtype": str(X.dtype),
        "bytes": sum(part.nbytes for part in parts),
        "smallest": values.min(initial=np.inf) if m * n else None,
        "largest": values.max(initial=-np.inf) if m * n else None,
        "index_base": _index_base(source, columns.format),
        "labels": _labels(data.y),
        "task": None if data.y is None else "rank" if data.qid is not None else guessed_task(data.y),
        "queries": None if data.qid is None else len(np.unique(data.qid)),
        "columns": None,
    }


def _index_base(source: str, format: str | None) -> int | None:
    """The index of the first column in svmlight text: 0 if the index 0 occurs, 1 otherwise."""
    from fenchel.datasets import read_svmlight
    from fenchel.datasets.formats import format_of

    if not Path(source).is_file() or format_of(Path(source), format) != "svmlight":
        return None
    X = read_svmlight(source, index_base=0)[0]
    return 0 if len(X.indices) and X.indices.min() == 0 else 1


def _labels(y: np.ndarray | None) -> dict[str, Any] | None:
    import numpy as np

    from fenchel.cli.inputs import guessed_task

    if y is None:
        return None
    values, counts = np.unique(y, return_counts=True)
    if guessed_task(y) == "regress":
        return {"different": len(values), "smallest": values[0], "largest": values[-1], "mean": y.mean()}
    return {"different": len(values), "counts": {str(label(value)): int(count) for value, count in zip(values, counts, strict=True)}}


def _data_report(facts: dict[str, Any]) -> dict[str, str]:
    labels = facts["labels"]
    if labels is None:
        described = "none"
    elif "counts" in labels:
        counts = list(labels["counts"].items())
        more = f" and {len(counts) - MOST_CLASSES} more" if len(counts) > MOST_CLASSES else ""
        described = ", ".join(f"{name} ({count:,})" for name, count in counts[:MOST_CLASSES]) + more
    else:
        described = (
            f"{labels['different']:,} different numbers from {labels['smallest']:g} to {labels['largest']:g}, {labels['mean']:g} on average"
        )
    base = facts["index_base"]
    return {
        "data": facts["name"],
        "rows": f"{facts['rows']:,}",
        "features": f"{facts['features']:,}",
        "non-zero": f"{facts['nonzeros']:,} values, {facts['density']:.3%} of all",
        "values": "" if facts["smallest"] is None else f"from {facts['smallest']:g} to {facts['largest']:g}",
        "memory": f"{_size(facts['bytes'])}, {facts['storage']} {facts['dtype']}",
        "indices": "" if base is None else f"sorted, from {base}",
        "labels": described,
        "queries": "" if facts["queries"] is None else f"{facts['queries']:,}",
        "task": facts["task"] or "",
    }


def _size(count: int) -> str:
    """A number of bytes with its unit.

    >>> _size(300), _size(5 * 2**20)
    ('0.3 KiB', '5.0 MiB')
    """
    unit, name = next(((size, name) for size, name in ((2**30, "GiB"), (2**20, "MiB")) if count >= size), (2**10, "KiB"))
    return f"{count / unit:,.1f} {name}"


def model_facts(file: Path) -> dict[str, Any]:
    """Facts about a model."""
    from fenchel import load
    from fenchel.cli import linear_models, training
    from fenchel.persistence.model_files import contents

    model = load(file)
    weights = linear_models.weight_rows(model)
    return {
        "kind": "model",
        "class": type(model).__name__,
        "parameters": {
            name: value if isinstance(value, (int, float, str, type(None))) else repr(value)
            for name, value in model.get_params(deep=False).items()
        },
        "version": contents(file)[0].get("fenchel"),
        "classes": linear_models.classes_of(model),
        "features": weights.shape[1],
        "nonzeros": int((weights != 0.0).sum()),
        "weights": weights.size,
        "certificate": training.certificate(model) if hasattr(model, "history_") and hasattr(model, "gap_") else None,
        "largest": largest_weights(model, weights),
    }


def largest_weights(model: Any, weights: np.ndarray) -> list[dict[str, Any]]:
    """The weights of largest magnitude, with the names of their columns; columns without names are numbered from 1."""
    import numpy as np

    from fenchel.cli.linear_models import classes_of, names_of

    names, classes = names_of(model), classes_of(model)
    order = np.argsort(-np.abs(weights), axis=None, kind="stable")[:LARGEST]
    found = []
    for row, column in zip(*np.unravel_index(order, weights.shape), strict=True):
        if weights[row, column] == 0.0:
            break
        entry = {"feature": str(column + 1) if names is None else names[column], "weight": float(weights[row, column])}
        if classes is not None:
            entry["class"] = label(classes[row] if len(weights) > 1 else classes[1])
        found.append(entry)
    return found


def _model_report(facts: dict[str, Any]) -> dict[str, str]:
    from fenchel.cli.training import gap_in_words

    proof = facts["certificate"]
    several = facts["classes"] is not None and len(facts["classes"]) > 2
    largest = [f"{entry['feature']}{' for ' + str(entry['class']) if several else ''} {entry['weight']:+.4g}" for entry in facts["largest"]]
    return {
        "model": f"{facts['class']}, written by fenchel {facts['version']}",
        "parameters": ", ".join(f"{name}={value}" for name, value in facts["parameters"].items()),
        "classes": "" if facts["classes"] is None else listed(facts["classes"]),
        "features": f"{facts['features']:,}",
        "non-zero": f"{facts['nonzeros']:,} of {facts['weights']:,} weights",
        "objective": "" if proof is None else f"{proof['objective']:.6g}, by {proof['solver']} in {passes(proof['passes'])}",
        "certificate": "" if proof is None else gap_in_words(proof["objective"], proof["dual_objective"], proof["gap"]),
        "largest": ", ".join(largest),
    }


REPORTS: dict[str, Callable[[dict[str, Any]], dict[str, str]]] = {"data": _data_report, "table": _table_report, "model": _model_report}

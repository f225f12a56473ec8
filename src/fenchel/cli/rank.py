"""``fenchel rank``: rank the documents of queries."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fenchel.cli import options as opt, training
from fenchel.cli.screen import print_json
from fenchel.cli.structured_models import load_model_of_kind, print_scores, train, write_text
from fenchel.core.errors import InputError

app = typer.Typer(help="Train and use models that rank the documents of queries.", no_args_is_help=True)
Documents = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="LETOR text, with a grade, qid:query and features per line (plain, .gz, .bz2, .xz); or a name: mq2008.",
        show_default=False,
    ),
]


@app.command("train")
def train_ranker(
    data: Documents,
    model: opt.ModelOut,
    loss: Annotated[
        str, typer.Option(help="pairwise-logistic, pairwise-hinge, pairwise-squared-hinge, pairwise-smooth-hinge or ndcg.")
    ] = "pairwise-logistic",
    k: Annotated[int, typer.Option("--k", min=1, help="The k of NDCG@k.")] = 10,
    l2: opt.UsualL2 = None,
    normalize: Annotated[bool, typer.Option("--normalize", help="Scale features to [0, 1] within each query, as LETOR does.")] = False,
    solver: opt.Solver = "auto",
    tol: opt.Tol = 1e-3,
    max_passes: opt.MaxPasses = 1000.0,
    time_limit: opt.TimeLimit = None,
    checkpoint: opt.Checkpoint = None,
    seed: opt.Seed = 0,
    threads: opt.Threads = None,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
    progress: opt.Progress = None,
) -> None:
    """Train a ranker on graded documents.

    Keys of --json: queries, documents, features, weights, loss, l2, objective, dual_objective, gap, converged, solver, tol, passes,
    interrupted, seconds, model.

    Example: fenchel rank train train.letor --model ranker.fenchel --l2 0.1
    """
    import numpy as np

    import fenchel as fl
    from fenchel.core.atomic_files import checked_place

    checked_place(model, data)
    rows = _read(data)
    limits = training.limits(solver, tol, max_passes, time_limit, seed, threads)
    shown = int(training.is_progress_shown(progress, quiet))
    estimator = fl.Ranker(loss, k=k, l2=l2, normalize=normalize, **limits, verbose=shown)
    counts = {"queries": len(np.unique(rows.qid)), "documents": rows.X.shape[0], "features": rows.X.shape[1]}
    train(estimator, lambda: estimator.fit(rows.X, rows.y, qid=rows.qid), counts, model, as_json, quiet, checkpoint)


@app.command()
def predict(model: opt.Model, data: Documents, output: opt.TextOut = Path("-"), as_json: opt.Json = False) -> None:
    """Print the score of every document, one per line; higher scores rank first within a query.

    Keys of --json: scores.

    Example: fenchel rank predict ranker.fenchel test.letor
    """
    ranker, rows = _load_and_read(model, data)
    scores = ranker.predict(rows.X, qid=rows.qid)
    if as_json:
        print_json({"scores": scores})
        return
    write_text("".join(f"{score!r}\n" for score in scores.tolist()), output, data, model)


@app.command()
def evaluate(model: opt.Model, data: Documents, as_json: opt.Json = False) -> None:
    """Evaluate a ranker on graded documents by the rules of LETOR 4.0: a query without relevant documents counts as 0.

    Keys of --json: queries, documents, map, mean_ndcg, ndcg@1 to ndcg@10.

    Example: fenchel rank evaluate ranker.fenchel test.letor --json
    """
    import numpy as np

    from fenchel.structured import letor_scores

    ranker, rows = _load_and_read(model, data)
    found = letor_scores(rows.y, ranker.predict(rows.X, qid=rows.qid), rows.qid)
    print_scores({"queries": len(np.unique(rows.qid)), "documents": rows.X.shape[0], **found}, as_json)


def _load_and_read(model: Path, data: str) -> tuple[Any, Any]:
    from dataclasses import replace

    from fenchel.cli.inputs import with_width

    ranker, rows = load_model_of_kind("Ranker", model, data), _read(data)
    return ranker, replace(rows, X=with_width(rows.X, int(ranker.n_features_in_), data, False))


def _read(data: str) -> Any:
    from fenchel.cli.inputs import TableOptions, read_training_rows

    rows = read_training_rows(data, TableOptions())
    if rows.qid is None:
        raise InputError(f"{data} has no queries: every line needs qid:<number> after its grade.")
    return rows

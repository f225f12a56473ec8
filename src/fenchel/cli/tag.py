"""``fenchel tag``: tag the tokens of text in CoNLL columns."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fenchel.cli import options as opt, training
from fenchel.cli.screen import print_json
from fenchel.cli.structured_models import load_model_of_kind, print_scores, resolve_path, train, write_text
from fenchel.core.errors import InputError

app = typer.Typer(help="Tag the tokens of text: chunks, parts of speech, names.", no_args_is_help=True)
Text = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="CoNLL text: columns, one token per line, an empty line between sentences (plain, .gz, .bz2, .xz); or a name: conll2000:test.",
        show_default=False,
    ),
]


@app.command("train")
def train_tagger(
    data: Text,
    model: opt.ModelOut,
    loss: Annotated[str, typer.Option(help="likelihood (a conditional random field) or margin (a structured SVM).")] = "likelihood",
    l2: Annotated[float, typer.Option(help="The strength of the penalty.")] = 1e-4,
    l1: Annotated[float, typer.Option(help="The strength of an additional l1 penalty, for sparse weights; with likelihood only.")] = 0.0,
    templates: Annotated[
        str | None,
        typer.Option(help="Attributes of a token, separated by spaces: 'w[0] w[-1]|w[0] pos[0] w[0].suffix3'. Columns are w, pos, c2, ..."),
    ] = None,
    solver: opt.Solver = "auto",
    tol: opt.Tol = 1e-4,
    max_passes: opt.MaxPasses = 1000.0,
    time_limit: opt.TimeLimit = None,
    checkpoint: opt.Checkpoint = None,
    seed: opt.Seed = 0,
    threads: opt.Threads = None,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
    progress: opt.Progress = None,
) -> None:
    """Train a tagger on text whose last column holds the tags.

    Keys of --json: sentences, tokens, tags, weights, loss, l2, objective, dual_objective, gap, converged, solver, tol, passes, interrupted,
    seconds, model.

    Example: fenchel tag train train.conll --model chunks.fenchel --l2 1e-3
    """
    import fenchel as fl
    from fenchel.core.atomic_files import checked_place

    checked_place(model, data)
    *columns, tags = fl.datasets.read_conll(resolve_path(data))
    if not columns:
        raise InputError(f"{data} has only one column: give columns of words with the tags in the last column.")
    wanted = None if templates is None else templates.split()
    limits = training.limits(solver, tol, max_passes, time_limit, seed, threads)
    shown = int(training.is_progress_shown(progress, quiet))
    estimator = fl.Tagger(wanted, loss=loss, l2=l2, l1=l1, **limits, verbose=shown)
    counts = {"sentences": len(tags), "tokens": sum(map(len, tags)), "tags": len({tag for sentence in tags for tag in sentence})}
    train(estimator, lambda: estimator.fit(_sentences(columns), tags), counts, model, as_json, quiet, checkpoint)


@app.command()
def predict(
    model: opt.Model,
    data: Text,
    output: opt.TextOut = Path("-"),
    as_json: opt.Json = False,
) -> None:
    """Write the columns of the text followed by a column of predicted tags.

    Keys of --json: tags, a list for each sentence.

    Example: fenchel tag predict chunks.fenchel test.conll
    """
    import fenchel as fl

    tagger = load_model_of_kind("Tagger", model, data)
    columns = fl.datasets.read_conll(resolve_path(data))
    tags = tagger.predict(_sentences(_inputs(tagger, columns, data)))
    if as_json:
        print_json({"tags": tags})
        return
    lines = ["\n".join(map("\t".join, zip(*sentence, strict=True))) for sentence in zip(*columns, tags, strict=True)]
    write_text("".join(f"{line}\n\n" for line in lines), output, data, model)


@app.command()
def evaluate(model: opt.Model, data: Text, as_json: opt.Json = False) -> None:
    """Evaluate a tagger on text whose last column holds the tags.

    The accuracy counts tokens; precision, recall and F1 count whole chunks, as conlleval does.

    Keys of --json: sentences, tokens, accuracy, precision, recall, f1.

    Example: fenchel tag evaluate chunks.fenchel test.conll --json
    """
    import fenchel as fl

    tagger = load_model_of_kind("Tagger", model, data)
    *columns, tags = fl.datasets.read_conll(resolve_path(data))
    if len(columns) < len(tagger.columns_):
        raise InputError(f"{data} has {len(columns) + 1} columns: the tagger needs {len(tagger.columns_)} and a last column with the tags.")
    found = fl.structured.chunk_scores(tags, tagger.predict(_sentences(_inputs(tagger, columns, data))))
    print_scores({"sentences": len(tags), "tokens": sum(map(len, tags)), **found}, as_json)


def _inputs(tagger: Any, columns: Any, data: str) -> Any:
    """The columns that the tagger was trained on, which come first."""
    wanted = len(tagger.columns_)
    if len(columns) < wanted:
        raise InputError(
            f"{data} has {len(columns)} columns, and the tagger was trained on {wanted} besides the tags: give at least as many."
        )
    return columns[:wanted]


def _sentences(columns: Any) -> list[list[tuple[str, ...]]]:
    return [list(zip(*sentence, strict=True)) for sentence in zip(*columns, strict=True)]

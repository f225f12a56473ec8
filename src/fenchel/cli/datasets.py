"""``fenchel datasets``: named data sets and generated ones."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fenchel.cli import options as opt
from fenchel.cli.screen import out, print_json, print_message, table
from fenchel.core.errors import Argument, InputError

if TYPE_CHECKING:
    import numpy as np

KINDS = ("gaussians", "ranking", "rna", "sequences", "text", "wide")
NO_FEATURES = ("rna",)
# The generators' defaults, which are reduced if there are fewer columns.
DEFAULT_COUNTS = {"text": {"nonzeros": 75}, "wide": {"nonzeros": 50, "informative": 20}}

app = typer.Typer(help="Named data sets: list them, fetch them, or generate new ones.", no_args_is_help=True)


@app.command("list")
def list_sets(
    terms: Annotated[bool, typer.Option("--terms", help="Show the terms of use as well.")] = False,
    as_json: opt.Json = False,
) -> None:
    """List the named data sets and where they are.

    They are searched for in the folders listed in FENCHEL_DATA, then among earlier downloads.

    Keys of --json: datasets, a list of name, split, task, rows, features, classes, where, source, terms, about.

    Example: fenchel datasets list
    """
    from fenchel.datasets import available

    known = available()
    if as_json:
        print_json({"datasets": [asdict(listing) for listing in known]})
        return
    shown = table(["name", "task"], ["rows", "features", "classes"], ["where", "terms"] if terms else ["where"])
    for listing in known:
        name = listing.name if listing.split == "train" else f"{listing.name}:{listing.split}"
        sizes = ("" if size is None else f"{size:,}" for size in (listing.rows, listing.features, listing.classes))
        where = str(listing.where) if listing.where else "to be downloaded" if listing.source else "not available"
        shown.add_row(name, listing.task, *sizes, where, *([listing.terms] if terms else []))
    out().print(shown)


@app.command()
def fetch(
    name: Annotated[str, typer.Argument(help="A name that fenchel datasets list shows, such as a9a or a9a:test.", show_default=False)],
    as_json: opt.Json = False,
) -> None:
    """Download a data set, unless it is already on this machine, and print its path.

    Keys of --json: name, split, path.

    Example: fenchel datasets fetch a9a
    """
    from fenchel import datasets

    known, _, split = name.partition(":")
    path = datasets.path(known, split=split or "train", progress=True)
    if as_json:
        print_json({"name": known, "split": split or "train", "path": path})
    else:
        typer.echo(path)


@app.command()
def make(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="text, gaussians, wide, ranking, sequences or rna.", show_default=False)],
    output: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write.", show_default=False)],
    rows: Annotated[
        int, typer.Option(min=1, help="Number of rows; for ranking, of queries; for sequences, of sentences; for rna, of molecules.")
    ] = 1000,
    features: Annotated[int | None, typer.Option(min=1, help="Number of columns, or of words; by default that of the generator.")] = None,
    seed: opt.Seed = 0,
) -> None:
    """Generate data: text and gaussians for classification, wide for regression, ranking, sequences for tagging, and rna for folding.

    The ending of OUT determines the format: svmlight text, .csv, .parquet or .npz (ranking: not tables). Sequences are written with one
    token and its tag per line and an empty line between sentences; rna as three lines per molecule: name, bases, and pairs as brackets.

    Example: fenchel datasets make text made.svm --rows 500 --features 1000
    """
    from fenchel import datasets
    from fenchel.core.atomic_files import checked_place
    from fenchel.core.validation import checked_choice

    checked_choice("KIND", kind, KINDS)
    checked_place(output)
    if kind in NO_FEATURES and features is not None:
        raise InputError(Argument("features", ...), f" is for matrices, and {kind} is text: leave it out.")
    if kind == "rna":
        _write_rna(output, *datasets.make_rna(rows, seed=seed))
    elif kind == "sequences":
        _write_sequences(output, *datasets.make_sequences(rows, **({"words": features} if features else {}), seed=seed))
    else:
        _write_matrix(output, kind, rows, features, seed)
    print_message(f"Wrote {output}.")


def _write_matrix(output: Path, kind: str, rows: int, features: int | None, seed: int) -> None:
    from fenchel import datasets

    n: dict[str, Any] = {"n": features} if features is not None else {}
    if kind == "ranking":
        X, y, qid = datasets.make_ranking(rows, **n, seed=seed)
        datasets.write(output, datasets.Data(X, y, qid=qid))
        return
    makers: dict[str, Any] = {"text": datasets.make_text, "gaussians": datasets.make_gaussians, "wide": datasets.make_wide}
    few = {name: min(count, features) for name, count in DEFAULT_COUNTS.get(kind, {}).items()} if features is not None else {}
    X, y = makers[kind](rows, **n, **few, seed=seed)[:2]
    datasets.write(output, datasets.Data(X, y))


def _write_rna(output: Path, sequences: list[str], structures: list[str]) -> None:
    pairs = enumerate(zip(sequences, structures, strict=True), 1)
    _write_lines(output, [line for k, (bases, marks) in pairs for line in (f">made-{k}", bases, marks)])


def _write_sequences(output: Path, X: Any, tags: np.ndarray, sentence: np.ndarray) -> None:
    """Write one line per row: the first column of a row is its word; the very last column only marks the start of a sentence."""
    words = X.indices[X.indptr[:-1]]
    lines = []
    for t, (word, tag) in enumerate(zip(words.tolist(), tags.tolist(), strict=True)):
        if t and sentence[t] != sentence[t - 1]:
            lines.append("")
        lines.append(f"w{word}\tT{tag}")
    _write_lines(output, [*lines, ""])


def _write_lines(output: Path, lines: list[str]) -> None:
    from fenchel.datasets.text_files import writing

    with writing(output) as file:
        file.write("".join(f"{line}\n" for line in lines).encode())

"""``fenchel convert``: convert data from one format to another, or into a store."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from fenchel.cli import options as opt
from fenchel.cli.screen import label, print_message
from fenchel.core.errors import Argument, InputError

STORE = "store"
HELP = "Files or the name of a data set, and the file to write, whose ending determines the format. A store may be made of several files."


def command(
    paths: Annotated[list[str], typer.Argument(metavar="DATA... OUT", help=HELP, show_default=False)],
    target: opt.Target = None,
    features: opt.Features = None,
    drop: opt.Drop = None,
    missing: opt.Missing = None,
    sample_weight: opt.SampleWeight = None,
    format: opt.Format = None,
    to: Annotated[
        str | None, typer.Option(help="csv, tsv, parquet, npz, svmlight or store, if the ending of OUT does not determine the format.")
    ] = None,
    shuffle: Annotated[bool, typer.Option("--shuffle", help="Bring the rows of a store into random order.")] = False,
    single: Annotated[bool, typer.Option("--single", help="Store values in single precision: two thirds of the space.")] = False,
    like: Annotated[Path | None, typer.Option(metavar="STORE", help="Give the store the columns of another one.")] = None,
    seed: opt.Seed = 0,
    progress: opt.Progress = None,
    quiet: opt.Quiet = False,
) -> None:
    """Convert data between svmlight text, .csv, .tsv, .parquet and .npz; output that ends in .gz, .bz2 or .xz is compressed.

    A text column of a table becomes one column per category. Svmlight text cannot hold labels that are text: classes are written as 0, 1,
    2 and so on, in the alphabetical order of their names.

    OUT that ends in .store is a folder of plain arrays that other commands train on and predict without reading it into memory. It is
    written in bounded memory, and a conversion that was interrupted goes on where it was when the command is repeated. DATA may then be
    several files of one format, patterns in quotes, or - for svmlight text on standard input.

    Example: fenchel convert train.csv numbers.svm

    Example: fenchel convert train.svm train.npz

    Example: fenchel convert train.svm train.store --shuffle
    """
    from fenchel.cli.inputs import TableOptions
    from fenchel.cli.training import is_progress_shown

    if len(paths) < 2:
        raise InputError("The file to write is missing: give fenchel convert DATA OUT.")
    sources, output = paths[:-1], Path(paths[-1])
    table = TableOptions(target, features, drop, missing, sample_weight, format)
    if to == STORE or (to is None and output.suffix == f".{STORE}"):
        options = {"dtype": "float32" if single else "float64", "shuffle": shuffle, "seed": seed, "like": like}
        _to_store(sources, output, {**table.arguments(), **options}, is_shown=is_progress_shown(progress, quiet), quiet=quiet)
        return
    for name, given in (("shuffle", shuffle), ("single", single), ("like", like)):
        if given:
            raise InputError(Argument(name, ...), " is for stores: end the name of the output in .store, or leave it out.")
    if len(sources) > 1:
        raise InputError("Several files make a store only: end the name of the output in .store, or convert one at a time.")
    _to_file(sources[0], output, to, table, quiet)


def _to_file(source: str, output: Path, to: str | None, table: Any, quiet: bool) -> None:
    import numpy as np

    from fenchel.cli.inputs import read_rows
    from fenchel.core.atomic_files import checked_place
    from fenchel.core.messages import counted
    from fenchel.datasets import write
    from fenchel.datasets.formats import format_to_write

    checked_place(output, source)
    written = format_to_write(output, to)
    rows = read_rows(source, table)
    if rows.y is not None and rows.y.dtype.kind in "UO" and written == "svmlight":
        classes, codes = np.unique(rows.y, return_inverse=True)
        rows = replace(rows, y=codes)
        print_message("Classes: " + ", ".join(f"{k} is {label(name)}" for k, name in enumerate(classes)) + ".")
    write(output, rows, format=written)
    if not quiet:
        print_message(f"Wrote {output}: {counted(len(rows), 'row')}, {counted(rows.X.shape[1], 'feature')}.")


def _to_store(sources: list[str], output: Path, options: dict[str, Any], is_shown: bool, quiet: bool) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    from fenchel import datasets
    from fenchel.core.messages import counted

    files: list[Any] = [sys.stdin.buffer if source == "-" else _file_of(source) for source in sources]
    columns: tuple[Any, ...] = (BarColumn(), TextColumn("{task.percentage:>3.0f} %"), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, TextColumn("{task.description}"), console=Console(file=sys.stderr), disable=not is_shown) as bar:
        task = bar.add_task("reading", total=None)

        def told(now: Any) -> None:
            bar.update(task, completed=now.share, total=1.0 if now.share == now.share else None, description=f"{now.rows:,} rows")

        datasets.convert(files, output, callback=told, **options)
    if not quiet:
        data = datasets.open(output)
        print_message(f"Wrote {output}: {counted(len(data), 'row')}, {counted(data.X.shape[1], 'feature')}.")


def _file_of(source: str) -> str | Path:
    """A file or pattern, or the file of a named data set."""
    from fenchel import datasets
    from fenchel.datasets.store.catalogue import entries

    name, _, split = source.partition(":")
    if not Path(source).exists() and name in entries():
        return datasets.path(name, split=split or "train", progress=True)
    return source

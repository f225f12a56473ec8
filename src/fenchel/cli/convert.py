"""``fenchel convert``: convert data from one format to another."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from fenchel.cli import options as opt
from fenchel.cli.screen import label, print_message


def command(
    data: opt.Data,
    output: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write; its ending determines the format.", show_default=False)],
    target: opt.Target = None,
    features: opt.Features = None,
    drop: opt.Drop = None,
    missing: opt.Missing = None,
    sample_weight: opt.SampleWeight = None,
    format: opt.Format = None,
    to: Annotated[
        str | None, typer.Option(help="csv, tsv, parquet, npz or svmlight, if the ending of OUT does not determine the format.")
    ] = None,
) -> None:
    """Convert data between svmlight text, .csv, .tsv, .parquet and .npz; output that ends in .gz, .bz2 or .xz is compressed.

    A text column of a table becomes one column per category. Svmlight text cannot hold labels that are text: classes are written as 0, 1,
    2 and so on, in the alphabetical order of their names.

    Example: fenchel convert train.csv numbers.svm

    Example: fenchel convert train.svm train.npz
    """
    import numpy as np

    from fenchel.cli.inputs import TableOptions, read_rows
    from fenchel.core.atomic_files import checked_place
    from fenchel.core.messages import counted
    from fenchel.datasets import write
    from fenchel.datasets.formats import format_to_write

    checked_place(output, data)
    written = format_to_write(output, to)
    rows = read_rows(data, TableOptions(target, features, drop, missing, sample_weight, format))
    if rows.y is not None and rows.y.dtype.kind in "UO" and written == "svmlight":
        classes, codes = np.unique(rows.y, return_inverse=True)
        rows = replace(rows, y=codes)
        print_message("Classes: " + ", ".join(f"{k} is {label(name)}" for k, name in enumerate(classes)) + ".")
    write(output, rows, format=written)
    print_message(f"Wrote {output}: {counted(len(rows), 'row')}, {counted(rows.X.shape[1], 'feature')}.")

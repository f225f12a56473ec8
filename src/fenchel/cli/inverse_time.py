"""``fenchel inverse-time``: measure whether more training rows reduce the training time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fenchel.cli import options as opt


def command(
    data: Annotated[
        Path | None, typer.Argument(help="svmlight text, plain or compressed (gz, bz2, xz); by default text is generated.")
    ] = None,
    accuracy: Annotated[
        float | None,
        typer.Option(min=0.0, max=1.0, help="Accuracy on held-out rows to train to; by default one that the smallest size reaches."),
    ] = None,
    sizes: Annotated[
        str, typer.Option(help="Numbers of training rows, separated by commas; by default from 1/16 of the data upwards.")
    ] = "",
    test: Annotated[Path | None, typer.Option(help="Rows to measure the accuracy on; a fifth of the data by default.")] = None,
    loss: Annotated[str, typer.Option(help="logistic, hinge, or any other loss for two classes.")] = "logistic",
    p: Annotated[float, typer.Option(help="The p of the squared l_p regularizer, in (1, 2].")] = 2.0,
    runs: Annotated[int, typer.Option(min=1, help="Runs at each size; their median is reported.")] = 9,
    rows: Annotated[int, typer.Option(min=1000, help="Number of training rows to generate if no data are given.")] = 64_000,
    plot: opt.Plot = None,
    figure: Annotated[Path | None, typer.Option(hidden=True, help="The same as --plot.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the data, subsets and runs.")] = 0,
) -> None:
    """Measure the time to train to a given accuracy for growing numbers of rows.

    Example: fenchel inverse-time text.svm --accuracy 0.8 --sizes 200,1000 --runs 2 --plot inverse.png
    """
    from fenchel.experiments.inverse_time import run

    run(data, accuracy, sizes, test, loss, p, runs, rows, plot or figure, seed)

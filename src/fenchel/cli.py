"""The command line: ``fenchel``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import fenchel

app = typer.Typer(help="Convex regularized learning at scale, with a certificate on every answer.", no_args_is_help=True)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fenchel {fenchel.__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)] = False,
) -> None:
    """Convex regularized learning at scale, with a certificate on every answer."""


@app.command()
def demo(
    rows: Annotated[int, typer.Option(min=100, help="How many documents to generate.")] = 20_000,
    tol: Annotated[float, typer.Option(min=1e-10, max=1.0, help="Accuracy asked for, relative to the objective at w = 0.")] = 1e-3,
    seed: Annotated[int, typer.Option(help="Of the generated data and the solvers.")] = 0,
) -> None:
    """Train a few models on generated text and explain their certificates.

    Example: fenchel demo --rows 5000
    """
    from fenchel.demo import run

    run(rows, tol, seed)


@app.command("inverse-time")
def inverse_time(
    data: Annotated[Path | None, typer.Argument(help="svmlight text, plain or gz, bz2, xz; generated text if left out.")] = None,
    accuracy: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="Accuracy on held-out rows to train to; what the fewest rows reach by default.")
    ] = None,
    sizes: Annotated[str, typer.Option(help="Numbers of training rows, with commas between; from 1/16 of the data by default.")] = "",
    test: Annotated[Path | None, typer.Option(help="Rows to measure the accuracy on; a fifth of the data by default.")] = None,
    loss: Annotated[str, typer.Option(help="logistic, hinge, or any other loss for two classes.")] = "logistic",
    p: Annotated[float, typer.Option(help="The norm of the regularizer, in (1, 2].")] = 2.0,
    runs: Annotated[int, typer.Option(min=1, help="Runs at each size; their median counts.")] = 9,
    rows: Annotated[int, typer.Option(min=1000, help="How many training rows to generate, without data.")] = 64_000,
    figure: Annotated[Path | None, typer.Option(help="Draw seconds and iterations against m into this file.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of data, subsets and runs.")] = 0,
) -> None:
    """Measure how long training to a given accuracy takes, at growing numbers of rows.

    Example: fenchel inverse-time train.svm.xz --accuracy 0.94 --sizes 1000,10000,100000 --figure inverse.png
    """
    from fenchel.inverse_time import run

    try:
        run(data, accuracy, sizes, test, loss, p, runs, rows, figure, seed)
    except (OSError, ValueError, TypeError, ModuleNotFoundError) as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(2) from None

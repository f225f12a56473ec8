"""The command line: ``fenchel``."""

from __future__ import annotations

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

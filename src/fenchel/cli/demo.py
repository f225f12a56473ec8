"""``fenchel demo``: train a few models on generated text."""

from __future__ import annotations

from typing import Annotated

import typer

from fenchel.cli import options as opt


def command(
    rows: Annotated[int, typer.Option(min=100, help="Number of documents to generate.")] = 20_000,
    tol: Annotated[
        float, typer.Option(min=1e-10, max=1.0, help="The certified gap to stop at, relative to the objective at w = 0.")
    ] = 1e-3,
    seed: Annotated[int, typer.Option(help="Seed of the generated data and the solvers.")] = 0,
    plot: opt.Plot = None,
) -> None:
    """Train a few models on generated text and explain their certificates.

    Example: fenchel demo --rows 500
    """
    from fenchel.experiments.demo import run

    run(rows, tol, seed, plot)

"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DATA_HELP = (
    "A file (svmlight text, .csv, .tsv, .parquet or .npz; text may end in .gz, .bz2, .xz), or the name of a data set: a9a, a9a:test."
)
LEARNING, COLUMNS, OUTPUT = "Model", "Tables", "Output"


def _learning(help: str, *names: str, **more: object) -> object:
    return typer.Option(*names, help=help, rich_help_panel=LEARNING, **more)  # type: ignore[arg-type]


def _column(help: str, *names: str) -> object:
    return typer.Option(*names, help=help, rich_help_panel=COLUMNS)


Data = Annotated[str, typer.Argument(metavar="DATA", help=DATA_HELP, show_default=False)]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file written by fenchel train or fenchel.save.", show_default=False)]
ModelOut = Annotated[Path, typer.Option("--model", "-m", metavar="OUT", help="Where to write the model.", show_default=False)]

Task = Annotated[
    str,
    _learning(
        "classify, regress or auto: classification if labels are text, true and false, or at most 20 different whole numbers "
        "that occur twice or more on average; for a named data set, its own task."
    ),
]
Loss = Annotated[
    str | None,
    _learning(
        "For classification logistic (default), hinge, smooth-hinge, squared-hinge; for regression squared (default), absolute, huber, "
        "quantile, epsilon-insensitive, squared-epsilon-insensitive.",
        show_default=False,
    ),
]
Penalty = Annotated[str, _learning("l2, l1, elasticnet, lp or none.")]
Strength = Annotated[float, _learning("The factor of the penalty.")]
L1Ratio = Annotated[float, _learning("The share of the l1 norm in elasticnet.", min=0.0, max=1.0)]
P = Annotated[float, _learning("The p of the lp penalty, above 1 and up to 2.", "--p")]
ClassWeight = Annotated[str | None, _learning("balanced: every class has the same total weight, whatever its number of rows.")]
Multiclass = Annotated[str, _learning("auto, together or one-vs-rest, for more than two classes.")]

Solver = Annotated[str, typer.Option(help="The name of a solver, or auto.")]
Tol = Annotated[float, typer.Option(min=0.0, help="The certified gap to stop at, relative to the objective at w = 0.")]
MaxPasses = Annotated[float, typer.Option(min=0.0, help="Maximum number of passes over the data.")]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS", help="Stop after this many seconds of training and keep the best model so far; reading data does not count."
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help="What rows of a store may take, such as 500MB; more are read from disk in every pass."),
]
Checkpoint = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Keep the state of the run here, every minute; the same command goes on from it."),
]
UsualL2 = Annotated[float | None, typer.Option("--l2", help="The strength of the penalty; the default depends on the loss.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the random number generator.")]
Threads = Annotated[int | None, typer.Option(min=1, help="Number of threads; by default all processors.")]

Target = Annotated[str | None, _column("The column to predict; by default the one named target, label, class or y.")]
Features = Annotated[str | None, _column("Columns to train on, separated by commas; all by default.")]
Drop = Annotated[str | None, _column("Columns to leave out, separated by commas.")]
Missing = Annotated[str | None, _column("zero or mean: the replacement for missing numbers.")]
SampleWeight = Annotated[str | None, _column("The column with the sample weights.")]
Format = Annotated[
    str | None, typer.Option("--format", help="csv, tsv, parquet, npz or svmlight, if the ending of the file does not determine it.")
]

TextOut = Annotated[Path, typer.Option("--output", "-o", metavar="OUT", help="A file, or - for standard output.")]
Json = Annotated[bool, typer.Option("--json", help="Print a single JSON object on standard output.", rich_help_panel=OUTPUT)]
Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw a figure: .png, .pdf, .svg or .jpg.", rich_help_panel=OUTPUT)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No report and no progress bar.", rich_help_panel=OUTPUT)]
Progress = Annotated[
    bool | None,
    typer.Option(
        "--progress/--no-progress", help="Show a progress bar; by default if standard error is a terminal.", rich_help_panel=OUTPUT
    ),
]

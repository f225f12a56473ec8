"""Options that several commands have, each written down once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DATA_HELP = (
    "A file (svmlight text, .csv, .tsv, .parquet or .npz; text may end in .gz, .bz2, .xz), or a data set by name, such as a9a or a9a:test."
)
LEARNING, COLUMNS, OUTPUT = "What is learnt", "Tables", "Output"


def _learning(help: str, *names: str, **more: object) -> object:
    return typer.Option(*names, help=help, rich_help_panel=LEARNING, **more)  # type: ignore[arg-type]


def _column(help: str, *names: str) -> object:
    return typer.Option(*names, help=help, rich_help_panel=COLUMNS)


Data = Annotated[str, typer.Argument(metavar="DATA", help=DATA_HELP, show_default=False)]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model that fenchel train or fenchel.save has written.", show_default=False)]
ModelOut = Annotated[Path, typer.Option("--model", "-m", metavar="OUT", help="Where to write the model.", show_default=False)]

Task = Annotated[
    str,
    _learning(
        "classify, regress or auto: classification if labels are text, true and false, or at most 20 different whole numbers "
        "that occur twice or more on average; for a data set known by name, what it is known for."
    ),
]
Loss = Annotated[
    str | None,
    _learning(
        "logistic (default), hinge, smooth-hinge, squared-hinge; to regress squared (default), absolute, huber, quantile, "
        "epsilon-insensitive, squared-epsilon-insensitive.",
        show_default=False,
    ),
]
Penalty = Annotated[str, _learning("l2, l1, elasticnet, lp or none.")]
Strength = Annotated[float, _learning("What the penalty is multiplied with.")]
L1Ratio = Annotated[float, _learning("The share of the l1 norm in elasticnet.", min=0.0, max=1.0)]
P = Annotated[float, _learning("The norm of lp, above 1 and up to 2.", "--p")]
ClassWeight = Annotated[str | None, _learning("balanced: classes count alike, however many rows they have.")]
Multiclass = Annotated[str, _learning("auto, together or one-vs-rest, for more than two classes.")]

Solver = Annotated[str, typer.Option(help="The solver, or auto to have one chosen.")]
Tol = Annotated[float, typer.Option(min=0.0, help="The certified gap to stop at, relative to the objective at w = 0.")]
MaxPasses = Annotated[float, typer.Option(min=0.0, help="Passes over the data at most.")]
TimeLimit = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", help="Stop after so many seconds of training, with the model so far; reading data does not count."),
]
UsualL2 = Annotated[float | None, typer.Option("--l2", help="The strength of the penalty; by default one that is usual for the loss.")]
Seed = Annotated[int, typer.Option(min=0, help="Of random choices.")]
Threads = Annotated[int | None, typer.Option(min=1, help="Processors to use; all by default.")]

Target = Annotated[str | None, _column("The column to learn; by default the one called target, label, class or y.")]
Features = Annotated[str | None, _column("Columns to learn from, with commas between; all by default.")]
Drop = Annotated[str | None, _column("Columns to leave out, with commas between.")]
Missing = Annotated[str | None, _column("zero or mean: what stands for missing numbers.")]
SampleWeight = Annotated[str | None, _column("The column with the weights of rows.")]
Format = Annotated[str | None, typer.Option("--format", help="csv, tsv, parquet, npz or svmlight, where the ending does not tell.")]

TextOut = Annotated[Path, typer.Option("--output", "-o", metavar="OUT", help="A file, or - for standard output.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, and nothing else, on standard output.", rich_help_panel=OUTPUT)]
Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw a figure: .png, .pdf, .svg or .jpg.", rich_help_panel=OUTPUT)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No report and no progress bar.", rich_help_panel=OUTPUT)]
Progress = Annotated[
    bool | None,
    typer.Option("--progress/--no-progress", help="A progress bar; by default if a terminal is there to show it.", rich_help_panel=OUTPUT),
]

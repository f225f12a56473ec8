"""``fenchel export``: write a model in a format of another program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fenchel.cli import options as opt
from fenchel.cli.screen import print_message


def command(
    model: opt.Model,
    output: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write.", show_default=False)],
    format: Annotated[str, typer.Option(help="onnx, liblinear or vw.")] = "onnx",
) -> None:
    """Write a model as ONNX, as a liblinear model file or as a Vowpal Wabbit model.

    Example: fenchel export text.fenchel text.model --format liblinear
    """
    from fenchel import export, load

    export(load(model), output, format)
    print_message(f"Wrote {output}.")

"""The command line: ``fenchel``.

Each command is one file with a function ``command``; its docstring is the help text and contains an example that a test runs. To add a
command, add a file here and a line in ``COMMANDS``; a group of commands is a file with a ``typer.Typer`` and a line in ``GROUPS``. Code
that commands share is in :mod:`options <fenchel.cli.options>`, :mod:`inputs <fenchel.cli.inputs>`, :mod:`screen <fenchel.cli.screen>`
and :mod:`exits <fenchel.cli.exits>`. Slow imports are inside the functions, so that ``--help`` is fast.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

import fenchel
from fenchel.cli import (
    compare,
    convert,
    datasets,
    demo,
    evaluate,
    exits,
    export,
    fold,
    info,
    inverse_time,
    path,
    predict,
    rank,
    reproduce,
    tag,
    train,
    verify,
    warmup,
)

COMMANDS: dict[str, Callable[..., None]] = {
    "train": train.command,
    "predict": predict.command,
    "evaluate": evaluate.command,
    "verify": verify.command,
    "path": path.command,
    "compare": compare.command,
    "info": info.command,
    "convert": convert.command,
    "export": export.command,
    "warmup": warmup.command,
    "demo": demo.command,
    "inverse-time": inverse_time.command,
    "reproduce": reproduce.command,
}
GROUPS: dict[str, typer.Typer] = {"tag": tag.app, "rank": rank.app, "fold": fold.app, "datasets": datasets.app}

app = typer.Typer(cls=exits.RootGroup, no_args_is_help=True, pretty_exceptions_enable=False)
for _name, _command in COMMANDS.items():
    app.command(_name)(_command)
for _name, _group in GROUPS.items():
    app.add_typer(_group, name=_name, cls=exits.Group)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fenchel {fenchel.__version__}")
        raise typer.Exit


@app.callback(epilog=exits.EXIT_CODES)
def main(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error: fenchel --debug train ...")] = False,
) -> None:
    """Convex regularized learning at scale, with a certificate for every result."""

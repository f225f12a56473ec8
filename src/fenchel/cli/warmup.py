"""``fenchel warmup``: compile now what later runs would compile."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fenchel.cli import options as opt
from fenchel.cli.screen import print_json, print_message
from fenchel.core.errors import Argument, InputError

if TYPE_CHECKING:
    from fenchel.warmup import Call


def command(
    everything: Annotated[
        bool, typer.Option("--all", help="All losses, solvers and ways of storing data, not only the usual ones.")
    ] = False,
    only: Annotated[str, typer.Option(help="Only calls whose name contains this text, such as LogisticRegression or RnaFolder.")] = "",
    progress: opt.Progress = None,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Compile what fits, predictions and readers use, once, so that later runs begin at once.

    Machine code that came with the package, or was compiled before, is loaded and costs nothing. Without options the estimators with
    default parameters are made ready, on dense and sparse data in double precision.

    Keys of --json: calls, compiled, seconds, kept_in.

    Example: fenchel warmup --only "Ridge() on a narrow"
    """
    from fenchel.cli.training import is_progress_shown
    from fenchel.core.compile_notice import compilations, heard_by
    from fenchel.core.kernel_cache import cache_directory
    from fenchel.core.messages import counted
    from fenchel.warmup import all_calls

    calls = [call for call in all_calls() if (call.common or everything or only) and only.lower() in call.name.lower()]
    if not calls:
        raise InputError(Argument("only", only), ": no typical call has such a name; try the name of an estimator or a solver.")
    clock = time.perf_counter()
    with heard_by(lambda text: None):
        _run(calls, is_progress_shown(progress, quiet or as_json))
    seconds, directory = time.perf_counter() - clock, cache_directory()
    if as_json:
        print_json({"calls": len(calls), "compiled": compilations.count, "seconds": seconds, "kept_in": directory})
    elif not quiet:
        compiled = counted(compilations.count, "kernel")
        print_message(
            f"{counted(len(calls), 'call')} in {seconds:.1f} s, {compiled} compiled; these calls, and others like them, begin at once now."
        )
        print_message(
            f"Machine code is kept in {directory}."
            if directory
            else "Machine code could not be kept: set FENCHEL_CACHE to a folder of your own."
        )


def _run(calls: list[Call], visible: bool) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from fenchel.warmup.compilation import run

    columns: tuple[Any, ...] = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(file=sys.stderr), disable=not visible) as bar:
        task = bar.add_task("", total=len(calls))
        for call in calls:
            bar.update(task, description=call.name)
            run([call])
            bar.advance(task)

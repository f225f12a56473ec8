"""``fenchel reproduce``: rerun the tables and figures of the papers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from fenchel.cli import options as opt
from fenchel.cli.screen import print_json, print_message
from fenchel.core.errors import InputError


def command(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME...", help="Experiments, as --list names them.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the data, the figure and the verdicts of each experiment.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All experiments.")] = False,
    quick: Annotated[bool, typer.Option(help="Small generated data, to see how it works; verdicts may differ.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="List the experiments.")] = False,
    page: Annotated[Path | None, typer.Option(help="Also write a Markdown page of what --out has, beside it.")] = None,
    progress: opt.Progress = None,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Rerun experiments of the papers that fenchel implements, and judge each claim that the papers make about them.

    An interrupted run goes on with the parts that are missing. Data sets are read from FENCHEL_DATA; those that are not there are replaced
    by generated ones, which the verdicts say.

    Keys of --json: a list, for each experiment: experiment, title, paper, source, data, command, quick, seconds, machine, claims.

    Example: fenchel reproduce l1-theory --quick --out papers
    """
    from fenchel.cli.training import is_progress_shown
    from fenchel.experiments import reproduction

    known = reproduction.experiments()
    if listed:
        _list(list(known.values()), as_json)
        return
    wanted = reproduction.chosen(list(known) if everything else names or [])
    if not wanted:
        raise InputError("No experiment was named: give names, which fenchel reproduce --list shows, or --all.")
    if out is None:
        raise InputError("A folder is missing: give --out DIR for data, figures and verdicts.")
    found = _run(wanted, out, quick, is_progress_shown(progress, quiet or as_json))
    if page is not None:
        from fenchel.experiments.papers_page import write_page

        write_page(page, out)
    if as_json:
        print_json(found)
    elif not quiet:
        _report(found, out)


def _list(experiments: list[Any], as_json: bool) -> None:
    if as_json:
        print_json([{"experiment": e.name, "title": e.title, "source": e.source, "paper": e.paper} for e in experiments])
        return
    for e in experiments:
        typer.echo(f"{e.name:14s}{e.source:20s}{e.title}")


def _run(wanted: list[Any], out: Path, quick: bool, visible: bool) -> list[dict[str, Any]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from fenchel.experiments.reproduction import reproduce

    columns: tuple[Any, ...] = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    found = []
    with Progress(*columns, console=Console(file=sys.stderr), disable=not visible) as bar:
        for experiment in wanted:
            task = bar.add_task(experiment.name, total=None)

            def told(experiment: Any, part: str, number: int, count: int, task: Any = task) -> None:
                bar.update(task, description=f"{experiment.name}: {part}", completed=number, total=count)

            found.append(reproduce(experiment, out, quick, told))
            bar.update(task, description=experiment.name, completed=1, total=1)
    return found


def _report(found: list[dict[str, Any]], out: Path) -> None:
    for verdicts in found:
        print_message(f"{verdicts['experiment']}: {verdicts['source']}, {verdicts['title']} ({verdicts['seconds']:.0f} s)")
        for claim in verdicts["claims"]:
            print_message(f"  {claim['verdict']:14s}{claim['claim']}")
    print_message(f"Data, figures and verdicts are in {out}.")

"""Output of commands: reports and tables, or with ``--json`` one JSON object."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.table import Column, Table

WIDE = 200  # width in characters if standard output is not a terminal


class _Out(Console):
    """A console that raises BrokenPipeError when a pipe is closed; :mod:`fenchel.cli.exits` handles it."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def out() -> Console:
    """Standard output."""
    return _Out(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else WIDE)


def err() -> Console:
    """Standard error."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def print_message(line: str) -> None:
    """Print a message on standard error, so that standard output holds results only."""
    typer.echo(line, err=True)


def print_json(value: Any) -> None:
    """One JSON object on standard output."""
    typer.echo(json.dumps(json_value(value), indent=2, ensure_ascii=False))


def json_value(value: Any) -> Any:
    """The value converted to JSON types: non-finite numbers become null, whole labels integers.

    >>> import numpy as np
    >>> json_value({"gap": np.float64("inf"), "classes": np.array([-1.0, 1.0]), "model": Path("m.fenchel")})
    {'gap': None, 'classes': [-1, 1], 'model': 'm.fenchel'}
    """
    if isinstance(value, Mapping):
        return {str(key): json_value(item) for key, item in value.items()}
    if getattr(value, "ndim", 0) > 0:
        return [label(item) for item in value.tolist()] if value.ndim == 1 else [json_value(item) for item in value]
    if isinstance(value, (list, tuple)):
        return [json_value(item) for item in value]
    if hasattr(value, "ndim"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def label(value: Any) -> Any:
    """A label as it was written: 1 rather than 1.0.

    >>> import numpy as np
    >>> label(1.0), label(np.str_("red")), label(0.5)
    (1, 'red', 0.5)
    """
    value = value.item() if hasattr(value, "ndim") else value
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def print_facts(facts: Mapping[str, str]) -> None:
    """Print one line per fact, a name and a text; facts with an empty text are left out."""
    width = max(map(len, facts)) + 2
    for name, text in facts.items():
        if text:
            out().print(f"[bold]{name:<{width}}[/bold]", end="")
            out().print(text, markup=False)


def table(left: Iterable[str], right: Iterable[str], last: Iterable[str] = ()) -> Table:
    """A table with left-aligned columns, then right-aligned ones, then left-aligned ones again."""
    from rich.box import SIMPLE_HEAD

    columns: list[Any] = [*left, *(Column(name, justify="right") for name in right), *last]
    return Table(*columns, box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))


def listed(labels: Any, most: int = 10) -> str:
    """The first labels separated by commas, and how many more there are."""
    names = [str(label(value)) for value in labels]
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def passes(count: float) -> str:
    """A number of passes, to four digits.

    >>> passes(1.0), passes(14.23456)
    ('1 pass', '14.23 passes')
    """
    return f"{count:.4g} {'pass' if count == 1.0 else 'passes'}"


def shown_path(path: Path | None) -> str:
    """The path as text, or an empty string for None."""
    return "" if path is None else str(path)

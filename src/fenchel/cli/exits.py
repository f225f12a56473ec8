"""How commands end: what the exit codes mean, and errors and warnings as single lines on standard error, in the shell's own terms."""

from __future__ import annotations

import _thread
import contextlib
import os
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator
from typing import Any

import typer
from typer.core import TyperGroup

from fenchel.core.errors import Argument, InputError, MessageWithArguments

DONE, INTERNAL, BAD_INPUT, NOT_CERTIFIED, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 3, 130, 141
MEANING = (
    "Exit codes: 0 done, and certified to the tolerance; 1 an error in fenchel itself; 2 bad input or usage; "
    "3 stopped before the tolerance, the model is written (compare: no solver got there); "
    "130 interrupted, what there is so far is written."
)
OTHER_NAMES = {"n_strengths": "strengths", "random_state": "seed", "n_jobs": "threads"}  # options that Python calls otherwise
LEFT_OUT = (DeprecationWarning, FutureWarning, ImportWarning, ResourceWarning)  # warnings that are meant for programmers
AGAIN = 0.02  # seconds until a lost interrupt is sent once more
COMMAND = "fenchel.command"  # where a context remembers the command that runs


class Group(TyperGroup):
    """A group that remembers which of its commands runs, for errors and warnings to speak of its options."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the arguments name."""
        found = super().resolve_command(ctx, args)
        ctx.meta[COMMAND] = found[1]
        return found


class RootGroup(Group):
    """All commands, with what goes wrong in any of them told in a sentence."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        with _warnings_as_lines(ctx), interrupts_kept():
            try:
                return super().invoke(ctx)
            except KeyboardInterrupt:
                typer.echo("Interrupted.", err=True)
                raise typer.Exit(INTERRUPTED) from None
            except BrokenPipeError:
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains as it flushes at its end
                raise typer.Exit(BROKEN_PIPE) from None
            except Exception as error:
                if type(error).__module__.partition(".")[0] in ("typer", "click"):
                    raise
                raise typer.Exit(_reported(error, ctx)) from None


def _reported(error: Exception, ctx: Any) -> int:
    """Say what is wrong; the exit code."""
    debug = bool(ctx.params.get("debug"))
    if debug:
        traceback.print_exception(error)
    if is_about_input(error):
        typer.echo(f"Error: {sentence(error, ctx.meta.get(COMMAND))}", err=True)
        return BAD_INPUT
    hint = "" if debug else " Run it again as fenchel --debug ... and please report what it prints."
    typer.echo(f"Error: something went wrong inside fenchel ({type(error).__name__}: {sentence(error, None)}).{hint}", err=True)
    return INTERNAL


def is_about_input(error: Exception) -> bool:
    """Whether the error is about what the user gave: by its class, or raised by scikit-learn's checks of data."""
    if isinstance(error, (InputError, OSError)):
        return True
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = trace.tb_frame.f_globals.get("__name__", "") if trace is not None else ""
    return isinstance(error, (ValueError, TypeError)) and place.partition(".")[0] == "sklearn"


def sentence(message: Exception | Warning, command: Any) -> str:
    """An error or a warning on one line, its arguments as options of the command where it has them."""
    if isinstance(message, MessageWithArguments):
        text = message.formatted(lambda argument: in_shell(argument, command))
    elif isinstance(message, OSError) and message.strerror and message.filename is not None:
        text = f"{message.filename}: {message.strerror}."
    else:
        text = str(message)
    return " ".join(text.split()) or type(message).__name__


def in_shell(argument: Argument, command: Any) -> str:
    """An argument as the option of the command that stands for it; as Python writes it if there is none.

    >>> from typer.main import get_command
    >>> app = typer.Typer()
    >>> @app.command()
    ... def solve(tol: float = 1e-3, drop: str = "", normalize: bool = False) -> None: ...
    >>> command = get_command(app)
    >>> in_shell(Argument("tol", 0.5), command), in_shell(Argument("drop", ["a", "b"]), command), in_shell(Argument("gamma", 1), command)
    ('--tol 0.5', '--drop a,b', 'gamma=1')
    >>> in_shell(Argument("tol"), command), in_shell(Argument("normalize", True), command)
    ('--tol', '--normalize')
    """
    name = OTHER_NAMES.get(argument.name, argument.name)
    parameters = getattr(command, "params", ())
    found = [opt for parameter in parameters if parameter.name == name for opt in parameter.opts if opt.startswith("--")]
    if not found:
        return str(argument)
    value = argument.value
    if not argument.has_value or value is True:
        return found[0]
    if isinstance(value, (list, tuple)):
        value = ",".join(map(str, value))
    return f"{found[0]} {'none' if value is None else value}"


@contextlib.contextmanager
def _warnings_as_lines(ctx: Any) -> Iterator[None]:
    """Warnings of fenchel and scikit-learn as lines of their own, each once; those meant for programmers are left out."""
    shown = set()

    def show(message: Any, category: type[Warning], *place: Any, **more: Any) -> None:
        line = sentence(message, ctx.meta.get(COMMAND))
        if line not in shown and not issubclass(category, LEFT_OUT):
            shown.add(line)
            typer.echo(f"Warning: {line}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        yield


@contextlib.contextmanager
def interrupts_kept() -> Iterator[None]:
    """Send Ctrl-C again where it was lost: while kernels compile, most of the time is spent in callbacks that can't raise anything."""
    usual = sys.unraisablehook

    def again(lost: Any) -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):
            threading.Timer(AGAIN, _thread.interrupt_main).start()
        else:
            usual(lost)

    sys.unraisablehook = again
    try:
        yield
    finally:
        sys.unraisablehook = usual

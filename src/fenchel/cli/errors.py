"""How commands end: what the exit codes mean, and errors and warnings as single lines on standard error."""

from __future__ import annotations

import _thread
import contextlib
import os
import re
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator
from typing import Any

import typer
from typer.core import TyperGroup

DONE, INTERNAL, BAD_INPUT, NOT_CERTIFIED, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 3, 130, 141
MEANING = (
    "Exit codes: 0 done, and certified to the tolerance; 1 an error in fenchel itself; 2 bad input or usage; "
    "3 stopped before the tolerance, the model is written (compare: no solver got there); "
    "130 interrupted, what there is so far is written."
)
INPUT_ERRORS = (ValueError, TypeError, ModuleNotFoundError)
OPTIONS = (
    *("accuracy", "calibration", "class_weight", "cv", "drop", "features", "format", "l1_ratio", "loss", "max_categories"),
    *("max_passes", "missing", "multiclass", "n_strengths", "p", "penalty", "ratio", "sample_weight", "seed", "sizes", "solver"),
    *("strength", "strengths", "target", "threads", "time_limit", "tol"),
)
SPOKEN = {"n_strengths": "strengths"}
NAMED = re.compile(rf"(?<![\w-])({'|'.join(OPTIONS)})=(?:'([^']*)'|\['([^']*)'\]|(None\b)|([\w.+-]*[\w]))?")
AGAIN = 0.02  # seconds until a lost interrupt is sent once more
BARE = re.compile(rf"(?<![\w-])({'|'.join(name for name in OPTIONS if '_' in name)})(?!\w)")


class FriendlyGroup(TyperGroup):
    """The commands, with what goes wrong in any of them told in a sentence."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        with _warnings_as_lines(), interrupts_kept():
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
                raise typer.Exit(_told(error, bool(ctx.params.get("debug")))) from None


def _told(error: Exception, debug: bool) -> int:
    """Say what is wrong; the exit code."""
    if debug:
        traceback.print_exception(error)
    if _is_about_input(error):
        typer.echo(f"Error: {in_shell_words(_sentence(error))}", err=True)
        return BAD_INPUT
    hint = "" if debug else " Run it again as fenchel --debug ... and please report what it prints."
    typer.echo(f"Error: something went wrong inside fenchel ({type(error).__name__}: {_sentence(error)}).{hint}", err=True)
    return INTERNAL


def _is_about_input(error: Exception) -> bool:
    """Whether it was raised to tell the user something: by the system, by fenchel, or by scikit-learn's checks of data.

    What fenchel says ends with a full stop; what Python and NumPy say from within fenchel's lines does not, and is a defect.
    """
    if isinstance(error, OSError):
        return True
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = trace.tb_frame.f_globals.get("__name__", "") if trace is not None else ""
    ours = place.partition(".")[0] == "fenchel" and str(error).endswith(".")
    return isinstance(error, INPUT_ERRORS) and (ours or place.partition(".")[0] == "sklearn")


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}."
    return " ".join(str(error).split()) or type(error).__name__


def in_shell_words(sentence: str) -> str:
    """Arguments of Python functions as the options that they are here.

    >>> in_shell_words("say what with missing='zero', drop=['size'] or target=, or give more max_passes (tol=0.01).")
    'say what with --missing zero, --drop size or --target, or give more --max-passes (--tol 0.01).'
    """

    def option(found: re.Match[str]) -> str:
        value = next((part for part in found.groups()[1:] if part is not None), "")
        return f"{_flag(found[1])} {'none' if value == 'None' else value}".rstrip()

    return BARE.sub(lambda found: _flag(found[1]), NAMED.sub(option, sentence))


def _flag(name: str) -> str:
    return "--" + SPOKEN.get(name, name).replace("_", "-")


@contextlib.contextmanager
def _warnings_as_lines() -> Iterator[None]:
    """Warnings of fenchel and scikit-learn as lines of their own, each once; those meant for programmers are left out."""
    told = set()

    def show(message: Any, category: type[Warning], *place: Any, **more: Any) -> None:
        line = in_shell_words(" ".join(str(message).split()))
        if line not in told and not issubclass(category, (DeprecationWarning, FutureWarning, ImportWarning, ResourceWarning)):
            told.add(line)
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

"""How commands end: exit codes, and errors and warnings as single lines on standard error that name options as the shell spells them."""

from __future__ import annotations

import _thread
import contextlib
import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator
from typing import Any

import typer
from typer.core import TyperGroup

from fenchel.core.compile_notice import heard_by
from fenchel.core.errors import Argument, InputError, MessageWithArguments

DONE, INTERNAL, BAD_INPUT, NOT_CERTIFIED, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 3, 130, 141
EXIT_CODES = (
    "Exit codes: 0 done, and certified to the tolerance; 1 an error in fenchel itself; 2 bad input or usage; "
    "3 stopped before the tolerance, the model is written (compare: no solver reached it); "
    "130 interrupted, the best model so far is written."
)
OTHER_NAMES = {"n_strengths": "strengths", "random_state": "seed", "n_jobs": "threads"}  # options that have another name in Python
HIDDEN = (DeprecationWarning, FutureWarning, ImportWarning, ResourceWarning)  # warnings meant for programmers
RESEND_DELAY = 0.02  # seconds until a lost interrupt is sent again
COMMAND = "fenchel.command"  # the key in ctx.meta of the running command


class Group(TyperGroup):
    """A group that stores which of its commands runs, so that errors and warnings can name the options of that command."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the arguments name."""
        found = super().resolve_command(ctx, args)
        ctx.meta[COMMAND] = found[1]
        return found


class RootGroup(Group):
    """The root group, which reports every error of a command in one sentence."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        with _warnings_as_lines(ctx), termination_as_interrupt(), resend_lost_interrupts(), heard_by(_print_notice):
            try:
                return super().invoke(ctx)
            except KeyboardInterrupt:
                typer.echo("Interrupted.", err=True)
                raise typer.Exit(INTERRUPTED) from None
            except BrokenPipeError:
                # Without this Python reports an error when it flushes stdout at exit.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                raise typer.Exit(BROKEN_PIPE) from None
            except Exception as error:
                if type(error).__module__.partition(".")[0] in ("typer", "click"):
                    raise
                raise typer.Exit(_report(error, ctx)) from None


def _print_notice(text: str) -> None:
    """Say on standard error that a kernel is being compiled."""
    typer.echo(f"{text[0].upper()}{text[1:]}.", err=True)


def _report(error: Exception, ctx: Any) -> int:
    """Print the error and return the exit code."""
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
    """Whether the error is about the user's input: decided by its class, or because scikit-learn's data checks raised it."""
    if isinstance(error, (InputError, OSError)):
        return True
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = trace.tb_frame.f_globals.get("__name__", "") if trace is not None else ""
    return isinstance(error, (ValueError, TypeError)) and place.partition(".")[0] == "sklearn"


def sentence(message: Exception | Warning, command: Any) -> str:
    """An error or a warning on one line, with its arguments written as options of the command if the command has them."""
    if isinstance(message, MessageWithArguments):
        text = message.formatted(lambda argument: in_shell(argument, command))
    elif isinstance(message, OSError) and message.strerror and message.filename is not None:
        text = f"{message.filename}: {message.strerror}."
    else:
        text = str(message)
    return " ".join(text.split()) or type(message).__name__


def in_shell(argument: Argument, command: Any) -> str:
    """An argument written as the corresponding option of the command; as in Python if there is none.

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
    """Print each warning once, on one line; warnings meant for programmers are not shown."""
    shown = set()

    def show(message: Any, category: type[Warning], *place: Any, **more: Any) -> None:
        line = sentence(message, ctx.meta.get(COMMAND))
        if line not in shown and not issubclass(category, HIDDEN):
            shown.add(line)
            typer.echo(f"Warning: {line}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        yield


@contextlib.contextmanager
def resend_lost_interrupts() -> Iterator[None]:
    """Send Ctrl-C again if it was lost: while kernels compile, most of the time is spent in callbacks that cannot raise exceptions."""
    previous = sys.unraisablehook

    def resend(lost: Any) -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):
            threading.Timer(RESEND_DELAY, _thread.interrupt_main).start()
        else:
            previous(lost)

    sys.unraisablehook = resend
    try:
        yield
    finally:
        sys.unraisablehook = previous


class PostponedInterrupt:
    """An interrupt that came when it would have lost the model; it is sent again until it stops a solver."""

    def __init__(self) -> None:
        self.came, self.ended = False, False
        self.timer: threading.Timer | None = None

    def postpone(self) -> None:
        """Send it again a moment later."""
        self.came = True
        if not self.ended:
            self.timer = threading.Timer(RESEND_DELAY, _thread.interrupt_main)
            self.timer.start()

    def end(self) -> None:
        """Send it no more."""
        self.ended = True
        if self.timer is not None:
            self.timer.cancel()
            self.timer.join()


@contextlib.contextmanager
def interrupts_keep_the_model() -> Iterator[PostponedInterrupt]:
    """Train and save in this context: once training has begun, an interrupt stops a solver or the wait for several, and nothing else.

    Anywhere else it would lose the weights that the solver has found; and while Numba loads or compiles a kernel it would leave Numba's
    registries half filled, so that the kernels of the last evaluation fail.
    """
    import concurrent.futures

    from fenchel.core.compiled import uninterruptible
    from fenchel.driver.run import Run

    postponed = PostponedInterrupt()
    if threading.current_thread() is not threading.main_thread():
        yield postponed
        return
    runs, stoppable = Run.begun, {Run.until_done.__code__, concurrent.futures.wait.__code__}

    def handle(number: int, frame: Any) -> None:
        running = {outer.f_code for outer, _ in traceback.walk_stack(frame)}
        if Run.begun == runs or (stoppable & running and not uninterruptible() & running):
            raise KeyboardInterrupt
        postponed.postpone()

    previous = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield postponed
    finally:
        postponed.end()
        for number, handler in previous.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def termination_as_interrupt() -> Iterator[None]:
    """Treat SIGTERM, which batch systems and ``kill`` send, like Ctrl-C: the best model so far is saved."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous or signal.SIG_DFL)

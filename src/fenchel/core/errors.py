"""User-facing errors: one sentence that says what is wrong, where, and what to do about it.

Unusable input raises an :class:`InputError`; any other error is a defect of the package. A message refers to arguments through
:class:`Argument` objects, so that every interface can print them in its own syntax: ``tol=-1.0`` in Python,
``--tol -1.0`` in the shell.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple


class NoValue(Enum):
    """The placeholder for the value of an argument that a message mentions by name only."""

    VALUE = 0


class Argument(NamedTuple):
    """An argument mentioned in a message: with a value, by name only, or (``...``) as an option to be given or left out.

    >>> str(Argument("tol", -1.0)), str(Argument("max_passes")), str(Argument("target", ...))
    ('tol=-1.0', 'max_passes', 'target=')
    """

    name: str
    value: Any = NoValue.VALUE

    @property
    def has_value(self) -> bool:
        """Whether the message includes the value."""
        return self.value is not NoValue.VALUE and self.value is not ...

    def __str__(self) -> str:
        value = self.value.item() if getattr(self.value, "ndim", None) == 0 else self.value
        return f"{self.name}={value!r}" if self.has_value else f"{self.name}=" if value is ... else self.name


class MessageWithArguments:
    """A mixin for errors and warnings whose ``args`` are the parts of the message: strings and :class:`Argument` objects.

    >>> error = InputError(Argument("tol", -1.0), ": give a number that is not negative.")
    >>> str(error)
    'tol=-1.0: give a number that is not negative.'
    >>> error.formatted(lambda argument: f"--{argument.name} {argument.value}")
    '--tol -1.0: give a number that is not negative.'
    """

    args: tuple[Any, ...]

    def formatted(self, format_argument: Callable[[Argument], str]) -> str:
        """The message with its arguments written by ``format_argument``."""
        return "".join(format_argument(part) if isinstance(part, Argument) else str(part) for part in self.args)

    def __str__(self) -> str:
        return self.formatted(str)


class InputError(MessageWithArguments, ValueError):
    """The user's input cannot be used; ``argument`` is the name of the first argument that the message mentions, if any."""

    @property
    def argument(self) -> str | None:
        """The name of the argument that the error is about; None if it is about no particular one."""
        return next((part.name for part in self.args if isinstance(part, Argument)), None)


class InputTypeError(InputError, TypeError):
    """The user's input has a type that cannot be used."""


class InputWarning(MessageWithArguments, UserWarning):
    """The user's input can be used but may not be what was intended."""


class MissingPackageError(InputError, ModuleNotFoundError):
    """The requested feature needs a package that is not installed."""


def prefixed(prefix: str, error: Exception) -> Exception:
    """The same error with a prefix before its message.

    >>> prefixed("chunk 3: ", InputError(Argument("tol", 2), " is too large."))
    InputError('chunk 3: ', Argument(name='tol', value=2), ' is too large.')
    """
    return type(error)(prefix, *error.args) if isinstance(error, MessageWithArguments) else type(error)(f"{prefix}{error}")


OWN_FRAMES = ("fenchel", "sklearn", "contextlib", "numpy")  # contextlib and NumPy for contexts used as decorators


def users_line() -> int:
    """The ``stacklevel`` at which a warning points to the user's own line, beyond the frames of fenchel, scikit-learn and decorators."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in OWN_FRAMES:
        frame, level = frame.f_back, level + 1
    return level

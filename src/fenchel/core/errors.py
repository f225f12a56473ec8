"""Errors that speak to the user: one sentence that says what is wrong, where, and what to do about it.

Whatever a user gave that cannot be used is an :class:`InputError`; any other error is a defect of the package. A sentence names the
arguments it speaks of as :class:`Argument` objects, so that every interface can print them in its own syntax: ``tol=-1.0`` in Python,
``--tol -1.0`` in the shell.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple

import numpy as np


class Unsaid(Enum):
    """What stands for the value of an argument that a sentence names without one."""

    VALUE = 0


class Argument(NamedTuple):
    """An argument that a sentence speaks of: with a value, without one, or (``...``) as something to be given or left out.

    >>> str(Argument("tol", -1.0)), str(Argument("max_passes")), str(Argument("target", ...))
    ('tol=-1.0', 'max_passes', 'target=')
    """

    name: str
    value: Any = Unsaid.VALUE

    @property
    def has_value(self) -> bool:
        """Whether a value is said."""
        return self.value is not Unsaid.VALUE and self.value is not ...

    def __str__(self) -> str:
        value = self.value.item() if isinstance(self.value, np.generic) else self.value
        return f"{self.name}={value!r}" if self.has_value else f"{self.name}=" if value is ... else self.name


class Worded:
    """A sentence in parts, strings and arguments; a mixin for errors and warnings, whose ``args`` are the parts.

    >>> error = InputError(Argument("tol", -1.0), ": give a number that is not negative.")
    >>> str(error)
    'tol=-1.0: give a number that is not negative.'
    >>> error.worded(lambda argument: f"--{argument.name} {argument.value}")
    '--tol -1.0: give a number that is not negative.'
    """

    args: tuple[Any, ...]

    def worded(self, spelled: Callable[[Argument], str]) -> str:
        """The sentence with its arguments as ``spelled`` writes them."""
        return "".join(spelled(part) if isinstance(part, Argument) else str(part) for part in self.args)

    def __str__(self) -> str:
        return self.worded(str)


class InputError(Worded, ValueError):
    """Something that a user gave cannot be used; ``argument`` is the name of the first argument that the sentence speaks of, if any."""

    @property
    def argument(self) -> str | None:
        """The name of the argument that the error is about; None if it is about none in particular."""
        return next((part.name for part in self.args if isinstance(part, Argument)), None)


class InputTypeError(InputError, TypeError):
    """Something that a user gave is of a type that cannot be used."""


class InputWarning(Worded, UserWarning):
    """Something that a user gave can be used, and is perhaps not what was meant."""


class MissingPackageError(InputError, ModuleNotFoundError):
    """What was asked for needs a package that is not installed."""


def prefixed(prefix: str, error: Exception) -> Exception:
    """The same error with more at the beginning of its sentence.

    >>> prefixed("chunk 3: ", InputError(Argument("tol", 2), " is too large."))
    InputError('chunk 3: ', Argument(name='tol', value=2), ' is too large.')
    """
    return type(error)(prefix, *error.args) if isinstance(error, Worded) else type(error)(f"{prefix}{error}")


def users_line() -> int:
    """How many calls up the user's own line is, for a warning to point at: past fenchel's and scikit-learn's."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("fenchel", "sklearn"):
        frame, level = frame.f_back, level + 1
    return level

"""How much memory fenchel may take: what the user allows, or half of what the machine has left"""

from __future__ import annotations

import contextlib
import contextvars
import os
from collections.abc import Iterator
from pathlib import Path

from fenchel.core.errors import Argument, InputError
from fenchel.core.sizes import bytes_of

VARIABLE = "FENCHEL_MEMORY"
SHARE = 0.5  # of the memory that is available
UNKNOWN = 4 << 30  # bytes, where the system does not say
LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))

_allowed: contextvars.ContextVar[int | None] = contextvars.ContextVar("allowed", default=None)


def allowed_memory() -> int | None:
    """The bytes that the user allows: within :func:`memory_limited`, or in ``$FENCHEL_MEMORY``; None without either."""
    given = _allowed.get()
    if given is not None:
        return given
    text = os.environ.get(VARIABLE)
    return None if not text else checked_memory(text, VARIABLE)


def memory() -> int:
    """The bytes that arrays may take.

    >>> with memory_limited("500MB"):
    ...     memory()
    524288000
    """
    given = allowed_memory()
    return given if given is not None else int(SHARE * _available())


@contextlib.contextmanager
def memory_limited(memory: int | str | None) -> Iterator[None]:
    """Allow so many bytes, a number or a text such as "500MB", within this context; None leaves it as it is."""
    token = None if memory is None else _allowed.set(checked_memory(memory, "memory"))
    try:
        yield
    finally:
        if token is not None:
            _allowed.reset(token)


def checked_memory(memory: int | str, name: str) -> int:
    """A number of bytes."""
    found = bytes_of(memory)
    if found is None or found <= 0:
        raise InputError(Argument(name, memory), ": give a number of bytes, or a text such as '500MB' or '2GB'.")
    return found


def _available() -> int:
    found = UNKNOWN
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found = next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError, IndexError):
        pass
    for path in LIMITS:
        try:
            found = min(found, int(path.read_text(encoding="ascii")))
        except (OSError, ValueError):  # "max" is no limit
            continue
    return found

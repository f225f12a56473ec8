"""Bounds on what a compressed file may cost: one that expands too much is refused before it fills the memory.

A plain file is as large as it looks, and every reader takes memory and time proportional to its text. A compressed file can be a
thousand times smaller than its contents, so the contents may take at most the larger of ``always`` bytes and ``ratio`` times the bytes
that they come from. A compressed text is held to that while it is unpacked, so that one made to exhaust the memory is refused at its
beginning. The user can allow more: with ``max_bytes``, or with the environment variable ``FENCHEL_MAX_BYTES``.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from typing import Any, NamedTuple

from fenchel.core.errors import Argument, InputError
from fenchel.core.sizes import bytes_of

STEP = 1 << 20  # bytes unpacked between two checks
VARIABLE = "FENCHEL_MAX_BYTES"


class Limit(NamedTuple):
    """The bytes that any file may expand to, and the ratio of unpacked to stored bytes that is allowed beyond."""

    always: int
    ratio: int


# The ratios are at least twice those of real data: at most 40 for the svmlight files of LIBSVM's page with xz, 10 for tagged text and RNA.
# Tables of zeros and ones reach 100 with one per cent of ones; columns of few values in .parquet and .npz compress even better.
# What any file may expand to keeps the memory of a file made to exhaust it below a gigabyte: sentences and RNA records take up to 64
# times their text, numbers up to 16 times.
LIMITS = {
    "svmlight": Limit(2**26, 100),
    "table": Limit(2**26, 200),
    "arrays": Limit(2**28, 200),
    "conll": Limit(2**22, 30),
    "rna": Limit(2**22, 30),
}


class Allowance:
    """The bytes that a compressed file may expand to, for a kind of ``LIMITS``.

    >>> Allowance("a.svm.gz", lambda: 1000, "svmlight").check(10**9)
    Traceback (most recent call last):
    fenchel.core.errors.InputError: a.svm.gz would expand from 1,000 bytes to 1,000,000,000 or more, and 67,108,864 are allowed, ...
    """

    def __init__(self, name: str, stored: Callable[[], int], kind: str, max_bytes: int | None = None) -> None:
        self.name, self.stored, self.kind = name, stored, kind
        self.given = user_limit(max_bytes)

    def most(self) -> int:
        """The number of bytes."""
        always, ratio = LIMITS[self.kind]
        return self.given if self.given is not None else max(always, ratio * self.stored())

    def check(self, size: int) -> None:
        """Refuse the file if its contents take more than the allowed number of bytes."""
        if size > self.most():
            raise InputError(
                f"{self.name} would expand from {self.stored():,} bytes to {size:,} or more, and {self.most():,} are allowed, because "
                "files made to exhaust the memory expand like that: if you trust it, unpack it, or allow more with ",
                Argument("max_bytes", ...),
                f" or the environment variable {VARIABLE}.",
            )


def user_limit(max_bytes: Any, name: str = "max_bytes") -> int | None:
    """The number of bytes that the user allows: ``max_bytes``, else ``$FENCHEL_MAX_BYTES``; None if neither is given.

    >>> user_limit(10**9), user_limit(None)
    (1000000000, None)
    """
    if max_bytes is not None:
        if isinstance(max_bytes, bool) or not isinstance(max_bytes, int) or max_bytes < 1:
            raise InputError(Argument(name, max_bytes), ": give a whole number of bytes of at least 1.")
        return max_bytes
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return None
    found = bytes_of(text)
    if not found:
        raise InputError(f"The environment variable {VARIABLE} is {text[:40]!r}: give a number of bytes such as 8000000000 or 8G.")
    return found


class Counted(io.RawIOBase):
    """A stream that counts the bytes read from it."""

    def __init__(self, stream: Any) -> None:
        super().__init__()
        self.stream, self.seen = stream, 0

    def readable(self) -> bool:
        """Always true."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read some bytes."""
        block = self.stream.read(min(len(buffer), STEP))
        self.seen += len(block)
        buffer[: len(block)] = block
        return len(block)


class Bounded(Counted):
    """A stream that unpacks a file, and raises an error once it has expanded too much."""

    def __init__(self, stream: Any, allowance: Allowance) -> None:
        super().__init__(stream)
        self.allowance = allowance

    def readinto(self, buffer: Any) -> int:
        """Read some bytes."""
        size = super().readinto(buffer)
        self.allowance.check(self.seen)
        return size

    def close(self) -> None:
        """Close the file too."""
        self.stream.close()
        super().close()

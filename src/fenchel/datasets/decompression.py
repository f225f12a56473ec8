"""Compressed files from untrusted sources: refuse those that expand too much, before they fill the memory."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from fenchel.core.errors import InputError

ALWAYS_ALLOWED = 2**30  # bytes that any file may expand to
STEP = 1 << 20  # bytes unpacked between two checks
LARGEST_RATIO = 200  # of unpacked to stored bytes, for files that expand to more


def check_expansion(path: Path, size: int) -> None:
    """Refuse a file that is small on disk but would expand to fill the memory."""
    stored = path.stat().st_size
    if size > ALWAYS_ALLOWED and size > LARGEST_RATIO * stored:
        raise InputError(
            f"{path} holds {stored:,} bytes and would expand to {size:,} or more, as files made to exhaust the memory do: "
            "unpack it yourself if you trust it."
        )


class Bounded(io.RawIOBase):
    """A stream that unpacks a file, and raises an error once it has expanded too much."""

    def __init__(self, stream: Any, path: Path) -> None:
        super().__init__()
        self.stream, self.path, self.seen = stream, path, 0

    def readable(self) -> bool:
        """Always true."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read some bytes."""
        block = self.stream.read(min(len(buffer), STEP))
        self.seen += len(block)
        check_expansion(self.path, self.seen)
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        """Close the file too."""
        self.stream.close()
        super().close()

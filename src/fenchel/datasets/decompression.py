"""Files of strangers: what expands beyond reason is refused before it fills the memory."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from fenchel.core.errors import InputError

FREE = 2**30  # bytes that any file may expand to
STEP = 1 << 20  # bytes unpacked before looking again
FOLD = 200  # beyond them, how many times its size on disk


def check_expansion(path: Path, size: int) -> None:
    """Refuse a file that would fill the memory though it is small on disk."""
    stored = path.stat().st_size
    if size > FREE and size > FOLD * stored:
        raise InputError(
            f"{path} holds {stored:,} bytes and would expand to {size:,} or more, as files made to exhaust the memory do: "
            "unpack it yourself if you trust it."
        )


class Bounded(io.RawIOBase):
    """A stream that unpacks a file, and stops with an error once it has expanded beyond reason."""

    def __init__(self, stream: Any, path: Path) -> None:
        super().__init__()
        self.stream, self.path, self.seen = stream, path, 0

    def readable(self) -> bool:
        """It is."""
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

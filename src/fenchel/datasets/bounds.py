"""Files of strangers: what expands beyond reason is refused, and what is written is written whole or not at all."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FREE = 2**30  # bytes that any file may expand to
FOLD = 200  # beyond them, how many times its size on disk


def check_expansion(path: Path, size: int) -> None:
    """Refuse a file that would fill the memory though it is small on disk."""
    stored = path.stat().st_size
    if size > FREE and size > FOLD * stored:
        raise ValueError(
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
        block = self.stream.read(len(buffer))
        self.seen += len(block)
        check_expansion(self.path, self.seen)
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        """Close the file too."""
        self.stream.close()
        super().close()


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file beside ``path`` to write to, which takes its place when all went well."""
    try:
        handle, name = tempfile.mkstemp(prefix=".writing-", suffix=path.name, dir=path.parent)
    except OSError as error:
        raise OSError(f"{path} can't be written ({error.strerror}): check that its folder is there and may be written to.") from None
    os.close(handle)
    try:
        yield Path(name)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise

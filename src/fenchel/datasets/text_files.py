"""Files, plain or compressed with gz, bz2 or xz: open them, split them into chunks of whole lines, write them atomically."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import os
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from fenchel.core.atomic_files import replacing
from fenchel.core.errors import InputError, InputTypeError
from fenchel.datasets.decompression import Allowance, Bounded, Counted

OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
MAGIC = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\x00": ".xz"}
DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError, MemoryError)  # a damaged .xz may ask for a dictionary of gigabytes
CHUNK = 1 << 21  # bytes of text parsed together, so that they and their numbers fit into the processor's cache
FIRST_CHUNK = 1 << 16  # smaller, because most files are small
LONGEST_LINE = 1 << 28
BUFFER = 1 << 18
LONGEST_REASON = 300  # characters of the message of a library that an error quotes


@contextlib.contextmanager
def open_binary(source: str | os.PathLike[str] | IO[bytes], kind: str, max_bytes: int | None = None) -> Iterator[tuple[Any, Any]]:
    """Open a file, decompressed according to its first bytes or else its ending; yields that file and the underlying raw file.

    A compressed file may expand to ``max_bytes``, by default to the limit of its ``kind`` in ``decompression.LIMITS``.

    >>> with open_binary(io.BytesIO(gzip.compress(b"+1 1:2")), "svmlight") as (file, raw):
    ...     file.read(), file is raw
    (b'+1 1:2', False)
    """
    with contextlib.ExitStack() as stack:
        if isinstance(source, str | os.PathLike):
            path = Path(source)
            if not path.exists() or path.is_dir():  # pipes are allowed
                raise FileNotFoundError(f"There is no file {path}: check the path.")
            file: Any = stack.enter_context(open(path, "rb"))
            suffix = path.suffix
        else:
            file, suffix = _checked(source), ""
        start = _first_bytes(file)
        packing = next((packing for magic, packing in MAGIC.items() if start.startswith(magic)), suffix)
        if packing not in OPENERS:
            yield file, file
            return
        if not start:  # a compressed file is never empty, even if its text is
            raise InputError(f"{name_of(source)}, line 1: the file is empty, which a {packing} file cannot be: get the file again.")
        packed = Counted(file)
        allowance = Allowance(name_of(source), lambda: packed.seen, kind, max_bytes)
        unpacked = Bounded(OPENERS[packing](io.BufferedReader(packed), "rb"), allowance)
        yield stack.enter_context(io.BufferedReader(unpacked, BUFFER)), file


def contents(path: Path, kind: str, max_bytes: int | None = None) -> io.BytesIO | None:
    """The contents of a compressed file; None if the file is not compressed. Raises an error of ``DAMAGE`` if it is damaged."""
    with open_binary(path, kind, max_bytes) as (file, raw):
        return None if file is raw else io.BytesIO(file.read())


def _checked(source: Any) -> Any:
    if not hasattr(source, "read") or isinstance(source, io.TextIOBase):
        raise InputTypeError(f"A path or a file opened in binary mode is needed, not {type(source).__name__}: open it with mode 'rb'.")
    return source


def _first_bytes(file: Any) -> bytes:
    if hasattr(file, "peek"):
        return file.peek(6)[:6]
    if not (hasattr(file, "seekable") and file.seekable()):
        return b""
    place = file.tell()
    start = file.read(6)
    file.seek(place)
    return start


def name_of(source: Any) -> str:
    """The name of a file for messages."""
    if isinstance(source, str | os.PathLike):
        return os.fspath(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "the file"


class Damaged(ValueError):
    """A file that cannot be read further; ``line`` is the line of the fault in the current chunk, from 1."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


class Lines:
    """A file split into chunks of whole lines, which several threads take in turn: while one reads, the others parse."""

    def __init__(self, file: Any, raw: Any) -> None:
        self.file, self.raw = file, raw
        try:
            self.length = os.fstat(raw.fileno()).st_size
        except (AttributeError, OSError):  # not a file on disk
            self.length = 0
        self.lock = threading.Lock()
        self.taken = self.bytes = 0  # chunks taken, bytes read
        self.carried = b""
        self.ended = False

    def take(self, buffer: bytearray, padding: int) -> tuple[int, bytearray, int] | None:
        """The number of the next chunk, a buffer with the chunk and room for ``padding`` more bytes, and its size; None at the end.

        The given buffer is reused if it is large enough.
        """
        with self.lock:
            if self.ended:
                return None
            self.taken += 1
            return self.taken - 1, *self._next(buffer, padding)

    def stop(self) -> None:
        """Return no more chunks."""
        with self.lock:
            self.ended = True

    def fraction_read(self) -> float:
        """The share of the file that has been read, in (0, 1]; 0.5 if it is unknown."""
        return min(1.0, (self.raw.tell() + 1) / self.length) if self.length else 0.5

    def _next(self, buffer: bytearray, padding: int) -> tuple[bytearray, int]:
        carried, room = self.carried, max(CHUNK if self.taken > 1 else min(CHUNK, FIRST_CHUNK), 2 * len(self.carried))
        while True:
            if len(buffer) < room + 1 + padding:
                buffer = bytearray(room + 1 + padding)
            buffer[: len(carried)] = carried
            size = len(carried) + self._fill(memoryview(buffer)[len(carried) : room])
            if size < room:
                self.ended = True
                buffer[size] = ord("\n")
                return buffer, size + (size > 0 and buffer[size - 1] != ord("\n"))
            cut = buffer.rfind(b"\n", len(carried), size) + 1
            if cut:
                self.carried = bytes(memoryview(buffer)[cut:size])
                return buffer, cut
            if room >= LONGEST_LINE:
                self.ended = True
                raise Damaged(f"the line is longer than {LONGEST_LINE:,} bytes: check that the file is svmlight text.", 1)
            carried, room = bytes(memoryview(buffer)[:size]), 2 * room

    def _fill(self, space: memoryview) -> int:
        """Read until the space is full or the file ends."""
        filled = 0
        try:
            while filled < len(space):
                part = self._read(space[filled:])
                if part == 0:
                    break
                filled += part
                self.bytes += part
        except DAMAGE as error:
            self.ended = True
            if self.file is self.raw:
                raise
            message = f"the compressed data is damaged or cut short after {self.bytes:,} bytes of text ({gist(error)}): get the file again."
            raise Damaged(message, bytes(space[:filled]).count(b"\n") + 1) from None
        return filled

    def _read(self, space: memoryview) -> int:
        if hasattr(self.file, "readinto"):
            return self.file.readinto(space) or 0
        part = self.file.read(len(space))
        space[: len(part)] = part
        return len(part)


def gist(error: BaseException) -> str:
    """The beginning of the first line of an error's message."""
    return str(error).splitlines()[0][:LONGEST_REASON].rstrip(".") if str(error) else type(error).__name__


@contextlib.contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[Any]:
    """A file to write, compressed according to its ending; it replaces an existing file once it is complete."""
    with replacing(path) as temporary, OPENERS.get(Path(path).suffix, open)(temporary, "wb") as file:
        yield file

"""Lines of RNA files, with limits on how much is read: files may come from untrusted sources and expand to fill the memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fenchel.core.errors import InputError
from fenchel.datasets.decompression import Bounded
from fenchel.datasets.text_files import DAMAGE

LONGEST_LINE = 1 << 16  # bytes
MOST_BASES = 50_000  # of one sequence; the longest genomes of RNA viruses have about 40,000
MOST_BYTES = 1 << 28  # of text in one file or tar archive; usual data sets have a thousandth of that
MOST_UNPACKED = 1 << 26  # of text in a compressed file; short records take 30 times their text in memory
ALWAYS_ALLOWED = 1 << 22  # bytes that any compressed file may expand to
LARGEST_RATIO = 30  # of unpacked to stored bytes, for files that expand to more; RNA compresses about tenfold


def full_lines(file: Any, raw: Any, place: str) -> Iterator[tuple[int, str]]:
    """The lines that are not empty."""
    return (numbered for numbered in every_line(file, raw, place) if numbered[1])


def every_line(file: Any, raw: Any, place: str) -> Iterator[tuple[int, str]]:
    """The lines, stripped, with their numbers from 1."""
    number = seen = 0
    try:
        while line := file.readline(LONGEST_LINE):
            number, seen = number + 1, seen + len(line)
            if len(line) == LONGEST_LINE:
                raise InputError(f"{place}, line {number}: the line is too long for RNA: check what the file holds.")
            _check_expansion(seen, file, raw, f"{place}, line {number}")
            yield number, line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
    except UnicodeDecodeError:
        raise InputError(f"{place}, line {number}: this is not plain text: check what the file holds.") from None
    except DAMAGE as error:
        raise InputError(f"{place}, line {number + 1}: the data is damaged or cut short ({error}): get the file again.") from None


def _check_expansion(seen: int, file: Any, raw: Any, place: str) -> None:
    """Refuse text beyond the limits on size and on the compression ratio."""
    most = MOST_BYTES if file is raw else MOST_UNPACKED
    if seen > most or (file is not raw and seen > ALWAYS_ALLOWED and seen > LARGEST_RATIO * _stored(raw)):
        raise InputError(f"{place}: the file unpacks to more than {seen - 1:,} bytes, too many for RNA: unpack or cut it if you trust it.")


def _stored(raw: Any) -> int:
    """Bytes read from the disk; 0 for a pipe, where that is unknown."""
    return raw.tell() if hasattr(raw, "seekable") and raw.seekable() else 0


def check_size(bases: int, place: str, number: int) -> None:
    """Refuse a sequence that is too long to fold."""
    if bases > MOST_BASES:
        raise InputError(f"{place}, line {number}: the sequence has more than {MOST_BASES:,} bases, too many to fold: leave it out.")


class Archive(Bounded):
    """A tar archive; its headers count towards the limits, because they are kept in memory."""

    def __init__(self, stream: Any, raw: Any, path: Path) -> None:
        super().__init__(stream, path)
        self.raw = raw

    def readinto(self, buffer: Any) -> int:
        """Read some bytes."""
        size = super().readinto(buffer)
        _check_expansion(self.seen, self.stream, self.raw, os.fspath(self.path))
        return size

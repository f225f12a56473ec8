"""Lines of RNA files, with limits on their lengths, because files may come from untrusted sources."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fenchel.core.errors import InputError
from fenchel.datasets.text_files import DAMAGE, gist

LONGEST_LINE = 1 << 16  # bytes
MOST_BASES = 50_000  # of one sequence; the longest genomes of RNA viruses have about 40,000


def full_lines(file: Any, place: str) -> Iterator[tuple[int, str]]:
    """The lines that are not empty."""
    return (numbered for numbered in every_line(file, place) if numbered[1])


def every_line(file: Any, place: str) -> Iterator[tuple[int, str]]:
    """The lines, stripped, with their numbers from 1."""
    number = 0
    try:
        while line := file.readline(LONGEST_LINE):
            number += 1
            if len(line) == LONGEST_LINE:
                raise InputError(f"{place}, line {number}: the line is too long for RNA: check what the file holds.")
            yield number, line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
    except UnicodeDecodeError:
        raise InputError(f"{place}, line {number}: this is not plain text: check what the file holds.") from None
    except DAMAGE as error:
        raise InputError(f"{place}, line {number + 1}: the data is damaged or cut short ({gist(error)}): get the file again.") from None


def check_size(bases: int, place: str, number: int) -> None:
    """Refuse a sequence that is too long to fold."""
    if bases > MOST_BASES:
        raise InputError(f"{place}, line {number}: the sequence has more than {MOST_BASES:,} bases, too many to fold: leave it out.")

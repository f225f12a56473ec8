"""Phrases shared by several messages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

LISTED = 100  # names in a message
LONGEST = 100  # characters of a name that are compared


def near(name: str, known: Iterable[str]) -> str:
    """The end of an error message: the closest known name and the list of all of them.

    >>> near("sdac", ["sdca", "fista"])
    "did you mean 'sdca'? Choose one of fista, sdca."
    """
    every = sorted(known)
    names = every if len(every) <= LISTED else [*every[:LISTED], f"... and {len(every) - LISTED:,} more"]
    close = difflib.get_close_matches(name[:LONGEST], every, n=1, cutoff=0.5)
    listed = ", ".join(map(shortened, names))
    return f"did you mean {close[0]!r}? Choose one of {listed}." if close else f"choose one of {listed}."


def shortened(text: str) -> str:
    """A text on one line, cut if it is long, for a message.

    >>> shortened("two\\nlines")
    'two lines'
    """
    line = " ".join(text[: LONGEST + 1].split())
    return line if len(text) <= LONGEST else f"{line[:LONGEST]}..."


def counted(count: int, one: str) -> str:
    """A number followed by the noun it counts.

    >>> counted(1, "row"), counted(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{count:,} {one}{'' if count == 1 else 's'}"

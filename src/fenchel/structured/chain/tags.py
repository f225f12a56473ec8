"""Tags of sentences, as users write them and numbered."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from fenchel.core.errors import InputError, InputTypeError

Tag = str | int
MOST_TAGS = 2**15  # kernels number them with 16 bits
MOST_MOVES = 4_000_000  # pairs of tags, of which kernels hold tables: a small file must not ask for gigabytes


def checked_tags(Y: Any) -> list[list[Any]]:
    """The tags of each sentence as a list; a string is one tag a letter.

    >>> checked_tags(["ab", (1, 2), np.array([3])])
    [['a', 'b'], [1, 2], [3]]
    """
    if isinstance(Y, str | bytes | dict) or not hasattr(Y, "__len__") or not hasattr(Y, "__iter__"):
        raise InputTypeError(f"Y must be a list with the tags of each sentence, not {type(Y).__name__}.")
    return [_checked(tags, i) for i, tags in enumerate(Y)]


def _checked(tags: Any, i: int) -> list[Any]:
    if isinstance(tags, np.ndarray) and tags.ndim == 1:
        tags = tags.tolist()
    if not isinstance(tags, list | tuple | str):
        raise InputTypeError(f"sentence {i} has {tags!r} for tags: give a list with one for each token.")
    for t, tag in enumerate(tags):
        if not isinstance(tag, str | int | np.integer):
            raise InputTypeError(f"sentence {i}, token {t}: the tag is {tag!r}, and tags are strings or whole numbers.")
    return list(tags)


def distinct_tags(Y: list[list[Any]]) -> tuple[Tag, ...]:
    """The tags that occur: numbers first, then strings, each in their order.

    >>> distinct_tags([["O", "B-NP"], ["O", 3]])
    (3, 'B-NP', 'O')
    """
    found = set().union(*Y)
    tags: list[Tag] = [str(tag) if isinstance(tag, str) else int(tag) for tag in found]
    if not 2 <= len(tags) <= MOST_TAGS:
        some = ", ".join(map(repr, tags[:3])) or "none at all"
        raise InputError(f"Y holds {len(tags)} different tags, {some}: there must be two to choose from, and no more than {MOST_TAGS:,}.")
    return tuple(sorted(tags, key=lambda tag: (isinstance(tag, str), tag)))


def given_tags(tags: Any) -> tuple[Tag, ...]:
    """The tags that a model is told, in their order.

    >>> given_tags(["O", "B-NP"])
    ('O', 'B-NP')
    """
    [listed] = checked_tags([tags])
    known: list[Tag] = [str(tag) if isinstance(tag, str) else int(tag) for tag in listed]
    if len(set(known)) != len(known) or not 2 <= len(known) <= MOST_TAGS:
        raise InputError(f"tags names {len(known)} tags, {len(set(known))} of them different: give two to {MOST_TAGS:,}, each once.")
    return tuple(known)


def within_moves(K: int) -> bool:
    """Whether a table of the transitions between so many tags is small enough."""
    return K * K <= MOST_MOVES


def check_sizes(Y: list[list[Any]], sizes: Sequence[int]) -> None:
    """Refuse tags that are not as many as there are tokens."""
    if len(Y) != len(sizes):
        raise InputError(f"There are {len(sizes):,} sentences and tags for {len(Y):,}: give the tags of each sentence.")
    for i, (tags, size) in enumerate(zip(Y, sizes, strict=True)):
        if len(tags) != size:
            raise InputError(f"sentence {i} has {size} tokens and {len(tags)} tags: give one tag for each token.")


def numbered(Y: list[list[Any]], tags: Sequence[Hashable]) -> np.ndarray:
    """The number of each tag, all sentences one after the other."""
    number = {tag: k for k, tag in enumerate(tags)}
    numbers = [number.get(tag, -1) for row in Y for tag in row]
    if -1 in numbers:
        i, t = next((i, t) for i, row in enumerate(Y) for t, tag in enumerate(row) if tag not in number)
        raise InputError(
            f"sentence {i}, token {t}: the tag {Y[i][t]!r} is none of the model's {len(number)}; predictions are "
            "scored against any tags, but a model learns about its own alone."
        )
    return np.array(numbers, dtype=np.int64)

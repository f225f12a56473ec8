"""The tags of sentences: validation, and conversion to indices."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from fenchel.core.errors import InputError, InputTypeError

Tag = str | int
MOST_TAGS = 2**15  # kernels use 16-bit indices
MOST_TRANSITIONS = 4_000_000  # pairs of tags; kernels hold tables of them, and a small model file must not allocate gigabytes


class CheckedTags(list[list[Any]]):
    """The result of ``checked_tags``, which does not check it again."""


def checked_tags(Y: Any) -> CheckedTags:
    """The tags of each sentence as a list; a string is a list of one-letter tags.

    >>> checked_tags(["ab", (1, 2), np.array([3])])
    [['a', 'b'], [1, 2], [3]]
    """
    if isinstance(Y, CheckedTags):
        return Y
    if isinstance(Y, str | bytes | dict) or not hasattr(Y, "__len__") or not hasattr(Y, "__iter__"):
        raise InputTypeError(f"Y must be a list with the tags of each sentence, not {type(Y).__name__}.")
    return CheckedTags(_checked(tags, i) for i, tags in enumerate(Y))


def _checked(tags: Any, i: int) -> list[Any]:
    if isinstance(tags, np.ndarray) and tags.ndim == 1:
        tags = tags.tolist()
    if not isinstance(tags, list | tuple | str):
        raise InputTypeError(f"the tags of sentence {i} are {tags!r}: give a list with one tag per token.")
    for t, tag in enumerate(tags):
        if not isinstance(tag, str | int | np.integer):
            raise InputTypeError(f"sentence {i}, token {t}: the tag is {tag!r}, but tags must be strings or whole numbers.")
    return list(tags)


def distinct_tags(Y: list[list[Any]]) -> tuple[Tag, ...]:
    """The tags that occur: sorted numbers, then sorted strings.

    >>> distinct_tags([["O", "B-NP"], ["O", 3]])
    (3, 'B-NP', 'O')
    """
    found = set().union(*Y)
    tags: list[Tag] = [str(tag) if isinstance(tag, str) else int(tag) for tag in found]
    if not 2 <= len(tags) <= MOST_TAGS:
        some = ", ".join(map(repr, tags[:3])) or "none"
        raise InputError(f"Y contains {len(tags)} distinct tags ({some}): there must be at least 2 and at most {MOST_TAGS:,}.")
    return tuple(sorted(tags, key=lambda tag: (isinstance(tag, str), tag)))


def checked_tag_list(tags: Any) -> tuple[Tag, ...]:
    """The tags given to a model, validated, in the given order.

    >>> checked_tag_list(["O", "B-NP"])
    ('O', 'B-NP')
    """
    [listed] = checked_tags([tags])
    known: list[Tag] = [str(tag) if isinstance(tag, str) else int(tag) for tag in listed]
    if len(set(known)) != len(known) or not 2 <= len(known) <= MOST_TAGS:
        raise InputError(f"tags has {len(known)} entries, {len(set(known))} of them distinct: give 2 to {MOST_TAGS:,} tags, each once.")
    return tuple(known)


def allows_transitions(K: int) -> bool:
    """Whether the table of transitions between K tags is within the limit."""
    return K * K <= MOST_TRANSITIONS


def check_sizes(Y: list[list[Any]], sizes: Sequence[int]) -> None:
    """Raise an InputError unless there is one tag for each token."""
    if len(Y) != len(sizes):
        raise InputError(f"There are {len(sizes):,} sentences but tags for {len(Y):,}: give the tags of each sentence.")
    for i, (tags, size) in enumerate(zip(Y, sizes, strict=True)):
        if len(tags) != size:
            raise InputError(f"sentence {i} has {size} tokens but {len(tags)} tags: give one tag per token.")


def tag_indices(Y: list[list[Any]], tags: Sequence[Hashable]) -> np.ndarray:
    """The index of each tag, for all sentences concatenated."""
    number = {tag: k for k, tag in enumerate(tags)}
    numbers = [number.get(tag, -1) for row in Y for tag in row]
    if -1 in numbers:
        i, t = next((i, t) for i, row in enumerate(Y) for t, tag in enumerate(row) if tag not in number)
        raise InputError(
            f"sentence {i}, token {t}: the tag {Y[i][t]!r} is not one of the model's {len(number)} tags: train with "
            "those tags only, or list all tags when creating the model."
        )
    return np.array(numbers, dtype=np.int64)

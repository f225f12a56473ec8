"""Attributes of tokens from their context, for tagging text

A template such as ``w[-1]|w[0]`` names columns and offsets: the word before and the word itself, which makes the attribute
``w[-1]|w[0]=the|dog``. A template that reaches beyond the sentence gives no attribute. ``w[0].lower``, ``w[0].shape``, ``w[0].prefix3``
and ``w[0].suffix3`` are the word in lower case, its kinds of characters (``Xx``, ``dd-xx``), its first and its last three characters.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from fenchel.core.errors import Argument, InputError, InputTypeError

# The attributes of CRFsuite's tutorial on CoNLL-2000 (www.chokkan.org/software/crfsuite/tutorial.html).
CHUNKING = (
    *("w[-2]", "w[-1]", "w[0]", "w[1]", "w[2]", "w[-1]|w[0]", "w[0]|w[1]"),
    *("pos[-2]", "pos[-1]", "pos[0]", "pos[1]", "pos[2]"),
    *("pos[-2]|pos[-1]", "pos[-1]|pos[0]", "pos[0]|pos[1]", "pos[1]|pos[2]"),
    *("pos[-2]|pos[-1]|pos[0]", "pos[-1]|pos[0]|pos[1]", "pos[0]|pos[1]|pos[2]"),
)
PART = re.compile(r"(\w+)\[([+-]?\d{1,3})\](?:\.([a-z]+)(\d{0,2}))?")
FIRST, LAST = "BOS", "EOS"
SHAPES = ((re.compile(r"[^\W\d_]"), lambda found: "X" if found[0].isupper() else "x"), (re.compile(r"\d"), lambda found: "d"))


def token_features(templates: Sequence[str] | None = None, **columns: Sequence[Sequence[str]]) -> list[list[list[str]]]:
    """The attributes of every token, in the format of :class:`~fenchel.structured.Chain`.

    Args:
        templates: the templates; by default the words and parts of speech in a window of five tokens with their pairs and triples, as far
            as the columns ``w`` and ``pos`` are given.
        columns: one list per column, with a list of strings for each sentence.

    The first and the last token of a sentence also get ``BOS`` and ``EOS``.

    >>> token_features(["w[0]", "w[-1]|w[0]", "w[0].suffix2"], w=[["A", "dog", "barks"]])[0][1]
    ['w[0]=dog', 'w[-1]|w[0]=A|dog', 'w[0].suffix2=og']
    """
    _check_columns(columns)
    if templates is None:
        templates = [template for template in CHUNKING if all(name in columns for name, *_ in PART.findall(template))]
    if isinstance(templates, str) or not templates:
        raise InputError(
            Argument("templates", templates), ": give a list of templates such as ['w[0]', 'w[-1]|w[0]'] that fit the columns."
        )
    names = list(columns)
    made = [_parse(template, columns) for template in templates]
    return [_attributes(dict(zip(names, sentence, strict=True)), made) for sentence in zip(*columns.values(), strict=True)]


class _Part(NamedTuple):
    column: str
    offset: int
    change: Callable[[str], str] | None


class _Template(NamedTuple):
    parts: list[_Part]
    names: _AttributeNames  # cached, so that equal attributes are the same string object
    before: int  # the number of tokens needed before the current one
    after: int


class _AttributeNames(dict[tuple[str, ...], str]):
    def __init__(self, template: str) -> None:
        super().__init__()
        self.template = template

    def __missing__(self, values: tuple[str, ...]) -> str:
        made = self[values] = f"{self.template}={'|'.join(values)}"
        return made


def _attributes(sentence: dict[str, Sequence[str]], templates: list[_Template]) -> list[list[str]]:
    length = len(next(iter(sentence.values())))
    tokens: list[list[str]] = [[] for _ in range(length)]
    for parts, names, before, after in templates:
        first, last = before, length - after
        if first >= last:
            continue
        values = [_changed(sentence[part.column][first + part.offset : last + part.offset], part.change) for part in parts]
        for t, key in enumerate(zip(*values, strict=True), first):
            tokens[t].append(names[key])
    if tokens:
        tokens[0].append(FIRST)
        tokens[-1].append(LAST)
    return tokens


def _changed(words: Sequence[str], change: Callable[[str], str] | None) -> Sequence[str]:
    return words if change is None else [change(word) for word in words]


def _parse(template: str, columns: dict[str, Any]) -> _Template:
    parts = []
    for piece in str(template).split("|"):
        found = PART.fullmatch(piece)
        if found is None:
            raise InputError(f"template {template!r}: {piece!r} is not of the form w[-1] or w[0].suffix3.")
        column, offset, change, size = found.groups()
        if column not in columns:
            raise InputError(f"template {template!r}: there is no column {column!r}, only {', '.join(columns)}.")
        parts.append(_Part(column, int(offset), None if change is None else _change(template, change, size)))
    offsets = [part.offset for part in parts]
    return _Template(parts, _AttributeNames(template), max(0, -min(offsets)), max(0, *offsets))


def _change(template: str, name: str, size: str) -> Callable[[str], str]:
    count = int(size or 0)
    changes: dict[str, Callable[[str], str]] = {"lower": str.lower, "shape": shape}
    if count:
        changes = {"prefix": lambda word: word[:count], "suffix": lambda word: word[-count:]}
    if name not in changes:
        raise InputError(f"template {template!r}: .{name}{size} is unknown; there are .lower, .shape, .prefix3 and .suffix3.")
    return changes[name]


def shape(word: str) -> str:
    """The kinds of characters in a word; runs of one kind are shortened to at most two.

    >>> shape("McDonald"), shape("1990-91"), shape("U.S.")
    ('XxXxx', 'dd-dd', 'X.X.')
    """
    for pattern, kind in SHAPES:
        word = pattern.sub(kind, word)
    return "".join(sign * min(2, sum(1 for _ in run)) for sign, run in itertools.groupby(word))


def _check_columns(columns: dict[str, Any]) -> None:
    if not columns:
        raise InputTypeError("token_features needs at least one column, for example token_features(w=words).")
    first, *others = columns
    for name in others:
        if len(columns[name]) != len(columns[first]):
            raise InputError(f"There are {len(columns[first]):,} sentences of {first} and {len(columns[name]):,} of {name}.")
        for i, (a, b) in enumerate(zip(columns[first], columns[name], strict=True)):
            if len(a) != len(b):
                raise InputError(f"sentence {i} has {len(a)} tokens of {first} and {len(b)} of {name}.")

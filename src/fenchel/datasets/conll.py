"""Text in the column format of the CoNLL shared tasks: one token per line, an empty line after each sentence

Columns are separated by spaces or tabs; any other blank, such as a no-break space, is part of a word. Lines that begin with
``-DOCSTART-`` are left out, with the empty line that follows.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import IO, Any

from fenchel.core.errors import Argument, InputError
from fenchel.datasets.text_files import DAMAGE, gist, name_of, open_binary, writing

LONGEST_LINE = 1 << 16  # bytes
DOCUMENT = "-DOCSTART-"
BLANKS = frozenset(" \t\r\n")

Column = list[list[str]]


def read_conll(
    source: str | os.PathLike[str] | IO[bytes], columns: Sequence[int] | None = None, *, max_bytes: int | None = None
) -> tuple[Column, ...]:
    """The columns of a file, each a list of sentences of strings; plain or compressed with gz, bz2 or xz.

    Args:
        source: a path, or a file opened in binary mode.
        columns: the numbers of the columns to read, from 0, or negative from the last; by default all.
        max_bytes: the bytes that a compressed file may expand to, by default the larger of 4 MiB and 30 times its size.

    >>> import io
    >>> words, chunks = read_conll(io.BytesIO(b"The DT B-NP\\ndog NN I-NP\\n\\nBarks VBZ B-VP\\n"), columns=[0, -1])
    >>> words, chunks
    ([['The', 'dog'], ['Barks']], [['B-NP', 'I-NP'], ['B-VP']])
    """
    name, width = name_of(source), 0
    wanted: list[int] = []
    made: list[Column] = []
    sentence: list[list[str]] = []
    known: dict[str, str] = {}  # repeated words share one string
    for number, fields in _lines(source, name, max_bytes):
        if fields and not width:
            width = len(fields)
            wanted = _checked(columns, width, name)
            made = [[] for _ in wanted]
        if fields and len(fields) != width:
            raise InputError(
                f"{name}, line {number}: {len(fields)} columns, and {width} above: give every line the same number, or leave it empty."
            )
        if fields:
            sentence.append([known.setdefault(fields[k], fields[k]) for k in wanted])
        elif sentence:
            _append_sentence(sentence, made)
            sentence = []
    if sentence:
        _append_sentence(sentence, made)
    if not width:
        raise InputError(f"{name} has no tokens: check what the file holds.")
    return tuple(made)


def _append_sentence(sentence: list[list[str]], made: list[Column]) -> None:
    for column, words in zip(made, zip(*sentence, strict=True), strict=True):
        column.append(list(words))


def _lines(source: Any, name: str, max_bytes: int | None) -> Iterator[tuple[int, list[str]]]:
    """Numbered lines, split into cells; the line after a sentence has none."""
    with open_binary(source, "conll", max_bytes) as (file, _):
        number = 0
        while line := _next_line(file, name, number + 1):
            number += 1
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise InputError(f"{name}, line {number}: byte {error.start + 1} is not UTF-8: convert the file first.") from None
            yield number, [] if text.startswith(DOCUMENT) else _cells(text)


def _cells(text: str) -> list[str]:
    return list(filter(None, text.rstrip("\r\n").replace("\t", " ").split(" ")))


def _next_line(lines: Any, name: str, number: int) -> bytes:
    try:
        line = lines.readline(LONGEST_LINE + 1)
    except DAMAGE as error:
        raise InputError(f"{name}, line {number}: the file is damaged or cut short ({gist(error)}): get it again.") from None
    if len(line) > LONGEST_LINE:
        raise InputError(f"{name}, line {number}: the line is longer than {LONGEST_LINE:,} bytes: check that the file is text in columns.")
    return line


def _checked(columns: Sequence[int] | None, width: int, name: str) -> list[int]:
    if columns is None:
        return list(range(width))
    for k in columns:
        if not isinstance(k, int) or not -width <= k < width:
            raise InputError(Argument("columns", columns), f": {name} has {width} columns, 0 to {width - 1}.")
    return [k % width for k in columns]


def write_conll(path: str | os.PathLike[str], *columns: Sequence[Sequence[Any]]) -> None:
    """Write columns of sentences, one token per line, so that ``read_conll`` reads the same columns."""
    with writing(path) as file:
        for i, sentence in enumerate(zip(*columns, strict=True)):
            for t, token in enumerate(zip(*sentence, strict=True)):
                cells = [str(cell) for cell in token]
                if not all(cell and BLANKS.isdisjoint(cell) for cell in cells):
                    raise InputError(
                        f"sentence {i}, token {t}: {cells!r} has an empty cell or a cell with blanks, which the format cannot hold."
                    )
                file.write((" ".join(cells) + "\n").encode())
            file.write(b"\n")

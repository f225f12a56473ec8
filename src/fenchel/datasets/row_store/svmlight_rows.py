"""The rows of svmlight files, one chunk of text after another, from any place in the text on"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.errors import InputError
from fenchel.core.threads import available_threads
from fenchel.datasets.svmlight.floats import PADDING
from fenchel.datasets.svmlight.parse import Rules
from fenchel.datasets.svmlight.pieces import NOTHING, Fault, Piece, Workspace
from fenchel.datasets.text_files import Damaged, Lines, name_of, open_binary

SKIPPED = 1 << 20  # bytes read at a time on the way to a place in a compressed file


class Place(NamedTuple):
    """How far a file has been read: bytes of its text, and lines."""

    bytes: int = 0
    lines: int = 0


class TextRows(NamedTuple):
    """TextRows of a chunk, and the place after them."""

    labels: np.ndarray
    ends: np.ndarray
    indices: np.ndarray  #: as in the text
    values: np.ndarray
    qids: np.ndarray | None
    lowest: int
    highest: int
    place: Place


def svmlight_rows(source: Any, rules: Rules, place: Place, max_bytes: int | None = None) -> Iterator[TextRows]:
    """The rows after a place; the arrays of one chunk are overwritten by the next."""
    name = name_of(source)
    with open_binary(source, "svmlight", max_bytes) as (file, raw):
        _skip(file, file is raw, place.bytes, name)
        done, count = place
        for piece, size in _parsed(Lines(file, raw), rules):
            if piece.fault:
                line, column, sentence = piece.fault
                raise InputError(f"{name}, line {count + line}{f', column {column}' if column else ''}: {sentence}")
            done, count = done + size, count + piece.state.lines
            yield _rows(piece, rules.qid, Place(done, count))


def _parsed(lines: Lines, rules: Rules) -> Iterator[tuple[Piece, int]]:
    """The chunks of a file in order, with their sizes: while one is used, threads parse those that follow."""
    spaces = [(Workspace(rules), bytearray()) for _ in range(1 + available_threads())]
    waiting: deque[tuple[Future[Piece], int]] = deque()
    with ThreadPoolExecutor(available_threads()) as pool:
        for k in itertools.count():
            workspace, buffer = spaces[k % len(spaces)]
            try:
                taken = lines.take(buffer, PADDING)
            except Damaged as error:
                while waiting:
                    future, size = waiting.popleft()
                    yield future.result(), size
                yield workspace.piece(NOTHING, Fault(error.line, 0, str(error))), 0
                return
            if taken is None:
                break
            _, buffer, size = taken
            spaces[k % len(spaces)] = workspace, buffer
            if k == 0:  # otherwise every thread would compile the kernel
                yield workspace.parse(buffer, size), size
                continue
            waiting.append((pool.submit(workspace.parse, buffer, size), size))
            if len(waiting) == len(spaces) - 1:
                future, size = waiting.popleft()
                yield future.result(), size
        while waiting:
            future, size = waiting.popleft()
            yield future.result(), size


def _skip(file: Any, is_plain: bool, size: int, name: str) -> None:
    if is_plain and size and file.seekable():
        file.seek(size)
        return
    while size:
        part = file.read(min(size, SKIPPED))
        if not part:
            raise InputError(f"{name} is shorter than when its conversion began: remove the unfinished store, and begin again.")
        size -= len(part)


def _rows(piece: Piece, has_qids: bool, place: Place) -> TextRows:
    qids = piece.rows[:, 2] if has_qids else None
    state = piece.state
    return TextRows(piece.labels, piece.rows[:, 0], piece.indices, piece.values, qids, state.lowest, state.highest, place)

"""A file's chunks of whole lines, taken by several threads in turn, and the numbers in them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fenchel.datasets import faults
from fenchel.datasets.files import Damaged, Lines
from fenchel.datasets.floats import PADDING
from fenchel.datasets.parse import FINE, FINITE, HIGHEST_INDEX, Rules, State, parse
from fenchel.matrices import in_parallel
from fenchel.storage import INT32_MAX

ENTRY, ROW, LONG = 4, 2, 20  # bytes that an entry, a label or row, and a number left to Python take at least


class Fault(NamedTuple):
    """What is wrong, and where in its chunk, from 1; column 0 is unknown."""

    line: int
    column: int
    sentence: str


class Piece(NamedTuple):
    """The numbers of one chunk."""

    labels: np.ndarray
    rows: np.ndarray  #: of each row, how many entries and labels there are up to its end, and its query id
    indices: np.ndarray
    values: np.ndarray
    state: State
    fault: Fault | None


def read_pieces(lines: Lines, rules: Rules, threads: int) -> list[Piece]:
    """The pieces of a file in order, up to the first that has a fault."""
    pieces: dict[int, Piece] = {}
    # The first chunk alone: two threads that meet a kernel for the first time would both compile it, and most files have one chunk.
    _work(lines, rules, pieces, 1)
    if not lines.ended:
        in_parallel([(_work, lines, rules, pieces)] * threads)
    return [pieces[number] for number in sorted(pieces)]


def _work(lines: Lines, rules: Rules, pieces: dict[int, Piece], most: float = np.inf) -> None:
    """Take chunks and parse them until none is left or something is wrong."""
    desk, buffer = _Desk(rules), bytearray()
    while most > 0:
        most -= 1
        try:
            taken = lines.take(buffer, PADDING)
        except Damaged as error:
            pieces[lines.taken - 1] = desk.piece(NOTHING, Fault(error.line, 0, str(error)))
            return
        except BaseException:
            lines.stop()
            raise
        if taken is None:
            return
        number, buffer, size = taken
        pieces[number] = desk.parse(buffer, size)
        if pieces[number].fault:
            lines.stop()


NOTHING = State(0, 0, 0, 0, 0, HIGHEST_INDEX, -1, 0, FINE, 0)


class _Desk:
    """Arrays that a thread parses one chunk after another into: virtual memory for the worst case, used as far as it is needed."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.reserve(0)

    def reserve(self, size: int) -> None:
        """Make room for so many bytes of text."""
        self.size = size
        self.labels = np.empty(size // ROW + 1)
        self.rows = np.empty((size // ROW + 1, 3), dtype=np.int64)
        self.indices = np.empty(size // ENTRY + 1, dtype=np.int64)
        self.values = np.empty(size // ENTRY + 1)
        self.undecided = np.empty(size // LONG + 1, dtype=np.int64)

    def parse(self, text: bytearray, size: int) -> Piece:
        """The numbers in so many bytes."""
        if size > self.size:
            self.reserve(size)
        rules = (self.rules.least, self.rules.limit, self.rules.bound, self.rules.multilabel, self.rules.qid)
        arrays = (self.labels, self.rows, self.indices, self.values, self.undecided)
        with np.errstate(over="ignore"):  # for integers that wrap around by design, when nothing is compiled
            state = State(*map(int, parse(np.frombuffer(text, dtype=np.uint8), size, *rules, *arrays)))
        overflow = self._settle(text, state)
        if overflow is not None:
            state = state._replace(fault=FINITE, at=overflow)
        if state.fault == FINE:
            return self.piece(state, None)
        return self.piece(state, Fault(*faults.place(text, state.at), faults.describe(state.fault, text, state.at, self.rules)))

    def _settle(self, text: bytearray, state: State) -> int | None:
        """Let Python read the numbers that were left to it; the place of one that is past the largest number, if there is one."""
        if state.undecided == 0:
            return None
        waiting = [iter(np.flatnonzero(np.isnan(a[:n]))) for a, n in ((self.labels, state.labels), (self.values, state.entries))]
        for at in self.undecided[: state.undecided].tolist():
            target, which = (self.values, waiting[1]) if at >= 0 else (self.labels, waiting[0])
            at = max(at, ~at)
            value = target[next(which)] = float(faults.word_at(text, at).partition(",")[0])
            if abs(value) >= (self.rules.bound if target is self.values else np.inf):
                return at
        return None

    def piece(self, state: State, fault: Fault | None) -> Piece:
        """What was read, in arrays of its own."""
        return Piece(
            self.labels[: state.labels].copy(),
            self.rows[: state.rows].copy(),
            self.indices[: state.entries].astype(np.int32 if state.highest <= INT32_MAX else np.int64),
            self.values[: state.entries].astype(self.rules.dtype),
            state,
            fault,
        )

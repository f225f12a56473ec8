"""A file's chunks of whole lines, taken by several threads in turn, and the numbers in them."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.threads import in_parallel
from fenchel.datasets.svmlight import faults
from fenchel.datasets.svmlight.floats import PADDING
from fenchel.datasets.svmlight.parse import FINE, FINITE, HIGHEST_INDEX, Rules, State, parse
from fenchel.datasets.text_files import Damaged, Lines
from fenchel.linalg.storage import INT32_MAX

ENTRY, ROW, LONG = 4, 2, 20  # bytes that an entry, a label or row, and a number left to Python take at least


class Fault(NamedTuple):
    """What is wrong, and in which line, from 1, and column; column 0 is unknown."""

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

    def copy(self) -> Piece:
        """The same in arrays of its own."""
        return Piece(self.labels.copy(), self.rows.copy(), self.indices.copy(), self.values.copy(), self.state, self.fault)


class Growing:
    """An array that grows at its end, to the length that its file seems to need: pages that are not used take no memory."""

    def __init__(self, dtype: Any) -> None:
        self.array, self.size = np.empty(0, dtype=dtype), 0

    def extend(self, part: np.ndarray, share: float) -> None:
        """Put these behind the others; it is known that this share of the file has been read."""
        size = self.size + len(part)
        if size > len(self.array):
            self._grow(int(size / share * 1.02) + size // 8)
        self.array[self.size : size] = part
        self.size = size

    def _grow(self, room: int) -> None:
        array = np.empty(room, dtype=self.array.dtype)
        array[: self.size] = self.array[: self.size]
        self.array = array

    def finish(self) -> np.ndarray:
        """All of it, and no more room."""
        self.array.resize(self.size, refcheck=False)
        return self.array


class Gathering:
    """The pieces of a file put together in order, whenever the next one is there."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.lock = threading.Lock()
        self.waiting: dict[int, Piece] = {}
        self.pieces = self.lines = 0
        self.fault: Fault | None = None
        self.lowest, self.highest, self.highest_line = HIGHEST_INDEX, -1, 0
        self.labels, self.ends, self.label_ends, self.qids = Growing(np.float64), Growing(np.int64), Growing(np.int64), Growing(np.int64)
        self.indices, self.values = Growing(np.int32), Growing(rules.dtype)

    def add(self, number: int, piece: Piece, share: float) -> None:
        """Take the piece with this number, whose arrays may be written over afterwards; this share of the file has been read."""
        with self.lock:
            self.waiting[number] = piece if number == self.pieces else piece.copy()
            while self.pieces in self.waiting:
                self._append(self.waiting.pop(self.pieces), share)
                self.pieces += 1

    def _append(self, piece: Piece, share: float) -> None:
        if self.fault:
            return
        if piece.fault:
            self.fault = piece.fault._replace(line=self.lines + piece.fault.line)
            return
        self.lowest = min(self.lowest, piece.state.lowest)
        if piece.state.highest > self.highest:
            self.highest, self.highest_line = piece.state.highest, self.lines + piece.state.line + 1
        self.lines += piece.state.lines
        self.ends.extend(piece.rows[:, 0] + self.indices.size, share)
        if self.rules.multilabel:
            self.label_ends.extend(piece.rows[:, 1] + self.labels.size, share)
        if self.rules.qid:
            self.qids.extend(piece.rows[:, 2], share)
        self.labels.extend(piece.labels, share)
        if self.highest > INT32_MAX and self.indices.array.dtype == np.int32:
            self.indices.array = self.indices.array.astype(np.int64)
        self.indices.extend(piece.indices, share)
        self.values.extend(piece.values, share)


def gather(lines: Lines, rules: Rules, threads: int) -> Gathering:
    """The numbers of a file, up to the first fault."""
    gathering = Gathering(rules)
    # The first chunk alone: two threads that meet a kernel for the first time would both compile it, and most files have one chunk.
    _work(lines, gathering, 1)
    if not lines.ended:
        in_parallel([(_work, lines, gathering)] * threads)
    return gathering


def _work(lines: Lines, gathering: Gathering, most: float = np.inf) -> None:
    """Take chunks and parse them until none is left or something is wrong."""
    desk, buffer = _Desk(gathering.rules), bytearray()
    while most > 0:
        most -= 1
        try:
            taken = lines.take(buffer, PADDING)
        except Damaged as error:
            gathering.add(lines.taken - 1, desk.piece(NOTHING, Fault(error.line, 0, str(error))), 1.0)
            return
        if taken is None:
            return
        number, buffer, size = taken
        try:
            piece = desk.parse(buffer, size)
            gathering.add(number, piece, lines.fraction_read())
        except BaseException:
            lines.stop()
            raise
        if piece.fault:
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
        """What was read, in arrays that the next chunk will be written to."""
        labels, rows = self.labels[: state.labels], self.rows[: state.rows]
        return Piece(labels, rows, self.indices[: state.entries], self.values[: state.entries], state, fault)

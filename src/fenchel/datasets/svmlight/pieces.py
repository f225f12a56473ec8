"""Parse the chunks of a file in several threads and join the results in order."""

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

ENTRY, ROW, LONG = 4, 2, 20  # smallest sizes in bytes of an entry, of a label or row, and of a number that Python's float must read


MOST_GROWTH = 4  # of an array at a time: the start of a compressed file may say little about the rest


class Fault(NamedTuple):
    """An error message with its line and column, counted from 1; column 0 is unknown."""

    line: int
    column: int
    sentence: str


class Piece(NamedTuple):
    """The numbers of one chunk."""

    labels: np.ndarray
    rows: np.ndarray  #: for each row the numbers of entries and labels up to its end, and its query id
    indices: np.ndarray
    values: np.ndarray
    state: State
    fault: Fault | None

    def copy(self) -> Piece:
        """A copy that does not share arrays."""
        return Piece(self.labels.copy(), self.rows.copy(), self.indices.copy(), self.values.copy(), self.state, self.fault)


class GrowingArray:
    """An array that is extended at its end; it grows to the estimated size for the whole file, as unused pages take no memory."""

    def __init__(self, dtype: Any) -> None:
        self.array, self.size = np.empty(0, dtype=dtype), 0

    def extend(self, part: np.ndarray, share: float) -> None:
        """Append the part; ``share`` is the share of the file read so far."""
        size = self.size + len(part)
        if size > len(self.array):
            self._grow(min(int(size / share * 1.02) + size // 8, MOST_GROWTH * size))
        self.array[self.size : size] = part
        self.size = size

    def _grow(self, room: int) -> None:
        array = np.empty(room, dtype=self.array.dtype)
        array[: self.size] = self.array[: self.size]
        self.array = array

    def widen(self) -> None:
        """Make room for 64-bit integers."""
        if self.array.dtype == np.int32:
            self.array = self.array.astype(np.int64)

    def finish(self) -> np.ndarray:
        """The array, shrunk to its contents."""
        self.array.resize(self.size, refcheck=False)
        return self.array


class ParsedFile:
    """The pieces of a file, joined in order as they become available."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.lock = threading.Lock()
        self.waiting: dict[int, Piece] = {}
        self.pieces = self.lines = 0
        self.fault: Fault | None = None
        self.lowest, self.highest, self.highest_line = HIGHEST_INDEX, -1, 0
        self.labels, self.ends = GrowingArray(np.float64), GrowingArray(np.int32)
        self.ends.extend(np.zeros(1, dtype=np.int32), 1.0)  # the first row begins at 0
        self.label_ends, self.qids = GrowingArray(np.int64), GrowingArray(np.int64)
        self.indices, self.values = GrowingArray(np.int32), GrowingArray(rules.dtype)

    def add(self, number: int, piece: Piece, share: float) -> None:
        """Add the piece with this number, whose arrays may be overwritten afterwards; ``share`` of the file has been read."""
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
        if self.indices.size + len(piece.indices) > INT32_MAX:
            self.ends.widen()
        self.ends.extend(piece.rows[:, 0] + self.indices.size, share)
        if self.rules.multilabel:
            self.label_ends.extend(piece.rows[:, 1] + self.labels.size, share)
        if self.rules.qid:
            self.qids.extend(piece.rows[:, 2], share)
        self.labels.extend(piece.labels, share)
        if self.highest > INT32_MAX:
            self.indices.widen()
        self.indices.extend(piece.indices, share)
        self.values.extend(piece.values, share)


def parse_file(lines: Lines, rules: Rules, threads: int) -> ParsedFile:
    """Parse a file up to the first fault."""
    parsed = ParsedFile(rules)
    # The first chunk in this thread: otherwise every thread would compile the kernel, and most files have only one chunk.
    _work(lines, parsed, 1)
    if not lines.ended:
        in_parallel([(_work, lines, parsed)] * threads)
    return parsed


def _work(lines: Lines, parsed: ParsedFile, most: float = np.inf) -> None:
    """Take chunks and parse them until none is left or there is a fault."""
    workspace, buffer = Workspace(parsed.rules), bytearray()
    while most > 0:
        most -= 1
        try:
            taken = lines.take(buffer, PADDING)
        except Damaged as error:
            parsed.add(lines.taken - 1, workspace.piece(NOTHING, Fault(error.line, 0, str(error))), 1.0)
            return
        if taken is None:
            return
        number, buffer, size = taken
        try:
            piece = workspace.parse(buffer, size)
            parsed.add(number, piece, lines.fraction_read())
        except BaseException:
            lines.stop()
            raise
        if piece.fault:
            lines.stop()


NOTHING = State(0, 0, 0, 0, 0, HIGHEST_INDEX, -1, 0, FINE, 0)


class Workspace:
    """The arrays of one thread, reused for every chunk: sized for the worst case, of which only the pages in use take memory."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.reserve(0)

    def reserve(self, size: int) -> None:
        """Allocate arrays for this many bytes of text."""
        self.size = size
        self.labels = np.empty(size // ROW + 1)
        self.rows = np.empty((size // ROW + 1, 3), dtype=np.int64)
        self.indices = np.empty(size // ENTRY + 1, dtype=np.int64)
        self.values = np.empty(size // ENTRY + 1)
        self.undecided = np.empty(size // LONG + 1, dtype=np.int64)

    def parse(self, text: bytearray, size: int) -> Piece:
        """Parse the first ``size`` bytes."""
        if size > self.size:
            self.reserve(size)
        rules = (self.rules.least, self.rules.limit, self.rules.bound, self.rules.multilabel, self.rules.qid)
        arrays = (self.labels, self.rows, self.indices, self.values, self.undecided)
        with np.errstate(over="ignore"):  # integers wrap around by design; without compilation NumPy would warn
            state = State(*map(int, parse(np.frombuffer(text, dtype=np.uint8), size, *rules, *arrays)))
        overflow = self._read_undecided(text, state)
        if overflow is not None:
            state = state._replace(fault=FINITE, at=overflow)
        if state.fault == FINE:
            return self.piece(state, None)
        return self.piece(state, Fault(*faults.place(text, state.at), faults.describe(state.fault, text, state.at, self.rules)))

    def _read_undecided(self, text: bytearray, state: State) -> int | None:
        """Read the undecided numbers with Python's float; the position of one that is too large, or None."""
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
        """The parsed numbers, in arrays that the next chunk will overwrite."""
        labels, rows = self.labels[: state.labels], self.rows[: state.rows]
        return Piece(labels, rows, self.indices[: state.entries], self.values[: state.entries], state, fault)

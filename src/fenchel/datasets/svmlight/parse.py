"""Parse lines ``label[,label...] [qid:n] index:value ... # comment`` into arrays, in one pass of compiled code.

A text ends with a newline and ``PADDING`` more bytes: every loop below then ends without a check of the length, and eight bytes can
be read at any position. At the first fault parsing stops; the state holds its kind and position.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled, inlined, kernel
from fenchel.datasets.svmlight.floats import MINUS, PLUS, before, decimal, digit, number, others, word

NEWLINE, HASH, COMMA, COLON, Q, I, D = (ord(c) for c in "\n#,:qid")
BLANK = np.array([chr(byte) in " \t\v\f\r" for byte in range(256)])
ENDS_WORD = np.array([chr(byte) in " \t\v\f\r\n#" for byte in range(256)])
HIGHEST_INDEX = 2**62
HIGHEST_QID = 10**18

FINE, LABEL, FINITE, QID, NO_QID, INDEX, ORDER, HIGH, VALUE = range(9)  # kinds of faults


class Rules(NamedTuple):
    """The requirements on a file."""

    base: int | None  #: the index of the first column; None means 0 if that index occurs, else 1
    features: int | None
    dtype: np.dtype[Any]  #: of the values
    multilabel: bool
    qid: bool

    @property
    def least(self) -> int:
        """The lowest allowed index."""
        return self.base or 0

    @property
    def limit(self) -> int:
        """The highest index that is allowed for some base; the exact limit is checked once the base is known."""
        return HIGHEST_INDEX if self.features is None else self.features - (self.base == 0)

    @property
    def bound(self) -> float:
        """The smallest number that is rounded to infinity."""
        return math.inf if self.dtype == np.float64 else 2.0**128 - 2.0**103


class State(NamedTuple):
    """The counts of what was parsed, and the fault if there is one."""

    lines: int
    rows: int
    labels: int
    entries: int
    undecided: int
    lowest: int  #: the lowest index
    highest: int  #: the highest index
    line: int  #: the first line with the highest index, from 0
    fault: int  #: FINE, or the kind of fault
    at: int  #: its position in the text


@inlined
def skip_blanks(text, i):
    """The next position that is not blank."""
    while BLANK[text[i]]:
        i += 1
    return i


@compiled
def has_colon(text, i):
    """Whether the word at i contains a colon, in which case it is not a label."""
    while not ENDS_WORD[text[i]]:
        if text[i] == COLON:
            return True
        i += 1
    return False


@inlined
def read_index(text, i):
    """The index at i: the position after it, and its value; position i if there is no index."""
    bytes8 = word(text, i)
    count = before(others(bytes8))
    if count == 0:
        return i, 0
    index: Any = np.int64(decimal(bytes8, count))
    i += count
    while count == 8 and 0 <= digit(text[i]) <= 9:
        index = 10 * min(index, HIGHEST_INDEX // 10 + 1) + digit(text[i])
        i += 1
    return i, index


@compiled
def read_qid(text, i):
    """The query id whose ``qid:`` is at i: the position after it, and its value; position -1 if it is invalid."""
    i += 4
    negative = text[i] == MINUS
    i += negative or text[i] == PLUS
    end, value = read_index(text, i)
    if end == i or value > HIGHEST_QID or not ENDS_WORD[text[end]]:
        return -1, 0
    return end, -value if negative else value


@inlined
def read_labels(text, i, multilabel, labels, k, undecided, u):
    """Parse the labels at i: the position after them, the new counts of labels and of undecided numbers, and the fault."""
    if multilabel and has_colon(text, i):
        return i, k, u, FINE
    while True:
        end, value = number(text, i)
        last = ENDS_WORD[text[end]]
        if end == i or not (last or (multilabel and text[end] == COMMA)):
            return i, k, u, LABEL
        if math.isinf(value):
            return i, k, u, FINITE
        if math.isnan(value):
            undecided[u] = ~i
            u += 1
        labels[k] = value
        k += 1
        i = end
        if last:
            return i, k, u, FINE
        i += 1


@inlined
def read_entries(text, i, least, limit, bound, indices, values, k, undecided, u):
    """Parse the entries at i: the position after them, the new counts of entries and of undecided numbers, and the fault."""
    previous = least - 1
    while True:
        i = skip_blanks(text, i)
        if text[i] == NEWLINE or text[i] == HASH:
            return i, k, u, FINE
        end, index = read_index(text, i)
        if end == i or text[end] != COLON:
            return i, k, u, INDEX
        if index <= previous:
            return i, k, u, ORDER
        if index > limit:
            return i, k, u, HIGH
        begin = end + 1
        end, value = number(text, begin)
        if end == begin or not ENDS_WORD[text[end]]:
            return begin, k, u, VALUE
        if abs(value) >= bound:
            return begin, k, u, FINITE
        indices[k], values[k] = index, value
        if math.isnan(value):
            undecided[u] = begin
            u += 1
        previous, i = index, end
        k += 1


@kernel
def parse(text, size, least, limit, bound, multilabel, qid, labels, rows, indices, values, undecided):
    """Parse ``size`` bytes of text, the last of which is a newline; the fields of a ``State``."""
    i = n = k = u = np.int64(0)  # a literal 0 has a type of its own, for which functions would be compiled again
    lines, row, fault = 0, 0, FINE
    lowest, highest, line = HIGHEST_INDEX, -1, 0
    while i < size:
        i = skip_blanks(text, i)
        if text[i] != NEWLINE and text[i] != HASH:
            i, n, u, fault = read_labels(text, i, multilabel, labels, n, undecided, u)
            if fault != FINE:
                break
            i = skip_blanks(text, i)
            if text[i] == Q and text[i + 1] == I and text[i + 2] == D and text[i + 3] == COLON:
                end, value = read_qid(text, i)
                if end < 0:
                    fault = QID
                    break
                i = end
                rows[row, 2] = value
            elif qid:
                fault = NO_QID
                break
            first = k
            i, k, u, fault = read_entries(text, i, least, limit, bound, indices, values, k, undecided, u)
            if fault != FINE:
                break
            if k > first:
                lowest = min(lowest, indices[first])
                if indices[k - 1] > highest:
                    highest, line = indices[k - 1], lines
            rows[row, 0], rows[row, 1] = k, n
            row += 1
        while text[i] != NEWLINE:
            i += 1
        i += 1
        lines += 1
    return lines, row, n, k, u, lowest, highest, line, fault, i

"""Error messages for svmlight text."""

from __future__ import annotations

import re
from collections.abc import Callable

from fenchel.datasets.svmlight.parse import FINITE, HIGH, INDEX, LABEL, NO_QID, ORDER, QID, VALUE, Rules

NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)
WORD = re.compile(rb"[^\s#]*")
SHOWN = 40  # characters of the text to show in a message


def describe(fault: int, text: bytes | bytearray, at: int, rules: Rules) -> str:
    """The message for a fault at this position: what was found, and what to do."""
    before = text[max(text.rfind(b"\n", 0, at) + 1, at - 100) : at]
    return DESCRIPTIONS[fault](word_at(text, at), bytes(before), rules)


def word_at(text: bytes | bytearray, at: int) -> str:
    """The text from this position to the next blank or comment."""
    found = WORD.match(text, at)
    return found.group().decode("ascii", "backslashreplace") if found else ""


def place(text: bytes | bytearray, at: int) -> tuple[int, int]:
    """Line and column of a position, from 1."""
    return text.count(b"\n", 0, at) + 1, at - text.rfind(b"\n", 0, at)


def shown(word: str) -> str:
    """A word in quotes, shortened if it is long."""
    return repr(word if len(word) <= SHOWN else word[:SHOWN] + "...")


def _label(word: str, before: bytes, rules: Rules) -> str:
    label = next((part for part in word.split(",") if NOT_FINITE.fullmatch(part)), None)
    if label is not None:
        return f"the label {shown(label)} is not finite; labels must be finite numbers."
    if ":" in word:
        return f"{shown(word)} is in the place of the label; begin every line with a label such as 1 or -1."
    if "," in word and not rules.multilabel:
        return f"{shown(word)} is more than one label; read such files with multilabel=True."
    return f"{shown(word)} is not a label; begin every line with a number such as 1 or -1."


def _value(word: str, before: bytes, rules: Rules) -> str:
    if NOT_FINITE.fullmatch(word):
        return f"the value {shown(word)} is not finite; values must be finite numbers."
    if not word:
        return "there is no value after the colon; write index:value with a number such as 0.5."
    return f"{shown(word)} is not a number; write index:value with a number such as 0.5."


def _finite(word: str, before: bytes, rules: Rules) -> str:
    return f"{shown(word)} is too large for its floating-point type; values and labels must be finite numbers."


def _index(word: str, before: bytes, rules: Rules) -> str:
    if re.match(r"-\d+:", word):
        return f"the index {shown(word.partition(':')[0])} is negative; indices count from 0 or 1."
    return f"{shown(word)} is not index:value; write for instance 3:0.5, and # before a comment."


def _order(word: str, before: bytes, rules: Rules) -> str:
    index = word.partition(":")[0].lstrip("0") or "0"
    if int(index) < rules.least:
        return f"the index {index} is below index_base={rules.least}; read the file with index_base=0 or 'auto'."
    last = re.search(rb"(\d+):[^:]*$", before)
    after = f" after {last.group(1).decode()}" if last else ""
    return f"the index {shown(index)} comes{after}; the indices of a row must be strictly increasing."


def _high(word: str, before: bytes, rules: Rules) -> str:
    index = word.partition(":")[0]
    if rules.features is None:
        return f"the index {shown(index)} is too large; indices can be at most 2**62."
    return f"the index {shown(index)} exceeds features={rules.features}; give a larger number of features, or leave it out to read all."


def _qid(word: str, before: bytes, rules: Rules) -> str:
    return f"{shown(word)} is not a query id; write qid: and a whole number."


def _no_qid(word: str, before: bytes, rules: Rules) -> str:
    return "there is no qid:number after the label; with qid=True every row needs one."


DESCRIPTIONS: dict[int, Callable[[str, bytes, Rules], str]] = {
    LABEL: _label,
    VALUE: _value,
    FINITE: _finite,
    INDEX: _index,
    ORDER: _order,
    HIGH: _high,
    QID: _qid,
    NO_QID: _no_qid,
}

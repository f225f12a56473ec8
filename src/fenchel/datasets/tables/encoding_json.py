"""Encodings as JSON text and back; text from a file is validated."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

from fenchel.core.errors import InputError
from fenchel.datasets.tables.column import Column

FORMAT = "fenchel-encoding-1"
MOST_COLUMNS = 2**31 - 1


class _Refused(ValueError):
    """The text is not a valid encoding."""


def dumps(encoding: Any) -> str:
    """An :class:`~fenchel.datasets.tables.encoding.Encoding` as text."""
    return json.dumps({"format": FORMAT, **dataclasses.asdict(encoding)}, ensure_ascii=False, allow_nan=False)


def loads(text: str | bytes) -> tuple[tuple[Column, ...], Column | None, str | None]:
    """The fields of the encoding in the text, or an error that states what is wrong."""
    try:
        found = json.loads(text, parse_constant=_no_constant)
        _need(isinstance(found, dict) and found.get("format") == FORMAT, f"its format is not {FORMAT!r}")
        _need(set(found) <= {"format", "columns", "target", "sample_weight"}, "it has unknown entries")
        given = found.get("columns")
        _need(isinstance(given, list) and len(given) > 0, "its columns are not a list")
        columns = tuple(_column(column) for column in given)
        target = None if found.get("target") is None else _column(found["target"])
        sample_weight = found.get("sample_weight")
        _need(sample_weight is None or isinstance(sample_weight, str), "its sample_weight is not a name")
        _need(len({column.name for column in columns}) == len(columns), "two of its columns have the same name")
        _need(sum(column.width for column in columns) <= MOST_COLUMNS, "it has too many columns")
    except (ValueError, RecursionError, OverflowError) as error:
        reason = str(error) if isinstance(error, _Refused) else "it is not JSON"
        raise InputError(f"This is not an encoding written by fenchel: {reason}.") from None
    return columns, target, sample_weight


def _column(found: Any) -> Column:
    _need(isinstance(found, dict) and set(found) <= {"name", "kind", "categories", "fill"}, "a column is not a name, a kind and its values")
    name, kind, categories, fill = (found.get(key) for key in ("name", "kind", "categories", "fill"))
    _need(isinstance(name, str) and kind in ("number", "category"), "a column has no name, or is neither number nor category")
    categories = [] if categories is None else categories
    _need(isinstance(categories, list) and all(isinstance(text, str) for text in categories), f"the categories of {name!r} are not texts")
    _need(len(set(categories)) == len(categories), f"a category of {name!r} occurs twice")
    _need(not categories or kind == "category", f"{name!r} is a number and has categories")
    number = isinstance(fill, (int, float)) and not isinstance(fill, bool) and kind == "number"
    _need(fill is None or (number and math.isfinite(fill)), f"the replacement for a missing {name!r} is not a number")
    return Column(name, kind, tuple(categories), None if fill is None else float(fill))


def _need(holds: bool, otherwise: str) -> None:
    if not holds:
        raise _Refused(otherwise)


def _no_constant(name: str) -> None:
    raise _Refused(f"{name} is not a number")

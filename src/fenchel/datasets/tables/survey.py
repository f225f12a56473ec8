"""A summary of each column of a table, whether or not the table can be used for training."""

from __future__ import annotations

from typing import Any, NamedTuple

from fenchel.datasets.tables import arrow_columns as arrow


class ColumnSummary(NamedTuple):
    """A summary: ``different`` counts distinct texts that are not missing; ``smallest`` and ``largest`` are for numbers and dates."""

    name: str
    kind: str
    missing: int
    different: int | None = None
    smallest: Any = None
    largest: Any = None


def survey(table: Any) -> list[ColumnSummary]:
    """Summarise each column of a table.

    >>> import pyarrow as pa
    >>> for summary in survey(pa.table({"size": [1.0, None, 3.0], "colour": ["red", "blue", "red"]})):
    ...     print(*summary)
    size number 1 None 1.0 3.0
    colour text 0 2 None None
    """
    table = arrow.as_table(table)
    return [_summary(name, table[name]) for name in table.column_names]


def _summary(name: str, values: Any) -> ColumnSummary:
    import pyarrow.compute as pc
    import pyarrow.types as types

    kind = kind_in_words(values.type)
    if kind == "text":
        return ColumnSummary(name, kind, values.null_count, len(arrow.different(values) - {""}))
    if kind in ("number", "date"):
        held = pc.drop_null(values)
        held = held.filter(pc.invert(pc.is_nan(held))) if types.is_floating(values.type) else held
        ends = pc.min_max(held)
        return ColumnSummary(name, kind, len(values) - len(held), None, ends["min"].as_py(), ends["max"].as_py())
    return ColumnSummary(name, kind, values.null_count)


def kind_in_words(held: Any) -> str:
    """A common word for an Arrow type; Arrow's own name for types that cannot be encoded."""
    import pyarrow.types as types

    if types.is_dictionary(held) or types.is_string(held) or types.is_large_string(held) or types.is_string_view(held):
        return "text"
    if types.is_integer(held) or types.is_floating(held) or types.is_decimal(held):
        return "number"
    words = {"true/false": types.is_boolean, "date": types.is_temporal, "empty": types.is_null}
    return next((word for word, holds in words.items() if holds(held)), str(held))

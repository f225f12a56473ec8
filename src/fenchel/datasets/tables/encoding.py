"""The encoding of the columns of a table as columns of a matrix, which can be applied to further tables.

Numbers and booleans are kept. Text becomes one 0/1 column per category, called ``colour=red``; missing text is a separate
category, ``colour=``. A missing number (or nan) is refused unless the user chooses a replacement, because both zeros and means
change the model, and only the user knows which is harmless.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fenchel.core.errors import Argument, InputError, InputWarning, users_line
from fenchel.core.messages import counted, shortened
from fenchel.core.validation import checked_choice
from fenchel.datasets.data import Data
from fenchel.datasets.tables import arrow_columns as arrow, encoding_json
from fenchel.datasets.tables.column import Column
from fenchel.datasets.tables.column_facts import ColumnFacts

TARGETS = ("target", "label", "class", "y")
NAMED = 30  # number of columns that a message lists
FEW_CATEGORIES, MANY_CATEGORIES = 100, 100_000  # limits on the categories of a text column for small and large tables


@dataclass(frozen=True)
class Encoding:
    """The columns that a table must have, and how each is encoded.

    >>> import pyarrow as pa
    >>> table = pa.table({"size": [1.0, 2.5, 3.0], "colour": ["red", "blue", None], "class": ["yes", "no", "no"]})
    >>> encoding = Encoding.fit(table)
    >>> encoding.feature_names
    ('size', 'colour=', 'colour=blue', 'colour=red')
    >>> data = encoding.transform(table)
    >>> data.X.tolist(), data.y.tolist()
    ([[1.0, 0.0, 0.0, 1.0], [2.5, 0.0, 1.0, 0.0], [3.0, 1.0, 0.0, 0.0]], ['yes', 'no', 'no'])
    >>> Encoding.from_json(encoding.to_json()) == encoding
    True
    """

    columns: tuple[Column, ...]
    target: Column | None = None
    sample_weight: str | None = None

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the columns of X."""
        return tuple(name for column in self.columns for name in column.feature_names)

    @classmethod
    def fit(
        cls,
        table: Any,
        target: str | None = None,
        *,
        features: str | Sequence[str] | None = None,
        drop: str | Sequence[str] = (),
        sample_weight: str | None = None,
        missing: str | None = None,
        max_categories: int | None = None,
    ) -> Encoding:
        """The encoding for the columns of a table: an Arrow table, or a data frame of pandas or polars.

        ``features`` are the columns to use, by default all but ``target`` (by default the one named target, label, class or y),
        ``sample_weight`` and those to ``drop``. ``missing="zero"`` or ``"mean"`` chooses the replacement for missing numbers. A text
        column with more than 100,000 different values, or with more than half as many as rows (if more than 100), is probably an
        identifier and is refused; ``max_categories`` sets another limit.
        """
        table = arrow.as_table(table)
        target, used = chosen_columns(table, target, features, drop, sample_weight, missing)
        limit = most_categories(max_categories, table.num_rows)
        fitted = tuple(_fitted(name, table[name], missing, limit) for name in used)
        target_column = Column(target, arrow.column_kind(target, table[target], "target"))
        if target_column.kind == "category":
            _warn_of_mixture(target, table[target], "classes", "correct it.")
        return cls(fitted, target_column, sample_weight)

    def transform(self, table: Any, dtype: Any = np.float64) -> Data:
        """Encode a table: X is CSR if that takes less than half the memory of a dense array; y is None without a target column."""
        table = arrow.as_table(table)
        present = set(table.column_names)
        missing = [column.name for column in self.columns if column.name not in present]
        if missing:
            raise InputError(f"The table lacks {', '.join(map(repr, missing))}: give all columns that the encoding was fitted on.")
        pieces = [_encoded(column, table[column.name]) for column in self.columns]
        X = arrow.assemble(pieces, [column.width for column in self.columns], table.num_rows, dtype)
        target = self.target.name if self.target is not None else None
        y = arrow.labels(target, table[target], self.target.kind) if self.target and target in table.column_names else None
        weight = self.sample_weight
        s = arrow.labels(weight, table[weight], "number") if weight in table.column_names else None
        return Data(X, y, self.feature_names, target, encoding=self, sample_weight=s)

    def text_columns(self) -> list[str]:
        """The columns to read as text, even if they look like numbers in another file."""
        known = [*self.columns, *([self.target] if self.target is not None else [])]
        return [column.name for column in known if column.kind == "category"]

    def to_json(self) -> str:
        """The encoding as JSON text."""
        return encoding_json.dumps(self)

    @classmethod
    def from_json(cls, text: str | bytes) -> Encoding:
        """The encoding in a JSON text, which is validated, because it may come from an untrusted source."""
        return cls(*encoding_json.loads(text))


def chosen_columns(table: Any, target: Any, features: Any, drop: Any, sample_weight: Any, missing: Any) -> tuple[str, list[str]]:
    """The target and the columns to train on, of a table or its schema."""
    target = _target(table, target)
    drop = [drop] if isinstance(drop, str) else drop
    features = [features] if isinstance(features, str) else features
    arrow.check_present(table, [*drop, *(features or ()), *([sample_weight] if sample_weight else [])])
    excluded = {target, sample_weight, *drop}
    used = [name for name in dict.fromkeys(table.column_names if features is None else features) if name not in excluded]
    if not used:
        raise InputError(
            f"The table has only the columns {', '.join(map(repr, table.column_names))}: give at least one column to train on."
        )
    if missing is not None:
        checked_choice("missing", missing, ("zero", "mean"))
    return target, used


def most_categories(given: int | None, rows: int) -> int:
    """The most different texts of a column that is encoded."""
    return given if given is not None else max(FEW_CATEGORIES, min(rows // 2, MANY_CATEGORIES))


def _target(table: Any, target: str | None) -> str:
    if target is not None:
        arrow.check_present(table, [target])
        return target
    found = [name for name in table.column_names if name.lower() in TARGETS]
    if len(found) != 1:
        problem = (
            f"Several columns may be the target, {', '.join(map(repr, found))}"
            if found
            else "No column is called target, label, class or y"
        )
        names = table.column_names
        more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
        raise InputError(
            f"{problem}: name it with ", Argument("target", ...), f". They are {', '.join(map(shortened, names[:NAMED]))}{more}."
        )
    return found[0]


def _fitted(name: str, values: Any, missing: str | None, limit: int) -> Column:
    facts = ColumnFacts(name)
    facts.add(values)
    if facts.kind == "category":
        _warn_of_mixture(name, values, "one-hot columns", "correct it, or leave the column out with ", Argument("drop", [name]), ".")
    return facts.fitted(missing, limit)


def _encoded(column: Column, values: Any) -> np.ndarray:
    """Floats for numbers, integer codes for categories, -1 for unknown ones."""
    if column.kind == "category":
        codes, unknown = arrow.codes(values, column.categories)
        _warn_of_unknown(column.name, unknown, int(np.count_nonzero(codes < 0)))
        return codes
    if arrow.column_kind(column.name, values) != "number":
        raise InputError(f"Column {column.name!r} held numbers when the encoding was fitted, and now holds text: convert it.")
    numbers, absent = arrow.numbers(column.name, values)
    if absent.any():
        if column.fill is None:
            raise InputError(
                f"Column {column.name!r} has {counted(absent.sum(), 'missing value')}, and the encoding has no replacement: "
                "fill them, or fit the encoding with ",
                Argument("missing", "zero"),
                " or ",
                Argument("missing", "mean"),
                ".",
            )
        numbers[absent] = column.fill
    return numbers


def _warn_of_mixture(name: str, values: Any, becomes: str, *advice: str | Argument) -> None:
    """Warn if a column is text only because of a few values, which may be typing errors."""
    found = arrow.mixture(values)
    if found is not None:
        message = (
            f"Column {name!r} is text and encoded as {becomes}, although {found.numbers:,} of {found.total:,} values are numbers; the "
            f"first that is not is {found.text[:40]!r}, in row {found.row:,}, counting from 1: "
        )
        warnings.warn(InputWarning(message, *advice), stacklevel=users_line())


def _warn_of_unknown(name: str, unknown: Iterable[str], count: int) -> None:
    if count:
        examples = ", ".join(repr(text[:40]) for text in list(unknown)[:3])
        warnings.warn(
            f"{count:,} rows have texts in column {name!r} that the encoding has no category for, such as {examples}: "
            "they are encoded as zeros.",
            stacklevel=users_line(),
        )

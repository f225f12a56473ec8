"""What decides how a column of a table is encoded, gathered from one part of the table after another"""

from __future__ import annotations

from typing import Any

import numpy as np

from fenchel.core.errors import Argument, InputError
from fenchel.core.messages import counted
from fenchel.datasets.tables import arrow_columns as arrow
from fenchel.datasets.tables.column import Column


class ColumnFacts:
    """The kind of a column, its different texts, or its missing numbers and the sum of the others.

    >>> import pyarrow as pa
    >>> facts = ColumnFacts("size")
    >>> for part in ([1.0, None], [5.0]):
    ...     facts.add(pa.chunked_array([part]))
    >>> facts.fitted("mean", 100)
    Column(name='size', kind='number', categories=(), fill=3.0)
    """

    def __init__(self, name: str) -> None:
        self.name, self.kind = name, ""
        self.rows = self.missing = 0
        self.total = 0.0
        self.texts: set[str] = set()

    def add(self, values: Any, limit: float = np.inf) -> None:
        """Take a part into account; ``limit`` is the largest number of texts that are kept."""
        self.kind = arrow.column_kind(self.name, values)
        self.rows += len(values)
        if self.kind == "category":
            if len(self.texts) <= limit:
                self.texts |= arrow.different(values)
            return
        numbers, absent = arrow.numbers(self.name, values)
        self.missing += int(absent.sum())
        self.total += float(numbers[~absent].sum())

    def fitted(self, missing: str | None, limit: int) -> Column:
        """The column of an encoding."""
        if self.kind == "category":
            return Column(self.name, "category", self._categories(limit))
        if missing is None:
            if self.missing:
                raise InputError(
                    f"Column {self.name!r} has {counted(self.missing, 'missing value')} in {self.rows:,} rows: choose a replacement with ",
                    Argument("missing", "zero"),
                    " or ",
                    Argument("missing", "mean"),
                    ", or leave the column out with ",
                    Argument("drop", [self.name]),
                    ".",
                )
            return Column(self.name, "number")
        if missing == "mean" and self.missing == self.rows:
            raise InputError(f"Column {self.name!r} has no values and so no mean: leave it out with ", Argument("drop", [self.name]), ".")
        return Column(self.name, "number", fill=self.total / (self.rows - self.missing) if missing == "mean" else 0.0)

    def _categories(self, limit: int) -> tuple[str, ...]:
        if len(self.texts) > limit:
            raise InputError(
                f"Column {self.name!r} has {len(self.texts):,} different texts in {self.rows:,} rows, as identifiers have: leave it "
                "out with ",
                Argument("drop", [self.name]),
                ", or give ",
                Argument("max_categories", len(self.texts)),
                " if each of them should have a weight.",
            )
        return tuple(sorted(self.texts))

"""The rows of tables, batch after batch: a first pass finds their encoding, a second one encodes them"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.errors import InputError
from fenchel.datasets.tables import arrow_columns as arrow
from fenchel.datasets.tables.arrow_columns import check_names
from fenchel.datasets.tables.column import Column
from fenchel.datasets.tables.column_facts import ColumnFacts
from fenchel.datasets.tables.encoding import Encoding, chosen_columns, most_categories
from fenchel.datasets.tables.read import DELIMITERS
from fenchel.datasets.text_files import DAMAGE, gist, open_binary

BATCH = 1 << 24  # bytes of CSV text in a batch
ROWS = 1 << 16  # of Parquet in a batch
MOST_TEXTS = 1_000_000  # different texts of a column that are kept to be counted
RAGGED = re.compile(r"Expected (\d+) columns, got (\d+): (.*)", re.DOTALL)
WRONG_TYPE = re.compile(r"In CSV column #(\d+): (?:Row #\d+: )?CSV conversion error")


class Names(NamedTuple):
    """What the choice of columns asks of a table."""

    column_names: list[str]


class TableRows:
    """Files with the same columns."""

    def __init__(
        self, files: list[Any], kind: str, features: Any, given: dict[str, Any], dtype: np.dtype[Any], max_bytes: int | None
    ) -> None:
        self.files, self.kind, self.features, self.given, self.dtype, self.max_bytes = files, kind, features, given, dtype, max_bytes
        if isinstance(features, int):
            raise InputError("features: for a table give a list of columns.")
        self.texts: set[str] = set()  # columns that are text in some batch, though not in the first
        self.schema: dict[str, Any] | None = None  # the types of all columns, once they are known

    def encoding(self) -> Encoding:
        """The encoding of all files."""
        while True:
            try:
                return self._surveyed()
            except _TextColumn as found:
                self.texts.add(found.name)

    def with_encoding(self, encoding: Encoding) -> Encoding:
        """A known encoding: its texts are read as text."""
        self.texts |= set(encoding.text_columns())
        return encoding

    def _surveyed(self) -> Encoding:
        facts: dict[str, ColumnFacts] = {}
        target, used, weight = "", list[str](), self.given.get("sample_weight")
        missing, wanted = self.given.get("missing"), self.given.get("max_categories")
        for table, _ in self._tables(None):
            if not facts:
                names = Names(table.column_names)
                target, used = chosen_columns(names, self.given.get("target"), self.features, self.given.get("drop", ()), weight, missing)
                facts = {name: ColumnFacts(name) for name in [*used, target]}
            arrow.check_present(table, list(facts))
            for name, column in facts.items():
                column.add(table[name], MOST_TEXTS)
        if not facts:
            raise InputError("The tables have headings but no rows: give files with rows.")
        limit = most_categories(wanted, facts[target].rows)
        return Encoding(tuple(facts[name].fitted(missing, limit) for name in used), Column(target, facts[target].kind), weight)

    def batches(self, encoding: Encoding, first: int) -> Iterator[tuple[int, Any, float]]:
        """Batches from number ``first`` on, encoded, and the share of the rows' bytes that are read."""
        for number, (table, share) in enumerate(self._tables(encoding)):
            if number >= first:
                yield number, encoding.transform(table, self.dtype), share

    def _tables(self, encoding: Encoding | None) -> Iterator[tuple[Any, float]]:
        import pyarrow as pa

        for number, path in enumerate(self.files):
            read = self._parquet(path) if self.kind == "parquet" else self._csv(path, encoding)
            try:
                for table, share in read:
                    if table.num_rows:
                        check_names(table.column_names)
                        yield table, (number + share) / len(self.files)
            except (pa.ArrowException, UnicodeDecodeError, *DAMAGE) as error:
                raise InputError(f"{path} cannot be read as {self.kind}: {gist(error)}.") from None

    def _parquet(self, path: Path) -> Iterator[tuple[Any, float]]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        with pq.ParquetFile(path) as file:
            done, rows = 0, max(1, file.metadata.num_rows)
            for batch in file.iter_batches(ROWS):
                done += batch.num_rows
                yield pa.Table.from_batches([batch]), done / rows

    def _csv(self, path: Path, encoding: Encoding | None) -> Iterator[tuple[Any, float]]:
        import pyarrow as pa
        from pyarrow import csv

        with open_binary(path, "table", self.max_bytes) as (file, raw):
            types = self._types(path, encoding)
            convert = csv.ConvertOptions(strings_can_be_null=True, column_types=types)
            parse = csv.ParseOptions(delimiter=DELIMITERS[self.kind], newlines_in_values=True)
            size = max(1, path.stat().st_size)
            reader = csv.open_csv(pa.PythonFile(file, "r"), csv.ReadOptions(block_size=BATCH), parse, convert)
            while True:
                try:
                    batch = reader.read_next_batch()
                except StopIteration:
                    return
                except pa.ArrowInvalid as error:
                    self._explain(path, str(error), list(types))
                    raise
                yield pa.Table.from_batches([batch]), min(1.0, raw.tell() / size)

    def _types(self, path: Path, encoding: Encoding | None) -> dict[str, Any]:
        """Types of all columns: those of the first batch, whole numbers as fractions, which later ones may be."""
        import pyarrow as pa
        import pyarrow.types as types
        from pyarrow import csv

        if self.schema is None:
            with open_binary(path, "table", self.max_bytes) as (file, _):
                convert = csv.ConvertOptions(strings_can_be_null=True)
                parse = csv.ParseOptions(delimiter=DELIMITERS[self.kind], newlines_in_values=True)
                schema = csv.open_csv(pa.PythonFile(file, "r"), csv.ReadOptions(block_size=BATCH), parse, convert).schema
            is_number = {field.name: types.is_integer(field.type) or types.is_null(field.type) for field in schema}
            self.schema = {field.name: pa.float64() if is_number[field.name] else field.type for field in schema}
        return {name: pa.string() if name in self.texts else held for name, held in self.schema.items()}

    def _explain(self, path: Path, reason: str, names: list[str]) -> None:
        ragged = RAGGED.search(reason)
        if ragged:
            text = ragged[3].strip()[:60]
            raise InputError(
                f"{path}: the line {text!r} has {ragged[2]} values, and the heading has {ragged[1]}: correct that line."
            ) from None
        wrong = WRONG_TYPE.search(reason)
        if wrong and int(wrong[1]) < len(names) and names[int(wrong[1])] not in self.texts:
            raise _TextColumn(names[int(wrong[1])]) from None


class _TextColumn(Exception):
    """A column that was taken for numbers holds text."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

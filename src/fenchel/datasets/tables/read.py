"""Read and write CSV, TSV and Parquet files with Arrow."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fenchel.core.errors import InputError
from fenchel.core.messages import counted
from fenchel.datasets.data import Data
from fenchel.datasets.decompression import Allowance
from fenchel.datasets.tables.arrow_columns import check_names, is_flat, is_text
from fenchel.datasets.text_files import DAMAGE, contents

WIDEST = 20_000  # columns of a table; with more, Arrow's bookkeeping takes more memory than the data
BLOCK = 1 << 22  # values written at a time
WHOLE = 2**31 - 2  # the largest block size that Arrow's CSV reader accepts
LONGEST_HEADING = 1 << 22  # bytes
COLUMN = 10_000  # bytes of memory that Arrow takes for each column, measured
MANY_COLUMNS = 2_000  # columns of a table that is read without threads
ALWAYS_COLUMNS = 50_000  # that any table may have
MULTIPLE = 32  # the memory that more columns may take, relative to the file
DELIMITERS = {"csv": ",", "tsv": "\t"}
RAGGED = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")


class Dialect(NamedTuple):
    """The separators of values and of decimals."""

    delimiter: str
    decimal: str = "."


def read_table(path: Path, format: str, text_columns: list[str], max_bytes: int | None = None) -> Any:
    """Read a file as an Arrow table; ``text_columns`` are read as text even if they look like numbers.

    A compressed file may expand to ``max_bytes``, by default to the limits in ``decompression.LIMITS``.
    """
    import pyarrow as pa

    try:
        unpacked = contents(path, "arrays" if format == "parquet" else "table", max_bytes)
        source = Source(path, None if unpacked is None else pa.py_buffer(unpacked.getbuffer()))
        table = _read_parquet(source, max_bytes) if format == "parquet" else _read_csv(source, format, text_columns)
        check_names(table.column_names)
        table.validate(full=format == "parquet")  # offsets and UTF-8, which the CSV reader has checked
    except (pa.ArrowException, UnicodeDecodeError, *DAMAGE) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        ragged = RAGGED.search(reason)
        if ragged:
            line, wanted, got = map(int, ragged.groups())
            raise InputError(f"{path}, line {line}: {counted(got, 'value')}, and the heading has {wanted}: correct that line.") from None
        raise InputError(f"{path} cannot be read as {format}: {_readable(reason)[:300].rstrip('.')}.") from None
    if table.num_rows == 0:
        raise InputError(f"{path} has a heading but no rows: give a file with rows.")
    return table


class Source(NamedTuple):
    """A file, and its contents if they were compressed."""

    path: Path
    contents: Any

    @property
    def size(self) -> int:
        """The number of bytes, decompressed."""
        return self.path.stat().st_size if self.contents is None else self.contents.size

    def open(self) -> Any:
        """A file of Arrow: its threads outlive the reader, and abort the process if they need Python at exit."""
        import pyarrow as pa

        return pa.OSFile(str(self.path)) if self.contents is None else pa.BufferReader(self.contents)

    def check_width(self, columns: int) -> None:
        """Refuse more columns than the file's size can explain."""
        if columns * COLUMN > max(ALWAYS_COLUMNS * COLUMN, MULTIPLE * self.size):
            raise InputError(
                f"{self.path} has {columns:,} columns in {self.size:,} bytes, too many for a table: write svmlight text or .npz instead."
            )


def _readable(text: str) -> str:
    """The text with unprintable characters replaced, so that it is safe to print."""
    return "".join(char if char.isprintable() and char != "\ufffd" else "?" for char in text)


def _read_parquet(source: Source, max_bytes: int | None) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with source.open() as file:
        facts = pq.read_metadata(file)
    source.check_width(facts.num_columns)
    groups = [facts.row_group(k) for k in range(facts.num_row_groups)]
    rows = max(facts.num_rows, sum(group.num_rows for group in groups))
    size = max(sum(group.total_byte_size for group in groups), 8 * rows * facts.num_columns)
    Allowance(str(source.path), lambda: source.size, "arrays", max_bytes).check(size)
    schema = facts.schema.to_arrow_schema()
    check_names(schema.names)
    texts = [field.name for field in schema if is_text(field.type)]
    with source.open() as opened, pq.ParquetFile(opened, read_dictionary=texts) as file:  # so that repeated texts are stored once
        # Lists and other types that are never features are not read, because a few bytes can describe millions of their values.
        flat = [field.name for field in schema if is_flat(field.type)]
        if len(flat) == len(schema):
            return file.read()
        _check_paths(source.path, flat, [facts.schema.column(k).path for k in range(facts.num_columns)])
        read = dict(zip(flat, file.read(flat).columns, strict=True))
    unread = pa.repeat(pa.scalar(b""), facts.num_rows)
    return pa.table({name: read.get(name, unread) for name in schema.names}).replace_schema_metadata(schema.metadata)


def _check_paths(path: Path, names: list[str], leaves: list[str]) -> None:
    """Refuse a column ``a`` next to a list or structure ``a.b``, because Arrow would read both."""
    for name in names:
        inner = next((leaf for leaf in leaves if leaf.startswith(f"{name}.")), None)
        if inner is not None:
            raise InputError(f"{path} has a column {name!r} and a nested column {inner!r}: rename one of them.")


def _read_csv(source: Source, format: str, text_columns: list[str]) -> Any:
    with source.open() as file:
        start = file.read(LONGEST_HEADING).lstrip(b"\r\n")
    line = start.partition(b"\n")[0]
    european = format == "csv" and b";" in line and b"," not in line  # commas in the rows are then decimal commas
    delimiter = ";" if european else DELIMITERS[format]
    columns, size = count_fields(start, delimiter)
    if size == LONGEST_HEADING:
        raise InputError(f"{source.path}: the heading is longer than {LONGEST_HEADING:,} bytes: check that the file is a table.")
    source.check_width(columns)
    if european:
        points, commas = (_read_delimited(source, Dialect(";", decimal), text_columns, columns) for decimal in ".,")
        return commas if _count_text_columns(commas) < _count_text_columns(points) else points
    return _read_delimited(source, Dialect(delimiter), text_columns, columns)


def count_fields(text: bytes, delimiter: str) -> tuple[int, int]:
    """The number of fields in the first line, which may have line breaks within quotes, and its length.

    >>> count_fields(b'a,"b,c",d\\n1,2,3', ",")
    (3, 9)
    """
    end = re.escape(delimiter).encode()
    quoted = rb'"(?:[^"]|"")*+"?+'
    field = rb"(?:%s)?+[^\r\n%s]*+" % (quoted, end)
    heading = re.match(rb"%s(?:%s%s)*+" % (field, end, field), text)[0]  # type: ignore[index]  # it matches everywhere
    return re.sub(rb"(?:^|(?<=%s))%s" % (end, quoted), b"", heading).count(delimiter.encode()) + 1, len(heading)


def _count_text_columns(table: Any) -> int:
    """The number of text columns."""
    import pyarrow.types as types

    return sum(types.is_string(field.type) for field in table.schema)


def _read_delimited(source: Source, dialect: Dialect, text_columns: list[str], columns: int) -> Any:
    import pyarrow as pa

    # Without threads the error of a line that is too short or too long names it. With them another attempt is needed for that, and Arrow
    # keeps what the first one allocated for each column.
    threads = columns <= MANY_COLUMNS
    # Types are guessed from the first block, but a later block may hold fractions or text instead of whole numbers.
    for block in (1 << 20, WHOLE):
        try:
            return _parse_csv(source, dialect, text_columns, block, threads)
        except pa.ArrowInvalid as error:
            if RAGGED.search(str(error)):
                raise
    return _parse_csv(source, dialect, text_columns, WHOLE, threads=False)


def _parse_csv(source: Source, dialect: Dialect, text_columns: list[str], block: int, threads: bool) -> Any:
    import pyarrow as pa
    from pyarrow import csv

    types = {name: pa.string() for name in text_columns}
    convert = csv.ConvertOptions(strings_can_be_null=True, column_types=types, decimal_point=dialect.decimal)
    parse = csv.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=True)
    block = min(block, max(source.size, 1))
    with source.open() as file:
        return csv.read_csv(file, csv.ReadOptions(block_size=block, use_threads=threads), parse, convert)


def write_table(file: Any, data: Data, format: str) -> None:
    """Write X and y as a table to an open file, in blocks of rows."""
    n = data.X.shape[1]
    if n > WIDEST:
        raise InputError(f"{n:,} columns are too many for a table (at most {WIDEST:,}): write svmlight text or .npz.")
    if data.qid is not None:
        raise InputError("A table cannot hold query ids: write svmlight text or .npz.")
    blocks = _blocks(data)
    first = next(blocks)
    with _writer(file, format, first.schema) as writer:
        for block in itertools.chain([first], blocks):
            writer.write_table(block)


def _blocks(data: Data) -> Iterator[Any]:
    import pyarrow as pa

    m, n = data.X.shape
    X: Any = data.X.tocsr() if sp.issparse(data.X) else np.asarray(data.X)
    names = list(data.feature_names) if data.feature_names is not None else [f"x{j + 1}" for j in range(n)]
    names += [data.target_name or "target"] if data.y is not None else []
    names += ["sample_weight"] if data.sample_weight is not None else []
    if len(set(names)) < len(names):
        raise InputError("Two columns would have the same name: give every feature and the target a different name.")
    block_rows = max(1, BLOCK // max(n, 1))
    for first in range(0, max(m, 1), block_rows):
        rows = slice(first, first + block_rows)
        dense = X[rows].toarray() if sp.issparse(X) else X[rows]
        extra = [values[rows] for values in (data.y, data.sample_weight) if values is not None]
        yield pa.table([pa.array(np.ascontiguousarray(column)) for column in [*dense.T, *extra]], names)


def _writer(file: Any, format: str, schema: Any) -> Any:
    if format == "parquet":
        import pyarrow.parquet as pq

        return pq.ParquetWriter(file, schema)
    from pyarrow import csv

    return csv.CSVWriter(file, schema, write_options=csv.WriteOptions(delimiter=DELIMITERS[format]))

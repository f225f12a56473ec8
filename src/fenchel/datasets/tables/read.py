"""Read and write CSV, TSV and Parquet files with Arrow."""

from __future__ import annotations

import io
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
from fenchel.datasets.decompression import Bounded, check_expansion
from fenchel.datasets.tables.arrow_columns import check_names
from fenchel.datasets.text_files import OPENERS

WIDEST = 20_000  # columns of a table; with more, Arrow's bookkeeping takes more memory than the data
BLOCK = 1 << 22  # values written at a time
WHOLE = 2**31 - 2  # the largest block size that Arrow's CSV reader accepts
LONGEST_HEADING = 1 << 20  # bytes
DELIMITERS = {"csv": ",", "tsv": "\t"}
RAGGED = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")


class Dialect(NamedTuple):
    """The separators of values and of decimals."""

    delimiter: str
    decimal: str = "."


def read_table(path: Path, format: str, text_columns: list[str]) -> Any:
    """Read a file as an Arrow table; ``text_columns`` are read as text even if they look like numbers."""
    import pyarrow as pa

    try:
        table = _read_parquet(path) if format == "parquet" else _read_csv(path, format, text_columns)
    except (pa.ArrowException, UnicodeDecodeError, EOFError, OSError) as error:
        reason = " ".join(str(error).split())
        ragged = RAGGED.search(reason)
        if ragged:
            line, wanted, got = map(int, ragged.groups())
            raise InputError(f"{path}, line {line}: {counted(got, 'value')}, and the heading has {wanted}: correct that line.") from None
        raise InputError(f"{path} cannot be read as {format}: {_readable(reason)[:300].rstrip('.')}.") from None
    if table.num_rows == 0:
        raise InputError(f"{path} has a heading but no rows: give a file with rows.")
    return table


def _readable(text: str) -> str:
    """The text with unprintable characters replaced, so that it is safe to print."""
    return "".join(char if char.isprintable() and char != "\ufffd" else "?" for char in text)


def _read_parquet(path: Path) -> Any:
    import pyarrow.parquet as pq
    import pyarrow.types as types

    schema = pq.read_schema(path)
    check_names(schema.names)
    texts = [name for name in schema.names if types.is_string(schema.field(name).type) or types.is_large_string(schema.field(name).type)]
    with pq.ParquetFile(path, read_dictionary=texts) as file:  # so that repeated texts are stored once
        facts = file.metadata
        groups = sum(facts.row_group(k).total_byte_size for k in range(facts.num_row_groups))
        check_expansion(path, max(groups, 8 * facts.num_rows * facts.num_columns))
        return file.read()


def _read_csv(path: Path, format: str, text_columns: list[str]) -> Any:
    if format == "csv" and _is_european(path):
        points, commas = (_read_delimited(path, Dialect(";", decimal), text_columns) for decimal in ".,")
        return commas if _count_text_columns(commas) < _count_text_columns(points) else points
    return _read_delimited(path, Dialect(DELIMITERS[format]), text_columns)


def _is_european(path: Path) -> bool:
    """Whether the heading has semicolons and no commas; commas in the rows are then decimal commas."""
    with _opened(path) as file:
        heading = file.readline(LONGEST_HEADING)
    return b";" in heading and b"," not in heading


def _count_text_columns(table: Any) -> int:
    """The number of text columns."""
    import pyarrow.types as types

    return sum(types.is_string(field.type) for field in table.schema)


def _opened(path: Path) -> Any:
    packed = path.suffix in OPENERS
    return io.BufferedReader(Bounded(OPENERS[path.suffix](path, "rb"), path), 1 << 20) if packed else open(path, "rb")


def _read_delimited(path: Path, dialect: Dialect, text_columns: list[str]) -> Any:
    import pyarrow as pa

    try:
        return _parse_csv(path, dialect, text_columns, 1 << 20)
    except pa.ArrowInvalid:
        pass
    try:
        # Types are guessed from the first block, but a later block may hold fractions or text instead of whole numbers.
        return _parse_csv(path, dialect, text_columns, WHOLE)
    except pa.ArrowInvalid:
        return _parse_csv(path, dialect, text_columns, WHOLE, threads=False)  # fails again, but without threads the error names the line


def _parse_csv(path: Path, dialect: Dialect, text_columns: list[str], block: int, threads: bool = True) -> Any:
    import pyarrow as pa
    from pyarrow import csv

    types = {name: pa.string() for name in text_columns}
    convert = csv.ConvertOptions(strings_can_be_null=True, column_types=types, decimal_point=dialect.decimal)
    parse = csv.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=True)
    packed = path.suffix in OPENERS
    block = block if packed else min(block, max(path.stat().st_size, 1))
    # Arrow's own file object if possible: its threads outlive this call, and abort the process if they need Python at exit.
    with _opened(path) if packed else pa.OSFile(str(path)) as file:
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

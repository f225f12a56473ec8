"""Tables in files: CSV, TSV and Parquet, through Arrow."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from fenchel.datasets.bounds import Bounded, check_expansion
from fenchel.datasets.data import Data
from fenchel.datasets.files import OPENERS
from fenchel.datasets.tables.columns import check_names

PEEK = 1 << 16  # bytes of the first line
WIDEST = 20_000  # columns of a table: beyond them Arrow's own bookkeeping outweighs the data
BLOCK = 1 << 22  # values written at a time
WHOLE = 2**31 - 2  # the largest block Arrow's CSV reader takes
DELIMITERS = {"csv": ",", "tsv": "\t"}


def read_table(path: Path, format: str, text_columns: list[str]) -> Any:
    """The Arrow table in a file; ``text_columns`` are text even where they look like numbers."""
    import pyarrow as pa

    try:
        table = _read_parquet(path) if format == "parquet" else _read_csv(path, DELIMITERS[format], text_columns)
        if format == "csv" and table.num_columns == 1 and _has_semicolons(path):
            raise pa.ArrowInvalid("one column")
        return table
    except (pa.ArrowException, UnicodeDecodeError, EOFError, OSError) as error:
        if format == "csv" and _has_semicolons(path):
            raise ValueError(f"{path} has semicolons between its columns: save it with commas, and points in its numbers.") from None
        said = " ".join(str(error).split())[:300].rstrip(".")
        raise ValueError(f"{path} can't be read as {format}: {said}.") from None


def _has_semicolons(path: Path) -> bool:
    """Whether the first line is separated by semicolons alone, as where a comma is in the numbers."""
    with OPENERS.get(path.suffix, open)(path, "rb") as file:
        first = file.readline(PEEK)
    return b";" in first and b"," not in first


def _read_parquet(path: Path) -> Any:
    import pyarrow.parquet as pq
    import pyarrow.types as types

    schema = pq.read_schema(path)
    check_names(schema.names)
    texts = [name for name in schema.names if types.is_string(schema.field(name).type) or types.is_large_string(schema.field(name).type)]
    with pq.ParquetFile(path, read_dictionary=texts) as file:  # a text repeated in a million rows is then kept once
        facts = file.metadata
        groups = sum(facts.row_group(k).total_byte_size for k in range(facts.num_row_groups))
        check_expansion(path, max(groups, 8 * facts.num_rows * facts.num_columns))
        return file.read()


def _read_csv(path: Path, delimiter: str, text_columns: list[str]) -> Any:
    import pyarrow as pa

    try:
        return _parse_csv(path, delimiter, text_columns, 1 << 20)
    except pa.ArrowInvalid:
        # Types are guessed from the first block: a column may turn from whole numbers to fractions, or to text, later on.
        return _parse_csv(path, delimiter, text_columns, WHOLE)


def _parse_csv(path: Path, delimiter: str, text_columns: list[str], block: int) -> Any:
    import pyarrow as pa
    from pyarrow import csv

    convert = csv.ConvertOptions(strings_can_be_null=True, column_types={name: pa.string() for name in text_columns})
    parse = csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    packed = path.suffix in OPENERS
    block = block if packed else min(block, max(path.stat().st_size, 1))
    # Arrow's own file where there is one: its threads outlive this call, and abort the process if they need Python when it ends.
    with OPENERS[path.suffix](path, "rb") if packed else pa.OSFile(str(path)) as file:
        stream = io.BufferedReader(Bounded(file, path), 1 << 20) if packed else file
        return csv.read_csv(stream, csv.ReadOptions(block_size=block), parse, convert)


def write_table(file: Any, data: Data, format: str) -> None:
    """Write X and y as a table to an open file, a block of rows at a time."""
    n = data.X.shape[1]
    if n > WIDEST:
        raise ValueError(f"{n:,} columns are more than a table is good for ({WIDEST:,}): write svmlight text or .npz.")
    if data.qid is not None:
        raise ValueError("A table has no place for queries: write svmlight text or .npz.")
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
        raise ValueError("Two columns would have the same name: give each feature and the target a name of its own.")
    height = max(1, BLOCK // max(n, 1))
    for first in range(0, max(m, 1), height):
        rows = slice(first, first + height)
        dense = X[rows].toarray() if sp.issparse(X) else X[rows]
        extra = [values[rows] for values in (data.y, data.sample_weight) if values is not None]
        yield pa.table([pa.array(np.ascontiguousarray(column)) for column in [*dense.T, *extra]], names)


def _writer(file: Any, format: str, schema: Any) -> Any:
    if format == "parquet":
        import pyarrow.parquet as pq

        return pq.ParquetWriter(file, schema)
    from pyarrow import csv

    return csv.CSVWriter(file, schema, write_options=csv.WriteOptions(delimiter=DELIMITERS[format]))

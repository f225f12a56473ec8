"""Readers for text formats other than svmlight and tables: sizes of queries, and two formats of UCI data sets."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fenchel.core.errors import InputError


def query_ids(sizes: Path, rows: int) -> np.ndarray:
    """The query of each row, from a file with the number of rows of each query.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "sizes"
    ...     _ = file.write_text("2\\n1\\n")
    ...     query_ids(file, 3).tolist()
    [1, 1, 2]
    """
    try:
        counts = [int(line) for line in sizes.read_text(encoding="ascii").split()]
    except (ValueError, UnicodeDecodeError):
        raise InputError(f"{sizes} must hold one whole number per line, the number of rows of each query.") from None
    if min(counts, default=0) < 0 or sum(counts) != rows:
        raise InputError(f"{sizes} has sizes for {sum(counts):,} rows, and the data have {rows:,}: use the file that belongs to the data.")
    return np.repeat(np.arange(1, len(counts) + 1), counts)


def uci_magic(file: Path) -> tuple[np.ndarray, np.ndarray]:
    """magic04.data: ten numbers and g or h on each line, separated by commas; g becomes +1."""
    lines = [line.split(",") for line in file.read_text(encoding="ascii").splitlines() if line.strip()]
    wrong = next((number for number, line in enumerate(lines, 1) if len(line) != 11 or line[-1].strip() not in ("g", "h")), None)
    if wrong is not None:
        raise InputError(f"Line {wrong} of {file.name} is not ten numbers and g or h.")
    return np.array([line[:-1] for line in lines], dtype=np.float64), np.array([1.0 if line[-1].strip() == "g" else -1.0 for line in lines])


def uci_dense(file: Path) -> tuple[np.ndarray, np.ndarray]:
    """arcene_*.data: one row of numbers per line; the labels are in a file of the same name with .labels appended."""
    return np.loadtxt(file, ndmin=2), np.loadtxt(file.with_name(f"{file.name}.labels"), ndmin=1)


CONVERTERS = {"uci-magic": uci_magic, "uci-dense": uci_dense}

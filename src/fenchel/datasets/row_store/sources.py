"""Files that are read together: patterns, and formats"""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import Any

from fenchel.core.errors import Argument, InputError
from fenchel.core.validation import checked_choice
from fenchel.datasets.formats import format_of

TABLES = ("csv", "tsv", "parquet")


def expanded(sources: Any) -> list[Any]:
    """Files, in the order given; patterns such as ``part-*.svm`` are replaced by the files that match, sorted."""
    found: list[Any] = []
    for source in [sources] if isinstance(sources, str | os.PathLike) or hasattr(sources, "read") else list(sources):
        text = os.fspath(source) if isinstance(source, str | os.PathLike) else ""
        if text and glob.has_magic(text) and not Path(text).exists():
            files = sorted(glob.glob(text))
            if not files:
                raise FileNotFoundError(f"No file matches {text}: check the pattern.")
            found += [Path(file) for file in files]
        else:
            found.append(Path(text) if text else source)
    if not found:
        raise InputError(Argument("sources", []), ": give at least one file.")
    return found


def common_format(files: list[Any], format: str | None, table_options: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The format of all files, and the options for tables that were given; an error if files or options do not fit together."""
    kinds = {_format_of(file, format) for file in files}
    if len(kinds) > 1 or "npz" in kinds:
        raise InputError("Files that are read together have one format, svmlight text, .csv, .tsv or .parquet: convert others first.")
    (kind,) = kinds
    given = {name: value for name, value in table_options.items() if value not in (None, ())}
    if kind not in TABLES and given:
        raise InputError(Argument(next(iter(given)), ...), f" is for tables, and the files are read as {kind}: leave it out.")
    return kind, given


def _format_of(file: Any, format: str | None) -> str:
    return format_of(file, format) if isinstance(file, Path) else checked_choice("format", format or "svmlight", ["svmlight"])

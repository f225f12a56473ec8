"""Whether svmlight text has query ids, decided by its first row."""

from __future__ import annotations

import os
import re
from typing import Any

from fenchel.datasets.text_files import DAMAGE, open_binary

BLOCK = 1 << 16  # bytes read at a time
LONGEST_LABEL = 1 << 12  # bytes before the query id
SKIPPED = re.compile(rb"(?:\s++|#[^\n]*+\n)*+")
QUERY = re.compile(rb"[^\s#]*[ \t\v\f\r]+qid:")


def has_queries(path: str | os.PathLike[str], max_bytes: int | None = None) -> bool:
    """Whether the first row has a query id, as in LETOR text.

    >>> import gzip, tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = file.write(gzip.compress(b"# LETOR\\n2 qid:1 1:0.5\\n"))
    ...     file.flush()
    ...     has_queries(file.name)
    True
    """
    try:
        with open_binary(path, "svmlight", max_bytes) as (file, _):
            return QUERY.match(_first_row(file)) is not None
    except DAMAGE:
        return False  # damaged: the reader will report it with the place


def _first_row(file: Any) -> bytes:
    """The beginning of the first line that is neither blank nor a comment; blank lines and comments are skipped without splitting them."""
    in_comment = False
    while block := file.read(BLOCK):
        at = block.find(b"\n") if in_comment else 0
        if at < 0:
            continue
        at = SKIPPED.match(block, at).end()  # type: ignore[union-attr]  # it matches everywhere
        in_comment = block[at : at + 1] == b"#"  # up to the end of the block or beyond
        if at < len(block) and not in_comment:
            return block[at:] + file.read(LONGEST_LABEL)
    return b""

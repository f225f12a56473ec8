"""Atomic file replacement: a file is written under a temporary name in the same directory and then renamed."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(file: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path in the same directory; on success it replaces the file, on any error it is deleted.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(Path(folder, "numbers.txt")) as path:
    ...         _ = path.write_text("1 2 3")
    ...     [found.name for found in Path(folder).iterdir()]
    ['numbers.txt']
    """
    target = checked_place(file)
    path = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.tmp")
    try:
        with open(path, "xb") as empty:
            mode = os.fstat(empty.fileno()).st_mode  # the user's default permissions; some writers create private files
        yield path
        with open(path, "rb+") as written:
            os.fsync(written.fileno())
        os.chmod(path, mode)
        os.replace(path, target)
    finally:
        path.unlink(missing_ok=True)


def checked_place(file: str | os.PathLike[str], *read: str | os.PathLike[str]) -> Path:
    """The absolute path, if a file can be written there without overwriting one of the files in ``read``."""
    path = Path(file).absolute()
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{os.fspath(file)}: there is no directory {path.parent}; make it first.")
    if path.is_dir():
        raise IsADirectoryError(f"{os.fspath(file)} is a directory: give the name of a file in it.")
    if path.exists() and not path.is_file():  # a device or a pipe, which os.replace would delete
        raise FileExistsError(f"{os.fspath(file)} is not a regular file: give another name.")
    for other in read:
        if path.exists() and Path(other).exists() and path.samefile(other):
            raise FileExistsError(f"{os.fspath(file)} is an input file and would be overwritten: give another name.")
    return path

"""Atomic file replacement: a file is written under a temporary name in the same directory and then renamed."""

from __future__ import annotations

import contextlib
import glob
import hashlib
import os
import platform
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

THIS_HOST = hashlib.sha256(platform.node().encode()).hexdigest()[:8]  # process numbers of other machines mean nothing here


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
    target = Path(os.path.realpath(checked_place(file)))  # the file behind a link, which stays a link
    _remove_leftovers(target)
    path = target.with_name(f"{_prefix(target)}{THIS_HOST}-{os.getpid()}-{secrets.token_hex(6)}.tmp")
    try:
        with open(path, "xb") as empty:
            # The permissions of the file that is replaced, or the user's default; some writers create private files.
            mode = stat.S_IMODE((target.stat() if target.exists() else os.fstat(empty.fileno())).st_mode)
        yield path
        with open(path, "rb+") as written:
            os.fsync(written.fileno())
        os.chmod(path, mode)
        os.replace(path, target)
    except OSError as error:
        # A full disk, for instance: say which file, and not its temporary name.
        if error.errno is not None and error.filename in (None, str(path), path):
            error.filename = os.fspath(file)
        raise
    finally:
        path.unlink(missing_ok=True)


def _prefix(target: Path) -> str:
    return f".{target.name[:100]}."


def _remove_leftovers(target: Path) -> None:
    """Delete the temporary files of this name whose process on this machine was killed."""
    for path in target.parent.glob(glob.escape(_prefix(target)) + f"{THIS_HOST}-*.tmp"):
        process = path.name.removesuffix(".tmp").rsplit("-", 2)[-2]
        if process.isdigit() and not _is_running(int(process)):
            with contextlib.suppress(OSError):
                path.unlink()


def _is_running(process: int) -> bool:
    if os.name != "posix":  # where signal 0 would end the process
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True


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

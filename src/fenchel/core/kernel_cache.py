"""Cache of compiled kernels on disk, in a directory named after a hash of the package's sources.

Numba's own cache checks only the kernel's file, so kernels would keep running an old version of an edited loss. It also trusts whatever
it finds; here files must belong to the user and have the right checksum, and anything else is compiled again.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import logging
import os
import pickle
import shutil
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import caching
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

from fenchel.core.atomic_files import replacing

log = logging.getLogger("fenchel")
PACKAGE = __name__.partition(".")[0]
JIT = not getattr(numba.config, "DISABLE_JIT", False)
CHECKSUM_BYTES = 32  # of SHA-256
STALE_AFTER_DAYS = 30  # caches of other versions of the sources are deleted when unused for this long


@functools.cache
def source_hash() -> str:
    """A hash of all source files of the package; it names the directory of the compiled kernels."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:20]


if JIT:
    source_hash()  # at import time, before the sources can change


@functools.cache
def cache_directory() -> Path | None:
    """The directory of the compiled kernels, under ``$FENCHEL_CACHE`` or the user's cache directory; None if neither can be used.

    Cached machine code is executed, so a directory is used only if it belongs to the user and nobody else can write to it.
    """
    asked, usual = os.environ.get("FENCHEL_CACHE"), AppDirs(appname=PACKAGE, appauthor=False).user_cache_dir
    for base in dict.fromkeys(Path(place) / "kernels" for place in (asked, usual) if place):
        try:
            return _private_directory(base)
        except OSError as error:
            log.warning("Compiled kernels are not kept in %s: %s; set FENCHEL_CACHE to a directory of your own.", base, error)
    return None


def _private_directory(base: Path) -> Path:
    directory = base / source_hash()
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    for folder in (base, directory):
        if not _is_own(folder.lstat()):
            raise PermissionError("it belongs to another user, who could put other code there")
        if os.name == "posix":
            folder.chmod(0o700)
    (directory / "used").touch()
    _remove_stale(base)
    return directory


def _is_own(status: os.stat_result) -> bool:
    """Whether a file or directory, not a link to one, belongs to the user; always so where files have no owners."""
    is_plain = stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)
    return is_plain and (os.name != "posix" or status.st_uid == os.geteuid())


def _remove_stale(base: Path) -> None:
    for other in base.iterdir():
        mark = other / "used"
        if mark.exists() and time.time() - mark.stat().st_mtime > STALE_AFTER_DAYS * 86400:
            shutil.rmtree(other, ignore_errors=True)


class KernelFiles:
    """One file for each kernel and signature: a checksum, then the pickled key and machine code.

    Numba keeps an index file beside the machine code. Two processes that save at the same time can make an index name the wrong
    file, and a damaged index raises; here no file depends on another, and one that is damaged or not the user's counts as absent.
    """

    def __init__(self, directory: Path, name: str) -> None:
        self.directory, self.name = directory, name

    def path(self, key: Any) -> Path:
        """The file of a key."""
        return self.directory / f"{self.name}.{hashlib.sha256(repr(key).encode()).hexdigest()[:20]}.nbc"

    def load(self, key: Any) -> Any:
        """The machine code of a key, or None."""
        try:
            with open(os.open(self.path(key), os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
                if not _is_own(os.fstat(file.fileno())):
                    return None
                checksum, content = file.read(CHECKSUM_BYTES), file.read()
        except OSError:
            return None
        if hashlib.sha256(content).digest() != checksum:
            return None
        stored, data = pickle.loads(content)
        return data if stored == key else None

    def save(self, key: Any, data: Any) -> None:
        """Store machine code; a failure costs a warning, because the kernel is compiled already."""
        content = dumps((key, data))
        try:
            with replacing(self.path(key)) as temporary:
                temporary.write_bytes(hashlib.sha256(content).digest() + content)
        except OSError as error:
            _warn_once(f"{self.directory}: {error.strerror or error}")  # without the name of the file, which differs for every kernel

    def flush(self) -> None:
        """Remove all files of the kernel."""
        for path in self.directory.glob(f"{self.name}.*.nbc"):
            path.unlink(missing_ok=True)


@functools.cache
def _warn_once(reason: str) -> None:
    log.warning("A compiled kernel could not be kept for the next run: %s.", reason)


class _Locator(caching._CacheLocator):
    def __init__(self, function: Callable[..., Any]) -> None:
        self._py_file = inspect.getfile(function)
        self._name = f"{function.__module__}.{function.__qualname__}"

    def get_cache_path(self) -> str:
        return str(cache_directory())

    def get_source_stamp(self) -> str:
        return source_hash()

    def get_disambiguator(self) -> str:
        return hashlib.sha256(self._name.encode()).hexdigest()[:8]

    @classmethod
    def from_function(cls, function: Callable[..., Any], path: str) -> _Locator:
        return cls(function)


class _DiskCacheImpl(caching.CompileResultCacheImpl):
    _locator_classes: Any = [_Locator]


class DiskCache(caching.FunctionCache):
    """The cache object through which Numba loads and stores the machine code of a kernel."""

    _impl_class = _DiskCacheImpl

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file = KernelFiles(Path(self._cache_path), self._impl.filename_base)  # type: ignore[assignment]

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return (numba.__version__, *super()._index_key(sig, codegen))

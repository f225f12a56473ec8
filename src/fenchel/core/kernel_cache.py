"""Compiled kernels on disk: kept between processes, under a directory named after a hash of the package's sources.

Numba's own cache looks at the kernel's file alone, so an edited loss would go on running as it was.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import logging
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import caching
from numba.misc.appdirs import AppDirs

log = logging.getLogger("fenchel")
PACKAGE = __name__.partition(".")[0]
JIT = not getattr(numba.config, "DISABLE_JIT", False)
STALE_AFTER_DAYS = 30


@functools.cache
def source_hash() -> str:
    """A hash of every source file of the package: it names the directory compiled kernels are kept in."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:20]


if JIT:
    source_hash()  # now, while the sources are those that are being imported


@functools.cache
def cache_directory() -> Path | None:
    """Where compiled kernels are kept: ``$FENCHEL_CACHE``, or the user's cache directory; None if it can't be written."""
    base = Path(os.environ.get("FENCHEL_CACHE") or AppDirs(appname=PACKAGE, appauthor=False).user_cache_dir) / "kernels"
    directory = base / source_hash()
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        (directory / "used").touch()
        _forget_stale(base)
    except OSError as error:
        log.warning("Compiled kernels are not kept between runs: %s; set FENCHEL_CACHE to a writable directory.", error)
        return None
    return directory


def _forget_stale(base: Path) -> None:
    for other in base.iterdir():
        mark = other / "used"
        if mark.exists() and time.time() - mark.stat().st_mtime > STALE_AFTER_DAYS * 86400:
            shutil.rmtree(other, ignore_errors=True)


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
    """What Numba asks for the machine code of a kernel, and gives it to."""

    _impl_class = _DiskCacheImpl

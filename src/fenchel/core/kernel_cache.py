"""Cache of compiled kernels on disk, in a directory named after a hash of the package's sources.

Numba's own cache checks only the kernel's file, so kernels would keep running an old version of an edited loss.
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
    """The directory of the compiled kernels, under ``$FENCHEL_CACHE`` or the user's cache directory; None if it is not writable."""
    base = Path(os.environ.get("FENCHEL_CACHE") or AppDirs(appname=PACKAGE, appauthor=False).user_cache_dir) / "kernels"
    directory = base / source_hash()
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        (directory / "used").touch()
        _remove_stale(base)
    except OSError as error:
        log.warning("Compiled kernels are not kept between runs: %s; set FENCHEL_CACHE to a writable directory.", error)
        return None
    return directory


def _remove_stale(base: Path) -> None:
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
    """The cache object through which Numba loads and stores the machine code of a kernel."""

    _impl_class = _DiskCacheImpl

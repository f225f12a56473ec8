"""Stored machine code: kernels that come with the package, and the cache of those compiled on this computer.

The cache is a directory named after a hash of the package's sources. Numba's own cache checks only the kernel's file, so kernels would keep
running an old version of an edited loss. It also trusts whatever it finds; here files must belong to the user and have the right checksum,
and anything else is compiled again.
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
from llvmlite import binding
from numba.core import caching
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

from fenchel.core.atomic_files import replacing
from fenchel.core.jit_options import IMPORTED_AT, PACKAGE

log = logging.getLogger("fenchel")
CHECKSUM_BYTES = 32  # of SHA-256
STALE_AFTER_DAYS = 30  # caches of other versions of the sources are deleted when unused for this long


@functools.cache
def source_hash() -> str:
    """A hash of all source files of the package, or "" if one was edited after the import: then its old version may be what runs."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        if path.stat().st_mtime > IMPORTED_AT:
            return ""
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:20]


@functools.cache
def cache_directory() -> Path | None:
    """The directory of the compiled kernels, under ``$FENCHEL_CACHE`` or the user's cache directory; None if neither can be used.

    Stored machine code is executed, so a directory is used only if it belongs to the user and nobody else can write to it.
    """
    if not source_hash():
        log.info("Compiled kernels are not kept, because a source file of fenchel was edited after it was imported.")
        return None
    asked, usual = os.environ.get("FENCHEL_CACHE"), AppDirs(appname=PACKAGE, appauthor=False).user_cache_dir
    for base in dict.fromkeys(Path(place) / "kernels" for place in (asked, usual) if place):
        try:
            return _private_directory(base)
        except OSError as error:
            log.warning("Compiled kernels are not kept in %s: %s; set FENCHEL_CACHE to a directory of your own.", base, error)
    return None


def _private_directory(base: Path) -> Path:
    base.parent.mkdir(parents=True, exist_ok=True)
    directory = base / source_hash()
    for folder in (base, directory):
        folder.mkdir(exist_ok=True, mode=0o700)
        status = folder.lstat()
        if not _is_own(status):
            raise PermissionError("it belongs to another user, who could put other code there")
        if os.name == "posix" and status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise PermissionError("other users can write to it and could put other code there")
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


def packed(key: Any, data: Any) -> bytes:
    """Machine code and its key as they are stored: a checksum, then both, pickled."""
    content = dumps((key, data))
    return hashlib.sha256(content).digest() + content


def unpacked(stored: bytes, key: Any) -> Any:
    """The machine code of a key, or None if what is stored is damaged or belongs to another key."""
    checksum, content = stored[:CHECKSUM_BYTES], stored[CHECKSUM_BYTES:]
    if hashlib.sha256(content).digest() != checksum:
        return None
    found, data = pickle.loads(content)
    return data if found == key else None


def entry_name(kernel: str, key: Any) -> str:
    """The name under which the machine code of a kernel and a key is stored."""
    return f"{kernel}.{hashlib.sha256(repr(key).encode()).hexdigest()[:20]}"


class KernelFiles:
    """One file for each kernel and signature.

    Numba keeps an index file beside the machine code. Two processes that save at the same time can make an index name the wrong
    file, and a damaged index raises; here no file depends on another, and one that is damaged or not the user's counts as absent.
    """

    def __init__(self, directory: Path, name: str) -> None:
        self.directory, self.name = directory, name

    def path(self, key: Any) -> Path:
        """The file of a key."""
        return self.directory / f"{entry_name(self.name, key)}.nbc"

    def load(self, key: Any) -> Any:
        """The machine code of a key, or None."""
        try:
            with open(os.open(self.path(key), os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
                return unpacked(file.read(), key) if _is_own(os.fstat(file.fileno())) else None
        except OSError:
            return None

    def save(self, key: Any, data: Any) -> None:
        """Store machine code; a failure costs a warning, because the kernel is compiled already."""
        try:
            with replacing(self.path(key)) as temporary:
                temporary.write_bytes(packed(key, data))
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


class _CompiledKernels(caching.CompileResultCacheImpl):
    """What is stored of a compiled kernel: all that Numba would store, less the annotated source and the code for linking it to others."""

    _locator_classes: Any = [_Locator]

    def reduce(self, result: Any) -> Any:
        module = result.library._final_module
        (library, kind, (code, _)), *others = super().reduce(result)
        others[ANNOTATION] = ""
        others[ENVIRONMENTS] = tuple(environment for environment in others[ENVIRONMENTS] if environment.consts)
        parts = [*module.functions, *module.global_variables]
        needed = [part.name for part in parts if part.is_declaration and binding.address_of_symbol(part.name)]
        return (library, kind, (code, _placeholders(module))), others, needed

    def rebuild(self, target_context: Any, stored: Any) -> Any:
        library, others, needed = stored
        _add_symbols()
        if not all(map(binding.address_of_symbol, needed)):
            target_context.refresh()  # which takes about as long as loading fifty kernels
            if not all(map(binding.address_of_symbol, needed)):
                return None
        return super().rebuild(target_context, (library, *others))


# Places in what Numba stores, after the library: the annotated source, and the environments of functions, which hold their Python objects.
# Each environment has its module imported, though most hold nothing.
ANNOTATION, ENVIRONMENTS = 5, 7


def _placeholders(module: Any) -> bytes:
    """A module of empty functions with the names of a kernel's, which tell Numba what its machine code defines.

    Numba would store all of the kernel there, so that others could be linked to it, but kernels do not call each other.
    """
    names = [function.name for function in module.functions if not function.is_declaration and function.linkage == binding.Linkage.external]
    text = "\n".join(f'define void @"{name}"() {{ ret void }}' for name in names)
    return bytes(binding.parse_assembly(text).as_bitcode())


@functools.cache
def _add_symbols() -> None:
    """Make the functions of Numba's runtime known to its linker; Numba does that when it first compiles something."""
    from numba.core.runtime import _nrt_python  # type: ignore[attr-defined]

    for name, address in _nrt_python.c_helpers.items():
        binding.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


class StoredKernels(caching.FunctionCache):
    """The object through which Numba loads and stores the machine code of a kernel.

    ``before_compiling`` is called if there is none.
    """

    _impl_class = _CompiledKernels

    def __init__(self, function: Callable[..., Any], before_compiling: Callable[[], None]) -> None:
        super().__init__(function)
        self.before_compiling = before_compiling
        self._cache_file = KernelFiles(Path(self._cache_path), self._impl.filename_base)  # type: ignore[assignment]

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return (numba.__version__, *super()._index_key(sig, codegen))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The kernel for a signature, or None; unlike Numba's own, this does not make everything ready for compiling first."""
        found = self._load_overload(sig, target_context)
        if found is None:
            self.before_compiling()
        return found


class KeptNowhere(caching.NullCache):
    """In place of :class:`StoredKernels` for what is compiled in every process."""

    def __init__(self, before_compiling: Callable[[], None]) -> None:
        self.before_compiling = before_compiling

    def load_overload(self, sig: Any, target_context: Any) -> None:
        """Nothing is stored."""
        self.before_compiling()

"""Stored machine code: kernels that come with the package, and the cache of those compiled on this computer.

The cache is a directory named after a hash of the package's sources. Numba's own cache checks only the kernel's file, so kernels would keep
running an old version of an edited loss. It also trusts whatever it finds; here files must belong to the user and have the right checksum,
and anything else is compiled again.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import os
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numba
from llvmlite import binding
from numba.core import caching
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

from fenchel.core.atomic_files import replacing
from fenchel.core.jit_options import IMPORTED_AT, PACKAGE
from fenchel.core.kernel_archive import SHIPPED, KernelArchive
from fenchel.core.stored_code import entry_name, packed, unpacked

log = logging.getLogger("fenchel")
STALE_AFTER_DAYS = 30  # caches of other versions of the sources are deleted when unused for this long


@functools.cache
def source_hash() -> str:
    """A hash of all source files of the package, or "" if one was edited after the import: then its old version may be what runs."""
    root = Path(__file__).parents[1]
    paths = list(root.rglob("*.py"))
    if any(path.stat().st_mtime > IMPORTED_AT for path in paths):
        return ""
    return hash_of((path.relative_to(root).as_posix(), path.read_bytes()) for path in paths)


def hash_of(sources: Iterable[tuple[str, bytes]]) -> str:
    """A hash of source files with their paths in the package."""
    digest = hashlib.sha256()
    for path, content in sorted(sources):
        digest.update(path.encode() + b"\0" + content)
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


@functools.cache
def shipped_kernels() -> KernelArchive:
    """The kernels that come with the package for this computer; none if they are for another version of Python, Numba or the sources."""
    return KernelArchive.for_this_computer(Path(__file__).parents[1] / SHIPPED, source_hash())


class StoredKernels(caching.NullCache):
    """The object through which Numba loads and stores the machine code of a kernel: that of the package first, then the user's.

    ``before_compiling`` is called if there is none. Unlike Numba's own cache, this does not make Numba ready to compile in order to load.
    """

    def __init__(self, function: Callable[..., Any], before_compiling: Callable[[], None]) -> None:
        self.before_compiling = before_compiling
        self.name, self.code = kernel_name(function), _hashes(function)
        directory = cache_directory()
        self.files = KernelFiles(directory, self.name) if directory is not None else None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The kernel for a signature, or None."""
        found = self._loaded(sig, target_context)
        if found is None:
            self.before_compiling()
        return found

    def _loaded(self, sig: Any, target_context: Any) -> Any:
        data = self.stored(sig, target_context)
        return None if data is None else _rebuilt(data, target_context)

    def stored(self, sig: Any, target_context: Any) -> Any:
        """What is stored for a signature, or None."""
        data = shipped_kernels().load(self.name, (sig, self.code))
        if data is None and self.files is not None:
            data = self.files.load(self._key(sig, target_context.codegen()))
        return data

    def _key(self, sig: Any, codegen: Any) -> Any:
        return numba.__version__, sig, codegen.magic_tuple(), self.code

    def save_overload(self, sig: Any, result: Any) -> None:
        """Store what was compiled."""
        if self.files is not None and not result.library.has_dynamic_globals and not result.lifted:
            self.files.save(self._key(sig, result.codegen), _reduced(result))


class KeptNowhere(caching.NullCache):
    """In place of :class:`StoredKernels` for what is compiled in every process."""

    def __init__(self, before_compiling: Callable[[], None]) -> None:
        self.before_compiling = before_compiling

    def load_overload(self, sig: Any, target_context: Any) -> None:
        """Nothing is stored."""
        self.before_compiling()


def kernel_name(function: Callable[..., Any]) -> str:
    """The name of a kernel in files: that of the function with its module, and the Python whose functions machine code calls."""
    full = f"{function.__module__}.{function.__qualname__}"
    return f"{function.__name__}-{hashlib.sha256(full.encode()).hexdigest()[:8]}.{sys.implementation.cache_tag}"


def _hashes(function: Callable[..., Any]) -> tuple[str, str]:
    """What distinguishes kernels that a function makes under the same name: their code, and the variables of that function they use."""
    variables = tuple(cell.cell_contents for cell in function.__closure__ or ())
    return hashlib.sha256(function.__code__.co_code).hexdigest(), hashlib.sha256(dumps(variables)).hexdigest() if variables else ""


# Places in what Numba stores, after the library: the annotated source, and the environments of functions, which hold their Python objects.
# Each environment has its module imported, though most hold nothing.
ANNOTATION, ENVIRONMENTS = 5, 7


def _reduced(result: Any) -> Any:
    """What is stored of a compiled kernel: all that Numba would store, less the annotated source and the code for linking it to others."""
    module = result.library._final_module
    (library, kind, (code, _)), *others = result._reduce()
    others[ANNOTATION] = ""
    others[ENVIRONMENTS] = tuple(environment for environment in others[ENVIRONMENTS] if environment.consts)
    parts = [*module.functions, *module.global_variables]
    needed = [part.name for part in parts if part.is_declaration and binding.address_of_symbol(part.name)]
    return (library, kind, (code, _placeholders(module))), others, needed


def _placeholders(module: Any) -> bytes:
    """A module of empty functions with the names of a kernel's, which tell Numba what its machine code defines.

    Numba would store all of the kernel there, so that others could be linked to it, but kernels do not call each other.
    """
    names = [function.name for function in module.functions if not function.is_declaration and function.linkage == binding.Linkage.external]
    text = "\n".join(f'define void @"{name}"() {{ ret void }}' for name in names)
    return bytes(binding.parse_assembly(text).as_bitcode())


def _rebuilt(stored: Any, target_context: Any) -> Any:
    """A compiled kernel from what was stored, or None if it needs a function that is not there."""
    library, others, needed = stored
    _add_symbols()
    if not all(map(binding.address_of_symbol, needed)):
        target_context.refresh()  # which takes about as long as loading fifty kernels
        if not all(map(binding.address_of_symbol, needed)):
            return None
    return CompileResult._rebuild(target_context, library, *others)


@functools.cache
def _add_symbols() -> None:
    """Make the functions of Numba's runtime known to its linker; Numba does that when it first compiles something."""
    from numba.core.runtime import _nrt_python  # type: ignore[attr-defined]

    for name, address in _nrt_python.c_helpers.items():
        binding.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)

"""The kernels that calls use, and their machine code for any level of processors

A kernel is compiled for the types of its arguments. These are recorded while calls run, in a process of its own; other processes compile
the kernels for each level, as ``NUMBA_CPU_NAME`` has Numba do, without running them: this computer may not have the level.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import multiprocessing
import os
import pickle
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

from fenchel.core import kernel_archive, kernel_cache
from fenchel.core.compiled import kernels_in_use
from fenchel.core.cpu_levels import environment_for
from fenchel.core.stored_code import entry_name, packed
from fenchel.warmup.typical_calls import Call, all_calls

log = logging.getLogger("fenchel")


class Recorded(NamedTuple):
    """A kernel and the types of its arguments, which are pickled because they must not be imported before Numba knows its level."""

    module: str
    name: str
    types: bytes


def run(calls: list[Call]) -> None:
    """Make the calls one after the other, without the warnings of fits that end before they have converged."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for call in calls:
            call.run()


def recorded(common: bool, level: str | None = None) -> list[Recorded]:
    """The kernels that typical calls use, all or only those of the common calls.

    They are recorded in another process, which compiles for the level given, so that its kernels need not be compiled a second time.
    """
    with _processes(1, level) as pool:
        return pool.submit(_recorded_here, common).result()


@contextlib.contextmanager
def _processes(count: int, level: str | None) -> Iterator[ProcessPoolExecutor]:
    """Processes whose Numba compiles for a level, or for this computer."""
    told = environment_for(level) if level is not None else {}
    before = {name: os.environ.get(name) for name in told}
    os.environ.update(told)
    try:
        with ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn")) as pool:
            yield pool
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def _recorded_here(common: bool) -> list[Recorded]:
    run([call for call in all_calls() if call.common or not common])
    return [
        Recorded(function.__module__, function.__name__, kernel_cache.dumps(types))
        for function, signatures in kernels_in_use()
        for types in signatures
    ]


def machine_code(kernels: list[Recorded], level: str, processes: int) -> Iterator[tuple[str, bytes] | None]:
    """Entry names and machine code of the kernels for a level, as they are finished; None for one that is not kept."""
    with _processes(processes, level) as pool:
        for done in as_completed([pool.submit(_compiled_here, kernel) for kernel in kernels]):
            yield done.result()


def _compiled_here(kernel: Recorded) -> tuple[str, bytes] | None:
    function = getattr(importlib.import_module(kernel.module), kernel.name)
    dispatcher = function.dispatcher(())
    signature, stored = pickle.loads(kernel.types), dispatcher._cache
    data = stored.stored(signature, dispatcher.targetctx)
    if data is None:
        dispatcher.compile(signature)
        data = stored.stored(signature, dispatcher.targetctx)
    if data is None:
        log.warning("The machine code of %s is not kept, so that no wheel can contain it.", kernel.name)
        return None
    key = signature, stored.code
    return entry_name(stored.name, key), packed(key, data)


def write(folder: Path, level: str, kernels: dict[str, bytes]) -> Path:
    """Write the kernels of a level to their file in a folder."""
    path = kernel_archive.file_of(folder, level)
    kernel_archive.write_archive(path, kernel_archive.compiled_for(level, kernel_cache.source_hash()), kernels)
    return path

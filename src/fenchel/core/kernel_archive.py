"""Kernels that come with the package: one file of machine code for each level of processors

A file is a line that names the format, the length of a header as a line of digits, the header, and the kernels one after the other, each
compressed. The header is JSON: what the machine code was compiled for, which must all be as it is here, and the place of every kernel.
``python -m fenchel.build_kernels`` writes the files; :mod:`fenchel.core.kernel_cache` reads them.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import llvmlite
import numba
from llvmlite import binding

from fenchel.core.atomic_files import replacing
from fenchel.core.cpu_levels import levels_of_host
from fenchel.core.stored_code import entry_name, unpacked

log = logging.getLogger("fenchel")
SHIPPED = "machine_code"  # the folder of the package
FORMAT = b"fenchel kernels 1\n"
LENGTH_DIGITS = 12
LARGEST_KERNEL = 64 * 1024**2  # bytes of one kernel, uncompressed: hundreds of times the largest


def compiled_for(level: str, sources: str) -> dict[str, Any]:
    """All that machine code depends on except the kernel itself."""
    return {
        "python": sys.implementation.cache_tag,
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "triple": binding.get_process_triple(),
        "level": level,
        "sources": sources,
    }


class KernelArchive:
    """A file of kernels; without a file it has none."""

    def __init__(self, path: Path | None = None, places: Mapping[str, Any] | None = None) -> None:
        self.path, self.places = path, places or {}

    @classmethod
    def for_this_computer(cls, folder: Path, sources: str) -> KernelArchive:
        """The file in the folder whose machine code is the best that this computer can run."""
        if folder.is_dir():
            for level in levels_of_host():
                path = file_of(folder, level)
                places = places_in(path, compiled_for(level, sources))
                if places is not None:
                    return cls(path, places)
        return cls()

    def load(self, kernel: str, key: Any) -> Any:
        """The machine code of a kernel for a key, or None if there is none or it is damaged."""
        place = self.places.get(entry_name(kernel, key))
        if place is None or self.path is None:
            return None
        try:
            with open(self.path, "rb") as file:
                file.seek(place[0])
                stored = zlib.decompressobj().decompress(file.read(place[1]), LARGEST_KERNEL)
        except (OSError, zlib.error):
            return None
        return unpacked(stored, key)


def file_of(folder: Path, level: str) -> Path:
    """The file of a level."""
    return folder / f"{level}.kernels"


def places_in(path: Path, expected: Mapping[str, Any]) -> dict[str, tuple[int, int]] | None:
    """Where every kernel of a file begins and how long it is, or None if the file is for something else or damaged."""
    try:
        with open(path, "rb") as file:
            if file.readline(len(FORMAT)) != FORMAT:
                return None
            length = int(file.read(LENGTH_DIGITS))
            header = json.loads(file.read(length))
            if header["compiled for"] != expected:
                log.debug("The kernels in %s were compiled for %s, not for %s.", path, header["compiled for"], expected)
                return None
            first = len(FORMAT) + LENGTH_DIGITS + length
            return {str(name): (first + int(start), int(size)) for name, (start, size) in header["kernels"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def write_archive(path: Path, what: Mapping[str, Any], kernels: Mapping[str, bytes]) -> None:
    """Write kernels, each as :func:`~fenchel.core.stored_code.packed` made it, by their entry names."""
    places, parts, start = {}, [], 0
    for name, stored in sorted(kernels.items()):
        parts.append(zlib.compress(stored, 9))
        places[name] = (start, len(parts[-1]))
        start += len(parts[-1])
    header = json.dumps({"compiled for": what, "kernels": places}).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary, open(temporary, "wb") as file:
        file.write(FORMAT + str(len(header)).zfill(LENGTH_DIGITS).encode() + header + b"".join(parts))
        file.flush()
        os.fsync(file.fileno())

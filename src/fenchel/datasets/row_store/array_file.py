"""Arrays of a store: plain .npy files that are written piece by piece, checksummed by blocks, and mapped into memory

The header has a fixed length, so that the number of entries can be filled in at the end, and every array begins at the same byte. A block
is ``BLOCK`` bytes of entries; its checksum is their CRC-32.
"""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

HEADER = 128  # bytes
BLOCK = 1 << 26
MAGIC = b"\x93NUMPY\x01\x00"


def header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """The header of a .npy file, version 1.0, padded to a fixed length.

    >>> len(header(np.dtype(np.float64), (10, 3)))
    128
    """
    text = repr({"descr": dtype.str, "fortran_order": False, "shape": shape}).encode()
    size = HEADER - len(MAGIC) - 2
    return MAGIC + size.to_bytes(2, "little") + text.ljust(size - 1) + b"\n"


class Written(NamedTuple):
    """How far an array is written: entries, and the checksums of its blocks, the last of which may be incomplete."""

    entries: int
    checksums: list[int]


class ArrayWriter:
    """An array that grows at its end; ``written`` says how far an earlier run came, and what lies beyond is overwritten."""

    def __init__(self, path: Path, dtype: Any, written: Written | None = None) -> None:
        self.path, self.dtype = path, np.dtype(dtype)
        self.entries, self.checksums = (0, []) if written is None else (written.entries, list(written.checksums))
        self.file = path.open("r+b" if written is not None else "w+b")
        if written is None:
            self.file.write(bytes(HEADER))
        place = HEADER + self.entries * self.dtype.itemsize
        if self.file.seek(0, os.SEEK_END) < place:
            self.file.close()
            raise EOFError(f"{path} is shorter than an earlier run left it")
        self.file.truncate(place)
        self.file.seek(place)

    def append(self, part: np.ndarray) -> None:
        """Write further entries."""
        data = _bytes_of(np.ascontiguousarray(part, self.dtype))
        done = 0
        while done < len(data):
            filled = self.entries * self.dtype.itemsize % BLOCK
            if not filled:
                self.checksums.append(0)
            taken = data[done : done + BLOCK - filled]
            self.checksums[-1] = zlib.crc32(taken, self.checksums[-1])
            done += len(taken)
            self.entries += len(taken) // self.dtype.itemsize
        self.file.write(data)

    def synchronised(self) -> Written:
        """Put everything on disk, and say how far it goes."""
        self.file.flush()
        os.fsync(self.file.fileno())
        return Written(self.entries, list(self.checksums))

    def finish(self, shape: tuple[int, ...]) -> None:
        """Fill in the header, put everything on disk and close the file."""
        self.file.seek(0)
        self.file.write(header(self.dtype, shape))
        self.synchronised()
        self.file.close()

    def close(self) -> None:
        """Close the file as it is."""
        self.file.close()


def mapped(path: Path, dtype: Any, shape: tuple[int, ...]) -> np.ndarray:
    """The entries of an array file, which are read when they are used."""
    if not np.prod(shape, dtype=np.int64):
        return np.zeros(shape, dtype)  # nothing can be mapped
    return np.memmap(path, dtype, "r", HEADER, shape)


def loaded(path: Path, dtype: Any, count: int) -> np.ndarray:
    """The entries of an array file, in memory."""
    return np.fromfile(path, dtype, count, offset=HEADER)


def _bytes_of(array: np.ndarray) -> memoryview:
    return memoryview(array.reshape(-1).view(np.uint8))  # type: ignore[arg-type]  # an array is a buffer


def checksums_of(array: np.ndarray) -> list[int]:
    """The checksums of the blocks of an array."""
    data = _bytes_of(array)
    return [zlib.crc32(data[first : first + BLOCK]) for first in range(0, len(data), BLOCK)]

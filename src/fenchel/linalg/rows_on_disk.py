"""Rows of a matrix that is mapped from files and larger than the memory: blocks of them, each fetched while others are used

Pages of a mapped file are read when they are touched, a few at a time. To read a disk at its speed, the system is told of a whole block
before it is needed, while kernels work on the block before. Blocks are visited in random order, and rows at random within a block.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import scipy.sparse as sp

from fenchel.core.memory import memory

BLOCK = 1 << 25  # bytes of rows that are fetched at once
ADVISED = 1 << 17  # bytes that the system is told of at a time: of more, Linux reads only the beginning
AHEAD = 4  # blocks that are fetched before they are used
LEAST_BLOCKS = 16  # of the rows: fewer would make their order less random
WITHIN = 8  # neighbouring rows that stay together within a block, which share cache lines


def mapped_arrays(storage: Any) -> list[np.memmap[Any, Any]]:
    """The arrays of the entries, if all of them are mapped from files; else none."""
    arrays = [storage.data, storage.indices] if sp.issparse(storage) else [storage]
    return arrays if all(isinstance(array, np.memmap) and array.filename is not None for array in arrays) else []


class RowsOnDisk:
    """The blocks of rows of a mapped matrix stored by rows."""

    def __init__(self, storage: Any) -> None:
        self.storage, self.m = storage, storage.shape[0]
        self.arrays = mapped_arrays(storage)
        self.size = sum(array.nbytes for array in self.arrays)
        self.rows_per_block = max(1, min(self.m // LEAST_BLOCKS, BLOCK * self.m // max(1, self.size)))
        self._files: list[int] | None = None
        self._pool: ThreadPoolExecutor | None = None

    @property
    def count(self) -> int:
        """The number of blocks."""
        return -(-self.m // self.rows_per_block)

    def rows_of(self, block: int) -> tuple[int, int]:
        """The first row of a block, and the row after its last."""
        return block * self.rows_per_block, min((block + 1) * self.rows_per_block, self.m)

    def in_order(self, blocks: np.ndarray | None = None) -> Iterator[tuple[int, int]]:
        """The rows of each block, one block after another; those that follow are fetched while a block is used."""
        order = list(range(self.count)) if blocks is None else blocks.tolist()
        waiting = deque(self._in_background(block) for block in order[:AHEAD])
        for k, block in enumerate(order):
            waiting.popleft().result()
            if k + AHEAD < len(order):
                waiting.append(self._in_background(order[k + AHEAD]))
            yield self.rows_of(block)

    def shuffled(self, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """All rows once: blocks in random order, and the rows of each in random order, a few neighbours together."""
        for first, last in self.in_order(rng.permutation(self.count)):
            starts = np.arange(first, last, WITHIN)
            rng.shuffle(starts)
            order = (starts[:, None] + np.arange(WITHIN)).ravel()
            yield order[order < last]

    def _in_background(self, block: int) -> Future[None]:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1, thread_name_prefix="fenchel-reader")
        return self._pool.submit(self._fetch, block)

    def _fetch(self, block: int) -> None:
        """Tell the system that a block is about to be read."""
        if not hasattr(os, "posix_fadvise"):
            return
        first, last = self.rows_of(block)
        if self._files is None:
            self._files = [os.open(os.fspath(array.filename), os.O_RDONLY) for array in self.arrays]  # type: ignore[arg-type]
        for array, file in zip(self.arrays, self._files, strict=True):
            a, b = self._entries(first, last)
            for begin in range(array.offset + a * array.itemsize, array.offset + b * array.itemsize, ADVISED):
                os.posix_fadvise(file, begin, ADVISED, os.POSIX_FADV_WILLNEED)

    def _entries(self, first: int, last: int) -> tuple[int, int]:
        """The entries of some rows."""
        if sp.issparse(self.storage):
            return int(self.storage.indptr[first]), int(self.storage.indptr[last])
        return first * self.storage.shape[1], last * self.storage.shape[1]

    def __del__(self) -> None:
        for file in self._files or ():
            os.close(file)


def rows_on_disk(storage: Any) -> RowsOnDisk | None:
    """The blocks of a mapped matrix that is larger than what the user allows, or than half of the memory that is left; else None."""
    if sp.issparse(storage) and storage.format != "csr":
        return None
    size = sum(array.nbytes for array in mapped_arrays(storage))
    if not size or (not sp.issparse(storage) and not storage.flags.c_contiguous):
        return None
    return RowsOnDisk(storage) if size > memory() else None

"""Bring the rows of a store into random order, in bounded memory

Rows are distributed at random among buckets that fit into memory; then each bucket is read, its rows permuted, and written. Every order is
equally likely. A run that was killed while it distributed rows begins that again; buckets that are written already are kept.
"""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fenchel.core.atomic_files import replacing
from fenchel.datasets.row_store.array_file import HEADER, ArrayWriter
from fenchel.datasets.row_store.manifest import FILE, Manifest, file_of, read_manifest
from fenchel.datasets.row_store.store_writer import StoreWriter, remove
from fenchel.datasets.row_store.stored_data import arrays_of

BUCKET = 1 << 26  # bytes of a bucket, about
AT_ONCE = 1 << 24  # bytes of rows distributed at a time
MOST_BUCKETS = 128  # whose files are open at the same time


def shuffled(source: Path, output: Path, seed: int) -> None:
    """Write the rows of the store ``source`` in random order as another store, and remove ``source``."""
    manifest = read_manifest(source)
    count = max(1, min(MOST_BUCKETS, -(-manifest.size // BUCKET)))
    folder = output.with_name(f".{output.name}.buckets")
    done, own = folder / "complete", f"{zlib.crc32((source / FILE).read_bytes()):08x} {seed}"  # checksums of all arrays are in there
    if not done.exists() or done.read_text(encoding="ascii") != own:
        remove(folder)
        folder.mkdir()
        _distribute(source, manifest, folder, count, seed)
        with replacing(done) as file:
            file.write_text(own, encoding="ascii")
    facts = {name: getattr(manifest, name) for name in ("classes", "feature_names", "target_name", "encoding", "index_base", "sources")}
    writer = StoreWriter(output, {"shuffled": own})
    try:
        for bucket in range(writer.position or 0, count):
            rng = np.random.default_rng([seed, 1, bucket])
            part = _Bucket(folder / str(bucket), manifest)
            part.append_to(writer, rng.permutation(part.rows))
            writer.commit(bucket + 1, at_once=True)
        writer.finish(manifest.features, shuffled=True, **facts)
    finally:
        writer.close()
    remove(folder)
    remove(source)


def _distribute(source: Path, manifest: Manifest, folder: Path, count: int, seed: int) -> None:
    """Write every row to a random bucket."""
    with contextlib.ExitStack() as stack:
        writers = [
            {
                name: stack.enter_context(contextlib.closing(ArrayWriter(_file(folder / str(k), name), facts.dtype)))
                for name, facts in manifest.arrays.items()
            }
            for k in range(count)
        ]
        for bucket, name, part in _distributed(source, manifest, count, seed):
            writers[bucket][name].append(part)
        for files in writers:
            for writer in files.values():
                writer.finish((writer.entries,))


def _distributed(source: Path, manifest: Manifest, count: int, seed: int) -> Iterator[tuple[int, str, np.ndarray]]:
    """Parts of arrays, with the buckets that they go to."""
    arrays, rng = arrays_of(source, manifest), np.random.default_rng([seed, 0])
    entries = manifest.arrays["data"].entries / manifest.rows
    step = max(1, int(AT_ONCE / max(1.0, 16.0 * entries)))
    for first in range(0, manifest.rows, step):
        rows = np.arange(first, min(first + step, manifest.rows))
        bucket = rng.integers(count, size=len(rows))
        order = np.argsort(bucket, kind="stable")
        ends = np.searchsorted(bucket[order], np.arange(count + 1))
        for k in range(count):
            chosen = rows[order[ends[k] : ends[k + 1]]]
            if len(chosen):
                for name, part in rows_of(arrays, chosen, manifest.is_sparse).items():
                    yield k, name, part


def _file(bucket: Path, name: str) -> Path:
    bucket.mkdir(exist_ok=True)
    return file_of(bucket, name)


def rows_of(arrays: dict[str, np.ndarray], rows: np.ndarray, is_sparse: bool) -> dict[str, np.ndarray]:
    """Some rows of all arrays; ``indptr`` holds the numbers of their entries."""
    found = {name: array[rows] for name, array in arrays.items() if name not in ("data", "indices", "indptr")}
    if not is_sparse:
        return {**found, "data": arrays["data"][rows]}
    starts, ends = arrays["indptr"][rows].astype(np.int64), arrays["indptr"][rows + 1].astype(np.int64)
    lengths = ends - starts
    first = np.cumsum(lengths) - lengths
    entries = np.arange(int(lengths.sum())) + np.repeat(starts - first, lengths)
    return {**found, "indptr": lengths, "indices": arrays["indices"][entries], "data": arrays["data"][entries]}


class _Bucket:
    """The rows of a bucket, in memory."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.is_sparse = manifest.is_sparse
        self.arrays: dict[str, Any] = {
            name: np.fromfile(file_of(folder, name), facts.dtype, offset=HEADER) for name, facts in manifest.arrays.items()
        }
        if self.is_sparse:
            self.arrays["indptr"] = np.concatenate([[0], np.cumsum(self.arrays["indptr"])])
            self.rows = len(self.arrays["indptr"]) - 1
        else:
            self.arrays["data"] = self.arrays["data"].reshape(-1, manifest.features)
            self.rows = len(self.arrays["data"])

    def append_to(self, writer: StoreWriter, order: np.ndarray) -> None:
        """Write the rows in an order."""
        found = rows_of(self.arrays, order, self.is_sparse)
        if self.is_sparse:
            writer.append_rows(found["data"], np.cumsum(found["indptr"]), found["indices"], found.get("y"))
        else:
            writer.append_rows(found["data"], None, None, found.get("y"))
        for name in ("qid", "weights"):
            if name in found:
                writer.append(name, found[name])

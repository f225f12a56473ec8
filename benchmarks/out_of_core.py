"""Rows on disk: the speed of a batch pass and of a pass of dual ascent, relative to reading the same files from one end to the other

Before every measurement the pages of the files are dropped from the system's cache, if it allows that; "warm" are the same passes with all
pages in the cache, where reading is a copy in memory. Beside them the memory that the process takes of its own (anonymous pages) while an
SVM and logistic regression are certified to 1e-3, and the same run on arrays in memory.

The store is generated (sparse rows of 75 entries), unless one is given.
"""

from __future__ import annotations

import argparse
import mmap
import os
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from common import text

import fenchel as fl
from fenchel.datasets.row_store.store_writer import StoreWriter
from fenchel.solvers import solvers

READ = 1 << 23  # bytes at a time
TOL = 1e-3


def generated(path: Path, rows: int) -> None:
    """A store of generated text, made of parts that fit into memory."""
    writer = StoreWriter(path, {"rows": rows})
    X, y = text(100_000)
    for _ in range(max(1, rows // 100_000)):
        writer.append_rows(X.data, X.indptr[1:], X.indices, y)
    writer.finish(X.shape[1], sources=["generated"])


def drop(files: list[Path]) -> None:
    """Forget the pages of files that no process has mapped."""
    for path in files:
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def read(files: list[Path]) -> None:
    """Read files from one end to the other."""
    buffer = bytearray(READ)
    for path in files:
        with path.open("rb", buffering=0) as file:
            while file.readinto(buffer):
                pass


def own_memory() -> float:
    """MB of anonymous pages of this process."""
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) / 1024.0 for line in file if line.startswith("RssAnon"))


def peak(action: Callable[[], Any]) -> tuple[Any, float, float]:
    """What an action returns, its seconds, and the most anonymous memory meanwhile beyond that before."""
    before, found, done = own_memory(), [0.0], threading.Event()

    def watch() -> None:
        while not done.wait(0.02):
            found[0] = max(found[0], own_memory())

    watcher = threading.Thread(target=watch)
    watcher.start()
    clock = time.perf_counter()
    result = action()
    seconds = time.perf_counter() - clock
    done.set()
    watcher.join()
    return result, seconds, found[0] - before


def timed(action: Callable[[], Any], before: Callable[[], None]) -> float:
    """The best of three times."""
    seconds = []
    for _ in range(3):
        before()
        clock = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - clock)
    return min(seconds)


def unmap(problem: fl.Problem) -> None:
    """Forget the pages that this process has mapped, which the system would keep in its cache."""
    for array in problem.design.on_disk.arrays:
        array._mmap.madvise(mmap.MADV_DONTNEED)


def passes(problem: fl.Problem) -> dict[str, Callable[[], Any]]:
    """A batch pass, Xᵀ·a, and a pass of dual ascent."""
    a = np.ones(problem.m)
    steps = solvers()["sdca"].run(problem, start=None, rng=np.random.default_rng(0), accuracy=0.0)
    return {"batch": lambda: problem.design.rmatvec(a), "dual": lambda: next(steps)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, help="where to generate a store")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        path = arguments.store or Path(folder) / "text.store"
        if arguments.store is None:
            generated(path, arguments.rows)
        data = fl.datasets.open(path)
        files = [path / "data.npy", path / "indices.npy"] if hasattr(data.X, "indices") else [path / "data.npy"]
        size, m, n = sum(file.stat().st_size for file in files), *data.X.shape
        memory = size // 4
        print(f"{m:,} x {n:,}, {size / 2**20:,.0f} MB; vectors of {8 * m / 2**20:.0f} MB for rows and {8 * n / 2**20:.1f} MB for columns")
        problem = fl.Problem(data.X, data.y, fl.Hinge(), fl.L2(1.0 / m)).with_memory(memory)
        assert problem.design.on_disk is not None
        for name, run in passes(problem).items():
            run()  # compiles, and computes the lengths of rows
            for state in ("cold", "warm"):

                def before(state: str = state) -> None:
                    unmap(problem)
                    (drop if state == "cold" else read)(files)

                sequential, seconds = timed(lambda: read(files), before), timed(run, before)
                speed = size / seconds / 2**20
                print(
                    f"{name}, {state}: {speed:,.0f} MB/s; reading {size / sequential / 2**20:,.0f} MB/s; ratio {sequential / seconds:.2f}"
                )
        for loss in (fl.Hinge(), fl.Logistic()):
            rows = fl.datasets.open(path)
            stored = fl.Problem(rows.X, rows.y, loss, fl.L2(1.0 / m))
            found, seconds, taken = peak(lambda problem=stored: fl.minimize(problem, tol=TOL, memory=memory))
            as_memory = fl.minimize(stored, tol=TOL)  # mapped, and taken as in memory
            clock = time.perf_counter()
            fl.minimize(stored, tol=TOL)
            mapped = time.perf_counter() - clock
            copied = fl.Problem(rows.X.copy(), rows.y, loss, fl.L2(1.0 / m))
            fl.minimize(copied, tol=TOL)
            clock = time.perf_counter()
            fl.minimize(copied, tol=TOL)
            in_memory = time.perf_counter() - clock
            print(
                f"{type(loss).__name__}: {found.status} by {found.solver} in {found.passes:.0f} passes, {seconds:.1f} s, "
                f"{taken:.0f} MB of own memory, {taken * 2**20 / size:.2f} of the data; in memory {as_memory.passes:.0f} passes: "
                f"mapped {mapped:.2f} s, copied {in_memory:.2f} s, ratio {mapped / in_memory:.2f}"
            )


if __name__ == "__main__":
    main()

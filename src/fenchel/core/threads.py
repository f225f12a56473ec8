"""Threads: how many are available, running jobs in parallel, and limiting BLAS to one thread."""

from __future__ import annotations

import functools
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from threadpoolctl import ThreadpoolController


@functools.cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


class _OneThread:
    """A context in which BLAS uses one thread. The limit is process-wide, so it is lifted when the last thread leaves the context."""

    def __init__(self) -> None:
        self.lock, self.inside = threading.Lock(), 0
        self.limited: Any = None

    def __enter__(self) -> None:
        with self.lock:
            if self.inside == 0:
                self.limited = _controller().limit(limits=1, user_api="blas")
            self.inside += 1

    def __exit__(self, *error: Any) -> None:
        with self.lock:
            self.inside -= 1
            if self.inside == 0:
                self.limited.restore_original_limits()


# BLAS threads wait for each other, which takes long on a busy machine and gains little for matrices this small.
one_thread = _OneThread()


def available_threads() -> int:
    """The number of processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_parallel(jobs: list[tuple[Any, ...]]) -> None:
    """Call every job, a function with its arguments, each in its own thread."""
    if len(jobs) == 1:
        run, *arguments = jobs[0]
        run(*arguments)
        return
    with ThreadPoolExecutor(len(jobs)) as pool:
        for future in [pool.submit(*job) for job in jobs]:
            future.result()

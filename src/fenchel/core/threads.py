"""Threads: how many there may be, work shared out among them, and BLAS kept to one where several would wait for each other."""

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
    """A context in which BLAS uses one thread, for as long as any thread of ours is in it: its setting is the whole process's."""

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


# Several threads of BLAS wait for each other, for long if the machine is busy, and these matrices are small.
one_thread = _OneThread()


def available_threads() -> int:
    """The number of processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_parallel(jobs: list[tuple[Any, ...]]) -> None:
    """Call every job, a function with its arguments, in a thread of its own."""
    if len(jobs) == 1:
        run, *arguments = jobs[0]
        run(*arguments)
        return
    with ThreadPoolExecutor(len(jobs)) as pool:
        for future in [pool.submit(*job) for job in jobs]:
            future.result()

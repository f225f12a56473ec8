"""Threads: how many are available, running jobs in parallel, and limiting BLAS to one thread

The policy of the package:

- Parallel work runs in threads of the package: ranges of rows or columns by :func:`in_parallel`, classes and folds by :func:`run_tasks`.
- BLAS uses one thread for the whole of the outermost call that minimises anything (``minimize``, ``path``, the ``fit`` of an estimator):
  each of them enters :data:`one_thread`. Threads of BLAS would come on top of those of the package, and they wait for each other in a
  loop, which takes many times as long as the work wherever another thread or process uses the processor.
- The number of threads of BLAS belongs to the process. It is therefore set when the first thread enters and restored when the last leaves,
  never in between, where other threads may be inside BLAS.
- Work of less than about a millisecond is not divided: handing it to another thread costs about as much.
- How work is divided depends on its size and the number of threads asked for, never on timing, so that results are reproducible.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

T = TypeVar("T")


@functools.cache
def _blas() -> list[Any]:
    """The BLAS libraries that are loaded: looking for them takes milliseconds."""
    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


class _OneThread(contextlib.ContextDecorator):
    """A context, and a decorator, in which BLAS uses one thread; several threads may enter it, and each of them again inside it."""

    def __init__(self) -> None:
        self.lock, self.inside = threading.Lock(), 0
        self.limited: list[tuple[Any, int]] = []  # the libraries that had more than one thread, and how many

    def __enter__(self) -> None:
        with self.lock:
            if self.inside == 0:
                before = [(library, library.get_num_threads()) for library in _blas()]
                self.limited = [(library, threads) for library, threads in before if threads != 1]
                for library, _ in self.limited:
                    library.set_num_threads(1)
            self.inside += 1

    def __exit__(self, *error: Any) -> None:
        with self.lock:
            self.inside -= 1
            if self.inside == 0:
                for library, threads in self.limited:
                    library.set_num_threads(threads)


one_thread = _OneThread()


def available_threads() -> int:
    """The number of processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@functools.cache
def _pool() -> ThreadPoolExecutor:
    """Threads that are kept between calls: starting new ones takes several times as long as handing over a job."""
    return ThreadPoolExecutor(available_threads(), thread_name_prefix="fenchel")


def _after_fork() -> None:
    """A child process has none of the threads of its parent, and one of them may have held the lock."""
    _pool.cache_clear()
    one_thread.lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _in_turn(jobs: list[tuple[Any, ...]]) -> None:
    for run, *arguments in jobs:
        run(*arguments)


def _take(waiting: list[tuple[Any, ...]]) -> None:
    """Run a job and drop its arguments, which the pool itself would keep longer: until it takes out a job that was cancelled."""
    run, *arguments = waiting.pop()
    run(*arguments)


def in_parallel(jobs: list[tuple[Any, ...]], threads: int | None = None) -> None:
    """Call every job, a function with its arguments, with at most as many threads, by default one for each job.

    The calling thread runs the first, and any other that no thread has begun by then.

    >>> found = [0, 0]
    >>> in_parallel([(found.__setitem__, 0, 1), (found.__setitem__, 1, 2)])
    >>> found
    [1, 2]
    """
    if len(jobs) == 1 or threads == 1:
        return _in_turn(jobs)
    if threads is not None and threads < len(jobs):
        shares = [jobs[first::threads] for first in range(threads)]
        jobs = [(_in_turn, share) for share in shares]
    first, *others = [[job] for job in jobs]
    # NumPy's settings for floating point errors belong to the context of a thread.
    handed: list[Future[Any]] = [_pool().submit(contextvars.copy_context().run, _take, job) for job in others]
    try:
        _take(first)
        for future, job in zip(handed, others, strict=True):
            if future.cancel():  # jobs may have jobs of their own: waiting for a free thread might never end
                _take(job)
            else:
                future.result()
    finally:
        for future, job in zip(handed, others, strict=True):
            if future.cancel():
                job.clear()
            else:
                future.exception()  # a job that has begun writes to arrays of the caller


class Stop:
    """Tells long tasks to end soon once it is set; unlike ``threading.Event`` nobody waits for it, and making one takes no time."""

    def __init__(self) -> None:
        self._is_set = False

    def set(self) -> None:
        """Ask the tasks to end."""
        self._is_set = True

    def is_set(self) -> bool:
        """Whether the tasks are to end."""
        return self._is_set


def run_tasks(tasks: Sequence[Callable[[], T]], threads: int, stop: Stop) -> list[T]:
    """The results of long tasks, which must end soon once ``stop`` is set; with one thread the calling thread runs them in turn.

    With several threads an interrupt sets ``stop``, and the results are those that the tasks return then; an error in a task also sets it.

    >>> run_tasks([lambda: 1, lambda: 2], 2, Stop())
    [1, 2]
    """
    if threads == 1 or len(tasks) <= 1:
        return [task() for task in tasks]
    with ThreadPoolExecutor(min(threads, len(tasks))) as pool:
        try:
            futures = [pool.submit(task) for task in tasks]
            try:
                done, _ = wait(futures, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()
            except KeyboardInterrupt:
                stop.set()
            return [future.result() for future in futures]
        except BaseException:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise

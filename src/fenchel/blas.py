"""One thread of BLAS, for as long as it is better than several."""

from __future__ import annotations

import functools
import threading
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

"""Tell a user who waits for a kernel to be compiled what is going on

A kernel that is neither in the package nor in the user's cache takes from a tenth of a second to several seconds to compile. Once a
process has waited for a second, it says so: to ``logging`` always, and on the screen through the last of the listeners, if there is one.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import threading
import time
from collections.abc import Callable, Iterator

log = logging.getLogger("fenchel")
NOTICE_AFTER = 1.0  # seconds of compiling

Listener = Callable[[str], None]
_listeners: list[Listener] = []


@contextlib.contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Pass notices to ``listener`` in place of earlier ones; it must not call kernels."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


class Compilations:
    """How long this process has compiled kernels, and how many. Kernels compile one at a time: Numba holds a lock."""

    def __init__(self) -> None:
        self.count, self.seconds = 0, 0.0
        self._depth, self._began, self._is_noticed, self._collects = 0, 0.0, False, False
        self._timer: threading.Timer | None = None

    def begin(self, what: str, is_kept: bool) -> None:
        """The compilation of a kernel, or of a function that it calls, begins."""
        self._depth += 1
        if self._depth > 1:
            return
        self._began, self._collects = time.perf_counter(), gc.isenabled()
        gc.disable()  # a compilation makes millions of objects and hardly any cycles: searching them for garbage takes a sixth of its time
        if not self._is_noticed:
            self._timer = threading.Timer(max(0.0, NOTICE_AFTER - self.seconds), self._notice, [what, is_kept])
            self._timer.daemon = True
            self._timer.start()

    def end(self) -> None:
        """It is done, or has failed."""
        self._depth -= 1
        if self._depth > 0:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._collects:
            gc.enable()
        self.count += 1
        self.seconds += time.perf_counter() - self._began

    def _notice(self, what: str, is_kept: bool) -> None:
        self._is_noticed = True
        later = "this happens once, later runs load it" if is_kept else "this happens in every process, because it contains code of yours"
        text = f"compiling {what}: {later}"
        log.info("%s.", text.capitalize())
        for listener in _listeners[-1:]:
            listener(text)


compilations = Compilations()

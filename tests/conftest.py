"""What every test can rely on, however the run was started."""

from __future__ import annotations

import signal
import threading

# A shell starts background jobs with SIGINT ignored, and children inherit that: tests send it to themselves and to programs they start.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

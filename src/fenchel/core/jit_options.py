"""How kernels are compiled, known before Numba is imported."""

from __future__ import annotations

import os
import time
from typing import Any

PACKAGE = __name__.partition(".")[0]
JIT = os.environ.get("NUMBA_DISABLE_JIT", "").strip() in ("", "0")
IMPORTED_AT = time.time()  # source files that were edited later may not be what runs
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}  # NumPy's rule that 1/0 is inf lets loops vectorise

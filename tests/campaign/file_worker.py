"""Run some cases of hostile files in this process, which the parent watches: a line of JSON on standard output for each failure

A case fails if it raises anything but an error of fenchel, or takes more memory than its bound. The number of the case in progress is
written to a file, so that the parent can name the case if this process hangs or crashes.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import resource
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

from fenchel.core.errors import InputError
from tests.campaign import model_cases
from tests.campaign.file_cases import case

ADDRESS_SPACE = 12 << 30  # bytes; threads and compiled code reserve far more than they use
PROGRESS_BYTES = 16


def peak() -> int:
    """The largest resident size since the last reset, in bytes; 0 where the system does not say."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return 0
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])


def reset_peak() -> None:
    """Begin a new measurement of the peak."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def failure_of(seed: int, k: int, folder: Path) -> tuple[str, dict[str, str] | None]:
    """The kind of a case, and its failure, if it fails."""
    made = case(seed, k)
    path = folder / made.name
    path.write_bytes(made.contents)
    reset_peak()
    before = peak()
    what = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made.use(path)
    except InputError as error:
        if "\n" in str(error) or len(str(error)) > 5000:
            what = {"failure": "unreadable messages", "error": repr(error)[:500]}
    except FileNotFoundError:
        pass
    except BaseException as error:
        what = {"failure": "raw errors", "error": "".join(traceback.format_exception(error))[-3000:]}
    spent = peak() - before
    if what is None and spent > made.memory:
        what = {"failure": "over the memory bound", "error": f"{spent:,} bytes, and {made.memory:,} are allowed"}
    for left in folder.iterdir():
        left.unlink()
    return made.kind, what


def warm_up(folder: Path) -> None:
    """Compile what the cases use, so that it does not count as their time and memory."""
    for header, tensors in model_cases.seeds():
        (folder / "m.fenchel").write_bytes(model_cases.written(header, tensors))
        model_cases.use(folder / "m.fenchel")
    for k in range(300):
        failure_of(0, k, folder)


def main(seed: int, first: int, seconds: float, progress: str) -> None:
    """Run cases from ``first`` on, for this many seconds."""
    if hasattr(resource, "RLIMIT_AS"):
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    kinds: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder, open(progress, "r+b") as file, mmap.mmap(file.fileno(), PROGRESS_BYTES) as shared:
        warm_up(Path(folder))
        ends, k = time.monotonic() + seconds, first
        while time.monotonic() < ends:
            shared[:PROGRESS_BYTES] = b"%16d" % k
            kind, failed = failure_of(seed, k, Path(folder))
            kinds[kind] = kinds.get(kind, 0) + 1
            if failed is not None:
                print(json.dumps({"case": k, "kind": kind, **failed}), flush=True)
            k += 1
    print(json.dumps({"kinds": kinds}), flush=True)


if __name__ == "__main__":
    os.environ.pop("FENCHEL_MAX_BYTES", None)
    main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4])

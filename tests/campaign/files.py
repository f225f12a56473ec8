"""Hostile files: damaged, forged and exhausting files for every reader and for model files

Batches of cases run in a process of their own, with limits on memory and time; every failure leaves its file and its error under ``keep``.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.campaign.file_cases import case
from tests.campaign.file_worker import PROGRESS_BYTES

BATCH = 120.0  # seconds after which a new process begins, because memory that libraries retain would hide peaks
TIME_LIMIT = 20.0  # seconds of one case
STARTUP = 600.0  # seconds until the first case; a cold cache compiles kernels meanwhile
FAILURES = ("raw errors", "unreadable messages", "over the memory bound", "hangs", "crashes")


def run(seconds: float, seed: int, keep: Path) -> dict[str, int]:
    """Run cases until the time is over; the counts of cases and of failures."""
    counts: Counter[str] = Counter(dict.fromkeys(("cases", *FAILURES), 0))
    ends, k = time.monotonic() + seconds, 0
    while time.monotonic() < ends:
        done, found = batch(seed, k, min(BATCH, ends - time.monotonic()))
        k += done
        counts["cases"] += done
        for entry in found:
            if "kinds" in entry:
                counts.update({f"cases {kind}": count for kind, count in sorted(entry["kinds"].items())})
            else:
                counts[entry["failure"]] += 1
                kept(seed, entry, keep)
    return dict(counts)


def batch(seed: int, first: int, seconds: float) -> tuple[int, list[dict[str, Any]]]:
    """Run some cases in a new process: the number that it finished, and what it reported. A hang or a crash ends the batch."""
    with tempfile.TemporaryDirectory() as folder:
        progress, output, errors = (Path(folder) / name for name in ("progress", "output", "errors"))
        progress.write_bytes(b"%16d" % first)
        command = [sys.executable, "-m", "tests.campaign.file_worker", str(seed), str(first), str(seconds), str(progress)]
        with output.open("w") as out, errors.open("w") as err:
            process = subprocess.Popen(command, stdout=out, stderr=err, cwd=Path(__file__).parents[2])
            hung = _watch(process, progress)
        found = [json.loads(line) for line in output.read_text().splitlines()]
        at = int(progress.read_bytes()[:PROGRESS_BYTES])
        if process.returncode == 0:
            return at - first + 1, found
        reason = f"exit code {process.returncode}: {errors.read_text()[-2000:]}"
        return at - first + 1, [*found, {"case": at, "kind": "", "failure": "hangs" if hung else "crashes", "error": reason}]


def _watch(process: subprocess.Popen[Any], progress: Path) -> bool:
    """Wait for the end of the process; whether it was killed because a case took too long."""
    last, since, limit = b"", time.monotonic(), STARTUP
    while True:
        try:
            process.wait(0.5)
            return False
        except subprocess.TimeoutExpired:
            now = progress.read_bytes()
        if now != last:
            limit = TIME_LIMIT if last else STARTUP
            last, since = now, time.monotonic()
        elif time.monotonic() - since > limit:
            process.kill()
            process.wait()
            return True


def kept(seed: int, entry: dict[str, Any], keep: Path) -> Path:
    """Write the file of a failed case, and its error, under ``keep``."""
    made = case(seed, entry["case"])
    folder = keep / f"files-{seed}-{entry['case']}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / made.name).write_bytes(made.contents)
    (folder / "error.txt").write_text(
        f"{entry['failure']}, {made.kind}: tests.campaign.file_cases.case({seed}, {entry['case']})\n{entry['error']}\n"
    )
    return folder

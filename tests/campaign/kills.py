"""Conversions into stores, and training with checkpoints, are killed at random moments and started again until they are done

Case k of a seed: an odd one converts text, shuffled or not, an even one trains a solver chosen at random. At most ``KILLS`` times the
process is killed (SIGKILL), each time after up to as long as an undisturbed run takes. Then it is let run to its end. The store must
then be the same, byte for byte, as that of the undisturbed conversion; the training must reach the tolerance if an undisturbed one does.
Nothing else may be left in the folder, and no attempt may end with an error.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import fenchel as fl
from fenchel.datasets.row_store import store_writer
from fenchel.driver import checkpoint

KILLS = 6  # of one case
WAIT = 120.0  # seconds after which a process counts as hanging
SOLVERS = ("sdca", "accelerated-sdca", "pgs", "fista", "lbfgs", "newton", "proximal-bundle", "optimistic")
TOL = 1e-4
PASSES, PATIENCE = 60.0, 10.0  # of an undisturbed run, and as many times more for one that begins without its private state again


def convert(text: Path, store: Path, shuffle: bool) -> None:
    """A conversion that records its progress after every chunk."""
    store_writer.BETWEEN = 0.0
    fl.datasets.convert(text, store, shuffle=shuffle)


def problem() -> fl.Problem:
    """Rows that take some passes."""
    X, y = fl.datasets.make_text(3000, n=500, nonzeros=20, seed=5)
    return fl.Problem(X, y, fl.Logistic(), fl.L2(1e-5))


def train(file: Path, solver: str, passes: float = PASSES) -> None:
    """Training that writes a checkpoint after every iterate."""
    import warnings

    checkpoint.SECONDS = 0.0
    warnings.simplefilter("ignore")
    fl.minimize(problem(), solver, tol=TOL, max_passes=passes, checkpoint=file)


def until_done(
    action: Callable[..., None], arguments: tuple[Any, ...], seconds: float, rng: np.random.Generator, counts: Counter[str]
) -> None:
    """Kill a process a few times, then let it end."""
    context = multiprocessing.get_context("fork")
    for attempt in range(KILLS + 1):
        process = context.Process(target=action, args=arguments)
        process.start()
        process.join(rng.uniform(0.0, seconds) if attempt < KILLS else WAIT)
        if process.is_alive():
            os.kill(process.pid or 0, signal.SIGKILL)
            counts["kills" if attempt < KILLS else "a process hung"] += 1
        process.join()
        if process.exitcode == 0:
            return
        if process.exitcode != -signal.SIGKILL:
            counts["an attempt ended with an error"] += 1
            return


def timed(action: Callable[..., None], *arguments: Any) -> float:
    """The seconds of an undisturbed run, without compiling."""
    for _ in range(2):
        clock = time.perf_counter()
        action(*arguments)
    return time.perf_counter() - clock


def case(folder: Path, number: int, rng: np.random.Generator, counts: Counter[str]) -> None:
    """One case, in a folder of its own."""
    if number % 2:
        text, shuffle = folder / "a.svm", bool(rng.integers(2))
        fl.datasets.write_svmlight(text, *fl.datasets.make_text(int(rng.integers(500, 8000)), n=300, nonzeros=20, seed=number))
        seconds = timed(convert, text, folder / "whole.store", shuffle)
        until_done(convert, (text, folder / "killed.store", shuffle), seconds, rng, counts)
        whole = {path.name: path.read_bytes() for path in (folder / "whole.store").glob("*.npy")}
        counts["a store differed"] += whole != {path.name: path.read_bytes() for path in (folder / "killed.store").glob("*.npy")}
        left = {path.name for path in folder.iterdir()} - {"a.svm", "whole.store", "killed.store"}
    else:
        solver = str(rng.choice(SOLVERS))
        seconds = timed(train, folder / "whole.ckpt", solver) + 0.2
        (folder / "whole.ckpt").unlink()
        train(folder / "whole.ckpt", solver)
        until_done(train, (folder / "run.ckpt", solver, PATIENCE * PASSES), seconds, rng, counts)
        found, whole_gap = (last_gap(folder / name) for name in ("run.ckpt", "whole.ckpt"))
        counts["a certificate was not reached again"] += not found <= max(whole_gap, TOL * problem().scale)
        left = {path.name for path in folder.iterdir()} - {"run.ckpt", "whole.ckpt"}
    counts["files were left behind"] += bool(left)


def last_gap(file: Path) -> float:
    """The gap that a run came to."""
    return float(checkpoint._read(file)[0]["history"][-1][5])


def run(seconds: float, seed: int, keep: Path) -> dict[str, int]:
    """Cases until the time is over, and what was seen; every count but those of cases is a failure."""
    counts: Counter[str] = Counter()
    until, number = time.monotonic() + seconds, 0
    while number == 0 or time.monotonic() < until:
        rng = np.random.default_rng([seed, number])
        with tempfile.TemporaryDirectory() as folder:
            case(Path(folder), number, rng, counts)
        number += 1
    kills = counts.pop("kills", 0)
    return {"cases": number, "cases of a process that was killed": kills, **{name: count for name, count in counts.items() if count}}

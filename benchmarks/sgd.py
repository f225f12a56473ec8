"""Time to a test accuracy: pgs against scikit-learn's SGDClassifier and Vowpal Wabbit, on text in the likeness of RCV1.

Each learns the same training rows in its fastest sensible setting; the clock covers learning alone (Vowpal Wabbit reads its own
binary cache, its driver's time is what it prints for a file of no rows taken off). The best setting of each, by test accuracy after one
pass over a small grid, is then run pass by pass until it reaches the accuracy asked for.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from common import real, show, split, text
from sklearn.linear_model import SGDClassifier

import fenchel as fl

warnings.simplefilter("ignore")
Course = Iterator[tuple[float, np.ndarray]]  # seconds so far, weights


def ours(X: sp.csr_array, y: np.ndarray, loss: object, l2: float, passes: int) -> Course:
    problem = fl.Problem(X, y, loss, fl.L2(l2))
    steps = fl.solvers.solvers()["pgs"].run(problem, start=None, rng=np.random.default_rng(0), accuracy=0.0)
    seconds = 0.0
    for _ in range(4 * passes):
        clock = time.perf_counter()
        iterate = next(steps)
        seconds += time.perf_counter() - clock
        if iterate.passes == int(iterate.passes):
            yield seconds, iterate.w
        if iterate.passes >= passes:
            return


def scikit(X: sp.csr_array, y: np.ndarray, loss: str, l2: float, passes: int) -> Course:
    model = SGDClassifier(loss=loss, alpha=l2, fit_intercept=False, random_state=0, shuffle=True)
    seconds = 0.0
    for _ in range(passes):
        clock = time.perf_counter()
        model.partial_fit(X, y, classes=[-1.0, 1.0])
        seconds += time.perf_counter() - clock
        yield seconds, model.coef_[0]


def wabbit(X: sp.csr_array, y: np.ndarray, loss: str, rate: float, passes: int, folder: Path) -> Course:
    """Vowpal Wabbit from its own cache; weights are read back from what it predicts for single features."""
    data, cache = folder / "train.vw", folder / "train.cache"
    if not data.exists():
        with data.open("w") as file:
            for i in range(X.shape[0]):
                row = slice(X.indptr[i], X.indptr[i + 1])
                entries = " ".join(f"{j}:{v:.6g}" for j, v in zip(X.indices[row], X.data[row], strict=True))
                file.write(f"{y[i]:.0f} | {entries}\n")
        _vw("-d", str(data), "--cache_file", str(cache), "--noconstant", "-b", "18", "--quiet")
    model = folder / "model.txt"
    empty = folder / "empty.vw"
    empty.write_text("")
    options = ["--loss_function", loss, "-l", str(rate), "--noconstant", "-b", "18", "--quiet", "--holdout_off"]
    overhead = min(_vw("-d", str(empty), *options) for _ in range(3))
    for count in range(1, passes + 1):
        seconds = _vw("--cache_file", str(cache), *options, "--passes", str(count), "--readable_model", str(model))
        yield max(seconds - overhead, 1e-9), _weights(model, X.shape[1])


def _vw(*arguments: str) -> float:
    clock = time.perf_counter()
    subprocess.run([sys.executable, "-m", "vowpalwabbit", *arguments], check=True, capture_output=True)
    return time.perf_counter() - clock


def _weights(model: Path, n: int) -> np.ndarray:
    w = np.zeros(n)
    for line in model.read_text().splitlines():
        head, _, value = line.partition(":")
        if head.isdigit() and int(head) < n:
            w[int(head)] = float(value.split()[0])
    return w


def to_accuracy(course: Course, X: sp.csr_array, y: np.ndarray, wanted: float) -> tuple[float, float]:
    """Seconds to the accuracy, and the best accuracy seen."""
    best = 0.0
    for seconds, w in course:
        best = max(best, float(np.mean(np.sign(X @ w) == y)))
        if best >= wanted:
            return seconds, best
    return float("inf"), best


def tuned(
    make: Callable[[float, int], Course], grid: list[float], X: sp.csr_array, y: np.ndarray, wanted: float, passes: int
) -> list[object]:
    """The setting that reaches the accuracy first."""
    results = [(*to_accuracy(make(value, passes), X, y, wanted), value) for value in grid]
    seconds, best, value = min(results, key=lambda r: (r[0], -r[1]))
    return [seconds, f"{100 * best:.2f}", f"{value:.1e}"]


def main(m: int = 781_265) -> None:
    rows: list[list[object]] = []
    X, y = text(m + 20_000)
    sets = [("generated text", (X[:m], y[:m]), (X[m:], y[m:]), 0.979)]
    found = split("rcv1sub.ccat") if real("rcv1sub.ccat") else None
    if found is not None:
        sets.append(("rcv1sub.ccat", *found, 0.938))
    for name, (A, b), (T, u), wanted in sets:
        size = len(b)
        strengths = [4.0 / size, 1.0 / size, 0.25 / size]
        for title, loss, sk, vw in (("logistic", fl.Logistic(), "log_loss", "logistic"), ("hinge", fl.Hinge(), "hinge", "hinge")):
            ours_, theirs = (lambda v, p, loss=loss: ours(A, b, loss, v, p)), (lambda v, p, sk=sk: scikit(A, b, sk, v, p))
            next(ours(A[:1000], b[:1000], loss, 1e-3, 1))  # compile
            rows.append([name, title, "fenchel pgs", *tuned(ours_, strengths, T, u, wanted, 4)])
            rows.append([name, title, "SGDClassifier", *tuned(theirs, strengths, T, u, wanted, 4)])
            try:
                with tempfile.TemporaryDirectory() as folder:
                    course = lambda v, p, vw=vw, folder=folder: wabbit(A, b, vw, v, p, Path(folder))  # noqa: E731
                    rows.append([name, title, "Vowpal Wabbit", *tuned(course, [0.25, 0.5, 2.0], T, u, wanted, 3)])
            except (ImportError, subprocess.CalledProcessError, FileNotFoundError) as error:
                print(f"Vowpal Wabbit left out: {error}", file=sys.stderr)
        rows[-1].append("")
    columns = ["data", "loss", "solver", "seconds", "accuracy (%)", "setting"]
    show(f"Time to the accuracy ({os.cpu_count()} processors)", columns, [row[:6] for row in rows])


if __name__ == "__main__":
    main()

"""Time to a test accuracy: pgs against scikit-learn's SGDClassifier and Vowpal Wabbit, on generated text similar to RCV1.

Each is trained on the same rows, in memory or from its own binary cache (Vowpal Wabbit, whose time for a file without rows is subtracted).
Weights are evaluated after every pass, outside the timing. For each solver the setting counts that reaches the accuracy first.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from common import real, show, split, text
from sklearn.linear_model import SGDClassifier

import fenchel as fl

warnings.simplefilter("ignore")
PASSES = 3
Course = Iterator[tuple[float, np.ndarray]]  # seconds so far, weights


def ours(X: sp.csr_array, y: np.ndarray, loss: object, l2: float, passes: int) -> Course:
    """Weights after every pass."""
    problem = fl.Problem(X, y, loss, fl.L2(l2))
    steps = fl.solvers.solvers()["pgs"].run(problem, start=None, rng=np.random.default_rng(0), accuracy=0.0)
    seconds = 0.0
    done = 0.0
    while done < passes:
        clock = time.perf_counter()
        iterate = next(steps)
        seconds += time.perf_counter() - clock
        done = iterate.passes
        if done == int(done):  # evaluated as often as the others
            yield seconds, iterate.w


def scikit(X: sp.csr_array, y: np.ndarray, loss: str, l2: float, passes: int) -> Course:
    model = SGDClassifier(loss=loss, alpha=l2, fit_intercept=False, random_state=0, shuffle=True)
    seconds = 0.0
    for _ in range(passes):
        clock = time.perf_counter()
        model.partial_fit(X, y, classes=[-1.0, 1.0])
        seconds += time.perf_counter() - clock
        yield seconds, model.coef_[0]


def wabbit(X: sp.csr_array, y: np.ndarray, loss: str, rate: float, passes: int, folder: Path) -> Course:
    """Vowpal Wabbit from its own cache; weights are obtained from its predictions for single features."""
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
    """Seconds to the accuracy, and the best accuracy."""
    best = 0.0
    for seconds, w in course:
        best = max(best, float(np.mean(np.sign(X @ w) == y)))
        if best >= wanted:
            return seconds, best
    return float("inf"), best


def tuned(course: Callable[[float], Course], grid: list[float], X: sp.csr_array, y: np.ndarray, wanted: float) -> list[object]:
    """The setting that reaches the accuracy first."""
    results = [(*to_accuracy(course(value), X, y, wanted), value) for value in grid]
    seconds, best, value = min(results, key=lambda r: (r[0], -r[1]))
    return [seconds, f"{100 * best:.2f}", f"{value:.1e}"]


def compare(name: str, X: sp.csr_array, y: np.ndarray, T: sp.csr_array, u: np.ndarray, wanted: float) -> list[list[object]]:
    """One row of the table per solver and loss."""
    rows: list[list[object]] = []
    strengths = [16.0 / len(y), 4.0 / len(y), 1.0 / len(y), 0.25 / len(y)]
    with tempfile.TemporaryDirectory() as folder:
        for title, loss, theirs in (("logistic", fl.Logistic(), "log_loss"), ("hinge", fl.Hinge(), "hinge")):
            next(ours(X[:1000], y[:1000], loss, 1e-3, 1))  # compile
            ways: list[tuple[str, Callable[[float], Course], list[float]]] = [
                ("fenchel pgs", partial(ours, X, y, loss, passes=PASSES), strengths),
                ("SGDClassifier", partial(scikit, X, y, theirs, passes=PASSES), strengths),
                ("Vowpal Wabbit", partial(wabbit, X, y, title, passes=PASSES, folder=Path(folder)), [0.25, 0.5, 2.0, 8.0]),
            ]
            for solver, course, grid in ways:
                try:
                    rows.append([f"{name}, {wanted:.1%}", title, solver, *tuned(course, grid, T, u, wanted)])
                except (subprocess.CalledProcessError, FileNotFoundError) as error:
                    print(f"{solver} skipped: {error}", file=sys.stderr)
    return rows


def main(m: int = 781_265) -> None:
    X, y = text(m + 20_000)
    rows = compare(f"generated {m:,} x {X.shape[1]:,}", X[:m], y[:m], X[m:], y[m:], 0.978)
    found = split("rcv1sub.ccat") if real("rcv1sub.ccat") else None
    if found is not None:
        (X, y), (T, u) = found
        rows += compare("rcv1sub.ccat", X, y, T, u, 0.935)
    show("Time to an accuracy", ["data, accuracy", "loss", "solver", "seconds", "accuracy (%)", "setting"], rows)


if __name__ == "__main__":
    main()

"""Times of ``fit`` with two threads, and with all, relative to one thread, on an idle machine and while another process uses a processor

The three are measured in turn, and each ratio is between neighbours, because machines are shared. The medians should not be above 1 by more
than a few percent.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp
from common import dense, show
from sklearn.datasets import load_diabetes, load_digits, load_iris

import fenchel as fl

Fit = Callable[[int | None], Any]
THREADS = (1, 2, None)


def classes_of(X: Any, count: int, seed: int = 0) -> np.ndarray:
    """Labels by the largest of several noisy linear functions."""
    rng = np.random.default_rng(seed)
    Z = X @ rng.standard_normal((X.shape[1], count))
    return (Z + Z.std() * rng.standard_normal(Z.shape)).argmax(axis=1)


def cases() -> Iterator[tuple[str, Fit]]:
    """Names of data and estimator, with a function that takes n_jobs and fits."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 180))
    large = rng.standard_normal((20_000, 100))
    text = sp.random_array((20_000, 10_000), density=0.005, rng=rng, format="csr")
    digits, digit = load_digits(return_X_y=True)
    labelled = {
        "dense 2,000 x 180, 3 classes": (X, classes_of(X, 3)),
        "dense 20,000 x 100, 4 classes": (large, classes_of(large, 4)),
        "digits, 10 classes": (digits / 16.0, digit),
        "iris, 3 classes": load_iris(return_X_y=True),
        "sparse text 20,000 x 10,000, 10 classes": (text, classes_of(text, 10)),
    }
    for name, (A, y) in labelled.items():
        for loss, penalty in (("logistic", "l2"), ("squared-hinge", "l2"), ("logistic", "l1")):
            yield (
                f"{name}: {loss}, {penalty}, one-vs-rest",
                lambda n, A=A, y=y, loss=loss, penalty=penalty: fl.LinearClassifier(
                    loss, penalty=penalty, strength=1e-3, multiclass="one-vs-rest", tol=1e-3, n_jobs=n
                ).fit(A, y),
            )
    yield "digits: LogisticRegression", lambda n: fl.LogisticRegression(n_jobs=n).fit(digits / 16.0, digit)
    yield "digits: LogisticRegressionCV", lambda n: fl.LogisticRegressionCV(Cs=4, cv=3, n_jobs=n).fit(digits / 16.0, digit)
    tall, sign = dense(100_000, 50)
    yield "dense 100,000 x 50: newton", lambda n: fl.LinearClassifier(solver="newton", n_jobs=n).fit(tall, sign)
    target = tall[:, :5].sum(axis=1) + rng.standard_normal(len(tall))
    yield "dense 100,000 x 50: LassoCV", lambda n: fl.LassoCV(n_jobs=n).fit(tall, target)
    small = load_diabetes(return_X_y=True)
    yield "diabetes: LassoCV", lambda n: fl.LassoCV(n_jobs=n).fit(*small)
    wide = rng.standard_normal((300, 3000))
    yield "dense 300 x 3,000: LassoCV", lambda n: fl.LassoCV(alphas=30, n_jobs=n).fit(wide, wide[:, :10].sum(axis=1))


def busy() -> None:
    """Use one processor until the process is ended."""
    while True:
        pass


@contextmanager
def other_process(wanted: bool) -> Iterator[None]:
    """Another process that uses one processor."""
    if not wanted:
        yield
        return
    process = multiprocessing.get_context("spawn").Process(target=busy, daemon=True)
    process.start()
    try:
        yield
    finally:
        process.terminate()
        process.join()


def measured(fit: Fit, repeats: int) -> dict[int | None, np.ndarray]:
    """Seconds of every repetition, by number of threads."""
    seconds: dict[int | None, list[float]] = {n: [] for n in THREADS}
    for _ in range(repeats):
        for n in THREADS:
            clock = time.perf_counter()
            fit(n)
            seconds[n].append(time.perf_counter() - clock)
    return {n: np.array(times) for n, times in seconds.items()}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--only", default="", help="only the cases whose name contains this")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    rows: list[list[object]] = []
    for name, fit in cases():
        if arguments.only not in name:
            continue
        for n in THREADS:
            fit(n)  # compiles
        row: list[object] = [name]
        for loaded in (False, True):
            with other_process(loaded):
                seconds = measured(fit, arguments.repeats)
            row.append(f"{np.median(seconds[1]):.3f}")
            for n in THREADS[1:]:
                ratios = seconds[n] / seconds[1]
                row.append(f"{np.median(ratios):.2f} ({ratios.min():.2f} to {ratios.max():.2f})")
        print(*row, sep=" | ", flush=True)
        rows.append(row)
    heads = ["one thread (s)", "two", "all", "busy: one (s)", "two", "all"]
    show("fit, relative to one thread: median (range)", ["case", *heads], rows)


if __name__ == "__main__":
    main()

"""fenchel against the best of other packages: seconds until P(w) − min P ≤ tol·P(0), cell by cell, on one thread

A cell is a task, a data set, a strength and an accuracy. Other packages stop by rules of their own: each is run from its loosest tolerance
to its tightest, and counts with the time of the loosest one whose weights are accurate enough. fenchel is run once, with tol as the
accuracy; its time includes checking the data and proving the certificate. Every time is the best of three, after a first fit that compiles.
min P is the smallest objective that fenchel or any of them has reached, fenchel also with tol = 1e-9.

The ratio is the time of the best package by that of fenchel: above 1, fenchel is ahead. ``--out FILE`` keeps all times as JSON, for
``race_report.py``. Data sets are read from $FENCHEL_DATA or generated; packages that are not installed are left out (peers.py).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import peers
import scipy.sparse as sp
from common import text
from scipy.special import logsumexp
from threadpoolctl import threadpool_limits

import fenchel as fl

ACCURACIES = (1e-3, 1e-6)
FILLED = 0.3  # share of stored entries from which a data set is given to all packages as an array
LIMIT = 60.0  # seconds for fenchel
REFERENCE = 1e-9  # tolerance of the run that looks for min P


class Task(NamedTuple):
    """A loss with its value for all rows, given their predictions; for labels of a kind, under l1 or the ridge penalty."""

    labels: str
    loss: Any
    values: Callable[[np.ndarray, np.ndarray], np.ndarray]
    l1: bool = False


def hinge(z: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.maximum(0.0, 1.0 - y * z)


def one_vs_rest(Z: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The sum of the squared hinge losses of all classes."""
    return (0.5 * hinge(Z, np.where(np.arange(Z.shape[1]) == y[:, None], 1.0, -1.0)) ** 2).sum(axis=1)


def softmax(Z: np.ndarray, y: np.ndarray) -> np.ndarray:
    return logsumexp(Z, axis=1) - Z[np.arange(len(y)), y]


TASKS = {
    "logistic": Task("binary", fl.Logistic(), lambda z, y: np.logaddexp(0.0, -y * z)),
    "hinge": Task("binary", fl.Hinge(), hinge),
    "squared-hinge": Task("binary", fl.SquaredHinge(), lambda z, y: 0.5 * hinge(z, y) ** 2),
    "ridge": Task("regression", fl.Squared(), lambda z, y: 0.5 * (z - y) ** 2),
    "lasso": Task("regression", fl.Squared(), lambda z, y: 0.5 * (z - y) ** 2, l1=True),
    "l1-logistic": Task("binary", fl.Logistic(), lambda z, y: np.logaddexp(0.0, -y * z), l1=True),
    "softmax": Task("classes", fl.Softmax(), softmax),
    "one-vs-rest": Task("classes", fl.SquaredHinge(), one_vs_rest),
}
DATA = {
    "binary": (
        *("diabetes_scale", "duke", "arcene_train", "a9a", "w8a", "ijcnn1", "usps", "rcv1sub.ccat", "covtype.libsvm.binary.scale"),
        *("text 200,000", "text 781,265"),
    ),
    "regression": (
        *("bodyfat", "abalone_scale", "cadata", "diabetes_scale", "duke", "arcene_train", "rcv1sub.ccat"),
        *("gaussian 100 x 10,000", "gaussian 100,000 x 200"),
    ),
    "classes": ("usps", "letter.scale", "news20", "mnist"),
}


def gaussian(m: int, n: int, relevant: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """Independent features, of which few are relevant, and noise."""
    rng = np.random.default_rng(0)
    X, w = rng.standard_normal((m, n)), np.zeros(n)
    w[rng.choice(n, relevant, replace=False)] = rng.standard_normal(relevant)
    return X, X @ w + rng.standard_normal(m)


def load(name: str, labels: str) -> tuple[Any, np.ndarray] | None:
    """A data set with labels of that kind, or None if it is not there."""
    if name.startswith("text"):
        X, y = text(int(name.split()[1].replace(",", "")))
        return sp.csr_matrix(X), y
    if name.startswith("gaussian"):
        rows, columns = (int(part.replace(",", "")) for part in name.removeprefix("gaussian ").split(" x "))
        return gaussian(rows, columns)
    path = os.path.join(os.environ.get("FENCHEL_DATA", ""), f"{name}.xz")
    if not os.path.exists(path):
        return None
    X, y = fl.datasets.read_svmlight(path)
    if X.nnz > FILLED * np.prod(X.shape):
        X = X.toarray()
    else:  # most packages take no other indices, and no sparse arrays
        X = sp.csr_matrix(X)
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    if labels == "binary":
        return X, np.where(y == y.max(), 1.0, -1.0)
    if labels == "classes":
        return X / abs(X).max(), np.unique(y, return_inverse=True)[1]
    if not sp.issparse(X):
        X = np.ascontiguousarray((X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0.0, X.std(axis=0), 1.0))
    return X, (y - y.mean()) / y.std()


class Case(NamedTuple):
    """A task on a data set with a strength."""

    name: str
    X: Any
    y: np.ndarray
    strength: float

    @property
    def task(self) -> Task:
        return TASKS[self.name]

    def objective(self, w: np.ndarray) -> float:
        """P(w), computed without fenchel."""
        penalty = np.abs(w).sum() if self.task.l1 else 0.5 * float((w * w).sum())
        return float(self.task.values(self.X @ w, self.y).mean() + self.strength * penalty)

    @property
    def origin(self) -> np.ndarray:
        n, classes = self.X.shape[1], int(self.y.max()) + 1
        return np.zeros((n, classes) if self.task.labels == "classes" else n)

    def minimise(self, tol: float, threads: int, **limits: float) -> tuple[np.ndarray, str, bool]:
        """The weights of fenchel, its solver, and whether they are certified."""
        if self.name == "one-vs-rest":
            options = {"multiclass": "one-vs-rest", "fit_intercept": False, "n_jobs": threads}
            model = fl.LinearClassifier(self.task.loss, strength=self.strength, tol=tol, **options).fit(self.X, self.y)
            return model.coef_.T, model.solver_, bool(np.all(model.converged_))
        penalty = (fl.L1 if self.task.l1 else fl.L2)(self.strength)
        problem = fl.Problem(self.X, self.y, self.task.loss, penalty)
        result = fl.minimize(problem, tol=tol, max_passes=1e6, threads=threads, **{"time_limit": LIMIT, **limits})
        return result.w, result.solver, result.converged


def cases(name: str, X: Any, y: np.ndarray) -> Iterator[tuple[str, Case]]:
    """A task on a data set with a strong and a weak penalty."""
    task = TASKS[name]
    if task.l1:
        slopes = y if task.labels == "regression" else 0.5 * y
        largest = float(np.abs(X.T @ slopes).max()) / len(y)
        strengths = {"max/10": largest / 10.0, "max/100": largest / 100.0}
    else:
        strengths = {"1/m": 1.0 / len(y), "0.01/m": 0.01 / len(y)}
    for label, strength in strengths.items():
        yield label, Case(name, X, y, strength)


def timed(action: Callable[[], Any], limit: float) -> tuple[float, Any]:
    """The best of three times, or of fewer if one takes long; and what the first call returned."""
    clock = time.perf_counter()
    found = action()
    seconds = first = time.perf_counter() - clock
    for _ in range(2 if first < limit / 3.0 else 0):
        clock = time.perf_counter()
        action()
        seconds = min(seconds, time.perf_counter() - clock)
    return seconds, found


def run(case: Case, threads: int, limit: float) -> list[dict[str, Any]]:
    """The cells of a case, one for each accuracy."""
    at_zero = case.objective(case.origin)
    trials: dict[str, list[tuple[float, float]]] = {}  # of each package: seconds and objective, from its loosest tolerance on
    smallest = case.objective(case.minimise(REFERENCE, threads)[0])
    for name, attempts in peers.fits(case.name, case.X, case.y, case.strength, threads).items():
        trials[name] = []
        for attempt in attempts:
            try:
                seconds, w = timed(attempt, limit)
            except (ValueError, ArithmeticError, RuntimeError) as error:
                print(f"  {name}: {str(error)[:100]}")
                break
            reached = case.objective(w) if np.isfinite(w).all() else math.inf
            trials[name].append((seconds, reached))
            smallest = min(smallest, reached)
            if seconds > limit or reached - smallest <= 0.1 * min(ACCURACIES) * at_zero:
                break
    cells = []
    for tol in ACCURACIES:
        enough = smallest + tol * at_zero
        times = {name: min((t for t, reached in found if reached <= enough), default=math.inf) for name, found in trials.items()}
        case.minimise(tol, threads)  # compiles
        seconds, (w, solver, certified) = timed(partial(case.minimise, tol, threads), limit)
        certified = certified and case.objective(w) <= enough + 1e-12 * at_zero
        cells.append({"tol": tol, "seconds": seconds, "solver": solver, "certified": certified, "peers": times})
    return cells


def ratio(cell: dict[str, Any]) -> float:
    """The time of the best package relative to fenchel's; infinite where none is accurate enough."""
    return min(cell["peers"].values(), default=math.inf) / (cell["seconds"] if cell["certified"] else math.inf)


def line(cell: dict[str, Any]) -> str:
    """A cell for the reader."""
    best = min(cell["peers"], key=cell["peers"].get, default="none")
    theirs = cell["peers"].get(best, math.inf)
    note = "" if cell["certified"] else " NOT CERTIFIED"
    what = f"{cell['task']:13s} {cell['data']:28s} {cell['shape']:>16s} {cell['strength']:8s} {cell['tol']:.0e}"
    return (
        f"{what} {1e3 * cell['seconds']:10.2f} ms {cell['solver']:17s} {best:18s} {1e3 * theirs:10.2f} ms  ratio {ratio(cell):6.2f}{note}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--data", nargs="+", help="only these data sets")
    parser.add_argument("--threads", type=int, default=1, help="of all packages")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds of a fit after which no tighter tolerance is tried")
    parser.add_argument("--out", help="a JSON file for all times")
    arguments = parser.parse_args()
    threadpool_limits(arguments.threads)
    warnings.simplefilter("ignore")
    cells: list[dict[str, Any]] = []
    for name in arguments.task:
        for data in DATA[TASKS[name].labels]:
            found = load(data, TASKS[name].labels) if arguments.data is None or data in arguments.data else None
            if found is None:
                continue
            for strength, case in cases(name, *found):
                shape = " x ".join(f"{size:,}" for size in case.X.shape)
                for cell in run(case, arguments.threads, arguments.limit):
                    cells.append({"task": name, "data": data, "shape": shape, "strength": strength, **cell})
                    print(line(cells[-1]), flush=True)
                    if arguments.out:
                        with open(arguments.out, "w") as file:
                            json.dump(cells, file)
    ratios = [ratio(cell) for cell in cells if math.isfinite(ratio(cell))]
    if ratios:
        mean = math.exp(np.mean(np.log(np.maximum(ratios, 1e-3))))
        print(f"{len(ratios)} cells, geometric mean {mean:.2f}, behind in {sum(r < 1.0 for r in ratios)}, worst {min(ratios):.2f}")


if __name__ == "__main__":
    main()

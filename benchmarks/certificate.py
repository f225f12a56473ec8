"""What proving a result for exact arithmetic costs: the share of a run that verifies its certificate

Solvers and the driver need estimates of the gap to know when to stop; those are not counted. Counted is what only a proof needs: the
scale rounded up, X·w and Xᵀα computed again, the allowances for rounding, and where these matter compensated sums. The cases are those of
``passes.py``, each run to tol = 1e-3, and the classes with scikit-learn's names on small and middle-sized data.
"""

from __future__ import annotations

import functools
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from common import dense, show, text
from passes import CASES
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris

import fenchel as fl
from fenchel.driver.certificate import Certificate
from fenchel.problems.rows_objective import RowsObjective

REPEATS = 5  # runs of each case; the one with the smallest share counts, because other processes disturb both parts


class Clock:
    """The time spent in some functions, those called from one another counted once."""

    def __init__(self) -> None:
        self.seconds, self.inside = 0.0, False

    def watch(self, owner: Any, name: str) -> None:
        """Count the time of a method from now on."""
        plain = getattr(owner, name)

        @functools.wraps(plain)
        def timed(*arguments: Any, **options: Any) -> Any:
            if self.inside:
                return plain(*arguments, **options)
            self.inside, began = True, time.perf_counter()
            try:
                return plain(*arguments, **options)
            finally:
                self.seconds += time.perf_counter() - began
                self.inside = False

        setattr(owner, name, timed)


def share(clock: Clock, run: Callable[[], Any]) -> tuple[float, float]:
    """The smallest share of several runs, and the time of that run."""
    run()  # compiles
    found = []
    for _ in range(REPEATS):
        clock.seconds, began = 0.0, time.perf_counter()
        run()
        total = time.perf_counter() - began
        found.append((clock.seconds / total, total))
    return min(found)


def main(m: int) -> None:
    """Run all cases on m rows of text and on dense rows, then the estimators."""
    warnings.simplefilter("ignore")
    clock = Clock()
    clock.watch(Certificate, "verify")
    clock.watch(RowsObjective, "objective_error")
    clock.watch(RowsObjective, "lower_bound")
    rows: list[list[object]] = []
    for name, (A, b) in (("text", text(m)), ("dense", dense())):
        for solver, options, loss, regularizer in CASES:
            found = share(clock, lambda: fl.minimize(fl.Problem(A, b, loss, regularizer), solver, tol=1e-3, max_passes=50, **options))  # noqa: B023
            rows.append([name, solver, type(loss).__name__, type(regularizer).__name__, f"{1e3 * found[1]:.1f}", f"{100 * found[0]:.1f} %"])
    small = {"iris": load_iris, "diabetes": load_diabetes, "digits": load_digits, "breast cancer": load_breast_cancer}
    for name, load in small.items():
        X, y = load(return_X_y=True)
        X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
        kinds = (fl.Ridge, fl.Lasso, fl.LinearSVR) if name == "diabetes" else (fl.LogisticRegression, fl.LinearSVC)
        for kind in kinds:
            found = share(clock, lambda: kind().fit(X, y))  # noqa: B023
            rows.append([name, kind.__name__, "", "", f"{1e3 * found[1]:.1f}", f"{100 * found[0]:.1f} %"])
    show("Share of a run that proves its result", ["data", "solver", "loss", "regularizer", "ms", "share"], rows)
    shares = [float(str(row[-1]).split()[0]) for row in rows]
    print(f"mean {np.mean(shares):.1f} %, largest {max(shares):.1f} %")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50_000)

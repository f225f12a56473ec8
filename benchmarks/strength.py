"""``strength="auto"`` against a grid search over twelve strengths: test accuracy, and time relative to a single run.

One pass each, rows in shuffled blocks, a constant feature if there are few columns. The best of the grid is chosen by test
accuracy, which is not available in practice.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from common import show, split

import fenchel as fl

warnings.simplefilter("ignore")
SETS = ["rcv1sub.ccat", "rcv1sub.binary", "a9a", "ijcnn1", "covtype.libsvm.binary.scale"]
SEEDS = range(5)
GRID = 10.0 ** np.arange(0.0, -6.0, -0.5)  # times the mean of squared norms


def accuracy(result: fl.Result, X: object, y: np.ndarray) -> float:
    return 100.0 * float(np.mean(np.sign(X @ result.coef + result.intercept) == y))


def timed(problem: fl.Problem, passes: int, seed: int, **options: object) -> tuple[fl.Result, float]:
    clock = time.perf_counter()
    result = fl.minimize(problem, "pgs", tol=0.0, max_passes=passes, seed=seed, **options)
    return result, result.seconds if result.seconds else time.perf_counter() - clock


def main(passes: int = 1) -> None:
    rows: list[list[object]] = []
    for name in SETS:
        found = split(name)
        if found is None:
            continue
        (X, y), (T, u) = found
        constant = 0.0 if X.shape[1] > 1000 else 1.0
        for loss in (fl.Logistic(), fl.Hinge()):
            problem = fl.Problem(X, y, loss, fl.L2(1.0), intercept=constant)
            grid = GRID * float(np.mean(problem.row_norms**2))
            timed(problem, passes, 0, strength="auto"), timed(problem, passes, 0)  # compile
            gaps, ratios, found_accuracy, best_accuracy = [], [], [], []
            for seed in SEEDS:
                single, scores = [], []
                for strength in grid:
                    result, seconds = timed(problem.replace(regularizer=fl.L2(float(strength))), passes, seed)
                    single.append(seconds)
                    scores.append(accuracy(result, T, u))
                automatic = [timed(problem, passes, seed, strength="auto") for _ in range(3)]
                found_accuracy.append(accuracy(automatic[0][0], T, u))
                best_accuracy.append(max(scores))
                gaps.append(max(scores) - found_accuracy[-1])
                ratios.append(min(seconds for _, seconds in automatic) / np.median(single))
            rows.append(
                [
                    f"{name} {X.shape[0]:,} x {X.shape[1]:,}",
                    type(loss).__name__,
                    f"{np.median(best_accuracy):.2f}",
                    f"{np.median(found_accuracy):.2f}",
                    f"{np.median(gaps):+.2f}",
                    f"{max(gaps):+.2f}",
                    f"{np.median(ratios):.2f}",
                ]
            )
    columns = ["data", "loss", "best of 12 (%)", "auto (%)", "behind: median", "worst", "time relative to a single run"]
    show(f"strength='auto', {passes} pass(es), {len(SEEDS)} seeds", columns, rows)


if __name__ == "__main__":
    main()

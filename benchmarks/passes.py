"""The cost of one pass of every solver, as a ratio to X @ w plus X.T @ a in the same run (SciPy and BLAS, one thread)."""

from __future__ import annotations

import sys
import time

import numpy as np
from common import best, dense, show, text
from threadpoolctl import threadpool_limits

import fenchel as fl
from fenchel.solvers import solvers

CASES = [
    ("sdca", {}, fl.Hinge(), fl.L2(1e-5)),
    ("sdca", {}, fl.SmoothHinge(), fl.L1L2(l1=1e-5, l2=1e-5)),
    ("sdca", {}, fl.Logistic(), fl.L2(1e-5)),
    ("sdca", {}, fl.Squared(), fl.L2(1e-5)),
    ("sdca", {}, fl.Hinge(), fl.SquaredLp(1e-5, p=1.5)),
    ("sdca", {}, fl.Logistic(), fl.SquaredLp(1e-5, p=1.8)),
    ("accelerated-sdca", {"variant": "practical"}, fl.SmoothHinge(), fl.L1L2(l1=1e-5, l2=1e-8)),
    ("accelerated-sdca", {}, fl.SmoothHinge(), fl.L1L2(l1=1e-5, l2=1e-8)),
    ("fista", {}, fl.SmoothHinge(), fl.L1L2(l1=1e-5, l2=1e-8)),
    ("lbfgs", {}, fl.Logistic(), fl.L2(1e-5)),
    ("pgs", {}, fl.Hinge(), fl.L2(1e-5)),
    ("pgs", {}, fl.Logistic(), fl.L2(1e-5)),
    ("pgs", {}, fl.Squared(), fl.L2(1e-5)),
    ("pgs", {}, fl.Logistic(), fl.SquaredLp(1e-5, p=1.8)),
    ("pgs", {}, fl.Logistic(), fl.SquaredLp(1e-5, p=1.7)),
    ("pgs", {"predictor": "average"}, fl.Logistic(), fl.L2(1e-5)),
    ("pegasos", {}, fl.Hinge(), fl.L2(1e-5)),
    ("optimistic", {}, fl.Hinge(), fl.L2(1e-5)),
    ("optimistic", {}, fl.Logistic(), fl.L2(1e-5)),
]


def seconds_a_pass(problem: fl.Problem, solver: str, options: dict[str, object], passes: int = 8) -> float:
    """The shortest time of several passes, without the first, which compiles and allocates."""
    times = []
    steps = solvers()[solver].run(problem, start=None, rng=np.random.default_rng(0), accuracy=1e-9, **options)
    while (before := next(steps).passes) < 1.0:
        pass
    for _ in range(passes):
        clock = time.perf_counter()
        while not (iterate := next(steps)).passes >= before + 1.0:
            pass
        times.append((time.perf_counter() - clock) / (iterate.passes - before))
        before = iterate.passes
    steps.close()
    return min(times)


def main(m: int) -> None:
    """Run all cases on m rows of text and on dense rows; if m is as large as in the paper, only the online solvers on text."""
    rows: list[list[object]] = []
    X, y = text(m)
    large = m > 500_000
    D, yd = dense()
    layouts = [
        ("CSR", X, y),
        ("CSR float32", X.astype(np.float32), y),
        ("dense C", D, yd),
        ("dense F", np.asfortranarray(D), yd),
        ("dense float32", D.astype(np.float32), yd),
    ]
    for name, A, b in layouts[:1] if large else layouts:
        w, a = np.ones(A.shape[1]), np.ones(A.shape[0])
        wide = A.astype(np.float64)
        with threadpool_limits(1):
            yardstick = best(lambda wide=wide, w=w: wide @ w) + best(lambda wide=wide, a=a: wide.T @ a)
        for solver, options, loss, regularizer in CASES:
            if large and not solvers()[solver].online:
                continue
            problem = fl.Problem(A, b, loss, regularizer)
            problem.design.threads = 1
            ratio = seconds_a_pass(problem, solver, options) / yardstick
            label = " ".join([solver, *map(str, options.values())])
            rows.append(
                [
                    f"{name} {A.shape[0]:,} x {A.shape[1]:,}",
                    label,
                    type(loss).__name__,
                    str(regularizer),
                    round(1e3 * yardstick, 1),
                    f"{ratio:.2f}",
                ]
            )
    show("One pass, one thread, relative to X @ w + X.T @ a", ["data", "solver", "loss", "regularizer", "X@w + X.T@a (ms)", "ratio"], rows)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200_000)

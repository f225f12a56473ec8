"""smidas and truncgrad: the time of a step as the number of features grows, and the density of their weights if most features are noise."""

from __future__ import annotations

import math
import time
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from common import best, dense, show
from sklearn.exceptions import ConvergenceWarning
from steps import rows_of

import fenchel as fl
from fenchel.solvers import smidas, truncgrad
from fenchel.solvers._online.online_loop import OnlineLoop

L1 = 1e-5
STEPS = 5000
PASSES = (1, 3, 10, 30, 100)


def seconds_a_step(problem: fl.Problem, rule: Any) -> float:
    """The best of several runs."""
    loop = OnlineLoop(problem, batch=1, sampling="sequential", rng=np.random.default_rng(0), start=None, certify=False)
    rows, times = problem.sample(), []
    for _ in range(4):
        clock = time.perf_counter()
        loop.run(rows, rule, rule.weights, rows.order[:STEPS])
        times.append((time.perf_counter() - clock) / STEPS)
    return min(times[1:])


def steps() -> None:
    rows: list[list[object]] = []
    data = {f"sparse, n = {n:,}": rows_of(n) for n in (10**3, 10**4, 47_236, 10**6)} | {"dense, n = 1,000": dense(10_000, 1000)}
    for name, (X, y) in data.items():
        problem = fl.Problem(X, y, fl.Logistic(), fl.L1(L1)).with_threads(1)
        n, d, w = problem.n, problem.density, np.ones(problem.n)
        product = best(lambda p=problem, w=w: p.predict(w)) / problem.m
        sweep = best(lambda w=w: np.abs(w, out=w))
        lazy = seconds_a_step(problem, truncgrad.first_rule(L1, 0.0 * w, 0.1))
        order = max(2, math.ceil(2 * math.log(n)))
        mirror = seconds_a_step(problem, smidas.first_rule(L1, order, 0.0 * w, 0.1))
        rows.append([name, 1e6 * lazy, 1e9 * lazy / d, lazy / product, 1e6 * mirror, 1e9 * mirror / n, mirror / product, mirror / sweep])
    columns = ["rows", "truncgrad µs", "ns a non-zero", "passes of X@w", "smidas µs", "ns a feature", "passes of X@w", "sweeps of np.abs"]
    show("One step, logistic loss", columns, rows)


def noise_features(kind: str, m: int, seed: int = 0) -> tuple[Any, np.ndarray]:
    """Ten informative features and a thousand noise features: section 4.1 of Shalev-Shwartz & Tewari (2011)."""
    rng = np.random.default_rng(seed)
    informative = rng.standard_normal((m, 10))
    score = informative @ rng.standard_normal(10)
    y = np.where(score + 0.5 * score.std() * rng.standard_normal(m) > 0.0, 1.0, -1.0)
    noise = (rng.random((m, 1000)) < 0.05).astype(float) if kind == "sparse" else rng.choice([-1.0, 1.0], (m, 1000))
    X = np.hstack([informative, noise])
    return (sp.csr_array(X) if kind == "sparse" else X), y


def density(l1: float, m: int = 19_020) -> None:
    rows: list[list[object]] = []
    for kind in ("sparse", "dense"):
        problem = fl.Problem(*noise_features(kind, m), fl.Logistic(), fl.L1(l1))
        found = fl.minimize(problem, "fista", tol=1e-6)
        rows.append([kind, "optimum", *(f"{found.objective:.4f} / {np.count_nonzero(found.w)}" for _ in PASSES)])
        for solver in ("truncgrad", "smidas"):
            run = fl.minimize(problem, solver, tol=0.0, max_passes=max(PASSES), callback=lambda e: False)
            history = run.history
            at = [int(np.argmin(np.abs(history["passes"] - passes))) for passes in PASSES]
            rows.append([kind, solver, *(f"{history['objective'][k]:.4f} / {int(history['nnz'][k])}" for k in at)])
    title = f"Objective / non-zero weights, 10 features and 1,000 noise features, {m:,} rows, logistic loss, l1 = {l1:g}"
    show(title, ["noise", "", *(f"passes: {p}" for p in PASSES)], rows)


def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    steps()
    for l1 in (1e-2, 1e-3):
        density(l1)


if __name__ == "__main__":
    main()

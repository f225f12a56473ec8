"""The time of one step of pgs as the number of features grows, with a fixed number of non-zeros, compared with the step in the paper."""

from __future__ import annotations

import time

import numpy as np
import scipy.sparse as sp
from common import show

import fenchel as fl
from fenchel.solvers._online.online_loop import OnlineLoop
from fenchel.solvers.pgs import primal_gradient

ROWS, NONZEROS = 20_000, 75


def rows_of(n: int) -> tuple[sp.csr_array, np.ndarray]:
    rng = np.random.default_rng(0)
    indices = np.sort(rng.integers(n, size=(ROWS, NONZEROS)), axis=1).astype(np.int32)
    X = sp.csr_array((rng.random(indices.size), indices.ravel(), np.arange(0, indices.size + 1, NONZEROS, dtype=np.int32)), shape=(ROWS, n))
    X.sum_duplicates()
    return X, rng.choice([-1.0, 1.0], ROWS)


def ours(problem: fl.Problem) -> float:
    """Seconds per step, the best of several passes."""
    loop = OnlineLoop(problem, batch=1, sampling="sequential", rng=np.random.default_rng(0), start=None, certify=False)
    rule, times = primal_gradient(problem, None, 1.0), []
    rows = problem.sample()
    for _ in range(4):
        clock = time.perf_counter()
        loop.run(rows, rule, rule.weights, rows.order)
        times.append((time.perf_counter() - clock) / ROWS)
    return min(times[1:])


def papers(problem: fl.Problem, X: sp.csr_array, y: np.ndarray, p: float, strength: float, steps: int) -> float:
    """Seconds per step of Figures 1 and 2 as printed, in NumPy, which compute all of w in every step."""
    q = p / (p - 1.0)
    lam, w, loss = np.zeros(X.shape[1]), np.zeros(X.shape[1]), problem.loss
    clock = time.perf_counter()
    for t in range(steps):
        at = slice(X.indptr[t], X.indptr[t + 1])
        j, x = X.indices[at], X.data[at]
        lam[j] -= loss.derivative(float(w[j] @ x), y[t]) * x
        v = np.abs(lam) / ((t + 2) * strength)
        w = (v**q).sum() ** (2.0 / q - 1.0) * v ** (q - 1.0) * np.sign(lam) / (q - 1.0)
    return (time.perf_counter() - clock) / steps


def main() -> None:
    rows: list[list[object]] = []
    for n in (10**3, 10**4, 10**5, 10**6):
        X, y = rows_of(n)
        row: list[object] = [f"{n:,}"]
        for p in (2.0, 1.8, 1.5):
            problem = fl.Problem(X, y, fl.Logistic(), fl.SquaredLp(1e-4, p))
            row += [1e6 * ours(problem)]
        problem = fl.Problem(X, y, fl.Logistic(), fl.SquaredLp(1e-4, 1.8))
        row += [1e6 * papers(problem, X, y, 1.8, 1e-4, steps=max(20, 2_000_000 // n))]
        rows.append([*row, f"{row[4] / row[2]:.0f}"])
    columns = ["features", "p = 2", "p = 1.8", "p = 1.5", "the paper's, p = 1.8", "ratio at 1.8"]
    show(f"Microseconds per step, {NONZEROS} non-zeros per row, logistic loss", columns, rows)


if __name__ == "__main__":
    main()

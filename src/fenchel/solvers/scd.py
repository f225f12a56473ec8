"""min_w (1/m) Σ_i s_i φ(<w, x_i>, y_i) + Ω(w) by Stochastic Coordinate Descent

Algorithm 2 of Shalev-Shwartz & Tewari, *Stochastic Methods for l1-regularized Loss Minimization*, JMLR 2011, for smooth losses
and every Ω that is a sum over weights (the paper's l1·‖w‖₁, the elastic net, box constraints):

    w ← 0, z ← 0;   for t = 1, 2, …:   draw j uniformly;   g_j ← (1/m) Σ_i s_i φ'(z_i, y_i)·x_ij
                                       w_j ← s_{l1/β}(w_j − g_j/β);   z ← z + (change of w_j)·x_j

with the soft threshold s, or the proximal step of Ω_j. β is each column's own bound on the second derivative, or with
``beta="global"`` the paper's one for all. Theorem 1: E[P(w_T)] − P* ≤ n·Ψ(0)/(T + 1), Ψ(0) = β/2·‖w*‖² + P(0). Theorem 2: the best of
r = ⌈log₂(1/δ)⌉ runs of T steps is within twice that with probability 1 − δ; ``restarts=r`` and ``steps=T`` run this.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

import numpy as np

from fenchel.core.validation import checked_choice, checked_whole
from fenchel.problems.problem import Problem
from fenchel.problems.result import Iterate
from fenchel.problems.row_order import SAMPLING, row_order
from fenchel.solvers._coordinate.coordinate_descent import CoordinateDescent
from fenchel.solvers.declaration import known_smoothness, separable, solver

LONG = 100  # default number of steps per coordinate in each of several runs


@solver("scd", needs=(known_smoothness, separable), by_columns=True)
def scd(
    problem: Problem,
    *,
    start: Iterate | None,
    rng: np.random.Generator,
    accuracy: float,
    beta: str = "column",
    sampling: str = "replacement",
    restarts: int = 1,
    steps: int | None = None,
) -> Generator[Iterate, None, str]:
    """Stochastic coordinate descent: smooth losses, with any regularizer that is a sum over weights."""
    checked_choice("sampling", sampling, SAMPLING)
    checked_whole("restarts", restarts)
    several = restarts > 1 or steps is not None
    left = checked_whole("steps", LONG * problem.n if steps is None else steps) if several else None
    earlier = 0
    for _ in range(restarts):
        descent = CoordinateDescent(problem, start, beta)
        descent.accesses += earlier
        for order in orders(problem.n, sampling, rng, left):
            descent.step(order)
            yield descent.iterate()
        earlier = descent.accesses
    return "finished"


def orders(n: int, sampling: str, rng: np.random.Generator, steps: int | None = None) -> Iterator[np.ndarray]:
    """Coordinates to step on, n at a time, without end or for a number of steps."""
    while steps is None or steps > 0:
        order = row_order(n, sampling, rng)[:steps]
        steps = None if steps is None else steps - len(order)
        yield order

"""min_w f(w) + Ω(w), f smooth, by FISTA with backtracking and adaptive restart

Beck & Teboulle, *A fast iterative shrinkage-thresholding algorithm for linear inverse problems*, SIAM J. Imaging
Sciences 2009 (FISTA with backtracking); O'Donoghue & Candès, *Adaptive restart for accelerated gradient schemes*,
Foundations of Computational Mathematics 2015 (gradient scheme).

    w⁺ = prox_{Ω/L}(u − ∇f(u)/L),   t⁺ = (1 + √(1 + 4t²))/2,   u⁺ = w⁺ + (t − 1)/t⁺·(w⁺ − w)

L doubles until f(w⁺) lies under its quadratic model at u, and shrinks a little after every step. Predictions are linear
in the weights, so X·u comes from X·w⁺ and X·w: a step costs one product with X and one with Xᵀ.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from fenchel.problems.problem import Problem
from fenchel.problems.result import Iterate
from fenchel.solvers.declaration import separable, smooth_loss, solver

GROW, SHRINK = 2.0, 0.9
DECREASE_SLACK = 1e-12  # slack of the sufficient-decrease test, relative to f: differences below it are rounding


@solver("fista", needs=(smooth_loss, separable), structured=True)
def fista(problem: Problem, *, start: Iterate | None, rng: np.random.Generator, accuracy: float, restart: bool = True) -> Iterator[Iterate]:
    """Accelerated proximal gradient: smooth losses, with any regularizer that is a sum over weights."""
    state = start.state if start is not None else {}
    w, z = problem.starting_point(start)
    w_old, z_old, t = state.get("w_old", w), state.get("z_old", z), state.get("t", 1.0)
    u, z_u = state.get("u", w), state.get("z_u", z)
    L = state.get("L", first_curvature(problem))
    passes, accesses = 0, problem.entries
    while True:
        alpha, v = problem.loss_gradient(z_u)
        f_u = problem.mean_loss(z_u)
        accesses += problem.entries
        while True:
            w = problem.prox(u + v / L, 1.0 / L)
            z = problem.predict(w)
            accesses += problem.entries
            step = (w - u).reshape(-1)
            model = f_u - v.reshape(-1) @ step + 0.5 * L * step @ step
            if problem.mean_loss(z) <= model + DECREASE_SLACK * abs(f_u) or not math.isfinite(L):
                break
            L *= GROW
        L = L if math.isfinite(L) else first_curvature(problem)
        if restart and ((u - w) * (w - w_old)).sum() > 0.0:
            t = 1.0
        t, t_old = (1.0 + math.sqrt(1.0 + 4.0 * t * t)) / 2.0, t
        beta = (t_old - 1.0) / t
        u = w + beta * (w - w_old)
        z_u = problem.between(u, z, z_old, beta)
        w_old, z_old = w, z
        L *= SHRINK
        passes += 1
        state = {"w_old": w_old, "z_old": z_old, "t": t, "u": u, "z_u": z_u, "L": L}
        yield Iterate(w, passes, accesses, alpha, v, z, state=state)


def first_curvature(problem: Problem) -> float:
    """Where to begin the search for L: a tenth of the bound that the row norms give, or of the squared loss's."""
    bound = problem.smoothness
    return 0.1 * max(bound if math.isfinite(bound) else float(problem.row_norms**2 @ problem.row_weights), 1e-300)

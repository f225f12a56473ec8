"""min_w P(w) = (1/m) Σ_i s_i φ(<w, x_i>, y_i) + l2/2·‖w‖², φ smooth with known second derivatives, by Newton's method

    (Xᵀ·diag(s_i φ''(z_i)/m)·X + l2·I)·d = −∇P(w),     w⁺ = w + t·d

with t halved until P falls by a share of what its slope promises (Armijo). Predictions are linear in w, so a trial of t costs
no product with X. Of the squared loss one step is the solution: this is also the direct method for ridge regression.
The equations: :mod:`fenchel.curvature`; solved inexactly where that pays, as in C.-J. Lin, R. Weng and S. Keerthi,
*Trust region Newton method for large-scale logistic regression*, JMLR 2008.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from fenchel.compiled import kernel
from fenchel.curvature import newton_equations
from fenchel.problem import Problem
from fenchel.result import Iterate
from fenchel.solvers.base import ridge_throughout, smooth_loss, solver

STEEP = 1e-4  # what a step has to keep of the decrease its slope promises
ROUNDING = 4.0 * float(np.finfo(float).eps)  # of P: a smaller change is none
SHORT, SHORTEST = 1e-3, 1e-15  # steps that speak of a poor model, and that are not worth taking


def second_derivatives(problem: Problem) -> str | None:
    """A loss that knows its second derivative."""
    return None if hasattr(problem.loss, "curvature") else f"a loss with a curvature, and {type(problem.loss).__name__} has none"


@kernel
def curvatures(loss, z, y, share, h):
    """h_i = s_i φ''(z_i)/m"""
    for i in range(z.shape[0]):
        h[i] = share[i] * loss.curvature(z[i], y[i])


@solver("newton", needs=(smooth_loss, second_derivatives, ridge_throughout))
def newton(problem: Problem, *, start: Iterate | None, rng: np.random.Generator, accuracy: float) -> Iterator[Iterate]:
    """Newton's method: smooth losses with the ridge penalty; the fastest where rows or columns are few."""
    equations = newton_equations(problem.design, problem.penalised.l2, problem.free)
    # Where a start is worse than none, second derivatives have vanished, and the way back is long.
    w = (problem.origin if start is None or problem.objective(start.w) > problem.objective_at_zero else start.w).copy()
    z = problem.predict(w)
    passes, first = 0, 0.0
    while True:
        alpha, v = problem.loss_gradient(z)
        yield Iterate(w, passes, 2 * (passes + 1) * problem.design.nnz, alpha, v, z, done=True)
        gradient = problem.penalty_gradient(w) - v
        size = float(np.linalg.norm(gradient))
        first = first or size
        for h in second_derivatives_at(problem, z):
            d, taken = equations.solve(h, gradient, math.sqrt(size / first) if first else 0.0)
            Xd = problem.predict(d)
            passes += taken + 1
            t = step_length(problem, w, z, d, Xd, float(gradient @ d))
            if t >= SHORT:
                break
        if t == 0.0:
            return
        w = w + t * d
        z = problem.predict(w)


def second_derivatives_at(problem: Problem, z: np.ndarray) -> Iterator[np.ndarray]:
    """s_i φ''(z_i)/m; then, for where these are too small to trust, their upper bound s_i/(γm), under which a whole step descends."""
    h = np.empty(problem.m)
    curvatures(problem.loss, z, problem.y, problem.share, h)
    yield h
    if hasattr(problem.loss, "smoothness"):
        yield problem.share * problem.loss.smoothness()


def step_length(problem: Problem, w: np.ndarray, z: np.ndarray, d: np.ndarray, Xd: np.ndarray, slope: float) -> float:
    """The first of 1, 1/2, 1/4, … at which P has fallen by enough; 0 if there is nothing left to fall by."""
    value = problem.objective(w, z)
    t = 1.0 if -slope > ROUNDING * abs(value) else 0.0
    while t > 0.0 and not problem.objective(w + t * d, z + t * Xd) <= value + STEEP * t * slope + ROUNDING * abs(value):
        t = 0.5 * t if t > SHORTEST else 0.0
    return t

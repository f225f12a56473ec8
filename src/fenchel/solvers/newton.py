"""min_w P(w) = (1/m) Σ_i s_i φ(<w, x_i>, y_i) + l2/2·‖w‖², φ smooth with known second derivatives, by Newton's method

    (Xᵀ·diag(s_i φ''(z_i)/m)·X + l2·I)·d = −∇P(w),     w⁺ = w + t·d

with t halved until P falls by a share of what its slope promises (Armijo). Predictions are linear in w, so a trial of t costs
no product with X. Of the squared loss one step is the solution: this is also the direct method for ridge regression.
The equations: :mod:`fenchel.solvers._second_order.newton_equations`; solved inexactly where that pays, as in C.-J. Lin, R. Weng
and S. Keerthi, *Trust region Newton method for large-scale logistic regression*, JMLR 2008.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from fenchel.core.compiled import kernel
from fenchel.core.numeric import EPSILON
from fenchel.losses import Squared
from fenchel.problems.problem import Problem
from fenchel.problems.result import Iterate
from fenchel.solvers._second_order.newton_equations import conjugate_gradients, newton_equations, penalties
from fenchel.solvers.declaration import ridge_throughout, smooth_loss, solver

EXACT = 1e-6  # of the gradient: what conjugate gradients may leave of the equations of least squares
STEEP = 1e-4  # what a step has to keep of the decrease its slope promises
UNCHANGED = 4.0 * EPSILON  # of P: a smaller change is none
FALLING = 0.5  # of the gradient before: a step that is worth another, even where P does not tell them apart
SHORT, SHORTEST = 1e-3, 1e-15  # steps that speak of a poor model, and that are not worth taking


def second_derivatives(problem: Problem) -> str | None:
    """A loss that knows its second derivative."""
    name = "curvature_times" if problem.vector_valued else "curvature"
    return None if hasattr(problem.loss, name) else f"a loss with a {name}, and {type(problem.loss).__name__} has none"


@kernel
def row_curvatures(loss, z, y, row_weights, h):
    """h_i = s_i φ''(z_i)/m"""
    for i in range(z.shape[0]):
        h[i] = row_weights[i] * loss.curvature(z[i], y[i])


@kernel
def class_curvatures(loss, z, y, row_weights, d, out):
    """out_i = s_i φ''(z_i)·d_i/m, a vector each"""
    for i in range(z.shape[0]):
        loss.curvature_times(z[i], y[i], d[i], out[i])
        for k in range(z.shape[1]):
            out[i, k] *= row_weights[i]


@kernel
def mean_curvatures(loss, z, y, row_weights, h):
    """h_i = s_i/m times the mean of the diagonal of φ''(z_i)"""
    K = z.shape[1]
    d, out = np.zeros(K), np.empty(K)
    for i in range(z.shape[0]):
        h[i] = 0.0
        for k in range(K):
            d[k] = 1.0
            loss.curvature_times(z[i], y[i], d, out)
            d[k] = 0.0
            h[i] += row_weights[i] * out[k] / K


@solver("newton", needs=(smooth_loss, second_derivatives, ridge_throughout))
def newton(problem: Problem, *, start: Iterate | None, rng: np.random.Generator, accuracy: float) -> Iterator[Iterate]:
    """Newton's method: smooth losses with the ridge penalty; the fastest where rows or columns are few."""
    equations = newton_equations(problem.design, problem.penalised.l2, problem.free)
    # Where a start is worse than none, second derivatives have vanished, and the way back is long.
    w = (problem.origin if start is None or problem.objective(start.w) > problem.objective_at_zero else start.w).copy()
    z = problem.predict(w)
    passes, first, before = 0, 0.0, math.inf
    while True:
        alpha, v = problem.loss_gradient(z)
        yield Iterate(w, passes, 2 * (passes + 1) * problem.design.nnz, alpha, v, z, done=True)
        gradient = problem.penalty_gradient(w) - v
        size = float(np.linalg.norm(gradient))
        first = first or size
        # Of a loss that is its own model there is no other step to come that would be worth saving effort for.
        forcing = EXACT if isinstance(problem.loss, Squared) or not first else math.sqrt(size / first)
        falling, before = size < FALLING * before, size
        for d, taken in directions(problem, equations, z, gradient, forcing):
            Xd = problem.predict(d)
            passes += taken + 1
            t = step_length(problem, w, z, d, Xd, float(np.vdot(gradient, d)), falling)
            if t >= SHORT:
                break
        if t == 0.0:
            return
        w = w + t * d
        z = problem.predict(w)


def directions(problem: Problem, equations: Any, z: np.ndarray, gradient: np.ndarray, forcing: float) -> Iterator[tuple[np.ndarray, int]]:
    """The Newton direction; then, for where second derivatives are too small to trust, the one of their upper bound s_i/(γm)."""
    bound = problem.row_weights * problem.loss.smoothness() if hasattr(problem.loss, "smoothness") else None
    if problem.vector_valued:
        yield class_direction(problem, equations, z, gradient, forcing)
        if bound is not None:
            yield -equations.inverse(bound)(gradient), 1
        return
    h = np.empty(problem.m)
    row_curvatures(problem.loss, z, problem.y, problem.row_weights, h)
    yield equations.solve(h, gradient, forcing)
    if bound is not None:
        yield equations.solve(bound, gradient, forcing)


def class_direction(problem: Problem, equations: Any, z: np.ndarray, gradient: np.ndarray, forcing: float) -> tuple[np.ndarray, int]:
    """The direction for all classes together, scaled by the equations of their mean curvature."""
    penalty = penalties(problem.design, problem.penalised.l2, problem.free)[:, None]
    h, bent = np.empty(problem.m), np.empty_like(z)
    mean_curvatures(problem.loss, z, problem.y, problem.row_weights, h)

    def product(p: np.ndarray) -> np.ndarray:
        class_curvatures(problem.loss, z, problem.y, problem.row_weights, problem.predict(p), bent)
        return problem.design.rmatvec(bent) + penalty * p

    return conjugate_gradients(product, equations.inverse(h), gradient, forcing)


def step_length(problem: Problem, w: np.ndarray, z: np.ndarray, d: np.ndarray, Xd: np.ndarray, slope: float, falling: bool) -> float:
    """The first of 1, 1/2, 1/4, … at which P has fallen by enough; 0 if there is nothing left to fall by.

    Where P is flat but for rounding the gradient may still be ``falling``, and the gap with it: columns of very different scales.
    """
    value = problem.objective(w, z)
    t = 1.0 if -slope > (0.0 if falling else UNCHANGED * abs(value)) else 0.0
    while t > 0.0 and not problem.objective(w + t * d, z + t * Xd) <= value + STEEP * t * slope + UNCHANGED * abs(value):
        t = 0.5 * t if t > SHORTEST else 0.0
    return t

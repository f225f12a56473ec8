"""min_w (1/m) Σ_i s_i φ(<w, x_i>, y_i) + l1·‖w‖₁ + l2/2·‖w‖² on small dense problems, all proximal Newton steps in one compiled call

A step minimises the second-order model of the loss plus the penalty by coordinate descent on the products of columns, then halves the way
there until P falls by enough (Lee, Sun & Saunders, *Proximal Newton-type methods for minimizing composite functions*, SIAM J. Optimization
2014). Between two steps Python would take longer than the arithmetic on a few hundred rows. The gap of w and of α = −φ'(z), scaled to be
feasible, is about ‖w‖₁ times the largest violation of the optimality conditions: the steps end where that is small enough.
"""

from __future__ import annotations

import numpy as np

from fenchel.core.compiled import compiled, kernel, reassociated
from fenchel.core.numeric import TINY, assign, soft_threshold
from fenchel.problems.problem import Problem
from fenchel.solvers._second_order.small_problems import (
    SHORT,
    SUFFICIENT,
    combine,
    dense_columns,
    dot,
    steps_are_compiled,
    weighted_products,
)
from fenchel.solvers.declaration import second_derivatives

MOST_STEPS = 50
MOST_SWEEPS = 500  # of coordinate descent for one step
SHARE = 0.1  # of the accuracy that the estimated gap may be
ROUNDING = 1e-12  # relative to l1: a gradient this much larger may be l1
INEXACT = 0.1  # relative to the violation before: the largest violation of the optimality conditions of the model after a step


def has_small_l1_steps(problem: Problem) -> bool:
    """Whether the problem is small, and the second derivatives of its loss are known."""
    return steps_are_compiled(problem) and second_derivatives(problem) is None


def steps_of_small_l1_problem(problem: Problem, l1: float, l2: float, accuracy: float) -> tuple[np.ndarray, int]:
    """A point at which the gap is about the accuracy, or no step is long enough; and the steps taken."""
    w, z = problem.origin.copy(), problem.origin_predictions.copy()
    arguments = dense_columns(problem), problem.y, problem.row_weights, l1, l2, problem.n - problem.free, w, z, SHARE * accuracy
    return w, int(proximal_newton_steps(problem.loss, *arguments))


@kernel
def proximal_newton_steps(loss, columns, y, r, l1, l2, penalised, w, z, accuracy):
    """Change w and z = X·w; how many steps. ``columns`` are those of X, of which the first ``penalised`` have penalised weights."""
    n, m = columns.shape
    g, new, model, d = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    H, Ad, slopes, curvatures = np.empty((n, n)), np.empty(m), np.empty(m), np.empty(m)
    value = mean_loss(loss, z, Ad, 0.0, y, r)
    for step in range(MOST_STEPS):
        for i in range(m):
            slopes[i] = r[i] * loss.derivative(z[i], y[i])
            curvatures[i] = r[i] * loss.curvature(z[i], y[i])
        violation, size = 0.0, 0.0
        for j in range(n):
            g[j] = dot(columns[j], slopes)
            a, b = (l1, l2) if j < penalised else (0.0, 0.0)
            if j >= penalised and step == 0:
                continue  # the intercept of the origin is at its best
            if w[j] != 0.0:
                violation = max(violation, abs(g[j] + b * w[j] + (a if w[j] > 0.0 else -a)))
            else:
                violation = max(violation, abs(g[j]) - (1.0 + ROUNDING) * a)
            size += abs(w[j])
        if violation * max(size, TINY) <= accuracy and (step > 0 or violation <= 0.0):
            return step
        weighted_products(columns, curvatures, m, Ad, H)
        for j in range(n):
            new[j], model[j] = w[j], g[j]
            for k in range(j):
                H[k, j] = H[j, k]
        minimise_model(H, l1, l2, penalised, new, model, INEXACT * violation)
        change = 0.0  # of P, to first order
        for j in range(n):
            d[j] = new[j] - w[j]
            change += g[j] * d[j]
        change += penalty(new, l1, l2, penalised) - penalty(w, l1, l2, penalised)
        if not change < 0.0:
            return step
        combine(columns, d, Ad)
        t, before = 1.0, value + penalty(w, l1, l2, penalised)
        while True:
            for j in range(n):
                new[j] = w[j] + t * d[j]
            value = mean_loss(loss, z, Ad, t, y, r)
            if value + penalty(new, l1, l2, penalised) <= before + SUFFICIENT * t * change:
                break
            t *= 0.5
            if t < SHORT:
                return step
        assign(w, new)
        for i in range(m):
            z[i] += t * Ad[i]
    return MOST_STEPS


@compiled
def minimise_model(H, l1, l2, penalised, w, g, target):
    """Coordinate sweeps from w, whose gradient of the quadratic part is g, until no optimality condition is violated by more than that."""
    for _ in range(MOST_SWEEPS):
        violation = 0.0
        for k in range(w.shape[0]):
            a, b = (l1, l2) if k < penalised else (0.0, 0.0)
            curvature = H[k, k]
            if not curvature + b > TINY:
                continue
            delta = soft_threshold(curvature * w[k] - g[k], a) / (curvature + b) - w[k]
            if delta != 0.0:
                w[k] += delta
                for j in range(g.shape[0]):
                    g[j] += delta * H[k, j]
                violation = max(violation, (curvature + b) * abs(delta))
        if violation <= target:
            return


@compiled
@reassociated
def mean_loss(loss, z, Ad, t, y, r):
    total = 0.0
    for i in range(z.shape[0]):
        total += r[i] * loss.value(z[i] + (t * Ad[i] if t > 0.0 else 0.0), y[i])
    return total


@compiled
def penalty(w, l1, l2, penalised):
    total = 0.0
    for j in range(penalised):
        total += l1 * abs(w[j]) + 0.5 * l2 * w[j] ** 2
    return total

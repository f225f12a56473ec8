"""The steps of :mod:`fenchel.solvers.interior_point` on small dense problems, all in one compiled call

Between two steps Python would take several times as long as their arithmetic. The gap of w and α is the weighted mean of the
complementarity products plus ‖l2·w − v‖²/(2·l2), v = Xᵀ(sα)/m. The residual l2·w − v is linear in (w, α) and 0 after a whole step: a step
of length t leaves the share 1 − t of it. The steps end where the gap is small enough, and the driver certifies the last point.

Where labels are far beyond what the strength allows predictions to reach, every α is at the end of its box that the origin tells, and no
step is needed.
"""

from __future__ import annotations

import math

import numpy as np

from fenchel.core.compiled import compiled, inside, kernel
from fenchel.core.numeric import assign
from fenchel.solvers._second_order.complementarity import (
    MOST_IDLE,
    SHORTEST,
    changes_of_rows,
    complementarity,
    equations_of_rows,
    inverses_of_rows,
    move_rows,
)
from fenchel.solvers._second_order.small_problems import combine, dot, factorise, solve_factorised, weighted_products

inverses_at, equations, changes_for = inside(inverses_of_rows), inside(equations_of_rows), inside(changes_of_rows)
products, move = inside(complementarity), inside(move_rows)


@kernel
def interior_point_steps(columns, r, l2, free, gamma, w, z, boxes, duals, accuracy, most):
    """Change w, z = X·w and the duals until the gap is small enough; how many steps were made.

    ``columns`` are those of X, the constant feature last; ``boxes`` holds t, l, u of each term of the loss, and ``duals`` its α, π, ρ.
    The first candidate is the α that attains the loss at z.
    """
    terms, m, n = boxes.shape[0], columns.shape[1], columns.shape[0]
    weights, fixed, Xd = np.empty(m), np.empty(m), np.empty(m)
    inverses, changes = np.empty((terms, 3, m)), np.zeros((terms, 3, m))
    H, gradient, d = np.empty((n, n)), np.empty(n), np.empty(n)
    penalised, left, before, idle = n - 1 if free else n, 1.0, math.inf, 0
    if not free and gap_of_first_answer(columns, r, l2, gamma, boxes, changes, z, fixed, d, Xd) <= accuracy:
        for k in range(terms):
            assign(duals[k, 0], changes[k, 0])
        assign(w, d)
        assign(z, Xd)
        return 1
    changes[:] = 0.0
    residual = gap_of_residual(columns, r, l2, penalised, w, duals, fixed)
    for step in range(most):
        total = products(boxes, duals, changes, 0.0, r)
        gap = total + left * left * residual
        idle = idle + 1 if gap >= before else 0
        before = min(gap, before)
        if gap <= accuracy or idle == MOST_IDLE or not total > 0.0:
            return step
        inverses_at(boxes, gamma, duals, inverses)
        equations(boxes, gamma, duals, inverses, changes, z, r, 0.0, 0.0, weights, fixed)
        weighted_products(columns, weights, m, Xd, H)
        for j in range(penalised):
            H[j, j] += l2
        if not factorise(H):
            return step
        set_direction(columns, fixed, l2, penalised, w, H, gradient, d, Xd)
        length = changes_for(boxes, gamma, duals, inverses, changes, z, Xd, 0.0, 0.0)
        after = products(boxes, duals, changes, length, r)
        mu = after * (after / total) ** 2 / (2 * terms)
        equations(boxes, gamma, duals, inverses, changes, z, r, mu, 1.0, weights, fixed)
        set_direction(columns, fixed, l2, penalised, w, H, gradient, d, Xd)
        length = changes_for(boxes, gamma, duals, inverses, changes, z, Xd, mu, 1.0)
        if not (length > SHORTEST and math.isfinite(dot(d, d))):
            return step
        move(boxes, duals, changes, length)
        for j in range(n):
            w[j] += length * d[j]
        for i in range(m):
            z[i] += length * Xd[i]
        left *= 1.0 - length
    return most


@compiled
def gap_of_residual(columns, r, l2, penalised, w, duals, alpha):
    """‖l2·w − v‖²/(2·l2) over the penalised weights; ``alpha`` is overwritten."""
    alpha[:] = 0.0
    for k in range(duals.shape[0]):
        for i in range(r.shape[0]):
            alpha[i] += r[i] * duals[k, 0, i]
    total = 0.0
    for j in range(penalised):
        residual = l2 * w[j] - dot(columns[j], alpha)
        total += residual * residual
    return total / (2.0 * l2)


@compiled
def gap_of_first_answer(columns, r, l2, gamma, boxes, answers, z, alpha, w, z_of_w):
    """The gap of the α that attains the loss at z, with the w = v/l2 that belongs to it: 0 where the loss at X·w has the same α.

    ``answers`` receives the α of each term, ``alpha`` their sum.
    """
    terms, m, n = boxes.shape[0], columns.shape[1], columns.shape[0]
    alpha[:] = 0.0
    for k in range(terms):
        for i in range(m):
            answers[k, 0, i] = best_in_box(boxes[k, 0, i] - z[i], boxes[k, 1, i], boxes[k, 2, i], gamma)
            alpha[i] += r[i] * answers[k, 0, i]
    for j in range(n):
        w[j] = dot(columns[j], alpha) / l2
    combine(columns, w, z_of_w)
    gap = 0.0
    for k in range(terms):
        for i in range(m):
            residual, a = boxes[k, 0, i] - z_of_w[i], answers[k, 0, i]
            best = best_in_box(residual, boxes[k, 1, i], boxes[k, 2, i], gamma)
            gap += r[i] * (best - a) * (residual - 0.5 * gamma * (best + a))
    return gap


@compiled
def best_in_box(residual, low, high, gamma):
    """argmax_{l ≤ a ≤ u} a·residual − γ/2·a²"""
    if gamma > 0.0:
        return min(max(residual / gamma, low), high)
    return high if residual > 0.0 else low


@compiled
def set_direction(columns, fixed, l2, penalised, w, L, gradient, d, Xd):
    """The solution d of the Newton equations with the Cholesky factor L, and X·d."""
    for j in range(columns.shape[0]):
        gradient[j] = (l2 * w[j] if j < penalised else 0.0) - dot(columns[j], fixed)
    solve_factorised(L, gradient, d)
    combine(columns, d, Xd)

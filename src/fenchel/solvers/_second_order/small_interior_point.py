"""The steps of :mod:`fenchel.solvers.interior_point` on small dense problems, all in one compiled call

Between two steps Python would take several times as long as their arithmetic. The gap of w and α is the weighted mean of the
complementarity products plus ‖l2·w − v‖²/(2·l2), v = Xᵀ(sα)/m. The residual l2·w − v is linear in (w, α) and 0 after a whole step: a step
of length t leaves the share 1 − t of it. The steps end where the gap is small enough, and the driver certifies the last point.
"""

from __future__ import annotations

import math

import numpy as np

from fenchel.core.compiled import compiled, kernel, reassociated
from fenchel.solvers._second_order.small_problems import combine, dot, solve_in_place, weighted_products

SHRINK, CAUTIOUS = 0.1, 0.4  # factor of μ in a step, and in a step after one that was cut short
WHOLE = 0.9  # a step at least this long was not cut short
INSIDE = 0.995  # share of the way to the nearest bound that a step may go
SHORTEST = 1e-10  # a shorter step ends the method
NEAREST = 1e-17  # of the width of a box: a difference of rounded numbers that is smaller, or zero, counts as this


@kernel
def interior_point_steps(columns, r, l2, free, boxes, duals, w, z, residual, accuracy, most):
    """Change w, z = X·w and the duals until the gap is small enough; how many.

    ``columns`` are those of X, the constant feature last; ``boxes`` holds t, l, u of each term of the loss, and ``duals`` its α, π, ρ.
    ``residual`` is the part of the gap that l2·w − v makes up at first.
    """
    terms, m, n = boxes.shape[0], columns.shape[1], columns.shape[0]
    weighted, fixed, Xd = np.empty(m), np.empty(m), np.empty(m)
    H, gradient, d = np.empty((n, n)), np.empty(n), np.empty(n)
    penalised, left, shrink = n - 1 if free else n, 1.0, SHRINK
    for step in range(most):
        total = 0.0
        for k in range(terms):
            total += complementarity(boxes[k], duals[k], r)
        if total + left * left * residual <= accuracy:
            return step
        mu = shrink * total / (2 * terms)
        weighted[:] = 0.0
        fixed[:] = 0.0
        for k in range(terms):
            add_equations(boxes[k], duals[k], z, mu, r, weighted, fixed)
        for j in range(n):
            gradient[j] = (l2 * w[j] if j < penalised else 0.0) - dot(columns[j], fixed)
        weighted_products(columns, weighted, m, Xd, H)
        for j in range(penalised):
            H[j, j] += l2
        if not solve_in_place(H, gradient, d):
            return step
        if not math.isfinite(dot(d, d)):
            return step
        combine(columns, d, Xd)
        length = 1.0
        for k in range(terms):
            length = min(length, INSIDE * longest_step(boxes[k], duals[k], z, Xd, mu))
        if not length > SHORTEST:
            return step
        for k in range(terms):
            move(boxes[k], duals[k], z, Xd, mu, length)
        for j in range(n):
            w[j] += length * d[j]
        for i in range(m):
            z[i] += length * Xd[i]
        left *= 1.0 - length
        shrink = SHRINK if length > WHOLE else CAUTIOUS
    return most


@compiled
@reassociated
def complementarity(box, dual, r):
    """The weighted sum of π·(α − l) + ρ·(u − α)"""
    total = 0.0
    for i in range(r.shape[0]):
        total += r[i] * (dual[1, i] * (dual[0, i] - box[1, i]) + dual[2, i] * (box[2, i] - dual[0, i]))
    return total


@compiled
def change(t, low, high, alpha, pi, rho, z, Xd, mu):
    """The changes of α, π and ρ of one row for a change Xd of z, and 1/θ."""
    below, above = max(alpha - low, NEAREST * (high - low)), max(high - alpha, NEAREST * (high - low))
    inverse = 1.0 / (pi / below + rho / above)
    da = (t - z - mu / above + mu / below - Xd) * inverse
    return da, (mu - pi * da) / below - pi, (mu + rho * da) / above - rho, inverse


@compiled
def add_equations(box, dual, z, mu, r, weighted, fixed):
    """Add s/(mθ) to the weights of the equations, and s/m times α and its change at fixed z to the right-hand side."""
    for i in range(r.shape[0]):
        da, _, _, inverse = change(box[0, i], box[1, i], box[2, i], dual[0, i], dual[1, i], dual[2, i], z[i], 0.0, mu)
        weighted[i] += r[i] * inverse
        fixed[i] += r[i] * (dual[0, i] + da)


@compiled
def longest_step(box, dual, z, Xd, mu):
    """The largest step for which no α leaves its box and no multiplier becomes negative."""
    longest = math.inf
    for i in range(z.shape[0]):
        da, dpi, drho, _ = change(box[0, i], box[1, i], box[2, i], dual[0, i], dual[1, i], dual[2, i], z[i], Xd[i], mu)
        if da < 0.0:
            longest = min(longest, (box[1, i] - dual[0, i]) / da)
        elif da > 0.0:
            longest = min(longest, (box[2, i] - dual[0, i]) / da)
        if dpi < 0.0:
            longest = min(longest, -dual[1, i] / dpi)
        if drho < 0.0:
            longest = min(longest, -dual[2, i] / drho)
    return longest


@compiled
def move(box, dual, z, Xd, mu, length):
    for i in range(z.shape[0]):
        da, dpi, drho, _ = change(box[0, i], box[1, i], box[2, i], dual[0, i], dual[1, i], dual[2, i], z[i], Xd[i], mu)
        dual[0, i] += length * da
        dual[1, i] += length * dpi
        dual[2, i] += length * drho

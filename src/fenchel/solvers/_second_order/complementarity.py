"""The rows of an interior point method: α in a box, multipliers of its bounds, and their changes for a step of Newton's method

Each term a·(t − z) − γ/2·a², l ≤ a ≤ u, of a loss has the arrays ``box`` = (t, l, u) and ``dual`` = (α, π, ρ), one column for each row of
X, with ρ − π = t − z − γα throughout. A step aims at π·(α − l) = c₁ and ρ·(u − α) = c₂, linearised:

    θ·dα = t − z − γα − Xd − c₂/(u − α) + c₁/(α − l),     θ = π/(α − l) + ρ/(u − α) + γ
    dπ = (c₁ − π·dα)/(α − l) − π,     dρ = (c₂ + ρ·dα)/(u − α) − ρ

The predictor has c₁ = c₂ = 0; the corrector c₁ = σμ − dα·dπ and c₂ = σμ + dα·dρ with the changes of the predictor (S. Mehrotra, *On the
implementation of a primal-dual interior point method*, SIAM J. Optimization 1992). ``change`` = (dα, dπ, dρ) are those of the step before,
from which these products are computed, and are then replaced.
"""

from __future__ import annotations

import math

import numpy as np

from fenchel.core.compiled import compiled, kernel, reassociated
from fenchel.core.numeric import TINY, clip, largest_of
from fenchel.problems.sums import ACCUMULATORS

BEYOND = 1.01  # factor of the bound on the dual variables of the minimiser
LEAST = 1e-3  # relative to the largest |t|: added to the first multipliers
INSIDE = 0.995  # share of the way to the nearest bound that a step may go
NEAREST = 1e-17  # of the width of a box: a difference of rounded numbers that is smaller, or zero, counts as this
SHORTEST = 1e-10  # a shorter step ends the method
MOST_IDLE = 8  # steps in a row that do not reduce the gap below its least value, which rounding then prevents


@compiled
def distances(low, high, alpha):
    """α − l and u − α, not zero."""
    nearest = NEAREST * (high - low)
    return max(alpha - low, nearest), max(high - alpha, nearest)


@compiled
def set_inverses(box, gamma, dual, inverse):
    """1/(α − l), 1/(u − α) and 1/θ, by which the predictor and the corrector multiply: dividing takes most of the time of such loops."""
    for i in range(box.shape[1]):
        below, above = distances(box[1, i], box[2, i], dual[0, i])
        inverse[0, i] = 1.0 / below
        inverse[1, i] = 1.0 / above
        inverse[2, i] = 1.0 / (dual[1, i] / below + dual[2, i] / above + gamma)


@compiled
def add_equations(box, gamma, dual, inverse, z, change, mu, corrects, r, weights, fixed):
    """Add r/θ to the weights of the Newton equations, and r times α and its change at fixed z to their right-hand side.

    ``corrects`` is 1 for the corrector, 0 for the predictor.
    """
    for i in range(r.shape[0]):
        alpha = dual[0, i]
        first, second = mu - corrects * change[0, i] * change[1, i], mu + corrects * change[0, i] * change[2, i]
        towards = box[0, i] - z[i] - gamma * alpha - second * inverse[1, i] + first * inverse[0, i]
        weights[i] += r[i] * inverse[2, i]
        fixed[i] += r[i] * (alpha + towards * inverse[2, i])


@compiled
def set_change(box, gamma, dual, inverse, z, Xd, mu, corrects, change):
    """The changes of α, π and ρ for a change Xd of z, which replace those of the step before."""
    for i in range(z.shape[0]):
        alpha, pi, rho = dual[0, i], dual[1, i], dual[2, i]
        first, second = mu - corrects * change[0, i] * change[1, i], mu + corrects * change[0, i] * change[2, i]
        da = (box[0, i] - z[i] - gamma * alpha - Xd[i] - second * inverse[1, i] + first * inverse[0, i]) * inverse[2, i]
        change[0, i] = da
        change[1, i] = (first - pi * da) * inverse[0, i] - pi
        change[2, i] = (second + rho * da) * inverse[1, i] - rho


@compiled
def add_shortening(dual, inverse, change, tops):
    """tops_k ← the largest of itself and −change/value of everything that must stay positive, over rows k, k + ``ACCUMULATORS``, …"""
    for k in range(dual.shape[1]):
        of_alpha = max(-change[0, k] * inverse[0, k], change[0, k] * inverse[1, k])
        tops[k] = max(tops[k], max(of_alpha, max(-change[1, k] / dual[1, k], -change[2, k] / dual[2, k])))


@compiled
@reassociated
def products_after(box, dual, change, length, r):
    """Σ r·(π·(α − l) + ρ·(u − α)) after a step of this length."""
    total = 0.0
    for i in range(r.shape[0]):
        below, above = distances(box[1, i], box[2, i], dual[0, i])
        da = length * change[0, i]
        total += r[i] * ((dual[1, i] + length * change[1, i]) * (below + da) + (dual[2, i] + length * change[2, i]) * (above - da))
    return total


@kernel
def set_first_duals(boxes, gamma, z, r, objective, duals):
    """α inside its box and multipliers as large as the residuals; ``objective`` is that of the origin, whose predictions are z.

    An infinite bound is replaced by one that the minimiser satisfies: s/m·γ/2·α² ≤ P(0), because its losses are not negative. α is in the
    middle of the box, or not much farther from 0 than the residuals are.
    """
    for k in range(boxes.shape[0]):
        size, largest = 0.0, 0.0
        for i in range(z.shape[0]):
            size += r[i] * abs(boxes[k, 0, i] - z[i])
            largest = max(largest, abs(boxes[k, 0, i]))
        size += LEAST * largest + TINY
        for i in range(z.shape[0]):
            reach = math.inf
            if gamma > 0.0:
                farthest = BEYOND * math.sqrt(2.0 * objective / (gamma * max(r[i], TINY)))
                boxes[k, 1, i] = max(boxes[k, 1, i], -farthest)
                boxes[k, 2, i] = min(boxes[k, 2, i], farthest)
                reach = size / gamma
            low, high = boxes[k, 1, i], boxes[k, 2, i]
            inside = min(0.5 * (high - low), reach)
            alpha = clip(0.0, low + inside, high - inside)
            residual = boxes[k, 0, i] - z[i] - gamma * alpha
            duals[k, 0, i] = alpha
            duals[k, 1, i] = size + max(-residual, 0.0)
            duals[k, 2, i] = size + max(residual, 0.0)


@kernel
def inverses_of_rows(boxes, gamma, duals, inverses):
    """Set what the equations and the changes of a step multiply by, for all terms."""
    for k in range(boxes.shape[0]):
        set_inverses(boxes[k], gamma, duals[k], inverses[k])


@kernel
def equations_of_rows(boxes, gamma, duals, inverses, changes, z, r, mu, corrects, weights, fixed):
    """The weights and the right-hand side of the Newton equations, for all terms."""
    for i in range(r.shape[0]):
        weights[i] = 0.0
        fixed[i] = 0.0
    for k in range(boxes.shape[0]):
        add_equations(boxes[k], gamma, duals[k], inverses[k], z, changes[k], mu, corrects, r, weights, fixed)


@kernel
def changes_of_rows(boxes, gamma, duals, inverses, changes, z, Xd, mu, corrects):
    """Set the changes of all terms; the longest step, at most 1, that leaves everything positive."""
    tops = np.zeros(ACCUMULATORS)
    m = z.shape[0]
    for k in range(boxes.shape[0]):
        set_change(boxes[k], gamma, duals[k], inverses[k], z, Xd, mu, corrects, changes[k])
        for first in range(0, m, ACCUMULATORS):
            last = first + ACCUMULATORS
            add_shortening(duals[k][:, first:last], inverses[k][:, first:last], changes[k][:, first:last], tops)
    return min(1.0, INSIDE / max(largest_of(tops), INSIDE))


@kernel
def complementarity(boxes, duals, changes, length, r):
    """The weighted mean of all products after a step of this length."""
    total = 0.0
    for k in range(boxes.shape[0]):
        total += products_after(boxes[k], duals[k], changes[k], length, r)
    return total


@kernel
def move_rows(boxes, duals, changes, length):
    """Take the step; rounding does not take α out of its box."""
    for k in range(duals.shape[0]):
        for i in range(duals.shape[2]):
            duals[k, 0, i] = min(max(duals[k, 0, i] + length * changes[k, 0, i], boxes[k, 1, i]), boxes[k, 2, i])
            duals[k, 1, i] += length * changes[k, 1, i]
            duals[k, 2, i] += length * changes[k, 2, i]

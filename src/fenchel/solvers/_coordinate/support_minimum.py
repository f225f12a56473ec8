"""The minimum of the quadratic model over the non-zero weights S with the signs they have, by preconditioned conjugate gradients

    H·(x − w) = −(g_S + l2·w_S + l1·sign(w_S)),     H = X_Sᵀ·diag(h)·X_S + l2·I,  preconditioned by the diagonal of H

X is centred by the means x̄ where there is an unpenalised intercept. Where weights would change their sign on the way from w to x, the
better of two points is used: the one at which the first weight becomes zero, or the minimum on the line towards x with all weights
that would change their sign set to zero.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled


@compiled
class ConjugateGradients(NamedTuple):
    """Buffers; entry a of the first four belongs to the column S[a] of the model, and entry k of x to its column k."""

    derivative: np.ndarray  # of the model with fixed signs, at w
    r: np.ndarray  # the residual of the equations
    p: np.ndarray  # the search direction
    Hp: np.ndarray
    x: np.ndarray
    u: Any  # h·X(x − w), a Residual
    q: Any  # h·X·p, a Plain vector


@compiled
def minimise_on_support(model, cg, S, w, enough, most):
    """x from w, until no entry of r exceeds ``enough``; returns Σ_j (x_j − w_j)·x̄_j."""
    rz = start(model, cg, S, w)
    mean = 0.0
    for _ in range(most):
        curvature, mean_of_p = multiply_by_hessian(model, cg, S)
        if not curvature > 0.0:
            break
        mean += rz / curvature * mean_of_p
        rz, largest = advance(model, cg, S, rz, rz / curvature)
        if largest <= enough:
            break
    if mean != 0.0:
        for i in range(cg.u.v.shape[0]):
            cg.u.v[i] += mean * model.residual.h[i]
    return mean


@compiled
def start(model, cg, S, w):
    """x = w, u = 0, r = −derivative, and p = r divided by the diagonal; returns <r, p>."""
    assign(cg.x, w)
    fill_with_zeros(cg.u.v)
    rz = 0.0
    for a in range(S.shape[0]):
        k = S[a]
        cg.derivative[a] = model.gradient(k) + model.l2 * w[k] + math.copysign(model.l1, w[k])
        cg.r[a] = -cg.derivative[a]
        cg.p[a] = cg.r[a] / model.diagonal(k)
        rz += cg.r[a] * cg.p[a]
    return rz


@compiled
def multiply_by_hessian(model, cg, S):
    """q = h·X_S·p and Hp = H·p; returns <p, Hp> and Σ_j p_j x̄_j."""
    fill_with_zeros(cg.q.v)
    mean, curvature = 0.0, 0.0
    for a in range(S.shape[0]):
        model.columns.add(model.which[S[a]], cg.p[a], cg.q)
        mean += cg.p[a] * model.means[S[a]]
    for i in range(cg.q.v.shape[0]):
        cg.q.v[i] = (cg.q.v[i] - mean) * model.residual.h[i]
    for a in range(S.shape[0]):
        j = model.which[S[a]]
        model.accesses[0] += model.columns.count(j)
        cg.Hp[a] = model.columns.dot(j, cg.q) + model.l2 * cg.p[a]
        curvature += cg.p[a] * cg.Hp[a]
    return curvature, mean


@compiled
def advance(model, cg, S, rz, step):
    """Move x, r and u by ``step`` along p, and find the next p; returns the next <r, r/diagonal> and the largest |r_a|."""
    new_rz, largest = 0.0, 0.0
    for a in range(S.shape[0]):
        cg.x[S[a]] += step * cg.p[a]
        cg.r[a] -= step * cg.Hp[a]
        new_rz += cg.r[a] * cg.r[a] / model.diagonal(S[a])
        largest = max(largest, abs(cg.r[a]))
    for i in range(cg.q.v.shape[0]):
        cg.u.v[i] += step * cg.q.v[i]
    for a in range(S.shape[0]):
        cg.p[a] = cg.r[a] / model.diagonal(S[a]) + new_rz / rz * cg.p[a]
    return new_rz, largest


@compiled
def move_towards(model, cg, S, w, mean):
    """Move w towards x, no weight beyond zero, and ρ and the intercept's shift with it; mean = Σ_j (x_j − w_j)·x̄_j."""
    t, first = first_crossing(S, w, cg.x)
    if first < 0:
        move(model, cg, S, w, 1.0, mean)
        return
    decrease = decrease_along(model, cg, S, w, t, mean)
    whole_x, whole_u = np.empty(cg.x.shape[0]), np.empty(cg.u.v.shape[0])
    assign(whole_x, cg.x)
    assign(whole_u, cg.u.v)
    clipped_mean = mean - clip_signs(model, cg, S, w)
    slope, curvature = along(model, cg, S, w, clipped_mean)
    shorter = min(1.0, -slope / curvature) if slope < 0.0 and curvature > 0.0 else 0.0
    if decrease_along(model, cg, S, w, shorter, clipped_mean) >= decrease:
        move(model, cg, S, w, shorter, clipped_mean)
        return
    assign(cg.x, whole_x)
    assign(cg.u.v, whole_u)
    move(model, cg, S, w, t, mean)
    w[first] = 0.0


@compiled
def first_crossing(S, w, x):
    """The smallest t at which a weight of w + t·(x − w) is zero, and which; 1 and −1 if there is none."""
    t, first = 1.0, -1
    for k in S:
        if x[k] * w[k] < 0.0 and w[k] / (w[k] - x[k]) < t:
            t, first = w[k] / (w[k] - x[k]), k
    return t, first


@compiled
def clip_signs(model, cg, S, w):
    """Set the weights of x to zero that have another sign than in w, and u accordingly; returns Σ_j x_j·x̄_j over them."""
    mean = 0.0
    for k in S:
        if cg.x[k] * w[k] < 0.0:
            model.columns.add(model.which[k], -cg.x[k], cg.u)
            model.accesses[0] += model.columns.count(model.which[k])
            mean += cg.x[k] * model.means[k]
            cg.x[k] = 0.0
    return mean


@compiled
def along(model, cg, S, w, mean):
    """The derivative of the model at w in the direction x − w, and its second derivative."""
    slope, curvature = 0.0, 0.0
    for a in range(S.shape[0]):
        change = cg.x[S[a]] - w[S[a]]
        slope += cg.derivative[a] * change
        curvature += model.l2 * change * change
    for i in range(cg.u.v.shape[0]):
        h = model.residual.h[i]
        if h > 0.0:
            curvature += (cg.u.v[i] - mean * h) * (cg.u.v[i] / h - mean)
    return slope, curvature


@compiled
def decrease_along(model, cg, S, w, t, mean):
    """By how much the model falls from w to w + t·(x − w)."""
    slope, curvature = along(model, cg, S, w, mean)
    return -t * slope - 0.5 * t * t * curvature


@compiled
def move(model, cg, S, w, t, mean):
    """w ← w + t·(x − w), ρ and the intercept's shift with it."""
    for k in S:
        w[k] = cg.x[k] if t == 1.0 else w[k] + t * (cg.x[k] - w[k])
    for i in range(cg.u.v.shape[0]):
        model.residual.v[i] += t * cg.u.v[i]
    model.shift[0] -= t * mean


@compiled
def assign(x, y):
    """x ← y, entry by entry: assigning a slice takes seconds to compile."""
    for i in range(x.shape[0]):
        x[i] = y[i]


@compiled
def fill_with_zeros(x):
    for i in range(x.shape[0]):
        x[i] = 0.0

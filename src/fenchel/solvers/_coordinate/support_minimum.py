"""The minimum of a quadratic model over the non-zero weights S with the signs they have, by preconditioned conjugate gradients

    H·(x − w) = −(g_S + l2·w_S + l1·sign(w_S)),     H = X_Sᵀ·φ''·X_S + l2·I,  preconditioned by the diagonal of H

A model is one of :mod:`.quadratic_model` or :mod:`.class_model`; what these know alone is how rows are multiplied by φ''. Its columns may
be centred by means x̄, where there is an unpenalised intercept. Where weights would change their sign on the way from w to x, the better of
two points is used: the one at which the first weight becomes zero, or the minimum on the line towards x with all weights that would change
their sign set to zero.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fenchel.core.compiled import compiled


@compiled
class ConjugateGradients(NamedTuple):
    """Buffers; entry a of the first four belongs to the weight S[a] of the model, and entry k of x to its weight k."""

    derivative: np.ndarray  # of the model with fixed signs, at w
    r: np.ndarray  # the residual of the equations
    p: np.ndarray  # the search direction
    Hp: np.ndarray
    x: np.ndarray
    Xd: np.ndarray  # X(x − w)
    Xp: np.ndarray  # X·p
    q: np.ndarray  # φ''·(X − x̄)·p


def buffers(weights: int, predictions: tuple[int, ...]) -> ConjugateGradients:
    """The buffers for so many weights and predictions of this shape."""
    derivative, r, p, Hp, x = (np.empty(weights) for _ in range(5))
    Xd, Xp, q = (np.empty(predictions) for _ in range(3))
    return ConjugateGradients(derivative, r, p, Hp, x, Xd, Xp, q)


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
    return mean


@compiled
def start(model, cg, S, w):
    """x = w, Xd = 0, r = −derivative, and p = r divided by the diagonal; returns <r, p>."""
    assign(cg.x, w)
    fill_with_zeros(cg.Xd)
    rz = 0.0
    for a in range(S.shape[0]):
        k = S[a]
        cg.derivative[a] = model.gradient(k) + model.penalty_slope(k, w[k])
        cg.r[a] = -cg.derivative[a]
        cg.p[a] = cg.r[a] / model.diagonal(k)
        rz += cg.r[a] * cg.p[a]
    return rz


@compiled
def multiply_by_hessian(model, cg, S):
    """q = φ''·(X_S − x̄)·p and Hp = H·p; returns <p, Hp> and Σ_j p_j x̄_j."""
    fill_with_zeros(cg.Xp)
    mean, curvature = 0.0, 0.0
    for a in range(S.shape[0]):
        mean += model.add_column(S[a], cg.p[a], cg.Xp)
    model.multiply_by_curvature(cg.Xp, mean, cg.q)
    for a in range(S.shape[0]):
        cg.Hp[a] = model.dot(S[a], cg.q) + model.ridge(S[a]) * cg.p[a]
        curvature += cg.p[a] * cg.Hp[a]
    return curvature, mean


@compiled
def advance(model, cg, S, rz, step):
    """Move x, r and Xd by ``step`` along p, and find the next p; returns the next <r, r/diagonal> and the largest |r_a|."""
    new_rz, largest = 0.0, 0.0
    for a in range(S.shape[0]):
        cg.x[S[a]] += step * cg.p[a]
        cg.r[a] -= step * cg.Hp[a]
        new_rz += cg.r[a] * cg.r[a] / model.diagonal(S[a])
        largest = max(largest, abs(cg.r[a]))
    add_multiple(cg.Xd, step, cg.Xp)
    for a in range(S.shape[0]):
        cg.p[a] = cg.r[a] / model.diagonal(S[a]) + new_rz / rz * cg.p[a]
    return new_rz, largest


@compiled
def move_towards(model, cg, S, w, mean):
    """Move w towards x, no weight beyond zero, and the model's derivatives with it; mean = Σ_j (x_j − w_j)·x̄_j."""
    t, first = first_crossing(model, S, w, cg.x)
    if first < 0:
        move(model, cg, S, w, 1.0, mean)
        return
    decrease = decrease_along(model, cg, S, w, t, mean)
    whole_x = np.empty(cg.x.shape[0])
    assign(whole_x, cg.x)
    assign(cg.Xp, cg.Xd)
    clipped_mean = mean - clip_signs(model, cg, S, w)
    slope, curvature = along(model, cg, S, w, clipped_mean)
    shorter = min(1.0, -slope / curvature) if slope < 0.0 and curvature > 0.0 else 0.0
    if decrease_along(model, cg, S, w, shorter, clipped_mean) >= decrease:
        move(model, cg, S, w, shorter, clipped_mean)
        return
    assign(cg.x, whole_x)
    assign(cg.Xd, cg.Xp)
    move(model, cg, S, w, t, mean)
    w[first] = 0.0


@compiled
def first_crossing(model, S, w, x):
    """The smallest t at which a penalised weight of w + t·(x − w) is zero, and which; 1 and −1 if there is none."""
    t, first = 1.0, -1
    for k in S:
        if x[k] * w[k] < 0.0 and w[k] / (w[k] - x[k]) < t and model.strength(k) > 0.0:
            t, first = w[k] / (w[k] - x[k]), k
    return t, first


@compiled
def clip_signs(model, cg, S, w):
    """Set the penalised weights of x to zero that have another sign than in w, and Xd accordingly; returns Σ_j x_j·x̄_j over them."""
    mean = 0.0
    for k in S:
        if cg.x[k] * w[k] < 0.0 and model.strength(k) > 0.0:
            mean -= model.add_column(k, -cg.x[k], cg.Xd)
            cg.x[k] = 0.0
    return mean


@compiled
def along(model, cg, S, w, mean):
    """The derivative of the model at w in the direction x − w, and its second derivative."""
    slope, curvature = 0.0, 0.0
    for a in range(S.shape[0]):
        change = cg.x[S[a]] - w[S[a]]
        slope += cg.derivative[a] * change
        curvature += model.ridge(S[a]) * change * change
    model.multiply_by_curvature(cg.Xd, mean, cg.q)
    return slope, curvature + model.curvature_along(cg.Xd, mean, cg.q)


@compiled
def decrease_along(model, cg, S, w, t, mean):
    """By how much the model falls from w to w + t·(x − w)."""
    slope, curvature = along(model, cg, S, w, mean)
    return -t * slope - 0.5 * t * t * curvature


@compiled
def move(model, cg, S, w, t, mean):
    """w ← w + t·(x − w), the model's derivatives with it."""
    for k in S:
        w[k] = cg.x[k] if t == 1.0 else w[k] + t * (cg.x[k] - w[k])
    model.follow(cg.Xd, t, mean)


@compiled
def add_multiple(x, c, y):
    """x ← x + c·y, entry by entry: assigning a slice takes seconds to compile."""
    a, b = x.ravel(), y.ravel()
    for i in range(a.shape[0]):
        a[i] += c * b[i]


@compiled
def assign(x, y):
    a, b = x.ravel(), y.ravel()
    for i in range(a.shape[0]):
        a[i] = b[i]


@compiled
def fill_with_zeros(x):
    a = x.ravel()
    for i in range(a.shape[0]):
        a[i] = 0.0

"""min_d <ρ, Xd> + ½·Σ_i h_i (Xd)_i² + Ω(w + d) over the weights of a working set, Ω = l1·‖w‖₁ + l2/2·‖w‖², column by column

The quadratic model of a loss at w, with ρ_i = s_i φ'(z_i)/m and h_i = s_i φ''(z_i)/m; the squared loss is its own model. Coordinate
sweeps find out which weights are not zero, and conjugate gradients on those finish: once the support is known they converge with the
square root of the condition number, where sweeps go with the condition number itself.

A free intercept is minimised over throughout: with x̄_j = Σ_i h_i x_ij / Σ_i h_i the best one takes x̄_j from every entry of column j.
Columns are centred without being touched: ρ is residual.v + shift·h, and the shift of the intercept is one number.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled, kernel
from fenchel.core.numeric import soft_threshold

SWEEPS = 3  # coordinate sweeps before conjugate gradients
CONJUGATE = 20  # steps of conjugate gradients at first, and twice as many every time they come again
MOST_CONJUGATE = 320
WELL = 0.3  # the share of the target at which they end
SETTLED = 0.1  # the share of the support that a sweep may change for conjugate gradients to be worth their while


@compiled
class Residual(NamedTuple):
    """ρ under a step d_j·x_j, with weights h_i."""

    v: np.ndarray
    h: np.ndarray

    def raw(self, i):
        return self.v[i]

    def factor(self):
        return 1.0

    def shift(self, i, delta):
        self.v[i] += delta * self.h[i]
        return 0.0

    def settle(self, change):
        pass


@compiled
class QuadraticModel(NamedTuple):
    """The model on the columns ``which``: ρ is residual.v + shift·h, with the shift of the intercept in the first entry of ``moved``."""

    columns: Any
    residual: Any
    l1: float
    l2: float
    which: np.ndarray
    curvature: np.ndarray
    means: np.ndarray  # x̄_j, zero without a free intercept
    total: float  # Σ h_i
    moved: np.ndarray
    accesses: np.ndarray

    def gradient(self, k):
        j = self.which[k]
        self.accesses[0] += self.columns.count(j)
        return self.columns.dot(j, self.residual) + self.moved[0] * self.means[k] * self.total

    def move(self, k, delta):
        self.columns.add(self.which[k], delta, self.residual)
        self.moved[0] -= delta * self.means[k]


@kernel
def minimise_by_columns(model, w, target, forcing, most, newton, u, q):
    """Minimise until the gap of the model is about the target, by at most so many sweeps; ``w`` are the weights of its columns."""
    n = w.shape[0]
    support = np.empty(n, dtype=np.int64)
    x, slopes, r, p, image = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    steps = CONJUGATE
    for sweep in range(1, most + 1):
        violation, size, changed = coordinate_sweep(model, w)
        if sweep == 1:
            target = max(target, forcing * violation * size)
        elif violation * size <= target and (sweep > SWEEPS or not newton):
            return sweep
        count = 0
        for k in range(n):
            if w[k] != 0.0:
                support[count] = k
                count += 1
        if newton and sweep % SWEEPS == 0 and changed <= SETTLED * count:
            S = support[:count]
            assign(x, w)
            mean = minimise_on_support(model, S, w, x, slopes, r, p, image, u, q, WELL * target / size, steps)
            steps = min(2 * steps, MOST_CONJUGATE)
            go_towards(model, S, w, x, slopes, u, mean)
    return most


@compiled
def coordinate_sweep(model, w):
    """One step on every weight; the largest violation of optimality met, ‖w‖₁, and how many weights became zero or stopped being it."""
    violation, size, changed = 0.0, 0.0, 0
    for k in range(w.shape[0]):
        old = w[k]
        x = model.curvature[k] * old - model.gradient(k)
        new = soft_threshold(x, model.l1) / (model.curvature[k] + model.l2)
        if new != old:
            w[k] = new
            model.move(k, new - old)
            violation = max(violation, (model.curvature[k] + model.l2) * abs(new - old))
            changed += new * old <= 0.0
        size += abs(new)
    return violation, size, changed


@compiled
def minimise_on_support(model, S, w, x, slopes, r, p, image, u, q, enough, most):
    """From x = w towards the minimum over the weights S with the signs they have; u = h·X(x − w), and Σ_j (x_j − w_j)·x̄_j."""
    for a in range(S.shape[0]):
        k = S[a]
        slopes[a] = model.gradient(k) + model.l2 * w[k] + math.copysign(model.l1, w[k])
        r[a] = -slopes[a]
        p[a] = r[a] / (model.curvature[k] + model.l2)
    rz = preconditioned(model, S, r)
    moved = 0.0
    for i in range(u.v.shape[0]):
        u.v[i] = 0.0
    for _ in range(most):
        mean = multiply(model, S, p, q)
        curved = 0.0
        for i in range(q.v.shape[0]):
            q.v[i] *= model.residual.h[i]
        for a in range(S.shape[0]):
            j = model.which[S[a]]
            model.accesses[0] += model.columns.count(j)
            image[a] = model.columns.dot(j, q) + model.l2 * p[a]
            curved += p[a] * image[a]
        if not curved > 0.0:
            break
        step = rz / curved
        for a in range(S.shape[0]):
            x[S[a]] += step * p[a]
            r[a] -= step * image[a]
        for i in range(q.v.shape[0]):
            u.v[i] += step * q.v[i]
        moved += step * mean
        rz, before = preconditioned(model, S, r), rz
        largest = 0.0
        for a in range(S.shape[0]):
            p[a] = r[a] / (model.curvature[S[a]] + model.l2) + rz / before * p[a]
            largest = max(largest, abs(r[a]))
        if largest <= enough:
            break
    if moved != 0.0:
        for i in range(u.v.shape[0]):
            u.v[i] += moved * model.residual.h[i]
    return moved


@compiled
def preconditioned(model, S, r):
    total = 0.0
    for a in range(S.shape[0]):
        total += r[a] * r[a] / (model.curvature[S[a]] + model.l2)
    return total


@compiled
def multiply(model, S, p, q):
    """q = X_S·p, the mean taken from every column; Σ p_j x̄_j."""
    for i in range(q.v.shape[0]):
        q.v[i] = 0.0
    mean = 0.0
    for a in range(S.shape[0]):
        model.columns.add(model.which[S[a]], p[a], q)
        mean += p[a] * model.means[S[a]]
    if mean != 0.0:
        for i in range(q.v.shape[0]):
            q.v[i] -= mean
    return mean


@compiled
def go_towards(model, S, w, x, slopes, u, mean):
    """From w towards x, the better of two ways: as far as the first weight becomes zero, or with all those set to zero that would have
    changed their sign, to the minimum on the line. u = h·X(x − w), mean = Σ_j (x_j − w_j)·x̄_j."""
    t, first = 1.0, -1
    for k in S:
        if x[k] * w[k] < 0.0 and w[k] / (w[k] - x[k]) < t:
            t, first = w[k] / (w[k] - x[k]), k
    if first >= 0:
        slope, curved = along(model, S, w, x, slopes, u, mean)
        gain = -t * slope - 0.5 * t * t * curved
        whole_x, whole_u, whole_mean = np.empty(x.shape[0]), np.empty(u.v.shape[0]), mean
        assign(whole_x, x)
        assign(whole_u, u.v)
        for k in S:
            if x[k] * w[k] < 0.0:
                model.columns.add(model.which[k], -x[k], u)
                model.accesses[0] += model.columns.count(model.which[k])
                mean -= x[k] * model.means[k]
                x[k] = 0.0
        slope, curved = along(model, S, w, x, slopes, u, mean)
        shorter = min(1.0, -slope / curved) if slope < 0.0 and curved > 0.0 else 0.0
        if -shorter * slope - 0.5 * shorter * shorter * curved >= gain:
            t, first = shorter, -1
        else:
            assign(x, whole_x)
            assign(u.v, whole_u)
            mean = whole_mean
    for k in S:
        w[k] = x[k] if t == 1.0 else w[k] + t * (x[k] - w[k])
    if first >= 0:
        w[first] = 0.0
    for i in range(u.v.shape[0]):
        model.residual.v[i] += t * u.v[i]
    model.moved[0] -= t * mean


@compiled
def assign(x, y):
    """x ← y, entry by entry: a slice would do the same, but takes seconds to compile."""
    for i in range(x.shape[0]):
        x[i] = y[i]


@compiled
def along(model, S, w, x, slopes, u, mean):
    """The slope of the model at w on the line to x, and its curvature."""
    slope, curved = 0.0, 0.0
    for a in range(S.shape[0]):
        change = x[S[a]] - w[S[a]]
        slope += slopes[a] * change
        curved += model.l2 * change * change
    for i in range(u.v.shape[0]):
        h = model.residual.h[i]
        if h > 0.0:
            curved += (u.v[i] - mean * h) * (u.v[i] / h - mean)
    return slope, curved

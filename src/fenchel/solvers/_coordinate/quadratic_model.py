"""min_d <ρ, Xd> + ½·Σ_i h_i (Xd)_i² + Ω(w + d) over the weights of a working set, Ω = l1·‖w‖₁ + l2/2·‖w‖², column by column

This is the quadratic model of a loss at w, with ρ_i = s_i φ'(z_i)/m and h_i = s_i φ''(z_i)/m; a quadratic loss equals its model.
Coordinate sweeps determine which weights are not zero, and conjugate gradients on those (:mod:`.support_minimum`) finish: on a fixed
support they converge with the square root of the condition number, and sweeps with the condition number itself.

An unpenalised intercept is minimised over throughout: with x̄_j = Σ_i h_i x_ij / Σ_i h_i the best one subtracts x̄_j from every entry of
column j. The stored columns stay as they are: ρ is residual.v + shift·h, where the shift of the intercept is one number.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled, kernel
from fenchel.core.numeric import soft_threshold
from fenchel.linalg.weights import plain
from fenchel.solvers._coordinate.support_minimum import minimise_on_support, move_towards

SWEEPS = 3  # coordinate sweeps before each run of conjugate gradients
FIRST_STEPS, MOST_STEPS = 20, 320  # conjugate gradient steps of the first run, doubled with every run up to the second number
REMAINING = 0.3  # share of the target at which conjugate gradients stop
SETTLED = 0.1  # share of the support that the last sweep may have changed for conjugate gradients to pay


@compiled
class Residual(NamedTuple):
    """ρ as a vector that columns are multiplied with, where adding d_j·x_j adds h_i·d_j·x_ij."""

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
    """The model on the columns ``which``: ρ is residual.v + shift·h, with the intercept's shift in the one entry of ``shift``."""

    columns: Any
    residual: Any
    l1: float
    l2: float
    which: np.ndarray
    curvature: np.ndarray  # Σ_i h_i (x_ij − x̄_j)²
    means: np.ndarray  # x̄_j, zero without an unpenalised intercept
    total: float  # Σ h_i, zero without an unpenalised intercept
    shift: np.ndarray
    accesses: np.ndarray

    def gradient(self, k):
        j = self.which[k]
        self.accesses[0] += self.columns.count(j)
        return self.columns.dot(j, self.residual) + self.shift[0] * self.means[k] * self.total

    def diagonal(self, k):
        return self.curvature[k] + self.l2

    def strength(self, k):
        return self.l1

    def ridge(self, k):
        return self.l2

    def penalty_slope(self, k, w):
        return self.l2 * w + math.copysign(self.l1, w)

    def move(self, k, delta):
        self.columns.add(self.which[k], delta, self.residual)
        self.shift[0] -= delta * self.means[k]

    def dot(self, k, q):
        self.accesses[0] += self.columns.count(self.which[k])
        return self.columns.dot(self.which[k], plain(q))

    def add_column(self, k, c, z):
        """z ← z + c·x_k; returns c·x̄_k."""
        self.accesses[0] += self.columns.count(self.which[k])
        self.columns.add(self.which[k], c, plain(z))
        return c * self.means[k]

    def multiply_by_curvature(self, z, mean, out):
        for i in range(z.shape[0]):
            out[i] = (z[i] - mean) * self.residual.h[i]

    def curvature_along(self, z, mean, q):
        """<z − mean, q>"""
        total = 0.0
        for i in range(z.shape[0]):
            total += (z[i] - mean) * q[i]
        return total

    def follow(self, z, t, mean):
        """Take a step that changes the predictions by t·z and the intercept by −t·mean."""
        for i in range(z.shape[0]):
            self.residual.v[i] += t * z[i] * self.residual.h[i]
        self.shift[0] -= t * mean


@kernel
def minimise_by_columns(model, cg, w, target, forcing, most, finish):
    """Sweep at most so many times, until the gap of the model is about the target or ``forcing`` times that of the first sweep.

    ``w`` are the weights of the model's columns, and ``finish`` says whether conjugate gradients are used.
    """
    support = np.empty(w.shape[0], dtype=np.int64)
    steps = FIRST_STEPS
    for sweep in range(1, most + 1):
        violation, size, changed = coordinate_sweep(model, w)
        if sweep == 1:
            target = max(target, forcing * violation * size)
        elif violation * size <= target and (sweep > SWEEPS or not finish):
            return sweep
        if finish and sweep % SWEEPS == 0:
            S = support[: find_support(w, support)]
            if S.shape[0] > 0 and changed <= SETTLED * S.shape[0]:
                mean = minimise_on_support(model, cg, S, w, REMAINING * target / size, steps)
                move_towards(model, cg, S, w, mean)
                steps = min(2 * steps, MOST_STEPS)
    return most


@kernel
def minimise_in_few_sweeps(model, w, target, most):
    """Sweep until the gap of the model is about the target: whether it is, without sweeping on where the last decrease of the gap shows
    that so many sweeps will not suffice."""
    before = np.inf
    for sweep in range(1, most + 1):
        violation, size, _ = coordinate_sweep(model, w)
        gap = violation * size
        if gap <= target:
            return True
        if sweep >= SWEEPS and gap * (gap / before) ** (most - sweep) > target:
            return False
        before = gap
    return False


@compiled
def coordinate_sweep(model, w):
    """A step on every weight; the largest violation of optimality, ‖w‖₁, and how many weights became zero or stopped being zero."""
    violation, size, changed = 0.0, 0.0, 0
    for k in range(w.shape[0]):
        old = w[k]
        new = soft_threshold(model.curvature[k] * old - model.gradient(k), model.strength(k)) / model.diagonal(k)
        if new != old:
            w[k] = new
            model.move(k, new - old)
            violation = max(violation, model.diagonal(k) * abs(new - old))
            changed += new * old <= 0.0
        size += abs(new) if model.strength(k) > 0.0 else 0.0
    return violation, size, changed


@compiled
def find_support(w, support):
    """Write the positions of the non-zero weights to ``support``; how many there are."""
    count = 0
    for k in range(w.shape[0]):
        if w[k] != 0.0:
            support[count] = k
            count += 1
    return count

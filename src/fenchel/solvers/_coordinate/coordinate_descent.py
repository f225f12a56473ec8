"""min_w (1/m) Σ_i s_i φ(<w, x_i>, y_i) + Σ_j Ω_j(w_j), one coordinate at a time

    w_j ← prox_{Ω_j/β_j}(w_j − g_j/β_j),   g_j = (1/m) Σ_i s_i φ'(z_i, y_i)·x_ij,   z = X·w kept up to date

which never raises the objective while β_j bounds the second derivative along coordinate j: β_j = (1/γ)·(1/m)Σ_i s_i x_ij² for a
(1/γ)-smooth loss. A step reads one column of X. For K outputs a coordinate is a feature with its K weights, under the same β_j.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled, kernel
from fenchel.core.numeric import TINY
from fenchel.core.validation import checked_choice
from fenchel.problems.problem import Problem
from fenchel.problems.result import Iterate
from fenchel.solvers._coordinate.column_products import column_squares

CURVATURES = ("column", "global")


@compiled
class Slopes(NamedTuple):
    """What a column is multiplied with and added to: reads as s_i φ'(z_i)/m, moves z_i."""

    loss: Any
    y: np.ndarray
    row_weights: np.ndarray
    z: np.ndarray

    def raw(self, i):
        return self.row_weights[i] * self.loss.derivative(self.z[i], self.y[i])

    def factor(self):
        return 1.0

    def shift(self, i, delta):
        self.z[i] += delta
        return 0.0

    def settle(self, change):
        pass


@compiled
class VectorSlopes(NamedTuple):
    """The same for K outputs, entry i·K + k; the slopes of a row are renewed as its last output moves."""

    loss: Any
    y: np.ndarray
    row_weights: np.ndarray
    z: np.ndarray  # m × K
    slopes: np.ndarray  # m × K

    def raw(self, e):
        K = np.uintp(self.z.shape[1])
        return self.slopes[np.uintp(e) // K, np.uintp(e) % K]

    def factor(self):
        return 1.0

    def shift(self, e, delta):
        K = np.uintp(self.z.shape[1])
        i, k = np.uintp(e) // K, np.uintp(e) % K
        self.z[i, k] += delta
        if k == K - np.uintp(1):
            self.renew(i)
        return 0.0

    def renew(self, i):
        self.loss.derivative(self.z[i], self.y[i], self.slopes[i])
        for k in range(self.z.shape[1]):
            self.slopes[i, k] *= self.row_weights[i]

    def settle(self, change):
        pass


@kernel
def coordinate_steps(columns, slopes, regularizer, w, beta, order):
    """One step on each coordinate of ``order``; the entries of X that they read."""
    accesses = 0
    for j in order:
        old = w[j]
        new = regularizer.prox(old - columns.dot(j, slopes) / beta[j], 1.0 / beta[j], j)
        if new != old:
            w[j] = new
            columns.add(j, new - old, slopes)
        accesses += columns.count(j)
    return accesses


@kernel
def coordinate_vector_steps(columns, slopes, regularizer, w, beta, order):
    """The same for K outputs."""
    K = slopes.z.shape[1]
    step = np.empty(K)
    accesses = 0
    for j in order:
        columns.dots(j, slopes, step)
        moved = False
        for k in range(K):
            old = w[j, k]
            w[j, k] = regularizer.prox(old - step[k] / beta[j], 1.0 / beta[j], j * K + k)
            step[k] = w[j, k] - old
            moved = moved or step[k] != 0.0
        if moved:
            columns.adds(j, step, slopes)
        accesses += columns.count(j)
    return accesses


@kernel
def renew_slopes(slopes):
    for i in range(slopes.z.shape[0]):
        slopes.renew(i)


class CoordinateDescent:
    """Coordinate steps on a problem, from a start: the weights, the predictions, and what they cost."""

    def __init__(self, problem: Problem, start: Iterate | None, beta: str = "column") -> None:
        self.problem = problem
        w, z = problem.starting_point(start)
        known = None if start is None else start.state.get("z")
        self.w, self.z = w.copy(), (z if known is None else known).copy()
        self.accesses = problem.design.nnz * bool(known is None and self.w.any())
        self.columns = problem.design.columns
        self.beta = column_curvatures(problem, beta)

    def slopes(self) -> Any:
        """The slopes at the weights as they are."""
        common = (self.problem.loss, self.problem.y, self.problem.row_weights, self.z)
        if not self.problem.vector_valued:
            return Slopes(*common)
        slopes = VectorSlopes(*common, np.empty_like(self.z))
        renew_slopes(slopes)
        return slopes

    def step(self, order: np.ndarray) -> None:
        """A step on each of these coordinates, in this order."""
        run: Any = coordinate_vector_steps if self.problem.vector_valued else coordinate_steps
        self.accesses += run(self.columns, self.slopes(), self.problem.regularizer, self.w, self.beta, order)

    @property
    def passes(self) -> float:
        """Entries read, in units of the whole of X."""
        return self.accesses / max(1, self.problem.design.nnz)

    def iterate(self, **more: Any) -> Iterate:
        """What a solver yields."""
        return Iterate(self.w, self.passes, self.accesses, z=self.z, state={"z": self.z}, **more)


def column_curvatures(problem: Problem, kind: str = "column") -> np.ndarray:
    """β_j of every coordinate: its own, or the paper's one for all, which takes no |x_ij| for less than 1.

    A column of zeros has a tiny one, with which the penalty alone decides.
    """
    smoothness = problem.loss.smoothness()
    if checked_choice("beta", kind, CURVATURES) == "global":
        largest = float(problem.design.row_norms(math.inf).max())
        return np.full(problem.n, smoothness * max(1.0, largest**2))
    squares = np.empty(problem.n)
    column_squares(problem.design.columns, problem.row_weights, np.arange(problem.n), squares)
    return np.maximum(smoothness * squares, TINY)

"""A proximal Newton step for the softmax under l1·‖w‖₁ + l2/2·‖w‖², on a working set W of the weights of all classes

    min_D <G, D> + ½·Σ_i r_i u_iᵀ(diag(p_i) − p_i p_iᵀ + f·I)u_i + Ω(w + D),     u_i = the predictions of D for row i, one for each class

p_i are the probabilities of the classes at w, r_i = s_i/m, and f is the floor of the second derivatives. J. Friedman, T. Hastie and
R. Tibshirani, *Regularization paths for generalized linear models via coordinate descent*, J. Statistical Software 2010, leave out the
products p_ik p_il of different classes; here they stay: beside u only s_i = <p_i, u_i> is kept up to date. The derivatives of the model
with respect to the predictions of class k are

    r_i φ'_k(z_i) + r_i p_ik (u_ik − s_i) + r_i f u_ik,     with the second derivatives  c_ik = r_i p_ik (1 − p_ik) + r_i f.

They are computed when a sweep comes to the first weight of a class, and steps on the weights of that class keep them up to date, so that a
step costs what it costs for a loss of one output. The weights are ordered by class, and minimised by the sweeps and conjugate gradients of
:mod:`.quadratic_model`. An unpenalised intercept is one more column.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled, kernel, maker
from fenchel.core.numeric import TINY
from fenchel.linalg.weights import plain
from fenchel.problems.problem import Problem
from fenchel.regularizers.parameters import elastic_net_strengths
from fenchel.solvers._coordinate.column_products import ColumnProducts
from fenchel.solvers._coordinate.line_search import LineSearch
from fenchel.solvers._coordinate.quadratic_model import Residual, minimise_by_columns
from fenchel.solvers._coordinate.support_minimum import add_multiple, buffers, fill_with_zeros

FORCING = 0.1  # share of its first violation of optimality that may be left of a model

residual_of_class = maker(Residual)


@compiled
class ClassModel(NamedTuple):
    """The model; weight k is that of class of[k] and column which[k], and arrays of predictions have a row for each class."""

    columns: Any
    l1: float
    l2: float
    of: np.ndarray  # in ascending order
    which: np.ndarray
    unpenalised: int  # the column of the intercept; −1 if there is none
    slopes: np.ndarray  # r_i φ'_k(z_i)
    p: np.ndarray
    h: np.ndarray  # r_i p_ik
    c: np.ndarray
    floor: np.ndarray  # r_i f
    curvature: np.ndarray  # Σ_i c_ik x_ij² of every weight
    u: np.ndarray
    s: np.ndarray
    current: np.ndarray  # the class whose derivatives are in v and whose changes are in d; −1 if there is none
    v: np.ndarray
    d: np.ndarray
    accesses: np.ndarray

    def strength(self, k):
        return self.l1 if self.which[k] != self.unpenalised else 0.0

    def ridge(self, k):
        return self.l2 if self.which[k] != self.unpenalised else 0.0

    def penalty_slope(self, k, w):
        return self.ridge(k) * w + math.copysign(self.strength(k), w)

    def diagonal(self, k):
        return self.curvature[k] + self.ridge(k)

    def column(self, k):
        j = self.which[k]
        self.accesses[0] += self.columns.count(j)
        return j

    def gradient(self, k):
        if self.current[0] != self.of[k]:
            self.settle()
            self.begin(self.of[k])
        return self.columns.dot(self.column(k), plain(self.v))

    def begin(self, k):
        """Compute the derivatives of a class."""
        self.current[0] = k
        for i in range(self.v.shape[0]):
            self.v[i] = self.slopes[k, i] + self.h[k, i] * (self.u[k, i] - self.s[i]) + self.floor[i] * self.u[k, i]
            self.d[i] = 0.0

    def settle(self):
        """Add the changes of the current class to u and s."""
        k = self.current[0]
        if k >= 0:
            for i in range(self.d.shape[0]):
                self.u[k, i] += self.d[i]
                self.s[i] += self.p[k, i] * self.d[i]
            self.current[0] = -1

    def move(self, k, delta):
        j = self.column(k)
        self.columns.add(j, delta, residual_of_class(self.v, self.c[self.current[0]]))
        self.columns.add(j, delta, plain(self.d))

    def dot(self, k, q):
        return self.columns.dot(self.column(k), plain(q[self.of[k]]))

    def add_column(self, k, c, z):
        self.columns.add(self.column(k), c, plain(z[self.of[k]]))
        return 0.0

    def multiply_by_curvature(self, z, mean, out):
        # The changes of the current class are settled first, so that their place is free for the sums over classes.
        self.settle()
        fill_with_zeros(self.d)
        for k in range(z.shape[0]):
            for i in range(z.shape[1]):
                self.d[i] += self.p[k, i] * z[k, i]
        for k in range(z.shape[0]):
            for i in range(z.shape[1]):
                out[k, i] = self.h[k, i] * (z[k, i] - self.d[i]) + self.floor[i] * z[k, i]

    def curvature_along(self, z, mean, q):
        total = 0.0
        for k in range(z.shape[0]):
            for i in range(z.shape[1]):
                total += z[k, i] * q[k, i]
        return total

    def follow(self, z, t, mean):
        self.settle()
        add_multiple(self.u, t, z)
        for k in range(z.shape[0]):
            for i in range(z.shape[1]):
                self.s[i] += t * self.p[k, i] * z[k, i]


@kernel
def model_at(loss, z, y, row_weights, floor, room, slopes, p, h, c, floors):
    """What the model needs of every row, with a row for each class."""
    for i in range(z.shape[0]):
        floors[i] = row_weights[i] * floor
        loss.derivative(z[i], y[i], room)
        for k in range(z.shape[1]):
            slopes[k, i] = row_weights[i] * room[k]
        loss.curvature_weights(z[i], y[i], room)
        for k in range(z.shape[1]):
            p[k, i] = room[k]
            h[k, i] = row_weights[i] * room[k]
            c[k, i] = h[k, i] * (1.0 - room[k]) + floors[i]


@kernel
def weight_curvatures(columns, c, of, which, out):
    """Σ_i c_ik x_ij² of some weights."""
    for a in range(which.shape[0]):
        out[a] = max(columns.square(which[a], c[of[a]]), TINY)


class ClassNewton:
    """Newton steps on the columns of one problem, which change w and z in place."""

    @staticmethod
    def suits(problem: Problem) -> bool:
        """Whether second derivatives have the form above."""
        return problem.vector_valued and hasattr(problem.loss, "curvature_weights")

    def __init__(self, problem: Problem, X: ColumnProducts) -> None:
        self.problem, self.X, self.columns = problem, X, problem.design.columns
        self.l1, self.l2 = elastic_net_strengths(problem.penalised)
        self.search = LineSearch(problem)
        self.slopes, self.p, self.h, self.c = (np.empty((problem.outputs, problem.m)) for _ in range(4))

    def step(self, point: Any, W: np.ndarray, target: float) -> bool:
        """Move the point; False where the model gives no direction of descent. W are positions in w read class by class."""
        n, K = point.w.shape
        free = np.arange(K) * n + n - 1 if self.problem.free else np.empty(0, dtype=np.int64)
        weights = np.sort(np.concatenate([W, free]))
        of, which = np.divmod(weights, n)
        read = np.zeros(1, dtype=np.int64)
        model = self._model_at(point, of, which, read)
        new = point.w[which, of]
        minimise_by_columns(model, buffers(len(new), self.slopes.shape), new, target, FORCING, self.search.sweeps, self.search.trusted)
        model.settle()
        self.X.accesses += int(read[0]) // K
        old, Xd = point.w[which, of], np.ascontiguousarray(model.u.T)
        change, penalised = new - old, which != model.unpenalised
        t = self.search.length(point, old[penalised], change[penalised], Xd, float((self.slopes * model.u).sum()))
        if t == 0.0 or not np.isfinite(new).all():
            return False
        point.w[which, of] += t * change
        np.add(point.z, t * Xd, out=point.z)
        if self.problem.free:  # probabilities do not tell a shift of all intercepts: their mean is 0, as if gradient steps began at 0
            shift = point.w[-1].mean()
            point.w[-1] -= shift
            np.subtract(point.z, shift, out=point.z)
        return True

    def _model_at(self, point: Any, of: np.ndarray, which: np.ndarray, read: np.ndarray) -> ClassModel:
        problem, m = self.problem, self.problem.m
        floor, floors = self.search.floor * problem.loss.smoothness(), np.empty(m)
        rows = self.slopes, self.p, self.h, self.c
        model_at(problem.loss, point.z, problem.y, problem.row_weights, floor, np.empty(problem.outputs), *rows, floors)
        curvatures = np.empty(len(which))
        weight_curvatures(self.columns, self.c, of, which, curvatures)
        unpenalised = problem.n - 1 if problem.free else -1
        u, s, v, d, current = np.zeros(self.slopes.shape), np.zeros(m), np.empty(m), np.empty(m), np.full(1, -1)
        return ClassModel(self.columns, self.l1, self.l2, of, which, unpenalised, *rows, floors, curvatures, u, s, current, v, d, read)

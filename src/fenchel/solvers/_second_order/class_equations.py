"""The Newton equations of K classes together, (Xᵀ·H·X + λI)·d = −g with a K × K matrix H_i = s_i φ''(z_i)/m for each row

The matrix has nK rows and columns: conjugate gradients solve the equations from products with X and Xᵀ. Their preconditioner is the inverse
of the matrix of one output (:mod:`fenchel.solvers._second_order.newton_equations`) with the mean curvature over the classes, which removes
the scales and correlations of the columns of X. Where φ'' = diag(p) − ppᵀ with Σp = 1, p is computed once for all products of a step.

A direction needs few digits, so that products with dense X are made in float32 while the residual asked for allows it: on 7,291 × 256
with 10 classes X·d and Xᵀ·a take 1.9 ms instead of 6.6 with one thread of BLAS. Gradients, objectives and certificates are those of
float64.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from fenchel.core.compiled import kernel
from fenchel.core.threads import in_parallel
from fenchel.linalg.design import Design
from fenchel.problems.problem import Problem
from fenchel.solvers._second_order.class_matrix import ClassMatrix
from fenchel.solvers._second_order.newton_equations import MOST_STEPS, Inverse, conjugate_gradients, penalties

SINGLE = 1e-3  # relative to the gradient: residuals that are not asked to be smaller are reached in float32
LARGE = 500_000  # multiplications of a product with X from which float32 is used: smaller ones take less time than what is around them
REUSED = 2  # steps that share a preconditioner: on usps and digits they take about as many products as with one for each step


class ClassEquations:
    """The equations of all steps of a run; ``equations`` are those of one output."""

    def __init__(self, problem: Problem, equations: Any) -> None:
        self.problem, self.equations = problem, equations
        self.penalty = penalties(problem.design, problem.penalised.l2, problem.free)[:, None]
        self.preconditioner: Inverse = lambda g: g
        self.steps, self.products = 0, 0  # Newton steps, and products of the last one
        self.matrix = ClassMatrix(problem, self.penalty) if ClassMatrix.suits(problem) else None
        self.affordable = math.inf if self.matrix is None else self.matrix.cost  # products before the whole matrix
        self.has_matrix = False  # whether the preconditioner is that of the whole matrix at an earlier point
        large = problem.m * problem.n * problem.outputs >= LARGE
        self.single = SingleProducts(problem.design) if large and SingleProducts.suits(problem.design) else None

    def solve(self, z: np.ndarray, gradient: np.ndarray, forcing: float) -> tuple[np.ndarray, int]:
        """d, and how many passes over the data it took."""
        problem = self.problem
        rounded = self.single is not None and forcing >= SINGLE
        products: Any = self.single if rounded else problem.design
        curvatures = ClassCurvatures(problem, z, np.float32 if rounded else np.float64)

        def product(p: np.ndarray) -> np.ndarray:
            Hp = products.rmatvec(curvatures.times(products.matvec(p)))
            if rounded and curvatures.p is not None:
                Hp -= Hp.mean(axis=1, keepdims=True)  # (diag(p) − ppᵀ)·1 = 0: without rounding the weights of a feature sum to 0
            return Hp + self.penalty * p

        if self.products > self.affordable:
            self._use_matrix(curvatures)
        elif not self.has_matrix and self.steps % REUSED == 0:
            self.preconditioner = self.equations.inverse(curvatures.mean())
        self.steps += 1
        d, self.products = conjugate_gradients(product, self.preconditioner, gradient, forcing, min(MOST_STEPS, self.affordable))
        if self.products <= self.affordable:
            return d, self.products
        self._use_matrix(curvatures)
        d, last = conjugate_gradients(product, self.preconditioner, gradient, forcing)
        return d, self.products + last

    def _use_matrix(self, curvatures: ClassCurvatures) -> None:
        """Precondition by the factors of the whole matrix from now on."""
        assert self.matrix is not None
        assert curvatures.p is not None
        self.preconditioner, self.has_matrix = self.matrix.inverse(curvatures.p), True


class ClassCurvatures:
    """s_i φ''(z_i)/m of every row, at one z."""

    def __init__(self, problem: Problem, z: np.ndarray, dtype: Any) -> None:
        self.problem, self.z = problem, z
        self.weights = problem.row_weights.astype(dtype)
        self.image = np.empty(z.shape, dtype)
        self.p: np.ndarray | None = None
        if hasattr(problem.loss, "curvature_weights"):
            self.p = np.empty(z.shape, dtype)
            curvature_weights(problem.loss, z, problem.y, self.p)

    def times(self, d: np.ndarray) -> np.ndarray:
        """s_i φ''(z_i)·d_i/m of every row."""
        if self.p is not None:
            times_from_weights(self.p, self.weights, d, self.image)
        else:
            times(self.problem.loss, self.z, self.problem.y, self.weights, d, self.image)
        return self.image

    def mean(self) -> np.ndarray:
        """s_i/m times the mean of the diagonal of φ''(z_i), of every row."""
        h = np.empty(self.problem.m)
        if self.p is not None:
            mean_from_weights(self.p, self.problem.row_weights, h)
        else:
            mean(self.problem.loss, self.z, self.problem.y, self.problem.row_weights, h)
        return h


@kernel
def curvature_weights(loss, z, y, p):
    for i in range(z.shape[0]):
        loss.curvature_weights(z[i], y[i], p[i])


@kernel
def times_from_weights(p, weights, d, out):
    """out_i = s_i/m·(diag(p_i) − p_i p_iᵀ)·d_i"""
    for i in range(p.shape[0]):
        mean = weights[i] - weights[i]  # a zero of the precision of the weights
        for k in range(p.shape[1]):
            mean += p[i, k] * d[i, k]
        for k in range(p.shape[1]):
            out[i, k] = weights[i] * p[i, k] * (d[i, k] - mean)


@kernel
def mean_from_weights(p, weights, h):
    """h_i = s_i/m times the mean of p_i − p_i²"""
    for i in range(p.shape[0]):
        total = 0.0
        for k in range(p.shape[1]):
            total += p[i, k] * (1.0 - p[i, k])
        h[i] = weights[i] * total / p.shape[1]


@kernel
def times(loss, z, y, weights, d, out):
    """out_i = s_i φ''(z_i)·d_i/m"""
    for i in range(z.shape[0]):
        loss.curvature_times(z[i], y[i], d[i], out[i])
        for k in range(z.shape[1]):
            out[i, k] *= weights[i]


@kernel
def mean(loss, z, y, weights, h):
    """h_i = s_i/m times the mean of the diagonal of φ''(z_i)"""
    K = z.shape[1]
    d, out = np.zeros(K), np.empty(K)
    for i in range(z.shape[0]):
        h[i] = 0.0
        for k in range(K):
            d[k] = 1.0
            loss.curvature_times(z[i], y[i], d, out)
            d[k] = 0.0
            h[i] += weights[i] * out[k] / K


class SingleProducts:
    """Products with a dense X that is rounded to float32, by BLAS."""

    @staticmethod
    def suits(design: Design) -> bool:
        """Whether X is dense, and its entries are far from the limits of float32."""
        return not sp.issparse(design.storage) and design.suits_single

    def __init__(self, design: Design) -> None:
        self.X = design.storage.astype(np.float32)
        self.width, self.constant = design.width, np.float32(design.intercept)
        self.ranges = design.ranges(design.stored_rows, design.m)

    def matvec(self, w: np.ndarray) -> np.ndarray:
        """X·w, one column for each output."""
        w = w.astype(np.float32)
        out = np.empty((len(self.X), w.shape[1]), np.float32)
        in_parallel([(np.matmul, self.X[a:b], w[: self.width], out[a:b]) for a, b in self.ranges])
        if self.constant:
            out += self.constant * w[-1]
        return out

    def rmatvec(self, rows: np.ndarray) -> np.ndarray:
        """Xᵀ·a, one column for each output."""
        parts = [np.empty((rows.shape[1], self.width), np.float32) for _ in self.ranges]
        in_parallel([(np.matmul, rows[a:b].T, self.X[a:b], part) for (a, b), part in zip(self.ranges, parts, strict=True)])
        product = sum(parts[1:], start=parts[0]).T.astype(np.float64)
        return np.concatenate([product, [self.constant * rows.sum(axis=0, dtype=np.float64)]]) if self.constant else product

"""A proximal Newton step on the columns W: the minimiser w + d of the quadratic model of the loss at w, and a line search towards it

    min_d <g, d> + ½·Σ_i h_i (X_W·d)_i² + Ω(w + d),     g_j = (1/m) Σ_i s_i φ'(z_i)·x_ij,  h_i = s_i φ''(z_i)/m

A quadratic loss equals its model, so that the step is w + d itself. An unpenalised intercept is minimised over: columns are centred by
x̄_j = Σ_i h_i x_ij / Σ_i h_i. The model is minimised in the way that costs least:

    by its Gram matrix   dense columns, twice as many rows as columns: after one product the rows are not needed; for a quadratic loss also
                         near the minimum, or if the last step by columns, or by rows, took long; but only once the sweeps by columns that
                         take about half the time of the product have not sufficed
    by its rows          few rows: systems as large as the rows; for other than quadratic losses if the last step by columns took long
    by its columns       otherwise
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fenchel.core.compiled import kernel
from fenchel.core.numeric import TINY
from fenchel.linalg.gram import gram
from fenchel.problems.problem import Problem
from fenchel.regularizers.parameters import elastic_net_strengths
from fenchel.solvers._coordinate.column_products import ColumnProducts
from fenchel.solvers._coordinate.dense_model import minimise_by_gram, minimise_by_rows
from fenchel.solvers._coordinate.gram_matrix import LARGEST_GRAM, Products, gram_of_sample
from fenchel.solvers._coordinate.line_search import MOST_SWEEPS, LineSearch
from fenchel.solvers._coordinate.quadratic_model import (
    QuadraticModel,
    Residual,
    minimise_by_columns,
    minimise_in_few_sweeps,
)
from fenchel.solvers._coordinate.support_minimum import buffers
from fenchel.solvers.declaration import is_quadratic

ROWS_PER_COLUMN = 2  # rows for each column of W from which a Gram matrix pays; 1 with more than ``FEW_ROWS``
# The same where columns outnumber the rows: gap relative to P(0) from which Gram matrices take half the time of steps by rows, and most
# columns for each row.
LATE, COLUMNS_PER_ROW = 1e-3, 3
READS_PER_GRAM = 0.1  # entries read by columns, for each multiplication of a Gram matrix, from which that would have taken less time
# Entries that are read by columns, for each of these multiplications, before the Gram matrix is computed; and the fewest sweeps to try.
READS_BEFORE_GRAM, FEWEST_SWEEPS = 0.05, 5
FEW_ROWS = 1000  # most rows of the systems that are solved by rows
# Entries read by columns that take as long as a step by rows: so many, and so many for each multiplication of a system of equations.
FIXED_READS, READS_PER_PRODUCT = 2_000_000, 5
MOST_NEWTON = 200  # Newton steps on one model
MOST_BY_ROWS = 20  # the same by rows, which need at most 18 unless columns depend on each other
GRAM_ACCURACY = 1e-3  # relative to the target: the product costs more than minimising the model to this accuracy, which saves products
FORCING = 0.3  # share of its first violation of optimality that may be left of a model that is not exact
EARLY = 1e-2  # gap relative to P(0) above which the Gram matrix of some rows is accurate enough


class Point(NamedTuple):
    """A point and its evaluation; a step changes w and z in place."""

    w: np.ndarray
    z: np.ndarray
    v: np.ndarray
    objective: float
    gap: float


class LocalModel(NamedTuple):
    """The weights w and the gradient g of the columns W, and their means with the sum of h for an unpenalised intercept."""

    W: np.ndarray
    w: np.ndarray
    g: np.ndarray
    means: np.ndarray
    total: float


@kernel
def derivatives_and_curvatures(loss, z, y, row_weights, floor, rho, h):
    for i in range(z.shape[0]):
        rho[i] = row_weights[i] * loss.derivative(z[i], y[i])
        h[i] = row_weights[i] * max(loss.curvature(z[i], y[i]), floor)


class ProximalNewton:
    """Newton steps on columns of one problem."""

    def __init__(self, problem: Problem, X: ColumnProducts, from_origin: bool) -> None:
        self.problem, self.design, self.X = problem, problem.design, X
        self.l1, self.l2 = elastic_net_strengths(problem.penalised)
        self.is_quadratic = is_quadratic(problem)
        self.search = LineSearch(problem)
        self.rho, self.h = np.empty(problem.m), np.empty(problem.m)
        self.read = 0  # entries of columns that the last step by columns read
        self.rows_took_long = False  # whether a step by rows has not reached its target
        # Whether a few sweeps may do without the Gram matrix, which the runs of a path, from a start, have in common.
        self.few_sweeps_suffice, self.read_in_sweeps = from_origin, np.zeros(1, dtype=np.int64)
        if X.values is not None:
            problem.memo.setdefault("products", Products(X.values, self.design.threads))

    def step(self, point: Point, W: np.ndarray, target: float) -> bool:
        """Move the point; False where the model gives no direction of descent."""
        model = self._model_at(point, W)
        new = self._minimise(model, point.gap, target)
        change = new - model.w
        shift = -float(model.means @ change)
        Xd = np.full(self.problem.m, shift)
        self.X.add(W, change, Xd)
        t = 1.0 if self.is_quadratic else self.search.length(point, point.w[W], change, Xd, float(model.g @ change))
        if t == 0.0 or not np.isfinite(new).all():
            return False
        point.w[W] = new if t == 1.0 else model.w + t * change
        np.add(point.z, t * Xd, out=point.z)
        if self.problem.free:
            point.w[-1] += t * shift
        return True

    def _model_at(self, point: Point, W: np.ndarray) -> LocalModel:
        problem = self.problem
        floor = self.search.floor * problem.loss.smoothness()
        derivatives_and_curvatures(problem.loss, point.z, problem.y, problem.row_weights, floor, self.rho, self.h)
        total = float(self.h.sum()) if problem.free else 0.0
        means = self.X.dots(W, self.h) / total if problem.free else np.zeros(len(W))
        return LocalModel(W, point.w[W], -point.v[W], means, total)

    def _minimise(self, model: LocalModel, gap: float, target: float) -> np.ndarray:
        columns, rows = len(model.W), self.problem.m
        if self.X.values is not None and columns <= LARGEST_GRAM and self._gram_pays(columns, rows, gap):
            return self._by_gram(model, gap, target)
        by_rows_costs_less = self.is_quadratic or self.read > FIXED_READS + READS_PER_PRODUCT * rows**3
        if by_rows_costs_less and rows < min(columns, FEW_ROWS) and (self.problem.free or not self.design.intercept):
            new, is_done = self._by_rows(model, target)
            self.rows_took_long = not is_done and self.X.values is not None and columns <= LARGEST_GRAM
            return self._by_gram(model, gap, target) if self.is_quadratic and self.rows_took_long else new
        return self._by_columns(model, target)

    def _gram_pays(self, columns: int, rows: int, gap: float) -> bool:
        """Whether steps on the Gram matrix take less time: for few columns, and of a quadratic loss, whose matrix is kept, for more."""
        if columns * (ROWS_PER_COLUMN if rows <= FEW_ROWS else 1) <= rows:
            return True
        if not self.is_quadratic:
            return False
        is_late = gap <= LATE * self.problem.objective_at_zero and rows < columns <= COLUMNS_PER_ROW * rows
        return is_late or self.rows_took_long or self.read > READS_PER_GRAM * rows * columns**2

    def _by_gram(self, model: LocalModel, gap: float, target: float) -> np.ndarray:
        new, g, is_done = self._by_few_sweeps(model, target) if self.is_quadratic else (model.w.copy(), model.g.copy(), False)
        if not is_done:
            G = self._gram(model.W, gap) - model.total * np.outer(model.means, model.means)
            minimise_by_gram(G, self.l1, self.l2, new, g, GRAM_ACCURACY * target, MOST_NEWTON)
        return new

    def _by_few_sweeps(self, model: LocalModel, target: float) -> tuple[np.ndarray, np.ndarray, bool]:
        """The weights and the gradient after sweeps that take less time than the products which are missing, and whether they suffice."""
        new, columns = model.w.copy(), len(model.W)
        swept = self.read_in_sweeps[0] / max(1, self.problem.m * columns)
        most = int(READS_BEFORE_GRAM * columns - swept) if self.few_sweeps_suffice else 0
        if most < FEWEST_SWEEPS:
            return new, model.g.copy(), False
        quadratic = self._quadratic(model, self.read_in_sweeps)
        self.few_sweeps_suffice = minimise_in_few_sweeps(quadratic, new, target, most)
        g = self.X.dots(model.W, quadratic.residual.v) + quadratic.shift[0] * model.total * model.means
        return new, g, self.few_sweeps_suffice

    def _gram(self, W: np.ndarray, gap: float) -> np.ndarray:
        """X_Wᵀ·diag(h)·X_W: of a quadratic loss kept from step to step, far from the optimum that of some rows."""
        problem, X = self.problem, self.X
        if self.is_quadratic:
            products = problem.memo["products"]
            X.accesses += products.missing(W) * problem.m
            return products.of(W, self.h)
        if not problem.free and gap > EARLY * problem.objective_at_zero:
            sampled, read = gram_of_sample(X.values, W, self.h, problem.memo["squares"][W], self.design.threads)
            X.accesses += read
            if sampled is not None:
                return sampled
        X.accesses += X.entries(W)
        return gram(X.values, W, None, self.h, self.design.threads)

    def _by_rows(self, model: LocalModel, target: float) -> tuple[np.ndarray, bool]:
        root = np.sqrt(self.h)
        B = (self.X.filled_in(model.W) - model.means[:, None]) * root
        xi = np.divide(self.rho, root, out=np.zeros_like(root), where=root > 0.0)  # 0 for rows without curvature
        return minimise_by_rows(B, model.w @ B - xi, self.l1, self.l2, model.w, xi, target, MOST_BY_ROWS)

    def _by_columns(self, model: LocalModel, target: float) -> np.ndarray:
        read, new = np.zeros(1, dtype=np.int64), model.w.copy()
        quadratic = self._quadratic(model, read)
        forcing, sweeps = (0.0, MOST_SWEEPS) if self.is_quadratic else (FORCING, self.search.sweeps)
        minimise_by_columns(quadratic, buffers(len(new), self.h.shape), new, target, forcing, sweeps, self.search.trusted)
        self.read = int(read[0])
        self.X.accesses += self.read
        return new

    def _quadratic(self, model: LocalModel, read: np.ndarray) -> QuadraticModel:
        """The model by columns, whose steps add the entries that they read to ``read``."""
        curvature = np.maximum(self.X.squares(model.W, self.h) - model.total * model.means**2, TINY)
        residual, shift = Residual(self.rho, self.h), np.zeros(1)
        return QuadraticModel(self.X.columns, residual, self.l1, self.l2, model.W, curvature, model.means, model.total, shift, read)

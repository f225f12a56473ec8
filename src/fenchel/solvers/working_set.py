"""min_w (1/m) Σ_i s_i φ(<w, x_i>, y_i) + l1·‖w‖₁ + l2/2·‖w‖², φ smooth, on the columns that matter

Few weights of a lasso solution are not zero, and the dual point α = −φ'(X·w) tells which: w_j = 0 wherever |v_j| < l1 at the
optimum, v = (1/m) Σ_i s_i α_i x_i. As in Massias, Gramfort & Salmon, *Celer: a fast solver for the lasso with dual
extrapolation*, ICML 2018, and Johnson & Guestrin, *Blitz: a principled meta-algorithm for scaling sparse optimization*, ICML 2015:

    repeat:  v ← every column at α;  c ← the scale that makes cα feasible;  the gap P(w) − D(cα) is the certificate
             drop for good each j with c|v_j| + √(2·gap/γ · (1/m)Σ_i s_i x_ij²) < l1
                 (the gap-safe rule: Ndiaye, Fercoq, Gramfort & Salmon, JMLR 2017)
             W ← the support of w, and as many columns more of those nearest to |v_j| = l1
             go towards the minimum over the weights of W alone

The last line is a proximal Newton step: the quadratic model of the loss at w, minimised over W, and a search along the line to its
minimiser. The squared loss is its own model. Losses without a ``curvature``, and those with K outputs, take the steps of
:mod:`fenchel.solvers._coordinate.coordinate_descent` on W instead. A free intercept is minimised over throughout.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from fenchel.core.compiled import kernel
from fenchel.core.numeric import TINY
from fenchel.core.threads import one_thread
from fenchel.linalg.weights import Plain
from fenchel.losses import Squared
from fenchel.problems.problem import Problem
from fenchel.problems.result import Iterate
from fenchel.problems.sums import sum_terms
from fenchel.solvers._coordinate.column_products import ColumnProducts
from fenchel.solvers._coordinate.coordinate_descent import CoordinateDescent
from fenchel.solvers._coordinate.dense_model import minimise_by_gram, minimise_by_rows
from fenchel.solvers._coordinate.gram_matrix import LARGEST_GRAM, Products, evenly_spread, gram
from fenchel.solvers._coordinate.quadratic_model import QuadraticModel, Residual, minimise_by_columns
from fenchel.solvers.declaration import known_smoothness, solver, sparse_penalty

FEWEST_COLUMNS, MOST_COLUMNS, TENTH = 10, 100, 10  # columns of the first working set: a tenth of all, but no fewer and no more than these
GROWTH = 3  # times the support: the next working sets
INNER = 0.3  # the share of the gap that may be left on a working set
ENOUGH = 0.1  # the share of the accuracy wanted that is always enough there
FORCING = 0.3  # of the violation met at first: where to leave a model that is not the loss
SWEEPS = 5  # over a working set at first, and twice as many with every model that could be trusted
MOST_SWEEPS = 100  # at a time, so that limits and interrupts are heard
MOST_NEWTON = 200
TRUSTED = 0.45  # the share of the slope's promise that a step must have kept for the next model to be solved to the end
GOOD = 0.2  # the share that ends the search along a line
SHORTEST = 1e-10  # step along it
INVISIBLE = 1e-12  # of the objective: a decrease that rounding would hide
FLAT = 1e-6  # a floor of the curvature, times the largest there can be
RAISED, HIGHER, LOWER = 1e-2, 10.0, 0.3  # where the floor goes at least, and by how much, when a step had to be cut; how it falls
TALL = 4  # rows for each column of a working set, from which a Gram matrix pays
EXACT = 1e-3  # of the target: a Gram matrix costs more than all that is done with it
EARLY = 1e-2  # of P(0): a gap at which some rows tell the curvature
REPRESENTATIVE = 0.2  # of the square of a column: how much of it some rows must have
ROWS_PER_COLUMN = 50  # how many rows that takes
FEW_ROWS = 1000  # up to which systems as large as the rows are solved


@solver("working-set", needs=(known_smoothness, sparse_penalty), looks_first=True)
def working_set(
    problem: Problem, *, start: Iterate | None, rng: np.random.Generator, accuracy: float, screening: bool = True
) -> Iterator[Iterate]:
    """Coordinate descent on working sets with gap-safe screening: smooth losses with L1 or L1L2."""
    search = WorkingSetSearch(problem, start)
    while True:
        search.look()
        if search.gap <= accuracy and search.some_are_dropped:
            search.bring_back()
            search.look()
        yield search.iterate(done=search.gap <= accuracy)
        if screening:
            search.screen()
        search.minimise_on(search.nearest_columns(), max(INNER * search.gap, ENOUGH * accuracy))


@kernel
def local_model(loss, z, y, row_weights, floor, rho, h):
    for i in range(z.shape[0]):
        rho[i] = row_weights[i] * loss.derivative(z[i], y[i])
        h[i] = row_weights[i] * max(loss.curvature(z[i], y[i]), floor)


class WorkingSetSearch:
    """Where the search stands: w and z = X·w, the columns still in the game, and at the last look α, v, c and the gap."""

    def __init__(self, problem: Problem, start: Iterate | None) -> None:
        self.problem, self.design = problem, problem.design
        self.X = ColumnProducts(self.design, stored=problem.free)
        penalty = problem.penalised
        self.l1, self.l2 = penalty.l1, getattr(penalty, "l2", 0.0)
        self.columns = np.arange(problem.n - problem.free)  # an intercept that is free belongs to no working set
        self.alive = self.columns
        self.w = (problem.origin if start is None else start.w).copy()
        self.z = problem.predict(self.w)
        self.X.accesses += self.design.nnz * bool(self.w.any())
        self.is_quadratic = isinstance(problem.loss, Squared)
        self.by_steps = problem.vector_valued or not hasattr(problem.loss, "curvature")
        self.trusted, self.patience, self.floor = True, SWEEPS, FLAT
        self.memo = problem.memo
        if self.by_steps:
            self.memo["squares"] = self.descent.beta / problem.loss.smoothness()
        elif self.X.values is not None:
            self.memo.setdefault("products", Products(self.X.values, self.design.threads))
        self.rho, self.h, self.u, self.q = (np.empty(problem.m) for _ in range(4))

    @cached_property
    def descent(self) -> CoordinateDescent:
        """Steps on the loss as it is, for losses without a model and models that lead nowhere."""
        return CoordinateDescent(self.problem, None)

    @property
    def some_are_dropped(self) -> bool:
        """Whether screening has taken columns out."""
        return len(self.alive) < len(self.columns)

    def bring_back(self) -> None:
        """All columns in the game again: the last certificate is for all of them."""
        self.alive = self.columns

    # ---- looking ----

    def look(self) -> None:
        """α, v, the objective and the gap at the weights as they are."""
        problem = self.problem
        if problem.free:
            shift = problem.best_intercept(self.z)
            self.z += shift
            self.w[-1] += shift
        self.alpha = problem.slopes(self.z, problem.y)
        self.v = self._adjoint()
        self.objective = problem.objective(self.w, self.z)
        self.gap = self.objective - self.bound()

    def _adjoint(self) -> np.ndarray:
        if self.by_steps:
            self.X.accesses += self.design.nnz
            return self.problem.adjoint(self.alpha)
        weighted = self.problem.row_weights * self.alpha
        v = np.zeros(self.problem.n)
        if "squares" in self.memo:
            v[self.alive] = self.X.dots(self.alive, weighted)
        else:
            v[self.alive], self.memo["squares"] = self.X.dots_and_squares(self.alive, weighted, self.problem.row_weights)
        return v

    def bound(self) -> float:
        """D(cα), with c = 1 or the largest c that makes every |cv_j| ≤ l1, whichever is better."""
        problem = self.problem
        sizes = np.abs(self.v[: len(self.columns)])
        self.c = min(1.0, self.l1 / max(float(sizes.max()), TINY))
        feasible = -problem.mean_conjugate(self.alpha, self.c, self.z)
        if self.l2 == 0.0 or self.c == 1.0:
            return feasible
        beyond = np.maximum(sizes - self.l1, 0.0)
        whole = -problem.mean_conjugate(self.alpha, 1.0, self.z) - 0.5 / self.l2 * float((beyond**2).sum())
        self.c = 1.0 if whole > feasible else self.c
        return max(whole, feasible)

    def iterate(self, done: bool) -> Iterate:
        """What the solver yields."""
        return Iterate(self.w, self.X.accesses / max(1, self.design.nnz), self.X.accesses, self.alpha, self.v, self.z, done=done)

    # ---- choosing ----

    def strengths(self) -> np.ndarray:
        """c|v_j| of the columns in the game, the largest of its K for a feature with K weights."""
        sizes = self.c * np.abs(self.v[self.alive])
        return sizes.max(axis=1) if sizes.ndim == 2 else sizes

    def _is_used(self, which: np.ndarray) -> np.ndarray:
        """Whether a column's weight, or any of its K, is not zero."""
        return self.w[which] != 0.0 if self.w.ndim == 1 else self.w[which].any(axis=1)

    def screen(self) -> None:
        """Drop what the gap-safe rule allows."""
        reach = np.sqrt(2.0 * self.problem.loss.smoothness() * max(self.gap, 0.0) * self.memo["squares"][self.alive])
        stays = self.strengths() + reach >= self.l1
        gone = self.alive[~stays]
        self.alive = self.alive[stays]
        gone = gone[self._is_used(gone)]
        if gone.size:
            self.w[gone] = 0.0
            self.z = self.problem.predict(self.w)
            self.X.accesses += self.design.nnz

    def nearest_columns(self) -> np.ndarray:
        """The support, and as many columns more of those nearest to |v_j| = l1, in units of their length."""
        support = self._is_used(self.alive)
        size = max(min(MOST_COLUMNS, max(FEWEST_COLUMNS, len(self.columns) // TENTH)), GROWTH * int(support.sum()))
        if size >= len(self.alive):
            return self.alive
        distance = (self.l1 - self.strengths()) / np.sqrt(np.maximum(self.memo["squares"][self.alive], TINY))
        distance[support] = -math.inf
        return np.sort(self.alive[np.argpartition(distance, size)[:size]])

    # ---- minimising ----

    def minimise_on(self, W: np.ndarray, target: float) -> None:
        """Go towards the minimum over the weights of W, and the intercept if it is free."""
        if self.by_steps:
            self._steps_on(W)
            return
        with one_thread:
            self._newton_step_on(W, target)

    def _steps_on(self, W: np.ndarray) -> None:
        self.descent.w, self.descent.z, before = self.w, self.z, self.descent.accesses
        columns = np.append(W, self.problem.n - 1) if self.problem.free else W
        for _ in range(SWEEPS):
            self.descent.step(columns)
        self.X.accesses += self.descent.accesses - before

    def _newton_step_on(self, W: np.ndarray, target: float) -> None:
        problem, w = self.problem, self.w[W]
        local_model(problem.loss, self.z, problem.y, problem.row_weights, self.floor * problem.loss.smoothness(), self.rho, self.h)
        g = -self.v[W]  # of the last look, which was at w
        total = float(self.h.sum()) if problem.free else 0.0
        means = self.X.dots(W, self.h) / total if problem.free else np.zeros(len(W))
        if self.X.values is not None and len(W) * TALL <= problem.m and len(W) <= LARGEST_GRAM:
            new = self._by_gram(W, w, g, means, total, target)
        elif self.is_quadratic and problem.m < min(len(W), FEW_ROWS) and not (self.design.intercept and not problem.free):
            new = self._by_rows(W, w, means, target)
        else:
            new = self._by_columns(W, w, means, total, target)
        change = new - w
        shift = -float(means @ change)
        u = np.full(problem.m, shift)
        self.X.add(W, change, u)
        t = 1.0 if self.is_quadratic else self._step_along(W, change, u, float(g @ change))
        if t == 0.0 or not np.isfinite(new).all():  # a model that leads nowhere: steps on the loss itself do not fail
            self._steps_on(W)
            return
        self.w[W] = new if t == 1.0 else w + t * change
        self.z += t * u
        if problem.free:
            self.w[-1] += t * shift

    def _by_gram(self, W: np.ndarray, w: np.ndarray, g: np.ndarray, means: np.ndarray, total: float, target: float) -> np.ndarray:
        if self.is_quadratic:
            products = self.memo["products"]
            self.X.accesses += products.missing(W) * self.problem.m
            G = products.of(W, self.h)
        else:
            G = self._gram_of_some_rows(W)
            if G is None:
                self.X.accesses += self.X.entries(W)
                G = gram(self.X.values, W, None, self.h, self.design.threads)
        new = w.copy()
        minimise_by_gram(G - total * np.outer(means, means), self.l1, self.l2, new, g.copy(), EXACT * target, MOST_NEWTON)
        return new

    def _gram_of_some_rows(self, W: np.ndarray) -> np.ndarray | None:
        """Far from the optimum a model of some rows is as good, for the gradient is that of all; None where they do not stand for all."""
        problem = self.problem
        if problem.free or self.gap <= EARLY * problem.objective_at_zero or problem.m <= 2 * ROWS_PER_COLUMN * len(W):
            return None
        rows = evenly_spread(problem.m, ROWS_PER_COLUMN * len(W))
        total, some = float(self.h.sum()), float(self.h[rows].sum())
        if not some > 0.0:
            return None
        self.X.accesses += len(rows) * len(W)
        G = gram(np.ascontiguousarray(self.X.values[W][:, rows]), np.arange(len(W)), None, self.h[rows], self.design.threads)
        G *= total / some
        expected = total * self.memo["squares"][W]  # as if the curvature of the loss were the same everywhere
        return G if (G.diagonal() >= REPRESENTATIVE * expected).all() else None

    def _by_rows(self, W: np.ndarray, w: np.ndarray, means: np.ndarray, target: float) -> np.ndarray:
        root = np.sqrt(self.h)
        B = (self.X.filled_in(W) - means[:, None]) * root
        xi = np.divide(self.rho, root, out=np.zeros_like(root), where=root > 0.0)  # rows without weight have no say
        return minimise_by_rows(B, w @ B - xi, self.l1, self.l2, w, xi, target, MOST_NEWTON)

    def _by_columns(self, W: np.ndarray, w: np.ndarray, means: np.ndarray, total: float, target: float) -> np.ndarray:
        curvature = np.maximum(self.X.squares(W, self.h) - total * means**2, TINY)
        read = np.zeros(1, dtype=np.int64)
        residual = Residual(self.rho, self.h)
        model = QuadraticModel(self.X.columns, residual, self.l1, self.l2, W, curvature, means, total, np.zeros(1), read)
        new = w.copy()
        forcing, sweeps = (0.0, MOST_SWEEPS) if self.is_quadratic else (FORCING, self.patience)
        minimise_by_columns(model, new, target, forcing, sweeps, self.trusted, Residual(self.u, self.h), Plain(self.q))
        self.X.accesses += int(read[0])
        return new

    def _step_along(self, W: np.ndarray, change: np.ndarray, u: np.ndarray, slope: float) -> float:
        """The length t of a step from w along a change of its weights W and of z along u: about the best, by parabolas."""
        problem, w = self.problem, self.w[W]
        slope += sum_terms(problem.penalised, w + change) - sum_terms(problem.penalised, w)
        if not slope < 0.0:
            return 0.0
        if -slope <= INVISIBLE * self.objective:
            return 1.0
        t, best, least = 1.0, 0.0, self.objective
        while t > SHORTEST:
            value = problem.mean_loss(self.z + t * u) + sum_terms(problem.penalised, w + t * change)
            if value < least:
                best, least = t, value
            elif best > 0.0:
                break
            if best > 0.0 and value <= self.objective + GOOD * t * slope:
                break
            t = min(0.6 * t, max(0.1 * t, -0.5 * slope * t * t / max(value - self.objective - slope * t, TINY)))
        self.trusted = best == 1.0 and self.objective - least >= -TRUSTED * slope
        self.patience = min(2 * self.patience, MOST_SWEEPS) if self.trusted else SWEEPS
        self.floor = max(FLAT, LOWER * self.floor) if best == 1.0 else min(1.0, max(RAISED, HIGHER * self.floor))
        return best

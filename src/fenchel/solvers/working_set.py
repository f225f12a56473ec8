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
:mod:`fenchel.coordinate.descent` on W instead. A free intercept is minimised over throughout.
"""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from fenchel.compiled import kernel
from fenchel.coordinate.descent import Descent, line_squares
from fenchel.coordinate.gram import gram, one_thread
from fenchel.coordinate.newton import minimise_by_gram, minimise_by_rows
from fenchel.coordinate.quadratic import Model, Residual, minimise_by_columns
from fenchel.losses import Squared
from fenchel.matrices import PARALLEL_FROM, Design, in_parallel
from fenchel.numeric import TINY
from fenchel.problem import Problem
from fenchel.result import Iterate
from fenchel.solvers.base import known_smoothness, solver, sparse_penalty
from fenchel.sums import sum_terms
from fenchel.weights import Plain

FEWEST, MOST, TENTH = 10, 100, 10  # columns of the first working set: a tenth of all, but no fewer and no more than these
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
LARGEST_GRAM = 2000  # columns
EXACT = 1e-3  # of the target: a Gram matrix costs more than all that is done with it
EARLY = 1e-2  # of P(0): a gap at which some rows tell the curvature
REPRESENTATIVE = 0.2  # of the square of a column: how much of it some rows must have
ROWS_PER_COLUMN, NEIGHBOURS = 50, 64  # how many rows that takes, and how many of them are neighbours
FEW_ROWS = 1000  # up to which systems as large as the rows are solved


@solver("working-set", needs=(known_smoothness, sparse_penalty), looks_first=True)
def working_set(
    problem: Problem, *, start: Iterate | None, rng: np.random.Generator, accuracy: float, screening: bool = True
) -> Iterator[Iterate]:
    """Coordinate descent on working sets with gap-safe screening: smooth losses with L1 or ElasticNet."""
    search = Search(problem, start)
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
def line_dots(lines, a, which, out, first, last):
    for k in range(first, last):
        out[k] = lines.dot(which[k], a)


@kernel
def line_dots_and_squares(lines, a, h, which, out, squares, first, last):
    """Both at once, for a column that has just been read is still in the cache."""
    for k in range(first, last):
        out[k] = lines.dot(which[k], a)
        squares[k] = lines.square(which[k], h)


@kernel
def line_adds(lines, which, change, z):
    for k in range(which.shape[0]):
        if change[k] != 0.0:
            lines.add(which[k], change[k], z)


@kernel
def local_model(loss, z, y, share, floor, rho, h):
    for i in range(z.shape[0]):
        rho[i] = share[i] * loss.derivative(z[i], y[i])
        h[i] = share[i] * max(loss.curvature(z[i], y[i]), floor)


class Search:
    """Where the search stands: w and z = X·w, the columns still in the game, and at the last look α, v, c and the gap."""

    def __init__(self, problem: Problem, start: Iterate | None) -> None:
        self.problem, self.design = problem, problem.design
        self.lines = self.design.lines.lines if problem.free else self.design.lines
        penalty = problem.penalised
        self.l1, self.l2 = penalty.l1, getattr(penalty, "l2", 0.0)
        self.columns = np.arange(problem.n - problem.free)  # an intercept that is free belongs to no working set
        self.alive = self.columns
        self.counts = self._counts()
        self.w = (problem.origin if start is None else start.w).copy()
        self.z = np.zeros(problem.dual_shape)
        self.accesses = 0
        self.is_model = isinstance(problem.loss, Squared)
        self.has_columns = hasattr(self.lines, "values")
        if self.w.any():
            self.z = problem.predict(self.w)
            self.accesses += self.design.nnz
        self.by_steps = problem.vector_valued or not hasattr(problem.loss, "curvature")
        self.descent: Any = Descent(problem, None) if self.by_steps else None
        self.trusted, self.patience, self.floor = True, SWEEPS, FLAT
        self.memo = problem.memo
        self.products = self.memo.setdefault("products", Products(self.lines, self.design))
        self.rho, self.h, self.u, self.q = (np.empty(problem.m) for _ in range(4))

    def _counts(self) -> np.ndarray:
        """Entries of every column."""
        stored = getattr(self.design.lines, "lines", self.design.lines)
        counts = np.diff(stored.indptr) if hasattr(stored, "indptr") else np.full(self.design.columns, self.problem.m)
        return np.append(counts, [self.problem.m] * bool(self.design.intercept))

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
            self.accesses += self.design.nnz
            self.memo["squares"] = self.descent.beta / self.problem.loss.smoothness()
            return self.problem.adjoint(self.alpha)
        v = np.zeros(self.problem.n)
        v[self.alive] = self.dots(self.alive, self.problem.share * self.alpha)
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
        return Iterate(self.w, self.accesses / max(1, self.design.nnz), self.accesses, self.alpha, self.v, self.z, done=done)

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
            self.accesses += self.design.nnz

    def nearest_columns(self) -> np.ndarray:
        """The support, and as many columns more of those nearest to |v_j| = l1, in units of their length."""
        support = self._is_used(self.alive)
        size = max(min(MOST, max(FEWEST, len(self.columns) // TENTH)), GROWTH * int(support.sum()))
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
        if self.descent is None:
            self.descent = Descent(self.problem, None)
        self.descent.w, self.descent.z, before = self.w, self.z, self.descent.accesses
        columns = np.append(W, self.problem.n - 1) if self.problem.free else W
        for _ in range(SWEEPS):
            self.descent.step(columns)
        self.accesses += self.descent.accesses - before

    def _newton_step_on(self, W: np.ndarray, target: float) -> None:
        problem, w = self.problem, self.w[W]
        local_model(problem.loss, self.z, problem.y, problem.share, self.floor * problem.loss.smoothness(), self.rho, self.h)
        g = -self.v[W]  # of the last look, which was at w
        total = float(self.h.sum()) if problem.free else 0.0
        means = self.dots(W, self.h) / total if problem.free else np.zeros(len(W))
        if self.has_columns and len(W) * TALL <= problem.m and len(W) <= LARGEST_GRAM:
            new = self._by_gram(W, w, g, means, total, target)
        elif self.is_model and problem.m < min(len(W), FEW_ROWS) and not (self.design.intercept and not problem.free):
            new = self._by_rows(W, w, means, target)
        else:
            new = self._by_columns(W, w, means, total, target)
        change = new - w
        shift = -float(means @ change)
        u = np.full(problem.m, shift)
        self.add(W, change, u)
        t = 1.0 if self.is_model else self._step_along(W, change, u, float(g @ change))
        if t == 0.0 or not np.isfinite(new).all():  # a model that leads nowhere: steps on the loss itself do not fail
            self._steps_on(W)
            return
        self.w[W] = new if t == 1.0 else w + t * change
        self.z += t * u
        if problem.free:
            self.w[-1] += t * shift

    def _by_gram(self, W: np.ndarray, w: np.ndarray, g: np.ndarray, means: np.ndarray, total: float, target: float) -> np.ndarray:
        m, columns, threads = self.problem.m, self.lines.values, self.design.threads
        if self.is_model:
            self.accesses += self.products.missing(W) * m
            G = self.products.of(W, self.h)
        else:
            G = self._gram_of_some_rows(W)
            if G is None:
                self.accesses += len(W) * m
                G = gram(columns, W, None, self.h, threads)
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
        self.accesses += len(rows) * len(W)
        G = gram(np.ascontiguousarray(self.lines.values[W][:, rows]), np.arange(len(W)), None, self.h[rows], self.design.threads)
        G *= total / some
        expected = total * self.memo["squares"][W]  # as if the curvature of the loss were the same everywhere
        return G if (G.diagonal() >= REPRESENTATIVE * expected).all() else None

    def _by_rows(self, W: np.ndarray, w: np.ndarray, means: np.ndarray, target: float) -> np.ndarray:
        root = np.sqrt(self.h)
        B = (self._filled_in(W) - means[:, None]) * root
        self.accesses += B.size
        xi = np.divide(self.rho, root, out=np.zeros_like(root), where=root > 0.0)  # rows without weight have no say
        return minimise_by_rows(B, w @ B - xi, self.l1, self.l2, w, xi, target, MOST_NEWTON)

    def _filled_in(self, W: np.ndarray) -> np.ndarray:
        """Some columns as an array, one a row; of few rows even sparse ones are small."""
        if self.has_columns:
            return np.asarray(self.lines.values[W], dtype=np.float64)
        columns = sp.csc_array((self.lines.data, self.lines.indices, self.lines.indptr), shape=(self.problem.m, self.design.columns))
        return np.asarray(columns[:, W].toarray().T, dtype=np.float64)

    def _by_columns(self, W: np.ndarray, w: np.ndarray, means: np.ndarray, total: float, target: float) -> np.ndarray:
        curvature = np.empty(len(W))
        line_squares(self.lines, self.h, W, curvature)
        curvature = np.maximum(curvature - total * means**2, TINY)
        read = np.array([int(self.counts[W].sum())])
        residual = Residual(self.rho, self.h)
        model = Model(self.lines, residual, self.l1, self.l2, W, curvature, means, total, np.zeros(1), read)
        new = w.copy()
        forcing, sweeps = (0.0, MOST_SWEEPS) if self.is_model else (FORCING, self.patience)
        minimise_by_columns(model, new, target, forcing, sweeps, self.trusted, Residual(self.u, self.h), Plain(self.q))
        self.accesses += int(read[0])
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

    # ---- products ----

    def dots(self, which: np.ndarray, a: np.ndarray) -> np.ndarray:
        """<a, x_j> of some columns; the first time, which is for all, Σ_i s_i x_ij²/m as well."""
        out = np.empty(len(which))
        entries = int(self.counts[which].sum())
        self.accesses += entries
        marks = [0, len(which)]
        if entries >= PARALLEL_FROM:
            shares = np.linspace(0, entries, self.design.threads + 1)[1:-1]
            marks = [0, *np.searchsorted(np.cumsum(self.counts[which]), shares).tolist(), len(which)]
        if "squares" in self.memo:
            job: tuple[Any, ...] = (line_dots, self.lines, Plain(a), which, out)
        else:
            squares = np.zeros(self.problem.n)
            job = (line_dots_and_squares, self.lines, Plain(a), self.problem.share, which, out, squares)
        in_parallel([(*job, first, last) for first, last in itertools.pairwise(marks)])
        if "squares" not in self.memo:
            self.memo["squares"] = squares
        return out

    def add(self, which: np.ndarray, change: np.ndarray, z: np.ndarray) -> None:
        """z ← z + Σ_j change_j·x_j"""
        line_adds(self.lines, which, change, Plain(z))
        self.accesses += int(self.counts[which[change != 0.0]].sum())


def evenly_spread(m: int, count: int) -> np.ndarray:
    """About ``count`` of m rows, in blocks of neighbours at even distances.

    >>> evenly_spread(1000, 128)[[0, 63, 64]].tolist()
    [0, 63, 936]
    """
    starts = np.linspace(0, m - NEIGHBOURS, max(1, count // NEIGHBOURS), dtype=np.int64) if m > count else np.zeros(1, dtype=np.int64)
    return (starts[:, None] + np.arange(min(m, NEIGHBOURS) if m > count else m)).ravel()


class Products:
    """Gram matrices under weights that stay the same: what was multiplied once is kept."""

    def __init__(self, lines: Any, design: Design) -> None:
        self.lines, self.threads, self.lock = lines, design.threads, threading.Lock()
        self.forget(design.columns)

    def forget(self, columns: int) -> None:
        """Begin anew."""
        self.place = np.full(columns, -1)
        self.known = np.zeros(0, dtype=np.int64)
        self.G = np.zeros((0, 0))

    def missing(self, W: np.ndarray) -> int:
        """How many of these columns have not been multiplied yet."""
        return int((self.place[W] < 0).sum())

    def of(self, W: np.ndarray, h: np.ndarray | None) -> np.ndarray:
        """Σ_i h_i x_ij x_ik for j and k in W."""
        with self.lock:
            if len(self.known) + self.missing(W) > 2 * LARGEST_GRAM:
                self.forget(len(self.place))
            new = W[self.place[W] < 0]
            if new.size:
                columns, threads = self.lines.values, self.threads
                across = gram(columns, self.known, new, h, threads) if self.known.size else np.zeros((0, new.size))
                G = np.block([[self.G, across], [across.T, gram(columns, new, None, h, threads)]])
                known = np.concatenate([self.known, new])
                self.place[new] = len(self.known) + np.arange(len(new))
                self.G, self.known = G, known
            return self.G[np.ix_(self.place[W], self.place[W])]

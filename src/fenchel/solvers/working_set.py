"""min_w (1/m) Σ_i s_i φ(<w, x_i>, y_i) + l1·‖w‖₁ + l2/2·‖w‖², φ smooth, on working sets of columns

Most weights of a lasso solution are zero, and the dual point α = −φ'(X·w) shows which: w_j = 0 wherever |v_j| < l1 at the
optimum, v = (1/m) Σ_i s_i α_i x_i. As in Massias, Gramfort & Salmon, *Celer: a fast solver for the lasso with dual
extrapolation*, ICML 2018, and Johnson & Guestrin, *Blitz: a principled meta-algorithm for scaling sparse optimization*, ICML 2015:

    repeat:  v ← every column at α;  c ← the scale that makes cα feasible;  the gap P(w) − D(cα) is the certificate
             drop for good each j with c|v_j| + √(2·gap/γ · (1/m)Σ_i s_i x_ij²) < l1
                 (the gap-safe rule: Ndiaye, Fercoq, Gramfort & Salmon, JMLR 2017)
             W ← the support of w, and as many further columns, those nearest to |v_j| = l1
             minimise approximately over the weights of W alone

The last line is a step of :mod:`fenchel.solvers._coordinate.proximal_newton`, for the softmax one of
:mod:`fenchel.solvers._coordinate.class_model`, where W are weights rather than columns: most classes do not use most columns. Losses
without second derivatives of either form take steps of :mod:`fenchel.solvers._coordinate.coordinate_descent` on W instead, as does a step
whose model gives no descent. An unpenalised intercept is at its best at every evaluation. The first point of small problems is where
coordinate descent on the products of all columns ends (:mod:`fenchel.solvers._coordinate.gram_path` for quadratic losses, else
:mod:`fenchel.solvers._coordinate.small_l1_problems`), which is nearly always the last as well; that of tall ones is about the minimiser
on a sample of the rows (:mod:`fenchel.solvers._second_order.samples`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property, partial

import numpy as np

from fenchel.core.numeric import TINY
from fenchel.problems.problem import Problem
from fenchel.problems.result import Iterate
from fenchel.regularizers.parameters import elastic_net_strengths
from fenchel.solvers._coordinate.class_model import ClassNewton
from fenchel.solvers._coordinate.column_products import ColumnProducts
from fenchel.solvers._coordinate.coordinate_descent import CoordinateDescent
from fenchel.solvers._coordinate.gram_path import gram_path, has_gram_path
from fenchel.solvers._coordinate.proximal_newton import Point, ProximalNewton
from fenchel.solvers._coordinate.small_l1_problems import has_small_l1_steps, steps_of_small_l1_problem
from fenchel.solvers._second_order.samples import minimum_on_sample, samples_tell
from fenchel.solvers.declaration import is_quadratic, known_smoothness, solver, sparse_penalty

SMALLEST, LARGEST_FIRST = 10, 100  # columns of the first working set: a tenth of all columns, within these bounds
GROWTH = 2  # size of the next working sets, times the support; 3 was no faster on 108 dense and text problems
INNER = 0.3  # share of the gap that may be left on a working set
INNER_IF_EXACT = 1e-3  # the same where the model on the working set is the problem itself
ENOUGH = 0.1  # share of the accuracy wanted that is always enough on a working set
MOST_PRODUCTS = 8_000_000  # multiplications m·n² for all products of columns, which then cost less than choosing among columns
# The same under a weak penalty, with which many columns are used; weak is an l1 relative to the smallest for which w = 0 is optimal. In
# all, Lasso and ElasticNet take 0.64 times as long on random problems (tests/campaign/fits.py) as without this and with two columns a row.
MOST_IF_WEAK, WEAK = 100_000_000, 0.2
COLUMNS_PER_ROW = 4  # most columns for each row where these products are used for a single strength
GRAM_PASSES = 4  # over X where they are computed: for the gradient, the products, X·w and the certificate
SWEEPS = 5  # coordinate descent sweeps over a working set between evaluations


@solver("working-set", needs=(known_smoothness, sparse_penalty), by_columns=True, evaluates_start=True)
def working_set(
    problem: Problem, *, start: Iterate | None, rng: np.random.Generator, accuracy: float, screening: bool = True
) -> Iterator[Iterate]:
    """Newton and coordinate steps on working sets with gap-safe screening: smooth losses with L1 or L1L2."""
    read = 0
    if start is None and (is_small(problem) or samples_tell(problem)):
        if is_small(problem):
            w, passes = minimum_of_small_problem(problem, accuracy)
            z = problem.predict(w)
            yield Iterate(w, passes, int(passes * problem.design.nnz), *problem.loss_gradient(z), z, done=True, exact=True)
        else:
            run = partial(working_set.run, start=None, rng=rng, screening=screening)
            w, passes = minimum_on_sample(problem, rng, 1.0, lambda sample, enough: run(sample, accuracy=enough))
        start, read = Iterate(w) if np.isfinite(w).all() else None, int(passes * problem.design.nnz)
    search = WorkingSetSearch(problem, start)
    search.X.accesses += read
    while True:
        search.evaluate()
        if search.gap <= accuracy and search.some_are_dropped:
            search.restore_columns()
            search.evaluate()
        yield search.iterate(done=search.gap <= accuracy)
        if screening:
            search.screen()
        W = search.working_set()
        share = INNER_IF_EXACT if is_quadratic(problem) and len(W) == len(search.columns) else INNER
        search.minimise_on(W, max(share * search.gap, ENOUGH * accuracy))


def is_small(problem: Problem) -> bool:
    """Whether the products of all columns cost less than choosing among columns."""
    products = problem.m * problem.n**2
    if has_gram_path(problem, COLUMNS_PER_ROW):
        return products <= MOST_PRODUCTS or (products <= MOST_IF_WEAK and is_weak(problem))
    return products <= MOST_PRODUCTS and problem.n <= problem.m and has_small_l1_steps(problem)


def is_weak(problem: Problem) -> bool:
    """Whether the l1 penalty is so weak that many columns are used."""
    _, v = problem.loss_gradient(problem.origin_predictions)
    return elastic_net_strengths(problem.penalised)[0] <= WEAK * float(np.abs(v[: problem.design.width]).max())


def minimum_of_small_problem(problem: Problem, accuracy: float) -> tuple[np.ndarray, float]:
    """About the minimiser, from the products of all columns, and the passes over the data that it took."""
    l1, l2 = elastic_net_strengths(problem.penalised)
    if has_gram_path(problem, COLUMNS_PER_ROW):
        return gram_path(problem, [(l1, l2)], INNER * accuracy)[0], GRAM_PASSES
    w, steps = steps_of_small_l1_problem(problem, l1, l2, accuracy)
    return w, 2.0 * steps + 2.0


class WorkingSetSearch:
    """The weights w, z = X·w and the columns not dropped; and from the last evaluation α, v, the scale c and the gap."""

    def __init__(self, problem: Problem, start: Iterate | None) -> None:
        self.problem, self.design, self.memo = problem, problem.design, problem.memo
        self.X = ColumnProducts(self.design, stored=problem.free)
        self.l1, self.l2 = elastic_net_strengths(problem.penalised)
        self.columns = np.arange(problem.n - problem.free)  # an unpenalised intercept belongs to no working set
        self.alive = self.columns
        w, z = problem.starting_point(start)
        self.w, self.z = w.copy(), z.copy()
        self.X.accesses += self.design.nnz * bool(self.w.any())
        self.newton = self._newton_steps(start is None)
        self.reads_columns = isinstance(self.newton, ProximalNewton)  # evaluations are of the columns that are not dropped alone
        if not self.reads_columns:
            self.memo["squares"] = self.descent.beta / problem.loss.smoothness()

    def _newton_steps(self, from_origin: bool) -> ProximalNewton | ClassNewton | None:
        """Steps by second derivatives, where the loss has any that they can use."""
        if ClassNewton.suits(self.problem):
            return ClassNewton(self.problem, self.X)
        suits = hasattr(self.problem.loss, "curvature") and not self.problem.vector_valued
        return ProximalNewton(self.problem, self.X, from_origin) if suits else None

    @cached_property
    def descent(self) -> CoordinateDescent:
        """Coordinate steps on the loss itself."""
        return CoordinateDescent(self.problem, None)

    @property
    def some_are_dropped(self) -> bool:
        """Whether screening has dropped columns."""
        return len(self.alive) < len(self.columns)

    def restore_columns(self) -> None:
        """Undo the screening: the last certificate is for all columns."""
        self.alive = self.columns

    # ---- evaluation ----

    def evaluate(self) -> None:
        """α, v, the objective and the gap at w."""
        problem = self.problem
        if problem.free:
            shift = problem.best_intercept(self.z)
            self.z += shift
            self.w[-1] += shift
        self.alpha = problem.negative_derivatives(self.z, problem.y)
        self.v = self._adjoint()
        self.objective = problem.objective(self.w, self.z)
        self.gap = self.objective - self._bound()

    def _adjoint(self) -> np.ndarray:
        if not self.reads_columns:
            self.X.accesses += self.design.nnz
            return self.problem.adjoint(self.alpha)
        weighted = self.problem.row_weights * self.alpha
        v = np.zeros(self.problem.n)
        if "squares" in self.memo:
            v[self.alive] = self.X.dots(self.alive, weighted)
        else:
            v[self.alive], self.memo["squares"] = self.X.dots_and_squares(self.alive, weighted, self.problem.row_weights)
        return v

    def _bound(self) -> float:
        """D(cα), with c = 1 or the largest c that makes every |cv_j| ≤ l1, whichever is better."""
        problem = self.problem
        sizes = np.abs(self.v[: len(self.columns)])
        self.c = min(1.0, self.l1 / max(float(sizes.max()), TINY))
        feasible = -problem.mean_conjugate(self.alpha, self.c, self.z)
        if self.l2 == 0.0 or self.c == 1.0:
            return feasible
        excess = np.maximum(sizes - self.l1, 0.0)
        whole = -problem.mean_conjugate(self.alpha, 1.0, self.z) - 0.5 / self.l2 * float((excess**2).sum())
        self.c = 1.0 if whole > feasible else self.c
        return max(whole, feasible)

    def iterate(self, done: bool) -> Iterate:
        """What the solver yields."""
        passes, bound = self.X.accesses / max(1, self.design.nnz), self.objective - self.gap
        return Iterate(
            self.w, passes, self.X.accesses, self.alpha, self.v, self.z, done=done, objective=self.objective, estimated_bound=bound
        )

    # ---- the choice of columns ----

    def _strengths(self) -> np.ndarray:
        """c|v_j| of the columns not dropped, the largest of its K for a feature with K weights."""
        sizes = self.c * np.abs(self.v[self.alive])
        return sizes.max(axis=1) if sizes.ndim == 2 else sizes

    def _is_used(self, which: np.ndarray) -> np.ndarray:
        """Whether a column's weight, or any of its K, is not zero."""
        return self.w[which] != 0.0 if self.w.ndim == 1 else self.w[which].any(axis=1)

    def screen(self) -> None:
        """Drop the columns that the gap-safe rule allows to drop."""
        radius = np.sqrt(2.0 * self.problem.loss.smoothness() * max(self.gap, 0.0) * self.memo["squares"][self.alive])
        stays = self._strengths() + radius >= self.l1
        dropped = self.alive[~stays]
        self.alive = self.alive[stays]
        dropped = dropped[self._is_used(dropped)]
        if dropped.size:
            self.w[dropped] = 0.0
            self.z = self.problem.predict(self.w)
            self.X.accesses += self.design.nnz

    def working_set(self) -> np.ndarray:
        """The columns of W; for steps that distinguish the K weights of a column, their positions in w read class by class."""
        if isinstance(self.newton, ClassNewton):
            weights = (self.alive + len(self.w) * np.arange(self.w.shape[1])[:, None]).ravel()
            sizes, squares = self.v[self.alive].T.ravel(), np.tile(self.memo["squares"][self.alive], self.w.shape[1])
            return self._nearest(weights, self.w[self.alive].T.ravel() != 0.0, self.c * np.abs(sizes), squares)
        return self._nearest(self.alive, self._is_used(self.alive), self._strengths(), self.memo["squares"][self.alive])

    def _nearest(self, which: np.ndarray, support: np.ndarray, strengths: np.ndarray, squares: np.ndarray) -> np.ndarray:
        """The support, and as many others, those nearest to |v_j| = l1 in units of their length."""
        first = min(LARGEST_FIRST, max(SMALLEST, len(self.columns) // 10))
        size = max(first * len(which) // max(1, len(self.alive)), GROWTH * int(support.sum()))
        if size >= len(which):
            return which
        distance = (self.l1 - strengths) / np.sqrt(np.maximum(squares, TINY))
        distance[support] = -math.inf
        return np.sort(which[np.argpartition(distance, size)[:size]])

    # ---- the weights of W ----

    def minimise_on(self, W: np.ndarray, target: float) -> None:
        """Minimise approximately over the weights of W and an unpenalised intercept."""
        if self.newton is not None and self.newton.step(Point(self.w, self.z, self.v, self.objective, self.gap), W, target):
            return
        self.descent.w, self.descent.z, before = self.w, self.z, self.descent.accesses
        columns = np.unique(W % self.problem.n)  # of weights, or the columns themselves
        columns = np.append(columns, self.problem.n - 1) if self.problem.free else columns
        for _ in range(SWEEPS):
            self.descent.step(columns)
        self.X.accesses += self.descent.accesses - before

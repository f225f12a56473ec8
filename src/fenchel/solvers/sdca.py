"""min_w (1/m) Σ_i s_i φ(<w, x_i>, y_i) + Ω(w) by Proximal Stochastic Dual Coordinate Ascent

Section 3.1 of Shalev-Shwartz & Zhang, *Accelerated Proximal Stochastic Dual Coordinate Ascent for Regularized Loss
Minimization*, ICML 2014. Ω is λ-strongly convex with respect to some norm. For one row i at a time

    z  = <w, x_i>,   w = ∇Ω*(v)
    α' = argmax_a −φ*(−a) − z·a − q_i/2·(a − α_i)²,     q_i = s_i‖x_i‖²/(λm)   (dual norm)
    v ← v + s_i(α' − α_i)·x_i/m,   α_i ← α'

which maximises a lower bound of the dual over α_i. Only the coordinates of x_i are touched, for every Ω.

Where the loss is flat or its derivative bounded, many α_i reach a bound and stay there. After a pass over all rows in which most have not
moved, passes follow over those that have, in a new random order each time, until they move much less, as the shrinking of Hsieh, Chang,
Lin, Keerthi & Sundararajan, *A dual coordinate descent method for large-scale linear SVM*, ICML 2008. The next pass visits all rows again.
With ``shrinking=False`` every pass does. With ``progressive=True`` iterates carry the mean loss of the pass over all rows, each loss just
before the step on its row.

An unpenalised intercept b gets the term λ_b/2·(b − c)², c being its value after the last pass: a proximal point method in b alone,
which converges in a few passes if λ_b is far below the curvature of the losses in b. Then q_i = s_i(‖x_i‖²/λ + 1/λ_b)/m. All rows share
b, so that their steps on it undo each other: if that curvature allows it, λ_b is at least λ, and 1/λ_b at most a tenth of the mean of
‖x_i‖²/λ.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled, kernel, prefetch
from fenchel.core.numeric import TINY
from fenchel.linalg.rows import AHEAD
from fenchel.linalg.weights import Coupled, copy_weights, refresh, weights_of
from fenchel.losses.outputs import outputs_of
from fenchel.losses.step_rule import with_step_rule
from fenchel.problems.problem import Problem
from fenchel.problems.result import Iterate
from fenchel.solvers._dual_ascent.rounds import Rounds
from fenchel.solvers.declaration import dual_steps, known_link, solver, strongly_convex_penalty

LARGEST_SEED = 2**62  # of the generator that shuffles the rows that moved

# Passes over the rows that moved. Hinge loss to 1e-6, λ = 1/m, compared with passes over all rows alone: 28 ms in place of 810 (ijcnn1), 60
# in place of 2,000 (w8a), 390 in place of 1,700 (rcv1). MORE from 1 to 8 and SETTLED = 0.01 were within a factor of two of that.
ACTIVE = 0.5  # largest share of rows that moved in a pass for passes over these alone
MORE = 4  # entries that such passes read, at most, relative to those of the pass over all rows
SETTLED = 0.1  # relative to the first of such passes: Σ r_i q_i δ_i² at which they end

# λ_b is λ·INTERCEPT/R², R² being the mean of ‖x_i‖². Passes of accelerated-sdca to 1e-3 for hinge loss with 1, 10, 100 and 1,000: 7.5, 6.7,
# 6.5 and 28 (rcv1, λ = 1/m), 47, 29, 27 and 33 (λ = 0.01/m), 4.8, 5.9, 26 and 247 (letter, first class, λ = 10⁻⁴). Where R is large (a9a,
# news20) they are equal.
INTERCEPT = 10.0
# Largest λ_b relative to an estimate of the curvature of the losses in b, and the same times the number of rows where these are few: there
# the steps of many rows on b undo each other. For λ up to 10⁴/m passes to 1e-3 are at most 11 on 13 data sets, where λ_b ≥ λ made them 58
# (german) and 59 (mushroom); without FEW on sonar (208 rows) they are 163 for logistic loss at λ = 0.01/m in place of 89.
FLATTEST, FEW = 1e-2, 10.0
SMALLEST_MULTIPLE = 1e-6  # of the dual point of a start


@compiled
def sdca_sweep(rows, y, row_weights, loss, outputs, w, alpha, q, visited, count, progressive, sigma, moved):
    """One step on each of the first rows visited, as if it moved v by σ times as much and q_i were σ times as large.

    Returns the entries of X that were read, Σ r_i q_i δ_i², how many rows moved, and if ``progressive`` Σ r_i φ(z_i), each before the step
    on its row. The rows that moved are written to ``moved`` unless that is empty.
    """
    accesses, movement, movers, total = 0, 0.0, 0, 0.0
    for k in range(count):
        i = visited[k]
        soon = visited[min(k + AHEAD, count - 1)]
        rows.fetch(soon)
        prefetch(y, soon)
        prefetch(q, soon)
        prefetch(row_weights, soon)
        if row_weights[i] == 0.0:
            continue
        z = outputs.predict(rows, i, w)
        if progressive:
            total += row_weights[i] * loss.value(z, y[i])
        delta = outputs.dual_step(loss, alpha, i, z, y[i], sigma * q[i])
        outputs.add(rows, i, sigma * row_weights[i], delta, w)
        accesses += rows.count(i)
        size = outputs.norm(delta)
        if size > 0.0:
            movement += row_weights[i] * q[i] * size * size
            if moved.shape[0] > 0:
                moved[movers] = i
                movers += 1
    return accesses, movement, movers, total


@kernel
def sdca_pass(rows, y, row_weights, loss, outputs, w, alpha, q, order, progressive, seed):
    """One step on each row of ``order``, then sweeps over the rows that moved, unless ``seed`` is 0.

    Returns the entries of X that were read; whether the rows that moved do so much less now; and if ``progressive`` the sum of r_i φ(z_i),
    each before the first step on its row.
    """
    count, first = order.shape[0], 0.0
    moved = np.empty(count if seed > 0 else 0, np.int64)
    accesses, _, movers, total = sdca_sweep(rows, y, row_weights, loss, outputs, w, alpha, q, order, count, progressive, 1.0, moved)
    if movers == 0 or movers > ACTIVE * count:
        return accesses, False, total
    most, state = (1 + MORE) * accesses, np.uint64(seed)
    while True:
        state = shuffle(moved, movers, state)
        read, movement, _, _ = sdca_sweep(rows, y, row_weights, loss, outputs, w, alpha, q, moved, movers, False, 1.0, moved[:0])
        accesses += read
        first = first if first > 0.0 else movement
        if accesses >= most or movement <= SETTLED * first:
            return accesses, accesses < most, total


@kernel
def sdca_part(rows, y, row_weights, loss, outputs, w, alpha, q, visited, progressive, sigma, moved):
    """The steps of one of several threads."""
    return sdca_sweep(rows, y, row_weights, loss, outputs, w, alpha, q, visited, visited.shape[0], progressive, sigma, moved)


class DualPasses:
    """Passes that change α and the weights, in one thread or several."""

    def __init__(self, problem: Problem, alpha: np.ndarray) -> None:
        self.problem, self.alpha = problem, alpha
        self.outputs = outputs_of(problem)
        self.rounds = Rounds(problem, alpha, sdca_part) if Rounds.count(problem, problem.m) else None

    def run(self, w: Any, q: np.ndarray, order: np.ndarray, progressive: bool, seed: int) -> tuple[int, bool, float]:
        """See :func:`sdca_pass`."""
        problem = self.problem
        if self.rounds is not None:
            return self._in_rounds(self.rounds, w, q, order, progressive, seed)
        shared = problem.design.rows, problem.y, problem.row_weights, problem.loss, self.outputs
        return sdca_pass(*shared, w, self.alpha, q, order, progressive, seed)

    def whole_pass(self, w: Any, q: np.ndarray, rng: np.random.Generator, progressive: bool, shrinking: bool) -> tuple[int, bool, float]:
        """A pass over all rows in random order, on disk without sweeps over the rows that moved; see :func:`sdca_pass`."""
        again = shrinking and self.problem.design.on_disk is None
        read, settled, loss = 0, False, 0.0
        for order in self.problem.passed(rng):
            more, settled, part = self.run(w, q, order, progressive, int(rng.integers(1, LARGEST_SEED)) if again else 0)
            read, loss = read + more, loss + part
        return read, settled, loss

    def _in_rounds(self, rounds: Rounds, w: Any, q: np.ndarray, order: np.ndarray, progressive: bool, seed: int) -> tuple[int, bool, float]:
        """The same as ``sdca_pass``, whose sweeps would cost small problems too much if each were a call from Python."""
        whole = rounds.sweep(w, q, order, progressive)
        accesses, moved = whole.read, whole.moved
        if seed == 0 or not len(moved) or len(moved) > ACTIVE * len(order):
            return accesses, False, whole.loss
        most, first, rng = (1 + MORE) * accesses, 0.0, np.random.default_rng(seed)
        while True:
            rng.shuffle(moved)
            sweep = rounds.sweep(w, q, moved, False)
            accesses, first = accesses + sweep.read, first or sweep.movement
            if accesses >= most or sweep.movement <= SETTLED * first:
                return accesses, accesses < most, whole.loss


@compiled
def shuffle(order, count, state):
    """Shuffle the first numbers of an array (Fisher & Yates) by the generator xorshift (Marsaglia 2003); its next state."""
    for k in range(count - 1, 0, -1):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        j = np.int64(state % np.uint64(k + 1))
        order[k], order[j] = order[j], order[k]
    return state


@solver("sdca", needs=(dual_steps, strongly_convex_penalty, known_link), by_rows=True)
def sdca(
    problem: Problem,
    *,
    start: Iterate | None,
    rng: np.random.Generator,
    accuracy: float,
    shrinking: bool = True,
    progressive: bool = False,
) -> Iterator[Iterate]:
    """Proximal stochastic dual coordinate ascent: any loss with a conjugate, any strongly convex regularizer."""
    problem = with_dual_step(problem)
    alpha = start_alpha(problem, start)
    regularizer, strength, intercept = problem.regularizer, 0.0, slice(0, 0)
    if problem.free:
        strength, intercept = intercept_term(problem).strength(problem.regularizer.penalty), slice(problem.regularizer.first, None)
        regularizer = problem.regularizer._replace(intercept_l2=strength)
    centre = (problem.origin if start is None else start.w).reshape(-1)[intercept].copy()
    v = problem.adjoint(alpha).reshape(-1)
    v[intercept] += strength * centre
    w = weights_of(regularizer, v)
    q = dual_curvatures(problem, regularizer)
    dual = DualPasses(problem, alpha)
    passes, accesses, entries, found = 0.0, 0, max(1, problem.design.nnz), np.empty(len(v))
    while True:
        read, _, loss = dual.whole_pass(w, q, rng, progressive, shrinking)
        passes, accesses = passes + max(1.0, read / entries), accesses + read
        if isinstance(w, Coupled):
            refresh(w)
        copy_weights(w, found)
        w.v[intercept] -= strength * centre
        mean_loss = loss if progressive else math.nan
        yield Iterate(found.reshape(problem.shape), passes, accesses, alpha, w.v.reshape(problem.shape), mean_loss=mean_loss)
        centre = found[intercept].copy()
        w.v[intercept] += strength * centre


def with_dual_step(problem: Problem) -> Problem:
    """The problem itself, or with the paper's step size rule for a loss that has no dual step of its own."""
    return problem if hasattr(problem.loss, "dual_step") else problem.replace(loss=with_step_rule(problem.loss))


def dual_curvatures(problem: Problem, regularizer: Any) -> np.ndarray:
    """q_i = s_i‖x_i‖²/(λm) in the dual norm for the rows of a problem under some regularizer; a tiny number for empty rows, whose step
    saturates and moves no weight."""
    if problem.free:
        of_intercept = problem.intercept**2 / regularizer.intercept_l2
        q = squares_without_intercept(problem) / regularizer.penalty.strong_convexity() + of_intercept
    else:
        norms = problem.row_norms if regularizer.separable else problem.design.row_norms(regularizer.dual_order())
        q = norms**2 / regularizer.strong_convexity()
    return np.maximum(problem.row_weights * q, TINY)


class InterceptTerm(NamedTuple):
    """What λ_b of the proximal term of an unpenalised intercept depends on."""

    factor: float  #: of λ
    largest: float  #: the most that the curvature of the losses allows

    def strength(self, penalty: Any) -> float:
        """λ_b for a penalty that is λ-strongly convex."""
        strength = float(penalty.strong_convexity())
        return min(max(1.0, self.factor) * strength, self.largest)


def intercept_term(problem: Problem) -> InterceptTerm:
    """The term for the rows and losses of a problem."""
    mean = max(float(problem.row_weights @ squares_without_intercept(problem)), TINY)
    square = problem.intercept**2
    return InterceptTerm(INTERCEPT * square / mean, max(FLATTEST, FEW / problem.m) * curvature_of_losses(problem) * square)


def curvature_of_losses(problem: Problem) -> float:
    """About the second derivative of the mean loss where most losses are small: less, the more the best intercept lowers it from z = 0."""
    at_zero = problem.mean_loss(np.zeros(problem.dual_shape))
    if not problem.objective_at_zero > 0.0:  # the best intercept alone is the optimum
        return 1.0
    smoothness = problem.loss.smoothness() if hasattr(problem.loss, "smoothness") else 1.0
    largest = problem.loss.lipschitz() ** 2 / at_zero if math.isinf(smoothness) else smoothness
    return max(float(largest * (problem.objective_at_zero / at_zero)), TINY)


def squares_without_intercept(problem: Problem) -> np.ndarray:
    """‖x_i‖², the constant feature left out."""
    return np.maximum(problem.row_norms**2 - problem.intercept**2, 0.0)


def start_alpha(problem: Problem, start: Iterate | None) -> np.ndarray:
    """The dual point to begin with: 0, the one that the start's weights give, or its own, for another penalty if it has no state."""
    if start is None:
        return np.zeros(problem.dual_shape)
    if start.alpha is None:
        return problem.dual_point(start.w)
    return start.alpha.copy() if start.state else best_multiple(problem, start.alpha)


def best_multiple(problem: Problem, alpha: np.ndarray) -> np.ndarray:
    """The best of α, α/2, α/4, … in the dual: under a weaker penalty than that which α is for, w = ∇Ω*(v) would be too long."""
    v = problem.adjoint(alpha).reshape(-1)
    c, best = 1.0, -math.inf
    while c > SMALLEST_MULTIPLE:
        value = -problem.mean_conjugate(c * alpha) - problem.penalty_conjugate(c * v)
        if value < best:
            return 2.0 * c * alpha
        c, best = 0.5 * c, value
    return c * alpha

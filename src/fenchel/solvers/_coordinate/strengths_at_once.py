"""Points for many l1 strengths in turn, whose certificates cost a pass over the data for several strengths

    P(w) = (1/m) Σ_i s_i φ(<w, x_i> + b, y_i) + l1·‖w‖₁ + l2/2·‖w‖²,     b an unpenalised intercept or 0

Few columns are in use at the large strengths, and few are added from one strength to the next. So some strengths are solved one after the
other on the columns in use alone (:mod:`fenchel.solvers._coordinate.growing_model`), and then X·w and v = Xᵀ(sα)/m of all of them are
computed with two products of matrices. Columns come into use if |v_j| nearly reaches the last of these strengths at the last point proven
(the strong rule of R. Tibshirani, J. Bien, J. Friedman, T. Hastie, N. Simon, J. Taylor and R. J. Tibshirani, *Strong rules for discarding
predictors in lasso-type problems*, J. Royal Statistical Society B 2012, assumes twice as fast a change of v_j). Where that misses one, the
certificate tells: the point is rejected, and the columns with |v_j| ≥ l1 there are added.

A strength begins on the line through the last two solutions, since solutions are nearly linear in the strength while no weight changes its
sign. For a quadratic loss the model is exact. For others a step minimises the model with the gradient at w, but with second derivatives
of an earlier point or strength, which change little on the way; they are computed again where steps no longer gain enough.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from fenchel.core.threads import one_thread
from fenchel.problems.problem import Problem
from fenchel.problems.result import Iterate
from fenchel.problems.sums import in_ranges
from fenchel.solvers._coordinate.dense_model import minimise_by_gram
from fenchel.solvers._coordinate.fixed_signs import FixedSigns
from fenchel.solvers._coordinate.growing_model import GrowingModel
from fenchel.solvers._second_order.curvatures import row_curvatures
from fenchel.solvers.declaration import is_quadratic

RATIO, MOST_AT_ONCE = 0.8, 16  # the smallest strength found at once, relative to the last one proven, and most of them
SLACK = 0.1  # share of the decrease of the strength by which |v_j| may grow without being noticed
NEAR = 0.98  # of l1: at a point rejected, columns with a |v_j| this large are added
ACCURACY = 0.2  # share of the gap aimed at that may be left on the columns in use; less if a point was rejected although none is missing
TIGHTER, LEAST_ACCURACY = 0.2, 0.005
# Share of the estimated gap that may be left of a model that is not exact, and share of the gap aimed at that always may.
INEXACT, ENOUGH = 0.1, 0.3
FEW = 4  # columns of a dense X for each one used by a point, from which copying these takes less time than a product with all
MOST_SWEEPS = 200  # Newton steps on one model
MOST_STEPS = 30  # models for one strength
# Steps that are needed with new second derivatives, and columns in use for which computing these takes as long as a step.
STEPS_AFTER, COLUMNS_PER_STEP = 2.0, 150.0
SUFFICIENT, SHORTEST = 1e-4, 1e-3  # share of its first-order decrease by which P must fall in a step, and the shortest step
ROUNDING = 1e-14  # relative to P, and to the strength
SETTLED, MOST_SHIFTS = 1e-10, 4  # |Σ s_i α_i| relative to Σ|s_i α_i| at which an intercept is at its best, and Newton steps to it


def are_found_at_once(problem: Problem) -> bool:
    """Whether the loss has one output and second derivatives that do not jump, and every weight but a free intercept is penalised alike."""
    loss = problem.loss
    is_smooth = hasattr(loss, "curvature") and hasattr(loss, "conjugate") and not hasattr(loss, "boxes")
    return (is_quadratic(problem) or is_smooth) and not problem.vector_valued and (problem.free or not problem.intercept)


class Solution(NamedTuple):
    """Weights for a strength, the predictions X·w + b, and b + <centres, w>."""

    l1: float
    w: np.ndarray
    z: np.ndarray
    shift: float


class StrengthsAtOnce:
    """The columns in use, the last two solutions, and v at the last point that was proven."""

    def __init__(self, problem: Problem, strengths: list[tuple[float, float]]) -> None:
        self.problem, self.strengths = problem, strengths
        self.is_exact = is_quadratic(problem)
        self.model, self.signs = GrowingModel(problem), FixedSigns()
        _, v = problem.loss_gradient(problem.origin_predictions)
        self.v = self.v_of_origin = v[: problem.design.width]
        self.l1_of_origin = float(np.abs(self.v).max())  # the smallest strength at which w = 0
        self.l1 = max(strengths[0][0], self.l1_of_origin)
        w, z = problem.origin[: problem.design.width], problem.origin_predictions
        self.last = self.before = Solution(self.l1, w, z, float(problem.origin[-1]) if problem.free else 0.0)
        self.most, self.passes = MOST_AT_ONCE, 1.0
        self.found: dict[int, Solution] = {}
        self.accuracy = ACCURACY

    def points(self, k: int, target: float) -> list[Iterate]:
        """Points for the strengths number k and following, with a gap of about the target, unless columns are missing."""
        last = k
        while last + 1 < min(k + self.most, len(self.strengths)) and self.strengths[last + 1][0] >= RATIO * self.l1:
            last += 1
        l1 = self.strengths[last][0]
        self.model.add(np.abs(self.v) >= l1 - SLACK * (self.l1 - l1))
        found = np.zeros((self.problem.n, last + 1 - k))
        before, current, first = self.before, self.last, self.strengths[k][0]
        for column, (l1, l2) in enumerate(self.strengths[k : last + 1]):
            before, current = current, self._solved(self._ahead(before, current, l1), l1, l2, self.accuracy * target * l1 / first)
            self.found[k + column] = current
            found[: self.problem.design.width, column] = current.w
            if self.problem.free:
                found[-1, column] = current.shift - self.model.centres @ current.w[self.model.which]
        return self._evaluated(found)

    def _ahead(self, before: Solution, last: Solution, l1: float) -> Solution:
        """The point of the line through two solutions for another strength, where no weight comes into use or changes its sign."""
        if not before.l1 > last.l1 > l1:
            return last
        far = (last.l1 - l1) / (before.l1 - last.l1)
        change = far * (last.w - before.w)
        change[(last.w == 0.0) | ((last.w + change) * last.w <= 0.0)] = 0.0
        if self.is_exact:
            return last._replace(w=last.w + change)
        straight = far * (last.w - before.w)[self.model.which]
        rest = self.model.combined(change[self.model.which] - straight)
        return Solution(l1, last.w + change, last.z + far * (last.z - before.z) + rest, last.shift + far * (last.shift - before.shift))

    def _solved(self, start: Solution, l1: float, l2: float, target: float) -> Solution:
        """About the minimiser on the columns in use."""
        which = self.model.which
        w, z, shift = start.w[which], start.z, start.shift
        if not w.any() and l1 >= (1.0 - ROUNDING) * self.l1_of_origin:
            return start._replace(l1=l1)  # rounding errors would become weights
        if self.is_exact:
            minimise_by_gram(self.model.products, l1, l2, w, self.model.G @ w - self.v_of_origin[which], target, MOST_SWEEPS, self.signs)
            shift = float(self.problem.origin[-1] - self.model.means @ w) if self.problem.free else 0.0
        else:
            w, z, shift = self._solved_by_steps(w, z, shift, l1, l2, target)
        full = np.zeros_like(start.w)
        full[which] = w
        return Solution(l1, full, z, shift)

    def _solved_by_steps(
        self, w: np.ndarray, z: np.ndarray, shift: float, l1: float, l2: float, target: float
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """The same for a loss that is not quadratic; where steps do not gain any more, the solver that follows may do better."""
        estimate, is_new = math.inf, False
        for step in range(MOST_STEPS):
            slopes = -self.problem.row_weights * self.problem.negative_derivatives(z, self.problem.y)
            g, of_shift = self.model.dots(slopes), float(slopes.sum()) if self.problem.free else 0.0
            estimate, before = self._estimated_gap(w, g, of_shift, l1, l2), estimate
            if (step > 0 and estimate <= target) or (is_new and estimate >= before):
                break
            if before < math.inf and not is_new and self._is_slow(before, estimate, target):
                self._renew(z)
                is_new = True
            moved = self._step(w, z, g, of_shift, l1, l2, max(INEXACT * estimate, ENOUGH * target))
            if moved is None and not is_new:
                self._renew(z)
                is_new, moved = True, self._step(w, z, g, of_shift, l1, l2, max(INEXACT * estimate, ENOUGH * target))
            if moved is None:
                break
            w, z, shift = moved[0], moved[1], shift + moved[2]
        return w, z, shift

    def _estimated_gap(self, w: np.ndarray, g: np.ndarray, of_shift: float, l1: float, l2: float) -> float:
        """‖w‖₁ times the largest violation of optimality once the intercept is at its best, and what that gains."""
        g = g - of_shift * self.model.means
        excess = np.where(w != 0.0, np.abs(g + l2 * w + np.copysign(l1, w)), np.abs(g) - l1).max(initial=0.0)
        return float(excess * np.abs(w).sum()) + (of_shift**2 / self.model.total if self.problem.free else 0.0)

    def _is_slow(self, before: float, estimate: float, target: float) -> bool:
        """Whether the steps still needed at the rate of the last one take longer than new second derivatives and the steps after that."""
        if estimate >= before:
            return True
        left = math.log(estimate / target) / math.log(before / estimate)
        return left > STEPS_AFTER + len(self.model.which) / COLUMNS_PER_STEP

    def _renew(self, z: np.ndarray) -> None:
        self.model.renew(z)
        self.signs = FixedSigns()

    def _step(
        self, w: np.ndarray, z: np.ndarray, g: np.ndarray, of_shift: float, l1: float, l2: float, target: float
    ) -> tuple[np.ndarray, np.ndarray, float] | None:
        """Weights, predictions and the change of the intercept after a step on the model; None if P does not fall by enough."""
        model, problem = self.model, self.problem
        new, gradient = w.copy(), g - of_shift * model.means
        minimise_by_gram(model.products, l1, l2, new, gradient, target, MOST_SWEEPS, self.signs)
        d = new - w
        shift = -of_shift / model.total - float(model.means @ d) if problem.free else 0.0
        Xd = model.combined(d) + shift

        def penalty(w: np.ndarray) -> float:
            return l1 * float(np.abs(w).sum()) + 0.5 * l2 * float(w @ w)

        now = problem.mean_loss(z) + penalty(w)
        slope = float(g @ d) + of_shift * shift + penalty(new) - penalty(w)
        t = 1.0
        while t >= SHORTEST:
            if problem.mean_loss(z + t * Xd) + penalty(w + t * d) <= now + SUFFICIENT * t * slope + ROUNDING * abs(now):
                return w + t * d, z + t * Xd, t * shift
            t *= 0.5
        return None

    def _evaluated(self, found: np.ndarray) -> list[Iterate]:
        """The points with predictions, dual points and v; an unpenalised intercept becomes the best one, so that the dual points are
        feasible."""
        problem, design = self.problem, self.problem.design
        Z = np.asfortranarray(self._predictions(found))
        alphas = np.empty_like(Z)
        for k in range(Z.shape[1]):
            if problem.free:
                shift = self._best_shift(Z[:, k])
                found[-1, k] += shift
                Z[:, k] += shift
            alphas[:, k] = problem.negative_derivatives(Z[:, k], problem.y)
            if problem.free and not problem.is_balanced(alphas[:, k]):
                alphas[:, k] = problem.balanced(alphas[:, k])
        V = np.asfortranarray(design.rmatvec(alphas * problem.row_weights[:, None]))
        found = np.asfortranarray(found)
        each = 2.0 / Z.shape[1]  # passes over the data for a strength
        points = []
        for k in range(Z.shape[1]):
            self.passes += each
            points.append(Iterate(found[:, k], each, int(each * design.nnz), alphas[:, k], V[:, k], Z[:, k], done=True, exact=True))
        return points

    def _best_shift(self, z: np.ndarray) -> float:
        """What to add to an intercept near its best value so that it is at it: Newton steps for a loss that is not quadratic."""
        problem, shift, h = self.problem, 0.0, np.empty(len(z))
        for _ in range(0 if self.is_exact else MOST_SHIFTS):
            slopes = problem.row_weights * problem.negative_derivatives(z + shift, problem.y)
            total = float(slopes.sum())
            if abs(total) <= SETTLED * float(np.abs(slopes).sum()):
                return shift
            in_ranges(problem.threads, row_curvatures, problem.loss, (z + shift, problem.y, problem.row_weights, h))
            shift += total / float(h.sum())
        return float(problem.best_intercept(z))

    def _predictions(self, found: np.ndarray) -> np.ndarray:
        """X·w of several points, from the columns that they use where these are few."""
        design = self.problem.design
        S = np.flatnonzero(found[: design.width].any(axis=1))
        if sp.issparse(design.storage) or FEW * len(S) > design.width:
            return design.matvec(found)
        with one_thread:
            Z = design.storage[:, S].astype(np.float64, copy=False) @ found[S]
        return Z + found[-1] if self.problem.free else Z

    def accept(self, k: int, point: Iterate) -> None:
        """The point of strength number k was proven."""
        self._take(k, point)
        self.before, self.last = self.last, self.found[k]
        self.most, self.accuracy = min(self.most + 1, MOST_AT_ONCE), min(self.accuracy / TIGHTER, ACCURACY)

    def reject(self, k: int, point: Iterate) -> bool:
        """Add the columns that the point of strength number k lacks, or else ask for more accuracy; whether to look for it once more."""
        self._take(k, point)
        self.before = self.last = self.found[k]
        self.most = max(1, self.most // 2)
        if self.model.add(np.abs(self.v) >= NEAR * self.l1):
            return True
        self.accuracy *= TIGHTER
        return self.accuracy >= LEAST_ACCURACY

    def replace(self, k: int, w: np.ndarray) -> None:
        """A solver has found the weights of strength number k."""
        width, z = self.problem.design.width, self.problem.predict(w)
        self.model.add(w[:width] != 0.0)
        self.v = self.problem.loss_gradient(z)[1][:width]
        shift = float(w[-1] + self.model.centres @ w[self.model.which]) if self.problem.free else 0.0
        self.before = self.last = Solution(self.strengths[k][0], w[:width].copy(), z, shift)
        self.l1, self.accuracy = self.strengths[k][0], ACCURACY

    def _take(self, k: int, point: Iterate) -> None:
        assert point.v is not None
        self.v, self.l1 = point.v[: self.problem.design.width], self.strengths[k][0]

"""The certificate of a run: the best objective found, the best lower bound proven, and the points that give them

The gap between the two bounds P(w) − min P. Every iterate gives an objective; its dual point, the one that its predictions give, or a
bound that the solver proves itself gives a lower bound. Solvers update predictions X·w and v = Xᵀ(sα)/m step by step. What is reported
is computed from w and α alone, the objective rounded up and the bound rounded down (:mod:`fenchel.problems.rounding`).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fenchel.problems.objective import gap_between
from fenchel.problems.result import Iterate


class Unproven(NamedTuple):
    """A dual point whose bound is an estimate, from a v that the solver may have updated step by step."""

    alpha: np.ndarray
    v: np.ndarray | None  #: Xᵀ(sα)/m, if it was computed at once
    bound: float


class Certificate:
    """The best point w with its objective, and the best dual point α with its bound; the gap aimed at is ``target``."""

    def __init__(self, problem: Any, objective: float, target: float) -> None:
        self.problem, self.objective, self.target = problem, objective, target
        self.w: np.ndarray = problem.origin
        self.error: float | None = None  # how much larger P(w) may be than the objective; None before it is computed
        self.alpha: np.ndarray | None = None  # the best dual point whose bound is proven,
        self.bound_of_alpha = -math.inf  # and that bound
        self.proven = -math.inf  # the best proven bound that does not come with a dual point
        self.candidate: Unproven | None = None  # a dual point that seems better

    @property
    def bound(self) -> float:
        """The best lower bound; an estimate while there is a candidate."""
        return max(self.proven, self.bound_of_alpha, self.candidate.bound if self.candidate is not None else -math.inf)

    @property
    def above(self) -> float:
        """P(w), rounded up."""
        return self.objective + (self.error or 0.0)

    @property
    def gap(self) -> float:
        """The best objective so far, rounded up, minus the best bound so far."""
        return gap_between(self.above, self.bound)

    @property
    def is_reached(self) -> bool:
        """Whether the gap is at most the target."""
        return self.gap <= self.target

    @property
    def is_contradictory(self) -> bool:
        """Whether the lower bound lies above the objective."""
        return self.bound > self.above

    def add_point(self, w: np.ndarray, objective: float) -> bool:
        """Keep w if it is the best so far, and whether it is; any point is preferred to the origin, which predicts nothing."""
        better = objective < self.objective or (self.w is self.problem.origin and math.isfinite(objective))
        if not better or np.array_equal(w, self.problem.origin):
            return False
        self.objective, self.w, self.error = objective, w.copy(), None
        return True

    def add_bound(self, iterate: Iterate, z: Any, is_best: bool = False) -> None:
        """Raise the lower bound by the dual point of an iterate, which may be the best point, or by that of its predictions z."""
        problem, wanted = self.problem, self.objective - self.target
        if iterate.lower_bound > -math.inf:
            self.proven = max(self.proven, iterate.lower_bound - problem.proven_bound_error(iterate.lower_bound, self.w, self.objective))
        if iterate.estimated_bound == -math.inf:
            if self.bound == -math.inf:  # that of α = 0 is at least as good
                zero = np.zeros(problem.dual_shape), np.zeros(problem.shape)
                self.candidate = Unproven(*zero, problem.estimated_bound(*zero, self.objective, wanted))
            return
        alpha, v, is_exact = iterate.alpha, iterate.v, iterate.done
        if alpha is None or not hasattr(problem.loss, "conjugate"):
            (alpha, v), is_exact = problem.loss_gradient(z), True
        elif v is None:
            v, is_exact = problem.adjoint(alpha), True
        if not hasattr(problem.loss, "conjugate"):
            # Only the predictions give the value of the conjugate, so that the bound cannot be computed again later.
            self.proven = max(self.proven, problem.lower_bound(alpha, v, self.objective, z, wanted))
            return
        if is_best and iterate.done and iterate.exact:  # it is probably the last: prove it at once
            self.prove(z, alpha, v)
            if self.is_reached:
                return
        self._suggest(alpha, v if is_exact else None, v, iterate.estimated_bound)
        if iterate.mean_alpha is not None and not self.is_reached:
            v = problem.adjoint(iterate.mean_alpha)
            self._suggest(iterate.mean_alpha, v, v)

    def _suggest(self, alpha: np.ndarray, exact: np.ndarray | None, v: np.ndarray, bound: float = math.nan) -> None:
        """Make a dual point the candidate if its bound, estimated from v where it is not known, is the best so far."""
        if math.isnan(bound):
            bound = self.problem.estimated_bound(alpha, v, self.objective, self.objective - self.target)
        if bound > self.bound:
            self.candidate = Unproven(alpha.copy(), None if exact is None else exact.copy(), bound)

    def prove(self, z: Any, alpha: np.ndarray, v: np.ndarray | None = None) -> None:
        """Round the objective of the best point, whose predictions are z, up, and prove the bound of a dual point."""
        self.error = self.problem.objective_error(self.w, z, self.objective)
        self._prove(alpha.copy(), self.problem.lower_bound(alpha, v, self.above, wanted=self.above - self.target))

    def verify(self, z: Any = None, final: bool = False) -> None:
        """Compute objective and bound again from w and α alone, with allowances for rounding.

        ``z`` are predictions of the best point, if they were computed at once, not updated step by step.
        """
        problem = self.problem
        is_reached = self.is_reached
        if self.error is None:
            if z is None and not problem.structured:  # structures are decoded for each point, never updated, and decoding takes long
                z = problem.origin_predictions if self.w is problem.origin else problem.predict(self.w)
                self.objective = problem.objective(self.w, z)
            self.error = problem.objective_error(self.w, z, self.objective)
        if self.candidate is None:
            return
        (alpha, v, _), self.candidate = self.candidate, None
        # A bound far from the tolerance is improved only for the final report.
        wanted = math.inf if final and not is_reached else self.above - self.target
        self._prove(alpha, problem.lower_bound(alpha, v, self.above, wanted=wanted))
        if is_reached and not self.is_reached:
            self._prove(alpha, problem.lower_bound(alpha, None, self.above, wanted=wanted, compensated=True))

    def _prove(self, alpha: np.ndarray, bound: float) -> None:
        """Keep a dual point with a proven bound if it is the best so far."""
        if bound > self.bound_of_alpha:
            self.alpha, self.bound_of_alpha = alpha, bound

    def withdraw(self) -> None:
        """Report no bound: it contradicts the objective."""
        self.proven = self.bound_of_alpha = -math.inf

"""The certificate of a run: the best objective found, the best lower bound proven, and the points that give them

The gap between the two bounds P(w) − min P. Every iterate gives an objective; its dual point, the one that its predictions give, or a
bound that the solver proves itself gives a lower bound.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fenchel.problems.objective import gap_between
from fenchel.problems.result import Iterate


class Certificate:
    """The best point w with its objective, and the best dual point α with its bound; the gap aimed at is ``target``."""

    def __init__(self, problem: Any, objective: float, target: float) -> None:
        self.problem, self.objective, self.target = problem, objective, target
        self.w: np.ndarray = problem.origin
        self.alpha: np.ndarray | None = None
        self.bound = -math.inf
        self.proven = -math.inf  # the part of the bound that does not depend on alpha
        self.is_fresh = False  # whether the bound of alpha used a v = Xᵀ(sα)/m computed at once, not updated step by step

    @property
    def gap(self) -> float:
        """The best objective so far minus the best bound so far."""
        return gap_between(self.objective, self.bound)

    @property
    def is_reached(self) -> bool:
        """Whether the gap is at most the target."""
        return self.gap <= self.target

    def add_point(self, w: np.ndarray, objective: float) -> None:
        """Keep w if it is the best so far; any point is preferred to the origin, which predicts nothing."""
        better = objective < self.objective or (self.w is self.problem.origin and math.isfinite(objective))
        if better and not np.array_equal(w, self.problem.origin):
            self.objective, self.w = objective, w.copy()

    def add_bound(self, iterate: Iterate, z: Any) -> None:
        """Raise the lower bound by the dual point of an iterate, or by that of its predictions z."""
        problem = self.problem
        alpha, v, source = iterate.alpha, iterate.v, None
        if alpha is None or not hasattr(problem.loss, "conjugate"):
            (alpha, v), source = problem.loss_gradient(z), z
        bound = problem.lower_bound(alpha, v, self.objective, source, wanted=self.objective - self.target)
        if iterate.lower_bound <= self.objective:  # a bound above the objective is a rounding error
            self.proven = max(self.proven, iterate.lower_bound)
        if source is not None:
            self.proven = max(self.proven, bound)
        if bound > self.bound:
            self.bound, self.alpha, self.is_fresh = bound, None if alpha is None else alpha.copy(), iterate.done
        self.bound = max(self.bound, self.proven)

    def verify(self, final: bool = False) -> bool:
        """Compute the bound again from α alone, because solvers update v step by step; whether the gap is at most the target."""
        if self.alpha is not None and not self.is_fresh and hasattr(self.problem.loss, "conjugate"):
            # A bound far from the tolerance is improved only for the final report.
            wanted = math.inf if final and not self.is_reached else self.objective - self.target
            self.bound = max(self.proven, self.problem.lower_bound(self.alpha, objective=self.objective, wanted=wanted))
        return self.is_reached

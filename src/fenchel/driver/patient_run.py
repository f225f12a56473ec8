"""A run that ends when further passes no longer lower the objective, and proves its gap once, at the end

This is the stopping rule of scikit-learn's SGD classes: the run ends after ``patience`` passes in a row in which the value watched was not
lower than the lowest so far by more than ``tol``. The value is the objective of w, or what the caller computes from w, for instance an
error on rows that were held out. Between passes nothing is proven, because a proof costs as much as two passes. Where a pass takes less
time than an evaluation, several passes are made between two of them.

The solver may work on the same problem with a penalised intercept, where it does not support one that is not: its w is evaluated without
that penalty.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from fenchel.driver.run import Run
from fenchel.problems.result import Iterate

SMALL = 20_000  # entries of X that a pass of dual ascent reads in about the time of an evaluation of a small problem
LARGEST_SPACING = 5.0  # most passes between two evaluations


class PatientRun(Run):
    """The run of a solver that is stopped by the course of its objective, not by its gap."""

    def __init__(self, *arguments: Any, patience: float, watched: Callable[[np.ndarray], float] | None) -> None:
        super().__init__(*arguments)
        self.patience, self.watched = patience, watched
        self.lowest, self.idle = math.inf, 0.0  # the lowest value, and for how many passes in a row it has not fallen by more than tol
        self.alpha: np.ndarray | None = None  # the latest dual point of the solver
        several = min(max(1, SMALL // self.problem.entries), max(1, int(min(patience, LARGEST_SPACING))))
        self.spacing = several if watched is None else 1

    def _follow(self, iterate: Iterate) -> None:
        """Keep the regularizer of the problem, whatever that of the solver is."""

    def evaluate(self, iterate: Iterate) -> str | None:
        """Compute the objective of an iterate and keep it if it is the best so far; the status if that ends the run."""
        if iterate.passes == 0.0:
            return None
        problem = self.problem
        z = problem.predict(iterate.w) if iterate.z is None else iterate.z
        objective = problem.objective(iterate.w, z)
        objective = objective if math.isfinite(objective) else math.inf
        self.alpha = iterate.alpha
        value = objective if self.watched is None else self.watched(iterate.w)
        made = iterate.passes - max(self.evaluated, 0.0)  # passes since the last evaluation
        self.idle = 0.0 if value < self.lowest - made * self.tol else self.idle + made
        self.schedule.next_evaluation, self.evaluated = iterate.passes + self.spacing, iterate.passes
        if self.watched is not None and value < self.lowest:
            self.certificate.objective = math.inf  # these weights are kept, whatever their objective is
        if self.watched is None or value <= self.lowest:  # of weights with the same value those with the lowest objective are kept
            self.certificate.add_point(iterate.w, objective)
        self.lowest = min(self.lowest, value)
        stop = self._record(iterate, objective)
        if not math.isfinite(objective):
            return "diverged"
        return "callback" if stop else "finished" if self.idle >= self.patience else None

    def _verify_result(self) -> None:
        best = self.certificate
        z = self.problem.predict(best.w)
        best.objective = self.problem.objective(best.w, z)
        best.add_bound(Iterate(best.w, alpha=self.alpha), z)
        super()._verify_result()

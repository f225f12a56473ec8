"""A run that ends when further passes no longer lower the loss, and proves its gap once, at the end

This is the stopping rule of scikit-learn's SGD classes: the run ends after ``patience`` passes in a row in which the value watched was not
lower than the lowest so far by more than ``tol``. The value is the mean loss over a pass, each loss just before the step on its row, which
costs nothing beside the pass; or what the caller computes from w, for instance an error on rows that were held out. Between passes nothing
is proven, because a proof costs as much as two passes.

The dual point of a solver tells when the rule is going to end the run: no pass can lower the objective by more than its distance from the
dual objective. The run ends at once where that is at most ``tol``. For this the intercept is taken as it is: a proof would have to balance
the dual point first.

Iterates of dual ascent oscillate. Their average, in which pass t has a weight proportional to t, does not (S. Lacoste-Julien, M. Schmidt
and F. Bach, *A simpler approach to obtaining an O(1/t) convergence rate for the projected stochastic subgradient method*, 2012): of the
last iterate and the average the one with the lower objective is kept.

The solver may work on the same problem with a penalised intercept, where it does not support one that is not: its w is evaluated without
that penalty.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from fenchel.core.compiled import kernel
from fenchel.driver.run import Run
from fenchel.problems.result import Iterate
from fenchel.regularizers.parameters import elastic_net_strengths

# Estimated distance from the minimum, relative to tol, for which it is computed: losses before the steps of a pass are above those after.
UNCERTAIN = 3.0


class PatientRun(Run):
    """The run of a solver that is stopped by the course of its losses, not by its gap."""

    def __init__(self, *arguments: Any, patience: float, watched: Callable[[np.ndarray], float] | None) -> None:
        super().__init__(*arguments)
        self.patience, self.watched = patience, watched
        self.lowest, self.idle = math.inf, 0.0  # the lowest value, and for how many passes in a row it has not fallen by more than tol
        self.latest: Iterate | None = None
        self.predictions: np.ndarray | None = None  # X·w of the latest iterate, if they were computed
        self.is_near = False  # whether the latest iterate is within tol of the minimum
        self.average: np.ndarray | None = None

    def _follow(self, iterate: Iterate) -> None:
        """Keep the regularizer of the problem, whatever that of the solver is."""

    def evaluate(self, iterate: Iterate) -> str | None:
        """Compare the value of an iterate with the lowest so far; the status if that ends the run."""
        if iterate.passes == 0.0:
            return None
        if self.watched is not None:
            value, objective = self._watch(iterate.w)
        else:
            value = iterate.mean_loss
            objective = value + self._penalty(iterate.w)
        made = iterate.passes - max(self.evaluated, 0.0)  # passes since the last evaluation
        self.idle = 0.0 if value < self.lowest - made * self.tol else self.idle + made
        self.lowest = min(self.lowest, value)
        self.schedule.next_evaluation, self.evaluated, self.latest = iterate.passes + 1.0, iterate.passes, iterate
        self.is_near = self.watched is None and self.patience < math.inf and self._is_near_minimum(iterate, objective)
        if self.watched is None:
            self._add_to_average(iterate, made)
        stop = self._record(iterate, objective)
        if not math.isfinite(objective):
            return "diverged"
        return "callback" if stop else "finished" if self.is_near or self.idle >= self.patience else None

    def _watch(self, w: np.ndarray) -> tuple[float, float]:
        """The value watched and the objective at w; of weights with the same value those with the lowest objective are kept."""
        assert self.watched is not None
        value, objective = self.watched(w), self.problem.objective(w)
        if value < self.lowest:
            self.certificate.objective = math.inf  # these weights are kept, whatever their objective is
        if value <= self.lowest:
            self.certificate.add_point(w, objective if math.isfinite(objective) else math.inf)
        return value, objective

    def _is_near_minimum(self, iterate: Iterate, estimate: float) -> bool:
        """Whether P(w), of which there is an estimate, is within ``tol`` of the minimum over all weights with the intercept of w."""
        problem, self.predictions = self.problem, None
        if iterate.alpha is None or iterate.v is None or not hasattr(problem.loss, "conjugate"):
            return False
        bound = -problem.mean_conjugate(iterate.alpha) - self._penalty_conjugate(iterate.v)
        if problem.free:
            bound -= float(np.sum(iterate.w[-1] * iterate.v[-1]))  # v there is 0 at the best intercept
        if estimate - bound > UNCERTAIN * self.tol:
            return False
        self.predictions = problem.predict(iterate.w)
        return problem.objective(iterate.w, self.predictions) - bound <= self.tol

    def _penalty(self, w: np.ndarray) -> float:
        """Ω(w) without the care that a proof needs."""
        l1, l2 = elastic_net_strengths(self.problem.penalised)
        if l1 == l2 == 0.0:
            return float(self.problem.penalty(w))
        flat = w[:-1].reshape(-1) if self.problem.free else w.reshape(-1)
        return 0.5 * l2 * float(flat @ flat) + (l1 * float(np.abs(flat).sum()) if l1 else 0.0)

    def _penalty_conjugate(self, v: np.ndarray) -> float:
        """Ω*(v), likewise."""
        l1, l2 = elastic_net_strengths(self.problem.penalised)
        if l1 > 0.0 or l2 == 0.0:
            return self.problem.penalty_conjugate(v.reshape(-1))
        flat = v[:-1].reshape(-1) if self.problem.free else v.reshape(-1)
        return float(flat @ flat) / (2.0 * l2)

    def _add_to_average(self, iterate: Iterate, made: float) -> None:
        if self.average is None:
            self.average = iterate.w.copy()
        else:
            move_towards(self.average.reshape(-1), iterate.w.reshape(-1), 2.0 * made / (iterate.passes + made))

    def _verify_result(self) -> None:
        best, problem, z = self.certificate, self.problem, None
        for w, known in self._candidates():
            at_w = problem.predict(w) if known is None else known
            objective = problem.objective(w, at_w)
            z = at_w if math.isfinite(objective) and best.add_point(w, objective) else z
        z = problem.predict(best.w) if z is None else z
        best.objective = problem.objective(best.w, z)
        if self.latest is not None and self.latest.alpha is not None and hasattr(problem.loss, "conjugate"):
            best.prove(z, self.latest.alpha)
        else:
            best.add_bound(Iterate(best.w), z)
            best.verify(z)
        super()._verify_result()

    def _candidates(self) -> list[tuple[np.ndarray, np.ndarray | None]]:
        """The weights to choose from, with their predictions if these are known: near the minimum the average is not needed."""
        if self.latest is None or self.average is None:
            return []
        return [(self.latest.w, self.predictions)] + ([] if self.is_near else [(self.average, None)])


@kernel
def move_towards(x, y, share):
    """x ← x + share·(y − x)"""
    for j in range(x.shape[0]):
        x[j] += share * (y[j] - x[j])

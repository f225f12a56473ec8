"""A run over rows that are read once: evaluated on the way, by the loss of every row before it was used for a step

The objective is that mean loss plus the penalty: an estimate of the objective on new rows. The derivatives φ'(z_i) at these predictions
are a dual point, so that the lower bound is proven for the rows read so far; the gap between the two is not a certificate.
"""

from __future__ import annotations

import math
import time

import numpy as np

from fenchel.core.random_numbers import RandomNumbers
from fenchel.driver.run import Run
from fenchel.problems.result import Iterate, Result


class StreamRun(Run):
    """The run of an online solver on a stream."""

    at_the_end = "exhausted"
    certified = False

    def _scale(self) -> float:
        return math.inf  # the objective at w = 0 is not known before the rows are read

    def _first_objective(self) -> float:
        return math.inf

    @property
    def gap(self) -> float:
        """Not a number, because the objective is an estimate."""
        return math.nan

    def evaluate(self, iterate: Iterate) -> str | None:
        """Keep the last iterate: the losses of earlier ones are on other rows."""
        progressive = iterate.progressive
        if progressive is None:
            return None
        best = self.certificate
        best.w = iterate.w.copy()
        best.objective = progressive.loss / progressive.rows + self.problem.penalty(iterate.w)
        best.proven = self._bound_of_derivatives(progressive.dual / progressive.rows, progressive.v / progressive.rows)
        self.schedule.next_evaluation = iterate.passes
        stop = self._record(iterate, best.objective)
        if not math.isfinite(best.objective):
            return "diverged"
        return "callback" if stop else None

    def note(self) -> str:
        """How many rows were read, and how fast."""
        seconds = max(time.perf_counter() - self.began, 1e-9)
        rows, size = self.problem.rows_read, self.problem.bytes_read
        return f"{rows:,} rows, {rows / seconds:,.0f} rows/s, {size / seconds / 2**20:,.1f} MB/s"

    def _bound_of_derivatives(self, dual: float, v: np.ndarray) -> float:
        """The best of c·(mean of −φ*) − Ω*(cv) over 0 ≤ c ≤ 1: no more than D(cα), because φ*(0) ≤ 0."""
        from scipy.optimize import minimize_scalar  # imported here because it takes a third of the time of importing fenchel

        regularizer = self.problem.regularizer
        largest = 1.0 if regularizer.strong_convexity() > 0.0 else min(1.0, regularizer.domain_scale(v))
        found = minimize_scalar(lambda c: self.problem.penalty_conjugate(c * v) - c * dual, bounds=(0.0, largest), method="bounded")
        return max(0.0, dual - self.problem.penalty_conjugate(v), -float(found.fun))

    def _verify_result(self) -> None:
        pass

    def _result(self, status: str, iterate: Iterate, rng: RandomNumbers) -> Result:
        if status == self.at_the_end:
            iterate = iterate._replace(passes=float(self.problem.passes))
        return super()._result(status, iterate, rng)

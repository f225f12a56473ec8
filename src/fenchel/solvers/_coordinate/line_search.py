"""How far to go along a proximal Newton direction d from w, and how far to trust the next quadratic model

The decrease of P is compared with t·p, p = <∇f(w), d> + Ω(w + d) − Ω(w) < 0; an exact model falls by at least −p/2 at t = 1. The first
trial is t = 1, and every other the minimum of the parabola through P(w), p and the last trial, until P has fallen by a share of −t·p or
stops improving. Tseng & Yun, *A coordinate gradient descent method for nonsmooth separable minimization*, Math. Programming 2009.

After a full step that decreases P by nearly −p/2 the next model is minimised to the end; after any other it gets few sweeps. A step that
had to be cut raises the floor under φ'', which makes the next step shorter. Both are needed where φ'' jumps and columns outnumber rows:
without either, the squared hinge on 60 × 3,000 correlated columns, l1 a hundredth of the strength that gives w = 0, had not converged
after 20 seconds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fenchel.core.numeric import TINY
from fenchel.problems.problem import Problem
from fenchel.problems.sums import sum_terms

SUFFICIENT = 0.2  # share of t·p by which P must fall for the search to end
TRUSTED = 0.45  # share of p by which P must fall in a full step for the model to be trusted: an exact model gives ½ at least
SHORTEST = 1e-10  # shortest step tried
ROUNDING = 1e-12  # relative to P: a predicted decrease this small is hidden by rounding, and the step is taken
FLOOR = 1e-6  # smallest floor of φ'', relative to 1/γ, its upper bound
RAISED_FLOOR = 1e-2  # smallest floor after a step that was cut
RAISE, LOWER = 10.0, 0.3  # factors of the floor after a step that was cut, and after a full step
# Sweeps over an untrusted model, doubled with every trusted one up to the second number, which bounds the time between two evaluations.
FIRST_SWEEPS, MOST_SWEEPS = 5, 100


class LineSearch:
    """The length of a step, and what it says about the quality of the model."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.trusted, self.sweeps, self.floor = True, FIRST_SWEEPS, FLOOR

    def length(self, point: Any, w: np.ndarray, change: np.ndarray, Xd: np.ndarray, slope: float) -> float:
        """The t of the step w ← w + t·change of some weights, z ← z + t·Xd from a point; 0 if the direction is not one of descent."""
        slope += self._penalty(w + change) - self._penalty(w)
        if not slope < 0.0:
            return 0.0
        if -slope <= ROUNDING * point.objective:
            return 1.0

        def value(t: float) -> float:
            return self.problem.mean_loss(point.z + t * Xd) + self._penalty(w + t * change)

        best, least = self._search(value, point.objective, slope)
        self._assess(best, point.objective - least, slope)
        return best

    def _penalty(self, w: np.ndarray) -> float:
        return float(sum_terms(self.problem.penalised, w)[0])

    def _search(self, value_at: Any, objective: float, slope: float) -> tuple[float, float]:
        """The best t found and its value."""
        t, best, least = 1.0, 0.0, objective
        while t > SHORTEST:
            value = value_at(t)
            if value < least:
                best, least = t, value
            elif best > 0.0:
                break
            if best > 0.0 and value <= objective + SUFFICIENT * t * slope:
                break
            t = min(0.6 * t, max(0.1 * t, -0.5 * slope * t * t / max(value - objective - slope * t, TINY)))
        return best, least

    def _assess(self, t: float, decrease: float, slope: float) -> None:
        """Set the effort and the floor of the next model."""
        self.trusted = t == 1.0 and decrease >= -TRUSTED * slope
        self.sweeps = min(2 * self.sweeps, MOST_SWEEPS) if self.trusted else FIRST_SWEEPS
        self.floor = max(FLOOR, LOWER * self.floor) if t == 1.0 else min(1.0, max(RAISED_FLOOR, RAISE * self.floor))

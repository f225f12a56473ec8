"""min_w λ/2·‖w‖² + ℓ(w) by cutting planes around a centre: a bundle method for weak regularization

As ``bundle``, but the next point minimises the model plus μ/2·‖w − c‖²: it stays near the centre c, however small λ is.

    rule="centred"   (default) c is the best point so far, as in Kiwiel, *Proximity control in bundle methods for convex
                     nondifferentiable minimization*, Math. Programming 1990. With r the ratio of the decrease that a step brought to
                     the decrease that the model predicted, μ is multiplied by exp(4(0.1 − r)), within ½ and 1.2, from the second such
                     step in a row on; it does not grow before there is a better point than the first. After r ≥ ½ it falls at once, to
                     where a parabola through prediction and outcome has its minimum. The model must predict a decrease of at least a
                     thousandth of the gap, else μ falls until it does: the minimiser may be far away.
    rule="printed"   Algorithm 4 of Do, Le & Foo, *Proximal regularization for online and batch learning*, ICML 2009:
                     w_{t+1} = argmin_w t·(model of P) + Σ_i τ_i/2·‖w − w_i‖², with τ_t that balances both parts of its bound,
                     and the optimistic guess of R ≥ ‖w*‖: min(1, 1/√λ) at first; when ‖w_{t+1}‖ ≥ R it grows by √2 and the sums
                     start again from 0, planes kept.

Either way the lower bound is the minimum of the plain model of all planes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from fenchel.core.numeric import TINY
from fenchel.core.validation import checked_choice
from fenchel.problems.result import Iterate
from fenchel.solvers._bundle.bundle_state import TRIAL, BundleState, OracleResult
from fenchel.solvers._bundle.planes import Minimum
from fenchel.solvers._online.subgradient_descent import balancing
from fenchel.solvers.declaration import ridge, solver
from fenchel.solvers.optimistic import GROWTH

FAIR, STEEP = 0.1, 4.0  # the ratio r at which μ stays the same, and how fast μ changes with r
FASTER, SLOWER = 0.5, 1.2  # smallest and largest factor of μ in one step
GOOD, LEAST = 0.5, 0.1  # from this ratio r on, the factor of μ comes from the parabola; and the smallest factor that it may give
PREDICTED = 1e-3  # share of the gap that the predicted decrease must reach
NEARER = 0.25  # factor of μ until it does


class Centred:
    """A proximal term around the best point, with a μ that follows how well the model predicts."""

    def __init__(self, search: BundleState, state: dict[str, Any]) -> None:
        self.search = search
        self.mu, self.in_a_row, self.moved, self.predicted = state.get("rule", (math.nan, 0, False, math.inf))
        self.values = state.get("values", np.zeros(0))  # of the planes, at the best point
        self.trial = state.get("trial", np.zeros(0))  # and at the next point

    @property
    def state(self) -> dict[str, Any]:
        return {"rule": (self.mu, self.in_a_row, self.moved, self.predicted), "values": self.values, "trial": self.trial}

    def update(self, before: float, found: OracleResult) -> None:
        """Choose the next μ by how much of the predicted decrease was reached; ``before`` is the best objective before."""
        centre, planes = self.search.w, self.search.planes
        if math.isnan(self.mu):
            self.mu, self.values = self._first(found), planes.values(centre)
            return
        self.values = planes.extended(self.trial if found.better else self.values, centre)
        self.moved |= found.better
        self.mu *= self._factor((before - found.objective) / max(self.predicted, TINY))

    def _factor(self, ratio: float) -> float:
        """The factor of μ after a step that brought this share of the predicted decrease."""
        self.in_a_row = max(self.in_a_row, 0) + 1 if ratio > FAIR else min(self.in_a_row, 0) - 1
        settled = self.in_a_row > 1 or (self.in_a_row < -1 and self.moved)
        factor = min(max(math.exp(min(STEEP * (FAIR - ratio), 1.0)), FASTER), SLOWER) if settled else 1.0
        return min(factor, max(2.0 * (1.0 - ratio), LEAST)) if ratio >= GOOD else factor

    def _first(self, found: OracleResult) -> float:
        """The μ whose first step is as long as a plane through P takes to reach 0, and no longer than the norm of a start."""
        norm = float(np.linalg.norm(self.search.w))
        size = float(np.linalg.norm(found.subgradient + self.search.l2 * self.search.w))
        return max(size * size / max(found.objective, TINY), size / norm if norm > 0.0 else 0.0)

    def next_point(self) -> np.ndarray:
        """The minimiser of the model with the proximal term, for a μ small enough that the predicted decrease suffices."""
        enough = PREDICTED * (self.search.objective - self.search.bound)
        while True:
            found = self._minimise()
            self.trial = found.plane_values
            self.predicted = self.search.objective - float(self.trial.max()) - 0.5 * self.search.l2 * float(found.w @ found.w)
            if not (self.predicted < enough and self.mu > PREDICTED * self.search.l2):
                return found.w
            self.mu *= NEARER

    def _minimise(self) -> Minimum:
        search, planes = self.search, self.search.planes
        part = self.mu / (search.l2 + self.mu)
        values = planes.b + part * (self.values - planes.b)
        return planes.minimise(TRIAL, search.l2 + self.mu, part * search.w, values, search.tolerance)


class PrintedCentre:
    """Algorithm 4 with the balancing heuristic and the optimistic R."""

    def __init__(self, search: BundleState, state: dict[str, Any]) -> None:
        self.search = search
        first = max(min(1.0, 1.0 / math.sqrt(search.l2)), GROWTH * float(np.linalg.norm(search.next)))
        self.R, self.t, self.tau = state.get("rule", (first, 0, 0.0))
        self.u = state.get("u", np.zeros_like(search.next))  # Σ τ_i w_i

    @property
    def state(self) -> dict[str, Any]:
        return {"rule": (self.R, self.t, self.tau), "u": self.u}

    def update(self, before: float, found: OracleResult) -> None:
        l2 = self.search.l2
        self.t += 1
        tau = balancing(l2 * self.t + self.tau, l2 * self.R + float(np.linalg.norm(found.subgradient)), self.R)
        self.tau += tau
        self.u = self.u + tau * self.search.next

    def next_point(self) -> np.ndarray:
        search, total = self.search, self.search.l2 * self.t + self.tau
        p = self.u / total
        w = search.planes.minimise(TRIAL, total / self.t, p, search.planes.values(p), search.tolerance).w
        if np.linalg.norm(w) >= self.R:
            self.R, self.t, self.tau, self.u = GROWTH * self.R, 0, 0.0, np.zeros_like(w)
        return w


RULES: dict[str, Any] = {"centred": Centred, "printed": PrintedCentre}


@solver("proximal-bundle", needs=(ridge,), structured=True)
def proximal_bundle(
    problem: Any, *, start: Iterate | None, rng: np.random.Generator, accuracy: float, rule: str = "centred", planes: int | None = None
) -> Iterator[Iterate]:
    """Cutting planes around a centre, one pass each, for weak regularization: any loss, ridge penalty; ``planes`` is how many are kept."""
    checked_choice("rule", rule, RULES)
    search = BundleState(problem, start, accuracy, planes, programmes=2)
    steps = RULES[rule](search, {} if start is None else start.state)
    while not search.done:
        before, found = search.objective, search.evaluate()
        if search.overflowed:
            return
        steps.update(before, found)
        search.raise_bound()
        search.next = steps.next_point()
        yield search.iterate(steps.state)

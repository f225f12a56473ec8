"""min_w λ/2·‖w‖² + ℓ(w) by cutting planes around a centre: a bundle method for weak regularization

As ``bundle``, but the next point to look at minimises the model plus μ/2·‖w − c‖²: near what is known, however small λ is.

    rule="centred"   (default) c is the best point so far, as in Kiwiel, *Proximity control in bundle methods for convex
                     nondifferentiable minimization*, Math. Programming 1990. With r the part of the model's promised descent that
                     a step brought, μ is multiplied by exp(4(0.1 − r)), within ½ and 1.2, from the second such step in a row on;
                     it does not grow before there is a better point than the first. After r ≥ ½ it falls at once, to where a
                     parabola through promise and outcome has its minimum. The model must promise at least a thousandth of the
                     gap, else μ falls until it does: what is left to gain may be far away.
    rule="printed"   Algorithm 4 of Do, Le & Foo, *Proximal regularization for online and batch learning*, ICML 2009:
                     w_{t+1} = argmin_w t·(model of P) + Σ_i τ_i/2·‖w − w_i‖², with τ_t that balances both parts of its bound,
                     and the optimistic guess of R ≥ ‖w*‖: min(1, 1/√λ) at first; when ‖w_{t+1}‖ ≥ R it grows by √2 and the sums
                     start anew, planes kept.

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
from fenchel.solvers._bundle.bundle_state import TRIAL, BundleState, Look
from fenchel.solvers._bundle.planes import Minimum
from fenchel.solvers._online.subgradient_descent import balancing
from fenchel.solvers.declaration import ridge, solver
from fenchel.solvers.optimistic import GROWTH

FAIR, STEEP = 0.1, 4.0  # the part of a promise after which μ stays, and how fast it changes beside that
FASTER, SLOWER = 0.5, 1.2  # the least and the most that becomes of μ
GOOD, LEAST = 0.5, 0.1  # the part of a promise that calls for the parabola, and the least that this makes of μ
PROMISE = 1e-3  # of the gap that the model has to promise
NEARER = 0.25  # what becomes of μ while it does not


class Centred:
    """Proximity to the best point, as much as the model's promises call for."""

    def __init__(self, search: BundleState, state: dict[str, Any]) -> None:
        self.search = search
        self.mu, self.row, self.moved, self.promised = state.get("rule", (math.nan, 0, False, math.inf))
        self.heights = state.get("heights", np.zeros(0))  # of the planes, at the best point
        self.trial = state.get("trial", np.zeros(0))  # and at the point looked at next

    @property
    def state(self) -> dict[str, Any]:
        return {"rule": (self.mu, self.row, self.moved, self.promised), "heights": self.heights, "trial": self.trial}

    def learn(self, before: float, look: Look) -> None:
        """Choose the next μ by how much of the promise was kept, the best objective before the look being given."""
        centre, planes = self.search.w, self.search.planes
        if math.isnan(self.mu):
            self.mu, self.heights = self._first(look), planes.heights(centre)
            return
        self.heights = planes.follow(self.trial if look.better else self.heights, centre)
        self.moved |= look.better
        self.mu *= self._factor((before - look.objective) / max(self.promised, TINY))

    def _factor(self, kept: float) -> float:
        """What becomes of μ after a step that brought this part of what the model promised."""
        self.row = max(self.row, 0) + 1 if kept > FAIR else min(self.row, 0) - 1
        settled = self.row > 1 or (self.row < -1 and self.moved)
        factor = min(max(math.exp(min(STEEP * (FAIR - kept), 1.0)), FASTER), SLOWER) if settled else 1.0
        return min(factor, max(2.0 * (1.0 - kept), LEAST)) if kept >= GOOD else factor

    def _first(self, look: Look) -> float:
        """The μ whose first step is as long as a plane through P takes to reach 0, and no longer than a start is."""
        norm = float(np.linalg.norm(self.search.w))
        slope = float(np.linalg.norm(look.slope + self.search.l2 * self.search.w))
        return max(slope * slope / max(look.objective, TINY), slope / norm if norm > 0.0 else 0.0)

    def propose(self) -> np.ndarray:
        """The minimiser of the model with the proximity term, nearer to the plain model's until it promises enough."""
        enough = PROMISE * (self.search.objective - self.search.bound)
        while True:
            found = self._minimise()
            self.trial = found.heights
            self.promised = self.search.objective - float(found.heights.max()) - 0.5 * self.search.l2 * float(found.w @ found.w)
            if not (self.promised < enough and self.mu > PROMISE * self.search.l2):
                return found.w
            self.mu *= NEARER

    def _minimise(self) -> Minimum:
        search, planes = self.search, self.search.planes
        part = self.mu / (search.l2 + self.mu)
        heights = planes.b + part * (self.heights - planes.b)
        return planes.minimise(TRIAL, search.l2 + self.mu, part * search.w, heights, search.tolerance)


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

    def learn(self, before: float, look: Look) -> None:
        l2 = self.search.l2
        self.t += 1
        tau = balancing(l2 * self.t + self.tau, l2 * self.R + float(np.linalg.norm(look.slope)), self.R)
        self.tau += tau
        self.u = self.u + tau * self.search.next

    def propose(self) -> np.ndarray:
        search, total = self.search, self.search.l2 * self.t + self.tau
        p = self.u / total
        w = search.planes.minimise(TRIAL, total / self.t, p, search.planes.heights(p), search.tolerance).w
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
        before = search.objective
        steps.learn(before, search.look())
        search.raise_bound()
        search.next = steps.propose()
        yield search.iterate(steps.state)

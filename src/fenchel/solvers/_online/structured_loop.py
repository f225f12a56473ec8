"""The online loop on structured examples, whose losses ℓ_i and subgradients come from decoding

A whole pass calls the oracle once for every example, each at the w of that step: the mean of the planes ℓ_i(w) ≥ b_i + <a_i, w>
is a plane below the mean loss, and proves a lower bound that becomes tight as w converges.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fenchel.core.compiled import kernel
from fenchel.linalg.weights import untouched
from fenchel.problems.objective import Chunk
from fenchel.problems.result import Iterate
from fenchel.solvers._online.online_loop import NATURAL_LENGTH_ROWS, OnlineLoop, natural_length
from fenchel.solvers._online.protocols import OnlineWeights, UpdateRule


@kernel
def add_subgradients(examples, loss, s, batch, u, scale, gradient, plane):
    """Add the subgradients at w = scale·u of a batch of examples to ``gradient``, and the values of their planes at 0 to plane[n]."""
    for i in batch:
        d = np.empty(examples.parts(i))
        value = loss.subgradient(examples, i, u, scale, d)
        plane[plane.shape[0] - 1] += s[i] * (value - scale * examples.dot(i, d, u))
        examples.add(i, s[i], d, gradient)


@kernel
def take_step(rule, weights, gradient, plane, k, counters, loss_at_zero):
    """The step for the sum of the subgradients of k examples; whether the rule pauses after it."""
    G = math.sqrt(gradient.square()) / k
    counters.rows += k
    counters.accesses += k
    if counters.rows <= NATURAL_LENGTH_ROWS:
        counters.first_loss += loss_at_zero * k
        counters.first_gradient += G * k
    step = rule.step_size(G, loss_at_zero, natural_length(counters)) / k
    change = 0.0
    for e in range(gradient.found[0]):
        j = gradient.which[e]
        change += weights.shift(j, -step * gradient.v[j])
        plane[j] += gradient.v[j]
    weights.settle(change)
    gradient.clear()
    weights.end_shifts()
    paused = rule.finish_step()
    weights.end_step()
    return paused


class StructuredLoop(OnlineLoop):
    """The steps of one run on a structured problem."""

    def __init__(self, problem: Any, **options: Any) -> None:
        super().__init__(problem, **options, certify=False)
        self.plane = self.state.get("plane", np.zeros(problem.n + 1)).copy()
        self.plane_count = self.state.get("plane_count", 0)
        self.gradient = untouched(problem.n)

    def _forget_early_derivatives(self) -> None:
        if self.total_passes & (self.total_passes - 1) == 0 and self.total_passes > 1:
            self.plane[:], self.plane_count = 0.0, 0

    def run(self, chunk: Chunk, rule: UpdateRule, weights: OnlineWeights, order: np.ndarray) -> int:
        """Take steps on these examples of the chunk; returns the number of examples used, fewer than given if the rule paused."""
        # Two kernels a step, one for each model and one for each rule: compiling every pair of them would take minutes.
        self.passes, problem, done = chunk.passes, self.problem, 0
        while done < len(order):
            batch = order[done : done + self.batch]
            add_subgradients(problem.examples, problem.loss, chunk.s, batch, weights.v, weights.factor(), self.gradient, self.plane)
            done += len(batch)
            if take_step(rule, weights, self.gradient, self.plane, len(batch), self.counters, problem.loss_at_zero):
                break
        self.plane_count += done
        return done

    def iterate(self, w: np.ndarray, state: dict[str, Any]) -> Iterate:
        """What the solver yields: w with the lower bound of the mean plane, where every example has contributed equally often."""
        latest = super().iterate(w, {**state, "plane": self.plane, "plane_count": self.plane_count})
        even = self.plane_count and self.plane_count % self.problem.m == 0 and self.sampling != "replacement"
        if not even:
            return latest
        mean = self.plane / self.plane_count
        return latest._replace(lower_bound=self.problem.bound_of_plane(float(mean[-1]), mean[:-1]))


def loop_of(problem: Any, **options: Any) -> OnlineLoop:
    """The loop for a problem of rows or of structured examples."""
    return (StructuredLoop if problem.structured else OnlineLoop)(problem, **options)

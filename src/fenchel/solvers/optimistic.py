"""min_w λ/2·‖w‖² + (1/m) Σ_i s_i φ(<w, x_i>, y_i) by proximal subgradient steps with an optimistic guess of ‖w*‖

Algorithm 3 of Do, Le & Foo, *Proximal regularization for online and batch learning*, ICML 2009: the steps of ``proximal`` with
a small R to begin with, which grows when ‖w‖ comes near it.

    rule="printed"   R = min(1, √(P(0)/λ)), for the hinge the paper's min(1, 1/√λ); when ‖w_{t+1}‖ ≥ R − √(2ε/λ): R ← √2·R and a
                     new phase begins, w kept, λ_{1:t} and τ_{1:t} set to 0; G_t is the bound on subgradients over the data. The
                     first steps of a phase are about 2R/G long: they can cross the new R at once, and R then grows to 1/√λ.
    rule="robust"    (default) nothing is forgotten: R follows the largest ‖w‖ so far, from 10 natural lengths on, and τ_{1:t} is
                     scaled by R_old/R_new, to what it would be had the new R been used from the first step; G_t is the norm
                     of the subgradient, and R/2 stands for R in τ_t. Steps are then about R/√(2ΣG²) long where λ is
                     small, as in DoG (Ivgi, Hinder & Carmon 2023), and do not depend on the scale of the rows.

With ``epsilon`` = 0, as in the paper's experiments, a run goes on until its driver stops it. With ``epsilon`` > 0 a phase ends
after the smallest T with min(G²(1 + log T)/(δ'λT), 4RG/(δ'√T)) ≤ ε, δ' = δ/(3 − log₂ min(λ, 1)), without R having grown; then one
of its w_1, …, w_T, drawn uniformly, is within ε of optimal with probability 1 − δ (Theorem 4), and the run is over.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled
from fenchel.core.errors import Argument, InputError
from fenchel.core.validation import checked_choice, is_number
from fenchel.problems.objective import Chunk
from fenchel.problems.result import Iterate
from fenchel.solvers._online.subgradient_descent import (
    SubgradientRun,
    balancing,
    checked_radius,
    gradient_bound,
    natural_length,
    schedule_state,
)
from fenchel.solvers.declaration import ridge, solver

LENGTHS = 10.0  # the first R of rule="robust" in natural lengths, unless given
GROWTH = math.sqrt(2.0)  # the paper's factor between one R and the next
SQUARE_ROOT_OF_MOST_STEPS = 2.0**31  # no phase is longer than 2^62 steps, so that its length fits into an integer


@compiled
class Robust(NamedTuple):
    """R follows the largest ‖w‖, and τ_{1:t} follows R."""

    l2: float
    first: float  # R to begin with, or 0 for one taken from the data
    slack: float  # √(2ε/λ); with 0, R grows with ‖w‖ and no phase ends
    state: Any

    def step(self, G, ball_radius, natural_length):
        state = self.state
        R = min(ball_radius, max(state.R_wanted, self.first if self.first > 0.0 else LENGTHS * natural_length))
        if state.R > 0.0:
            state.tau_sum *= state.R / R
        state.R = R
        state.largest_R = ball_radius
        state.lambda_sum += self.l2
        state.tau_sum += balancing(state.lambda_sum + state.tau_sum, G, 0.5 * R)
        return 1.0 / (state.lambda_sum + state.tau_sum), 0.0

    def after(self, norm):
        state = self.state
        if self.slack <= 0.0:
            state.R_wanted = max(state.R_wanted, norm)
            return False
        if norm < state.R - self.slack or state.largest_R <= state.R:
            return False
        state.R_wanted = max(GROWTH * state.R, norm + self.slack)
        state.grew = 1.0
        return True


@compiled
class PrintedGrowth(NamedTuple):
    """R grows by √2, and every sum starts again from 0."""

    l2: float
    first: float
    slack: float
    state: Any

    def step(self, G, ball_radius, natural_length):
        state = self.state
        state.R = max(state.R_wanted, self.first if self.first > 0.0 else min(1.0, ball_radius))
        state.G = max(state.G, G)
        state.lambda_sum += self.l2
        state.tau_sum += balancing(state.lambda_sum + state.tau_sum, state.G, state.R)
        return 1.0 / (state.lambda_sum + state.tau_sum), 0.0

    def after(self, norm):
        state = self.state
        if norm < state.R - self.slack:
            return False
        state.R_wanted = GROWTH * state.R
        state.lambda_sum = 0.0
        state.tau_sum = 0.0
        state.grew = 1.0
        return self.slack > 0.0


RULES: dict[str, Any] = {"robust": Robust, "printed": PrintedGrowth}


@solver("optimistic", needs=(ridge,), online=True, structured=True)
def optimistic(
    problem: Any,
    *,
    start: Iterate | None,
    rng: np.random.Generator,
    accuracy: float,
    rule: str = "robust",
    radius: float | None = None,
    epsilon: float = 0.0,
    delta: float = 1.0,
    batch: int | str = "auto",
    sampling: str = "auto",
    predictor: str = "last",
) -> Generator[Iterate, None, str | None]:
    """Proximal subgradient steps with a guess of ‖w*‖ that grows as needed, for small or unknown λ: any loss, ridge penalty.

    ``radius`` is the R to begin with; ``epsilon`` and ``delta`` are those of Algorithm 3, none and 1 by default.
    """
    l2 = problem.regularizer.l2
    if not (is_number(epsilon) and is_number(delta) and 0.0 <= epsilon < math.inf and 0.0 < delta <= 1.0):
        raise InputError(
            Argument("epsilon", epsilon), ", ", Argument("delta", delta), ": give an epsilon that is not negative, and a delta in (0, 1]."
        )
    checked_choice("rule", rule, RULES)
    first, state = checked_radius(radius), schedule_state(problem, start)
    if rule == "printed" and problem.in_memory and hasattr(problem.loss, "lipschitz"):
        state.G = max(state.G, gradient_bound(problem, 'rule="printed"'))
    common: dict[str, Any] = {"start": start, "rng": rng, "batch": batch, "sampling": sampling}
    if epsilon == 0.0:
        yield from SubgradientRun(problem, RULES[rule](l2, first, 0.0, state), predictor=predictor, **common)
        return None
    G = gradient_bound(problem, "epsilon")
    first = first or (LENGTHS * natural_length(problem) if rule == "robust" else 1.0)
    state.R_wanted = max(state.R_wanted, min(first, math.sqrt(problem.objective_at_zero / l2)))
    run = PhasedRun(problem, RULES[rule](l2, first, math.sqrt(2.0 * epsilon / l2), state), epsilon, delta, G, **common)
    for chunk in run.loop.chunks():
        run.run(chunk)
        yield run.iterate()
        if run.done:
            break
    return "finished"


def steps_of_phase(epsilon: float, delta: float, l2: float, G: float, R: float) -> int:
    """The smallest T with min(G²(1 + log T)/(δλT), 4RG/(δ√T)) ≤ ε.

    >>> steps_of_phase(0.5, 1.0, 1.0, 1.0, 0.1)
    1
    """
    by_radius = max(1, math.ceil(min(4.0 * R * G / delta / epsilon, SQUARE_ROOT_OF_MOST_STEPS) ** 2))
    low, high = 0, 1
    while high < by_radius and G * G * (1.0 + math.log(high)) / (delta * l2 * high) > epsilon:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        enough = G * G * (1.0 + math.log(middle)) / (delta * l2 * middle) <= epsilon
        low, high = (low, middle) if enough else (middle, high)
    return min(high, by_radius)


class PhasedRun(SubgradientRun):
    """Phases whose length is fixed when they begin, as is the step whose w would be returned."""

    def __init__(
        self, problem: Any, schedule: Any, epsilon: float, delta: float, G: float, *, rng: np.random.Generator, **common: Any
    ) -> None:
        super().__init__(problem, schedule, rng=rng, predictor="last", **common)
        self.epsilon, self.phase_delta, self.G, self.rng = epsilon, delta / (3.0 - math.log2(min(self.l2, 1.0))), G, rng
        self.chosen_w = self.predictor.read()
        self.done = False
        phase = self.loop.state.get("phase")
        if phase is None:
            self.begin_phase()
        else:
            self.t, self.T, self.chosen = phase
            self.chosen_w = self.loop.state["chosen_w"].copy()

    def begin_phase(self) -> None:
        """Fix how long the phase will be, and which of its w to return."""
        self.schedule.state.grew = 0.0
        self.t, self.T = 0, steps_of_phase(self.epsilon, self.phase_delta, self.l2, self.G, self.schedule.state.R_wanted)
        self.chosen = int(self.rng.integers(1, self.T + 1))

    def run(self, chunk: Chunk) -> None:
        """Steps up to the one chosen, up to the end of the phase, or until R has grown."""
        rule, first = self.rule_for(chunk), 0
        while first < len(chunk.order) and not self.done:
            ahead = (self.chosen if self.t < self.chosen else self.T) - self.t
            rows = self.loop.run(chunk, rule, rule.weights, chunk.order[first : first + self.batch * ahead])
            first += rows
            self.t += math.ceil(rows / self.batch)
            if self.schedule.state.grew:
                self.begin_phase()
                continue
            if self.t == self.chosen:
                self.chosen_w = self.predictor.read()
            self.done = self.t >= self.T

    def iterate(self) -> Iterate:
        """The w drawn once the run is over; the last one until then."""
        latest = super().iterate()
        state = {**latest.state, "phase": (self.t, self.T, self.chosen), "chosen_w": self.chosen_w}
        return latest._replace(w=self.chosen_w.reshape(latest.w.shape) if self.done else latest.w, state=state)

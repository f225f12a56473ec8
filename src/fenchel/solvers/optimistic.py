"""min_w λ/2·‖w‖² + (1/m) Σ_i s_i φ(<w, x_i>, y_i) by proximal subgradient steps with an optimistic guess of ‖w*‖

Algorithm 3 of Do, Le & Foo, *Proximal regularization for online and batch learning*, ICML 2009: the steps of ``proximal`` with
a small R to begin with, which grows when ‖w‖ comes near it.

    rule="printed"   R = min(1, 1/√λ); when ‖w_{t+1}‖ ≥ R − √(2ε/λ): R ← √2·R and a new phase begins, w kept, λ_{1:t} and
                     τ_{1:t} forgotten; G_t is the bound on subgradients over the data. The first steps of a phase are about
                     2R/G long: they can cross the new R at once, and R then runs away to 1/√λ.
    rule="robust"    (default) nothing is forgotten: R follows the largest ‖w‖ so far, from 10 natural lengths on, and τ_{1:t} is
                     scaled by R_old/R_new, to what it would be had the new R been used from the first round; G_t is the norm
                     of the subgradient met, and R/2 stands for R in τ_t. Steps are then about R/√(2ΣG²) long where λ is
                     small, as in DoG (Ivgi, Hinder & Carmon 2023), and rows of any scale are met alike.

With ``epsilon`` = 0, as in the paper's experiments, a run goes on until its driver stops it. With ``epsilon`` > 0 a phase ends
after the smallest T with min(G²(1 + log T)/(δ'λT), 4RG/(δ'√T)) ≤ ε, δ' = δ/(3 − log₂ λ), without R having grown; then one
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
    GREW,
    LAMBDA,
    LIMIT,
    R_USED,
    R_WANTED,
    TAU,
    DescentRun,
    balancing,
    checked_radius,
    first_memory,
    natural_length,
    slope_bound,
)
from fenchel.solvers.declaration import ridge, solver

LENGTHS = 10.0
GROWTH = math.sqrt(2.0)
MOST_ROUNDS = 2.0**31  # the root of as many rounds as anyone will see


@compiled
class Robust(NamedTuple):
    """R follows the largest ‖w‖, and τ_{1:t} follows R."""

    l2: float
    first: float  # R to begin with, or 0 for one taken from the data
    slack: float  # √(2ε/λ); 0 leaves R free to grow a little at a time
    memory: np.ndarray

    def step(self, G, radius, r):
        R = min(radius, max(self.memory[R_WANTED], self.first if self.first > 0.0 else LENGTHS * r))
        if self.memory[R_USED] > 0.0:
            self.memory[TAU] *= self.memory[R_USED] / R
        self.memory[R_USED] = R
        self.memory[LIMIT] = radius
        self.memory[LAMBDA] += self.l2
        self.memory[TAU] += balancing(self.memory[LAMBDA] + self.memory[TAU], G, 0.5 * R)
        return 1.0 / (self.memory[LAMBDA] + self.memory[TAU]), 0.0

    def after(self, norm):
        if self.slack <= 0.0:
            self.memory[R_WANTED] = max(self.memory[R_WANTED], norm)
            return False
        if norm < self.memory[R_USED] - self.slack or self.memory[R_USED] >= self.memory[LIMIT]:
            return False
        self.memory[R_WANTED] = max(GROWTH * self.memory[R_USED], norm + self.slack)
        self.memory[GREW] = 1.0
        return True


@compiled
class PrintedGrowth(NamedTuple):
    """R grows by √2, and every sum starts anew."""

    l2: float
    first: float
    slack: float
    memory: np.ndarray

    def step(self, G, radius, r):
        self.memory[R_USED] = max(self.memory[R_WANTED], self.first if self.first > 0.0 else min(1.0, radius))
        self.memory[LIMIT] = max(self.memory[LIMIT], G)
        self.memory[LAMBDA] += self.l2
        self.memory[TAU] += balancing(self.memory[LAMBDA] + self.memory[TAU], self.memory[LIMIT], self.memory[R_USED])
        return 1.0 / (self.memory[LAMBDA] + self.memory[TAU]), 0.0

    def after(self, norm):
        if norm < self.memory[R_USED] - self.slack:
            return False
        self.memory[R_WANTED] = GROWTH * self.memory[R_USED]
        self.memory[LAMBDA] = 0.0
        self.memory[TAU] = 0.0
        self.memory[GREW] = 1.0
        return self.slack > 0.0


RULES = {"robust": Robust, "printed": PrintedGrowth}


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
    first, memory = checked_radius(radius), first_memory(problem, start)
    if rule == "printed" and problem.in_memory and hasattr(problem.loss, "lipschitz"):
        memory[LIMIT] = slope_bound(problem, 'rule="printed"')
    common: dict[str, Any] = {"start": start, "rng": rng, "batch": batch, "sampling": sampling}
    if epsilon == 0.0:
        yield from DescentRun(problem, RULES[rule](l2, first, 0.0, memory), predictor=predictor, **common)
        return None
    G = slope_bound(problem, "epsilon")
    first = first or (LENGTHS * natural_length(problem) if rule == "robust" else 1.0)
    memory[R_WANTED] = max(memory[R_WANTED], min(first, math.sqrt(problem.objective_at_zero / l2)))
    run = PhasedRun(problem, RULES[rule](l2, first, math.sqrt(2.0 * epsilon / l2), memory), epsilon, delta, G, **common)
    for chunk in run.game.chunks():
        run.play(chunk)
        yield run.iterate()
        if run.done:
            break
    return "finished"


def rounds_of_phase(epsilon: float, delta: float, l2: float, G: float, R: float) -> int:
    """The smallest T with min(G²(1 + log T)/(δλT), 4RG/(δ√T)) ≤ ε.

    >>> rounds_of_phase(0.5, 1.0, 1.0, 1.0, 0.1)
    1
    """
    by_radius = max(1, math.ceil(min(4.0 * R * G / delta / epsilon, MOST_ROUNDS) ** 2))
    low, high = 0, 1
    while high < by_radius and G * G * (1.0 + math.log(high)) / (delta * l2 * high) > epsilon:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        enough = G * G * (1.0 + math.log(middle)) / (delta * l2 * middle) <= epsilon
        low, high = (low, middle) if enough else (middle, high)
    return min(high, by_radius)


class PhasedRun(DescentRun):
    """Phases that end by themselves: in each, the round whose w will be returned is drawn when it begins."""

    def __init__(self, problem: Any, rule: Any, epsilon: float, delta: float, G: float, *, rng: np.random.Generator, **common: Any) -> None:
        super().__init__(problem, rule, rng=rng, predictor="last", **common)
        self.epsilon, self.delta, self.G, self.rng = epsilon, delta / (3.0 - math.log2(min(self.l2, 1.0))), G, rng
        self.kept = self.returned.weights()
        self.done = False
        phase = self.game.state.get("phase")
        if phase is None:
            self.begin_phase()
        else:
            self.t, self.T, self.chosen = phase
            self.kept = self.game.state["kept"].copy()

    def begin_phase(self) -> None:
        """Fix how long the phase will be, and which of its w to return."""
        self.rule.memory[GREW] = 0.0
        self.t, self.T = 0, rounds_of_phase(self.epsilon, self.delta, self.l2, self.G, self.rule.memory[R_WANTED])
        self.chosen = int(self.rng.integers(1, self.T + 1))

    def play(self, chunk: Chunk) -> None:
        """Rounds up to the one to return, up to the end of the phase, or until R has grown."""
        self.know(chunk)
        first = 0
        while first < len(chunk.order) and not self.done:
            ahead = (self.chosen if self.t < self.chosen else self.T) - self.t
            played = self.game.play(chunk, self.player, chunk.order[first : first + self.batch * ahead])
            first += played
            self.t += -(-played // self.batch)
            if self.rule.memory[GREW]:
                self.begin_phase()
                continue
            if self.t == self.chosen:
                self.kept = self.returned.weights()
            self.done = self.t >= self.T

    def iterate(self) -> Iterate:
        """The w drawn once the run is over; the last one until then."""
        latest = super().iterate()
        state = {**latest.state, "phase": (self.t, self.T, self.chosen), "kept": self.kept}
        return latest._replace(w=self.kept.reshape(latest.w.shape) if self.done else latest.w, state=state)

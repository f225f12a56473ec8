"""min_w (1/m) Σ_i s_i φ(<w, x_i>, y_i) + Ω(w) by the Primal Gradient Solver

Figure 1 of Zhu, Chen, Zhu, Wang, Wang & Chen, *Inverse Time Dependency in Convex Regularized Learning*, ICDM 2009, for
Ω = σ/(2(p−1))·‖w‖_p² on R^n or on the ball ‖w‖_p ≤ B, and as well for every other strongly convex Ω of the package:

    λ ← 0, w_0 ← 0;   for t = 1, 2, …:   draw k rows A_t;   λ ← λ − ∂g_t(w_{t−1}),  g_t the mean loss on A_t
                                         w_t ← ∇Ω*(λ/(t+1))

Returned is the last w_t, a uniformly random one (the one the paper's Theorem 1 speaks of), the average of all, or of about
the last half. The paper pays O(dk + n) a step for p < 2. Here a step costs O(dk), projection included, for every p: see
:mod:`fenchel.leaders`. The entropy is the exception: there a step costs O(n), and k = n/d by default, as in section VII.

For hinge loss, p = 2 and while its projection is idle, Pegasos takes the same steps with the divisor t in place of t + 1
(``divisor="t"``). With the ball active the two differ: Pegasos goes on from the projected point, while here λ is kept as it
is and only what is predicted with is projected.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from fenchel.compiled import compiled
from fenchel.leaders import WholeLeader, advance, averaged, leader_of, read_total
from fenchel.online import AT_ZERO, ROWS, Game, checked_batch, checked_choice, checked_sampling, weights_now
from fenchel.result import Iterate
from fenchel.solvers.base import bounded_slopes, has_bounded_slopes, solver, strongly_convex_regularizer

DIVISORS = {"t+1": 1.0, "t": 0.0}
AVERAGING = ("average", "suffix")
STARTED = 10_000.0  # rows that weights given as a start count for, where it is not known how many they were learnt from


@compiled
class WholeSpace(NamedTuple):
    """S = R^n: losses with bounded slopes need no ball."""

    def confines(self):
        return False

    def radius(self, loss_at_zero):
        return math.inf


@compiled
class Ball(NamedTuple):
    """S = {‖w‖_p ≤ B}: large enough for the minimiser, by section IV, and slopes on it are bounded for every loss."""

    regularizer: Any

    def confines(self):
        return True

    def radius(self, loss_at_zero):
        return self.regularizer.radius_of_minimiser(loss_at_zero)


@compiled
class PrimalGradient(NamedTuple):
    """The player of Figure 1: λ takes every subgradient as it is, and w is the leader after t rounds."""

    leader: Any
    v: np.ndarray  # λ
    domain: Any
    clock: np.ndarray  # t, and what is added to it in the divisor

    def raw(self, j):
        return self.leader.raw(j)

    def factor(self):
        return self.leader.factor()

    def shift(self, j, delta):
        return self.leader.shift(j, delta)

    def settle(self, change):
        self.leader.settle(change)

    def confined(self):
        return self.domain.confines()

    def size(self, i, slope):
        return 0.0

    def begin(self, G):
        return 1.0

    def end(self, loss_at_zero):
        self.clock[0] += 1.0
        self.leader.advance(1.0 / (self.clock[0] + self.clock[1]), self.domain.radius(loss_at_zero))


@solver("pgs", needs=(strongly_convex_regularizer, bounded_slopes), online=True)
def pgs(
    problem: Any,
    *,
    start: Iterate | None,
    rng: np.random.Generator,
    accuracy: float,
    batch: int | str = "auto",
    sampling: str = "blocks",
    predictor: str = "last",
    divisor: str = "t+1",
) -> Iterator[Iterate]:
    """The primal gradient solver: one row a step at O(non-zeros), for every strongly convex regularizer but the entropy."""
    checked_choice("predictor", predictor, PREDICTORS)
    checked_choice("divisor", divisor, DIVISORS)
    state = {} if start is None else start.state
    player = first_player(problem, start, DIVISORS[divisor], predictor in AVERAGING)
    k = checked_batch(batch, automatic_batch(problem, player))
    game = Game(problem, batch=k, sampling=checked_sampling(sampling), rng=rng, start=start)
    returned = PREDICTORS[predictor](player, rng, state)
    for chunk in game.chunks():
        for part in returned.parts(chunk.order, k):
            game.play(chunk, player, part)
            returned.note()
        yield game.iterate(returned.weights(), {"lambda": player.v, "t": player.clock[0], **returned.state()})


def first_player(problem: Any, start: Iterate | None, offset: float, averaging: bool) -> PrimalGradient:
    """The player at λ = 0, at the start's own λ, or at one that gives the start's weights."""
    state = {} if start is None else start.state
    t, v = 0.0, np.zeros(math.prod(problem.shape))
    if "lambda" in state:
        t, v = state["t"], state["lambda"].copy()
    elif start is not None:
        t = float(problem.m) if problem.in_memory else STARTED
        v = (t + offset) * problem.penalty_gradient(start.w).reshape(-1)
    confined = not has_bounded_slopes(problem)
    leader = leader_of(problem.regularizer, v, confined)
    domain = Ball(leader.coupled.regularizer) if confined else WholeSpace()
    tally = state.get("tally")
    advance(leader, 1.0 / max(t + offset, 1.0), math.inf if tally is None else domain.radius(tally[AT_ZERO] / tally[ROWS]))
    if averaging:
        leader = averaged(leader, state.get("total", np.zeros_like(v)).copy())
    return PrimalGradient(leader, v, domain, np.array([t, offset]))


def automatic_batch(problem: Any, player: PrimalGradient) -> int:
    """One row a step; as many as cost what the rest of the step does where that is O(n)."""
    leader = getattr(player.leader, "leader", player.leader)
    return max(1, round(problem.n / problem.density)) if isinstance(leader, WholeLeader) else 1


class Last:
    """Return the last w_t."""

    next_mark = math.inf  # the round after which ``mark`` has something to do

    def __init__(self, player: PrimalGradient, rng: np.random.Generator, state: dict[str, Any]) -> None:
        self.player, self.rng = player, rng

    @property
    def t(self) -> int:
        """Rounds so far."""
        return int(self.player.clock[0])

    def parts(self, order: np.ndarray, k: int) -> Iterator[np.ndarray]:
        """The rows, cut where a round ends that is marked."""
        first = 0
        while first < len(order):
            last = len(order) if math.isinf(self.next_mark) else min(len(order), first + k * (int(self.next_mark) - self.t))
            yield order[first:last]
            first = last

    def note(self) -> None:
        """See whether the round just played is marked."""
        if self.t >= self.next_mark:
            self.mark()

    def mark(self) -> None:
        """Take down what is needed of a marked round."""

    def weights(self) -> np.ndarray:
        """What to predict with after the rounds so far."""
        return weights_now(self.player)

    def state(self) -> dict[str, Any]:
        """What is needed to go on."""
        return {}


class Random(Last):
    """Return one of w_1, …, w_t with equal probability, whatever t will be: w_s replaces the one kept with probability 1/s."""

    def __init__(self, player: PrimalGradient, rng: np.random.Generator, state: dict[str, Any]) -> None:
        super().__init__(player, rng, state)
        self.next_mark = state.get("next_mark", self.t + 1)
        self.kept = state.get("kept", weights_now(player)).copy()

    def mark(self) -> None:
        self.kept = weights_now(self.player)
        # The next replacement comes after s with probability t/s, and log T replacements are all there will be.
        self.next_mark = math.floor(self.t / (1.0 - self.rng.random())) + 1

    def weights(self) -> np.ndarray:
        return self.kept

    def state(self) -> dict[str, Any]:
        return {"next_mark": self.next_mark, "kept": self.kept}


class Average(Last):
    """Return the average of w_1, …, w_t."""

    def weights(self) -> np.ndarray:
        return np.asarray(read_total(self.player.leader)) / max(self.t, 1)

    def state(self) -> dict[str, Any]:
        return {"total": np.asarray(read_total(self.player.leader))}


class Suffix(Average):
    """Return the average since the last power of two but one: of between a half and three quarters of all rounds."""

    def __init__(self, player: PrimalGradient, rng: np.random.Generator, state: dict[str, Any]) -> None:
        super().__init__(player, rng, state)
        none = np.zeros_like(player.v)
        self.next_mark = state.get("next_mark", 1)
        self.since, self.total = state.get("since", 0), state.get("suffix_total", none).copy()
        self.since_newer, self.newer = state.get("since_newer", 0), state.get("newer_total", none).copy()

    def mark(self) -> None:
        self.since, self.total = self.since_newer, self.newer
        self.since_newer, self.newer = self.t, np.asarray(read_total(self.player.leader))
        self.next_mark = 2 * self.t

    def weights(self) -> np.ndarray:
        return (np.asarray(read_total(self.player.leader)) - self.total) / max(self.t - self.since, 1)

    def state(self) -> dict[str, Any]:
        mine = {"since": self.since, "suffix_total": self.total, "since_newer": self.since_newer, "newer_total": self.newer}
        return {**super().state(), **mine, "next_mark": self.next_mark}


PREDICTORS = {"last": Last, "random": Random, "average": Average, "suffix": Suffix}

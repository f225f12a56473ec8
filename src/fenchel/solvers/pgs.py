"""min_w (1/m) Σ_i s_i φ(<w, x_i>, y_i) + Ω(w) by the Primal Gradient Solver

Figure 1 of Zhu, Chen, Zhu, Wang, Wang & Chen, *Inverse Time Dependency in Convex Regularized Learning*, ICDM 2009, for
Ω = σ/(2(p−1))·‖w‖_p² on R^n or on the ball ‖w‖_p ≤ B, and as well for every other strongly convex Ω of the package:

    λ ← 0, w_0 ← 0;   for t = 1, 2, …:   draw k rows A_t;   λ ← λ − ∂g_t(w_{t−1}),  g_t the mean loss on A_t
                                         w_t ← ∇Ω*(λ/(t+1))

Returned is the last w_t, a uniformly random one (the one the paper's Theorem 1 speaks of), the average of all, or of about
the last half. The paper pays O(dk + n) a step for p < 2. Here a step costs O(dk), projection included, for every p: see
:mod:`fenchel.solvers._online.dual_averaging`. The entropy is the exception: there a step costs O(n), and k = n/d by default, as in
section VII.

For hinge loss, p = 2 and while its projection is idle, Pegasos takes the same steps with the divisor t in place of t + 1
(``divisor="t"``). With the ball active the two differ: Pegasos goes on from the projected point, while here λ is kept as it
is and only what is predicted with is projected.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled
from fenchel.core.errors import Argument, InputError
from fenchel.core.validation import checked_choice
from fenchel.problems.result import Iterate
from fenchel.solvers._online.averaging import predictor_of
from fenchel.solvers._online.dual_averaging import LinearLeader, advance, leader_of
from fenchel.solvers._online.online_loop import AT_ZERO, ROWS, STARTED, Game, checked_batch
from fenchel.solvers._online.strength_search import Candidate, Lanes, Race, Separate
from fenchel.solvers.declaration import bounded_slopes, has_bounded_slopes, solver, strongly_convex_regularizer

SAMPLED = 256  # rows whose norms stand for all
DIVISORS = {"t+1": 1.0, "t": 0.0}


@compiled
class WholeSpace(NamedTuple):
    """S = R^n: losses with bounded slopes need no ball."""

    def confines(self):
        return False

    def radius(self, P0):
        return math.inf


@compiled
class Ball(NamedTuple):
    """S = {‖w‖_p ≤ B}: large enough for the minimiser, by section IV, and slopes on it are bounded for every loss."""

    regularizer: Any

    def confines(self):
        return True

    def radius(self, P0):
        return self.regularizer.radius_of_minimiser(P0)


@compiled
class PrimalGradient(NamedTuple):
    """The player of Figure 1: λ takes every subgradient as it is, and w is the leader after t rounds."""

    leader: Any
    v: np.ndarray  # λ
    domain: Any
    clock: np.ndarray  # t, what is added to it in the divisor, the radius of S

    def raw(self, j):
        return self.leader.raw(j)

    def factor(self):
        return self.leader.factor()

    def shift(self, j, delta):
        return self.leader.shift(j, delta)

    def settle(self, change):
        self.leader.settle(change)

    def factors(self):
        return self.leader.factors()

    def outdated(self, change):
        return self.leader.outdated(change)

    def refresh(self):
        self.leader.refresh()

    def renews(self):
        return False

    def confined(self):
        return self.domain.confines()

    def size(self, i, slope):
        return 0.0

    def begin(self, G, P0, r):
        self.clock[2] = self.domain.radius(P0)
        return 1.0

    def end(self):
        self.clock[0] += 1.0
        self.leader.advance(1.0 / (self.clock[0] + self.clock[1]), self.clock[2])
        return False


@solver("pgs", needs=(strongly_convex_regularizer, bounded_slopes), online=True)
def pgs(
    problem: Any,
    *,
    start: Iterate | None,
    rng: np.random.Generator,
    accuracy: float,
    batch: int | str = "auto",
    sampling: str = "auto",
    predictor: str = "auto",
    divisor: str = "t+1",
    strength: str | None = None,
) -> Iterator[Iterate]:
    """The primal gradient solver: one row a step at O(non-zeros), for every strongly convex regularizer but the entropy.

    ``strength="auto"`` has the regularizer of the problem multiplied by whatever serves prediction best, found during the first
    pass (:mod:`fenchel.solvers._online.strength_search`), and by default returns the average over a suffix, as the
    last iterate is noisy at small strengths.
    """
    offset = DIVISORS[checked_choice("divisor", divisor, DIVISORS)]
    if predictor == "auto":
        predictor = "suffix" if strength == "auto" and problem.in_memory else "last"
    settings: dict[str, Any] = {"batch": checked_batch(batch, automatic_batch(problem)), "sampling": sampling, "rng": rng}
    if strength is not None and not (isinstance(strength, str) and strength == "auto"):
        raise InputError(Argument("strength", strength), ': only "auto" goes here, a strength of your own belongs into the regularizer.')
    if strength is not None:
        if start is None or start.regularizer is None:
            yield from choosing_strength(problem, start, offset, predictor, settings)
            return
        problem = problem.replace(regularizer=start.regularizer)
    yield from run_pgs(problem, start, offset, predictor, settings)


def run_pgs(problem: Any, start: Iterate | None, offset: float, predictor: str, settings: dict[str, Any]) -> Iterator[Iterate]:
    """Figure 1, from wherever the start has it."""
    player = first_player(problem, start, offset)
    game = Game(problem, start=start, **settings)
    returned = predictor_of(predictor, player, game.rng, game.state)
    for chunk in game.chunks():
        for part in returned.parts(chunk.order, game.batch):
            game.play(chunk, returned.player, part)
        del chunk
        yield game.iterate(returned.weights(), {"lambda": player.v, "t": player.clock[0], **returned.state()})


def choosing_strength(problem: Any, start: Iterate | None, offset: float, predictor: str, settings: dict[str, Any]) -> Iterator[Iterate]:
    """The first pass with several strengths side by side, then on with the best; on a stream, the best so far all along."""
    unit = unit_strength(problem) / problem.regularizer.strong_convexity()
    source = Game(problem, start=start, **settings)
    averaging = predictor == "suffix" and problem.in_memory

    def candidate(exponent: float, of: Candidate | None = None) -> Candidate:
        mine = problem.replace(regularizer=problem.regularizer.times(unit * 2.0**exponent))
        begin = start if of is None else of.iterate(scale=2.0 ** (exponent - of.exponent))
        game = Game(mine, start=begin, certify=False, **{**settings, "rng": settings["rng"].spawn(1)[0]})
        return Candidate(mine, exponent, first_player(mine, begin, offset), game, "last" if averaging else predictor)

    alone = problem.in_memory and start is None and source.batch == 1 and predictor in ("last", "suffix") and not problem.vector_valued
    field = Lanes(problem, unit, offset) if alone and is_linear(problem) else Separate(candidate, problem.threads)
    race = Race(field, source.batch)
    if not problem.in_memory:
        for leader in race.on_stream(source.chunks()):
            yield field.iterate(leader)
        return
    first = field.iterate(race.in_memory(source.chunks(), problem.m, averaging))._replace(passes=1.0)
    yield first
    for later in run_pgs(problem.replace(regularizer=first.regularizer), first, offset, predictor, settings):
        yield later._replace(passes=later.passes + 1.0, accesses=later.accesses + first.accesses)


def is_linear(problem: Any) -> bool:
    """Whether w is a multiple of λ."""
    return isinstance(leader_of(problem.regularizer, np.zeros(1), not has_bounded_slopes(problem)), LinearLeader)


def unit_strength(problem: Any) -> float:
    """R²/m, R² the mean of ‖x‖²: strengths are powers of two times it."""
    sample = problem.sample()
    some = np.linspace(0, len(sample.y) - 1, min(len(sample.y), SAMPLED)).astype(np.int64)
    order = 2.0 if problem.regularizer.separable else problem.regularizer.dual_order()
    square = float(np.mean(sample.s[some] * sample.design.row_norms(order, some) ** 2))
    return (square if square > 0.0 else 1.0) / (problem.m if problem.in_memory else STARTED)


def first_player(problem: Any, start: Iterate | None, offset: float) -> PrimalGradient:
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
    return PrimalGradient(leader, leader.v, domain, np.array([t, offset, math.inf]))


def automatic_batch(problem: Any) -> int:
    """One row a step; as many as cost what the rest of the step does where that is O(n)."""
    whole = not (problem.regularizer.separable or hasattr(problem.regularizer, "factor_of_multiple"))
    return max(1, round(problem.n / problem.density)) if whole else 1

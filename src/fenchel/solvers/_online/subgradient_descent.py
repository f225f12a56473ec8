"""Projected subgradient steps on λ-strongly convex games: w_{t+1} = Π_S[w_t − η_t g_t]

Algorithm 1 of Do, Le & Foo, *Proximal regularization for online and batch learning*, ICML 2009, where in round t

    g_t ∈ ∂f_t(w_t),   f_t(w) = λ/2·‖w‖² + ℓ_t(w),   S = {‖w‖ ≤ √(P(0)/λ)}

S holds the minimiser of every mean loss that is nowhere negative: λ‖w*‖² ≤ P(0) − mean loss, for P(w*) = D(α*) and
−φ*(−α) ≤ φ(0). For the hinge it is Pegasos' ball of radius 1/√λ.

A *rule* gives the step sizes, and is all that the methods differ in:

    step(G, radius, r)  with ‖g_t‖ ≤ G, the radius of S and the natural length r = mean φ(0) / mean ‖φ'(0)·x‖ of w:
                        the step size η_t, and τ_t where the round also pulls w towards 0 with τ_t·w
    after(norm)         with ‖w_{t+1}‖: what ends the round; whether to pause

and keeps λ_{1:t} and τ_{1:t} in its ``memory``. r makes a rule indifferent to the scale of the rows.

``descend`` plays any oracle of subgradients. ``SubgradientState`` is the same for linear models, where the rows touched and two
numbers are all that changes in a round: w = scale·u.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled, kernel
from fenchel.core.errors import Argument, InputError
from fenchel.core.numeric import TINY
from fenchel.core.validation import is_number
from fenchel.linalg.weights import SHRUNK
from fenchel.problems.objective import Chunk
from fenchel.problems.result import Iterate
from fenchel.problems.sums import sum_losses
from fenchel.solvers._online.averaging import predictor_of
from fenchel.solvers._online.online_loop import STARTED, checked_batch
from fenchel.solvers._online.structured_loop import game_of

SMALL_SCALE = 1e-30  # below, the scale is multiplied into u
NO_SCALE = 1e-60  # what stands in for a factor of 0: nothing is left of w, and u need not be cleared
SCALE, SQUARE, PEAK, RADIUS = range(4)  # what a Descent keeps: its scale, ‖u‖² and the largest it has been, the radius of S


@compiled
def balancing(curvature, G, R):
    """The τ ≥ 0 with τ(curvature + τ) = (G/2R)²: ½(√(c² + G²/R²) − c), without taking nearly equal numbers from each other."""
    a = G / max(R, TINY)
    return 0.5 * a * (a / (curvature + math.hypot(curvature, a))) if a > 0.0 else 0.0


@compiled
class SubgradientState(NamedTuple):
    """The player at w = scale·u, with ‖w‖ kept up to date."""

    rule: Any
    l2: float
    v: np.ndarray  # u
    norms: np.ndarray  # ‖x_i‖
    now: np.ndarray

    def raw(self, j):
        return self.v[j]

    def factor(self):
        return self.now[SCALE]

    def shift(self, j, delta):
        old = self.v[j]
        self.v[j] = old + delta
        return delta * (2.0 * old + delta)

    def settle(self, change):
        self.now[SQUARE] += change
        self.now[PEAK] = max(self.now[PEAK], self.now[SQUARE])
        if not self.now[SQUARE] >= SHRUNK * self.now[PEAK]:
            self.refresh_square()

    def refresh_square(self):
        total = 0.0
        for j in range(self.v.shape[0]):
            total += self.v[j] * self.v[j]
        self.now[SQUARE] = total
        self.now[PEAK] = total

    def norm(self):
        return self.now[SCALE] * math.sqrt(self.now[SQUARE])

    def factors(self):
        return True

    def outdated(self, change):
        self.settle(change)
        return False

    def refresh(self):
        pass

    def confined(self):
        return True

    def size(self, i, slope):
        return abs(slope) * self.norms[i]

    def renews(self):
        return self.now[SCALE] < SMALL_SCALE

    def begin(self, G, P0, r):
        if self.renews():
            for j in range(self.v.shape[0]):
                self.v[j] *= self.now[SCALE]
            self.now[SCALE] = 1.0
            self.refresh_square()
        self.now[RADIUS] = math.sqrt(P0 / self.l2) if P0 > 0.0 else math.inf  # nothing but rows without a loss so far
        eta, tau = self.rule.step(G + self.l2 * self.norm(), self.now[RADIUS], r)
        self.now[SCALE] *= max(1.0 - eta * (self.l2 + tau), NO_SCALE)
        return eta / self.now[SCALE]

    def end(self):
        norm = self.norm()
        if norm > self.now[RADIUS]:
            self.now[SCALE] *= self.now[RADIUS] / norm
            norm = self.now[RADIUS]
        return self.rule.after(norm)


@kernel
def refresh_square(player):
    player.refresh_square()


def descend(
    oracle: Callable[[np.ndarray], np.ndarray], rule: Any, l2: float, w: np.ndarray, radius: float = math.inf, length: float = 1.0
) -> Iterator[np.ndarray]:
    """The same steps for any oracle: ``oracle(w)`` is a subgradient at w of a loss drawn for the round.

    >>> from fenchel.solvers.pegasos import Pegasos
    >>> steps = descend(lambda w: np.array([-1.0]), Pegasos(0.5, np.zeros(1)), 0.5, np.zeros(1))
    >>> [float(next(steps)[0]) for _ in range(2)]
    [2.0, 2.0]
    """
    while True:
        g = oracle(w)
        eta, tau = rule.step(float(np.linalg.norm(g)) + l2 * float(np.linalg.norm(w)), radius, length)
        w = w - eta * ((l2 + tau) * w + g)
        norm = float(np.linalg.norm(w))
        if norm > radius:
            w, norm = w * (radius / norm), radius
        rule.after(norm)
        yield w


class DescentRun:
    """A run of the steps above on a problem or a stream, with the rule of one method."""

    def __init__(
        self, problem: Any, rule: Any, *, start: Iterate | None, rng: np.random.Generator, batch: int | str, sampling: str, predictor: str
    ) -> None:
        self.problem, self.rule, self.l2 = problem, rule, problem.regularizer.l2
        self.batch = checked_batch(batch)
        self.game = game_of(problem, batch=self.batch, sampling=sampling, rng=rng, start=start)
        state = self.game.state
        u = np.zeros(math.prod(problem.shape)) if start is None else state.get("u", start.w.reshape(-1)).copy()
        now = state.get("now", np.array([1.0, 0.0, 0.0, math.inf])).copy()
        if "rule" in state:
            rule.memory[:] = state["rule"]
        self.player = SubgradientState(rule, self.l2, u, np.zeros(0), now)
        refresh_square(self.player)
        self.returned = predictor_of(predictor, self.player, rng, state)

    def __iter__(self) -> Iterator[Iterate]:
        for chunk in self.game.chunks():
            self.play(chunk)
            del chunk
            yield self.iterate()

    def play(self, chunk: Chunk) -> None:
        """The rounds of one chunk."""
        self.know(chunk)
        for part in self.returned.parts(chunk.order, self.batch):
            self.game.play(chunk, self.returned.player, part)

    def know(self, chunk: Chunk) -> None:
        """Have the player know the norms of a chunk's rows."""
        player = self.player._replace(norms=norms_of(self.problem, chunk))
        wrapped = self.returned.player is not self.player
        self.returned.player = self.returned.player._replace(player=player) if wrapped else player
        self.player = player
        refresh_square(player)  # bounds the drift of ‖u‖²

    def iterate(self) -> Iterate:
        """What the solver yields."""
        mine = {"u": self.player.v, "now": self.player.now, "rule": self.rule.memory}
        return self.game.iterate(self.returned.weights(), {**mine, **self.returned.state()})


LAMBDA, TAU, R_USED, R_WANTED, GREW, LIMIT = range(6)  # what the memory of a rule holds; each uses what it needs of it


def first_memory(problem: Any, start: Iterate | None) -> np.ndarray:
    """The memory of a rule before the first round; weights given as a start count for the rounds of one pass, or of 10,000 rows."""
    memory = np.zeros(6)
    if start is not None and "rule" not in start.state:
        rounds = float(problem.m) if problem.in_memory else STARTED
        norm = float(np.linalg.norm(start.w))
        _, slope = at_zero(problem)
        memory[LAMBDA] = rounds * problem.regularizer.l2
        memory[TAU] = slope * math.sqrt(rounds) / max(norm, natural_length(problem))
        memory[R_WANTED] = norm
    return memory


def natural_length(problem: Any) -> float:
    """r = mean φ(0) / mean ‖φ'(0)·x‖: how long w has to be to do away with a loss."""
    loss, slope = at_zero(problem)
    return loss / slope if slope > 0.0 else 1.0


def at_zero(problem: Any) -> tuple[float, float]:
    """The means of φ(0, y) and of ‖φ'(0, y)·x‖, over the first chunk of a stream."""
    if problem.structured:
        return problem.at_zero
    sample = problem.sample()
    m = len(sample.y)
    zero = np.zeros((m, problem.outputs) if problem.vector_valued else m)
    slopes = np.linalg.norm(problem.slopes(zero, sample.y).reshape(m, -1), axis=1)
    loss = float(sum_losses(problem.loss, zero, sample.y, sample.s)) / m
    return loss, float(np.mean(sample.s * norms_of(problem, sample) * slopes))


def norms_of(problem: Any, chunk: Chunk) -> np.ndarray:
    """‖x_i‖ of a chunk's rows; those in memory are computed once. Examples have none: their subgradients are measured as they are met."""
    if problem.structured:
        return np.zeros(0)
    return np.asarray(problem.row_norms if problem.in_memory else chunk.design.row_norms())


def slope_bound(problem: Any, option: str) -> float:
    """G: no subgradient on S is longer, for a Lipschitz loss on rows in memory."""
    if not (problem.in_memory and hasattr(problem.loss, "lipschitz")):
        raise InputError(f"{option} needs a bound on every subgradient: a loss with bounded slopes, and rows in memory.")
    rows = float((problem.m * problem.row_weights * problem.row_norms).max())
    return float(problem.loss.lipschitz()) * rows + math.sqrt(problem.regularizer.l2 * problem.objective_at_zero)


def checked_radius(radius: Any) -> float:
    """R as given, or 0 for one that is taken from the data."""
    if radius is None:
        return 0.0
    if not (is_number(radius) and 0.0 < radius < math.inf):
        raise InputError(Argument("radius", radius), ": give a positive number, a guess of the norm of the solution, or None.")
    return float(radius)

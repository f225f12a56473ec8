"""The same game on examples that are decoded: a round meets the losses ℓ_i of a structured problem

A whole pass visits every example once, wherever w was at the time: the mean of the planes met, ℓ(w) ≥ b + <a, w>, lies under the
mean loss, and proves a lower bound that gets tight as w settles.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fenchel.core.compiled import kernel
from fenchel.linalg.weights import untouched
from fenchel.problems.objective import Chunk
from fenchel.problems.result import Iterate
from fenchel.solvers._online.online_loop import ACCESSES, FIRST_LOSS, FIRST_ROWS, FIRST_SLOPE, ROWS, Game


@kernel
def meet(examples, loss, s, batch, u, scale, slope, plane):
    """Add the subgradients at w = scale·u of a batch of examples to ``slope``, and the heights of their planes at 0 to plane[n]."""
    for i in batch:
        d = np.empty(examples.parts(i))
        value = loss.slope(examples, i, u, scale, d)
        plane[plane.shape[0] - 1] += s[i] * (value - scale * examples.dot(i, d, u))
        examples.add(i, s[i], d, slope)


@kernel
def take_step(player, slope, plane, k, tally, at_zero):
    """The step of a round that met k examples; whether the player pauses after it."""
    G = math.sqrt(slope.square()) / k
    tally[ROWS] += k
    tally[ACCESSES] += k
    if tally[ROWS] <= FIRST_ROWS:
        tally[FIRST_LOSS] += at_zero * k
        tally[FIRST_SLOPE] += G * k
    step = player.begin(G, at_zero, tally[FIRST_LOSS] / tally[FIRST_SLOPE] if tally[FIRST_SLOPE] > 0.0 else 1.0) / k
    change = 0.0
    for e in range(slope.found[0]):
        j = slope.which[e]
        change += player.shift(j, -step * slope.v[j])
        plane[j] += slope.v[j]
    player.settle(change)
    slope.clear()
    return player.end()


class DecodingGame(Game):
    """The rounds of one run on a structured problem."""

    def __init__(self, problem: Any, **options: Any) -> None:
        super().__init__(problem, **options, certify=False)
        self.plane = self.state.get("plane", np.zeros(problem.n + 1)).copy()
        self.planes = self.state.get("planes", 0)
        self.slope = untouched(problem.n)

    def _forget_early_slopes(self) -> None:
        if self.total_passes & (self.total_passes - 1) == 0 and self.total_passes > 1:
            self.plane[:], self.planes = 0.0, 0

    def play(self, chunk: Chunk, player: Any, order: np.ndarray) -> int:
        """Play examples of the chunk; how many, until the player paused."""
        # Two kernels a round, one for each model and one for each player: their products would take minutes to compile.
        self.passes, problem, done = chunk.passes, self.problem, 0
        at_zero = problem.loss_at_zero
        while done < len(order):
            batch = order[done : done + self.batch]
            meet(problem.examples, problem.loss, chunk.s, batch, player.v, player.factor(), self.slope, self.plane)
            done += len(batch)
            if take_step(player, self.slope, self.plane, len(batch), self.tally, at_zero):
                break
        self.planes += done
        return done

    def iterate(self, w: np.ndarray, state: dict[str, Any]) -> Iterate:
        """What the solver yields: w with the bound of the planes met, where every example gave as many."""
        latest = super().iterate(w, {**state, "plane": self.plane, "planes": self.planes})
        even = self.planes and self.planes % self.problem.m == 0 and self.sampling != "replacement"
        bound = self.problem.bound_of_plane(float(self.plane[-1]) / self.planes, self.plane[:-1] / self.planes) if even else -math.inf
        return latest._replace(lower_bound=bound)


def game_of(problem: Any, **options: Any) -> Game:
    """The game that a problem's rows or examples make."""
    return (DecodingGame if problem.structured else Game)(problem, **options)

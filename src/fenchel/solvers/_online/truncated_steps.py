"""Gradient steps with truncation, min_w (1/m) Σ_i s_i φ(<w, x_i>, y_i) + σ‖w‖₁: what SMIDAS and TRUNCGRAD have in common

    θ ← θ − η∂g_t(w);   θ_j ← sign(θ_j)·max(0, |θ_j| − ησ) for all j;   w ← f⁻¹(θ),   f = ∇(½‖·‖_q²),  1/p + 1/q = 1

The paper, and what is proven about η: :mod:`fenchel.solvers._online.step_size`. Rounds, order of the rows and weights to return are
those of every online method.

A method is a player of :mod:`fenchel.solvers._online.online_loop` with η in ``now[ETA]`` and

    rest()      bring every coordinate up to date, so that v is all there is to know, and η may change
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fenchel.core.compiled import kernel
from fenchel.core.validation import checked_choice
from fenchel.linalg.weights import read_weights
from fenchel.problems.objective import Chunk
from fenchel.problems.result import Iterate
from fenchel.solvers._online.averaging import PREDICTORS, predictor_of
from fenchel.solvers._online.online_loop import ACCESSES, LOSS, ROWS, Game, checked_batch
from fenchel.solvers._online.step_size import StepSize, checked_eta, checked_rest

ETA = 0  # where a player's ``now`` has its η
SCHEDULES = ("auto", "constant", "decreasing")
WINDOW = 1024.0  # rounds of the first window in which progress is judged
PROGRESS = 1e-3  # by what share the objective met has to fall from one half of a window to the other
LOOKS = 8  # at the penalty, in each half
# When the window began, looks taken in it, the objective met in its first half; penalty so far, loss and rows before this half.
BEGIN, LOOK, HALF, PENALTY, PAST_LOSS, PAST_ROWS = range(6)


@kernel
def rest(player):
    """Bring every coordinate up to date."""
    player.rest()


class TruncationRun:
    """A run of either method on a problem or a stream; ``first_player`` and ``size``: see :class:`.step_size.StepSize`."""

    def __init__(
        self,
        problem: Any,
        first_player: Callable[[np.ndarray, float], Any],
        size: Callable[[Chunk], np.ndarray],
        p: float,
        *,
        start: Iterate | None,
        rng: np.random.Generator,
        batch: int | str,
        sampling: str,
        predictor: str,
        eta: float | str,
        schedule: str,
        norm: float | None,
        steps: int | None,
        K: float | None,
    ) -> None:
        self.problem, self.batch = problem, checked_batch(batch)
        checked_choice("schedule", schedule, SCHEDULES)
        checked_choice("predictor", predictor, PREDICTORS)  # before trials take their time
        eta = checked_eta(eta)
        checked_rest(eta, norm, steps, K)
        self.game = game = Game(problem, batch=self.batch, sampling=sampling, rng=rng, start=start)
        self.falling = schedule == "decreasing" or (schedule == "auto" and eta == "auto")
        game.judge = game.judge or self.falling
        if problem.in_memory and not game.played.size and hasattr(problem.loss, "conjugate"):
            # The lasso has no curvature: the bound from one w is off by its noise, not by the square of it, and slopes want averaging.
            game.played, game.visits = np.zeros(problem.dual_shape), np.zeros(problem.m)
        state = game.state
        if "now" in state:
            self.player = first_player(np.zeros(problem.shape), 1.0)
            self.player.v[:], self.player.now[:] = state["v"], state["now"]
        else:
            w = problem.origin if start is None else start.w
            step = StepSize(problem, first_player, size, p, self.batch)
            self.player = first_player(w, step.find(eta, norm, steps, K, w, rng))
            game.tally[ACCESSES] += step.accesses
        self.pace = state.get("pace", np.zeros(6)).copy()
        self.returned = predictor_of(predictor, self.player, rng, state)

    def __iter__(self) -> Iterator[Iterate]:
        for chunk in self.game.chunks():
            self.play(chunk)
            rest(self.player)
            del chunk
            mine = {"v": self.player.v, "now": self.player.now, "pace": self.pace}
            yield self.game.iterate(self.returned.weights(), {**mine, **self.returned.state()})

    def play(self, chunk: Chunk) -> None:
        """The rounds of one chunk, with a look at the progress where it is due."""
        order = chunk.order
        while len(order):
            due = self.batch * (self.due - self.returned.t) if self.falling else len(order)
            for part in self.returned.parts(order[:due], self.batch):
                self.game.play(chunk, self.returned.player, part)
            order = order[due:]
            if self.falling and self.returned.t >= self.due:
                self.look_back()

    def look_back(self) -> None:
        """Halve η where the mean objective met in the second half of a window is no smaller than in the first: only noise is followed.

        A window is as long as all rounds before it, so η_t lies between η_1 and about η_1/t: it never falls so fast that w
        could not get everywhere.
        """
        rest(self.player)
        pace, tally = self.pace, self.game.tally
        pace[PENALTY] += self.problem.penalty(np.asarray(read_weights(self.player))) / LOOKS
        pace[LOOK] += 1.0
        if pace[LOOK] % LOOKS == 0.0:
            met = (tally[LOSS] - pace[PAST_LOSS]) / (tally[ROWS] - pace[PAST_ROWS]) + pace[PENALTY]
            if pace[LOOK] == 2 * LOOKS:
                self.player.now[ETA] *= 1.0 if met < (1.0 - PROGRESS) * pace[HALF] else 0.5
                pace[BEGIN], pace[LOOK] = pace[BEGIN] + max(WINDOW, pace[BEGIN]), 0.0
            pace[HALF], pace[PENALTY], pace[PAST_LOSS], pace[PAST_ROWS] = met, 0.0, tally[LOSS], tally[ROWS]

    @property
    def due(self) -> int:
        """The round of the next look."""
        begin, look = self.pace[BEGIN], self.pace[LOOK]
        return int(begin + max(WINDOW, begin) * (look + 1.0) / (2 * LOOKS))

"""The convex repeated game that every online solver plays, one round after the other:

    rows A_t are drawn;  the player, at w_t, meets the mean loss f_t over them;  a subgradient g_t moves the player to w_{t+1}

A player is a set of weights (``raw``, ``factor``, ``shift``, ``settle``: see :mod:`fenchel.linalg.weights`) with four more methods:

    confined()         whether it wants to know the mean of φ(0, y)
    size(i, slope)     its bound on ‖slope·x_i‖, if it needs one
    begin(G, P0, r)    with ‖g_t‖ ≤ G but for the penalty, P0 the mean of φ(0, y) so far, and r the natural length of w, what
                       it takes to do away with a loss: shrink what has to shrink; the step, in units of ``shift``, along −g_t
    end()              project, advance, whatever ends the round; whether to pause after it

so that one kernel serves all. Per round only the entries of the rows drawn are touched.

The slopes played are a dual point: α_i, the mean of −φ' over the visits to row i, gives a lower bound D(α) that the
regret bounds the distance of. That makes a certificate for losses with corners, where −φ' at w alone is a poor one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from fenchel.core.compiled import kernel
from fenchel.core.errors import Argument, InputError
from fenchel.core.validation import checked_choice
from fenchel.linalg.weights import Plain
from fenchel.problems.objective import Chunk
from fenchel.problems.result import Iterate, ProgressiveLoss
from fenchel.problems.row_order import SAMPLING

STARTED = 10_000.0  # rows that weights given as a start count for, where it is not known how many they were learnt from
LARGEST_BATCH = 1 << 40  # a batch as large as all rows, whatever was asked for
FIRST_ROWS = 1000.0  # as many tell the natural length of w
ROWS, AT_ZERO, LOSS, DUAL, ACCESSES, FIRST_LOSS, FIRST_SLOPE, ERRORS, TALLIES = range(9)  # what a tally counts


@kernel
def play(rows, y, s, loss, player, order, k, tally, judge, played, visits, gradients):
    """Rounds of k rows each; how many rows until the player paused. ``judge`` adds up what is suffered, in ``tally`` and ``gradients``."""
    slopes = np.empty(min(k, order.shape[0]))
    for first in range(0, order.shape[0], k):
        last = min(first + k, order.shape[0])
        G = 0.0
        for b in range(first, last):
            i = order[b]
            z = rows.dot(i, player)
            derivative = loss.derivative(z, y[i])
            slope = s[i] * derivative
            slopes[b - first] = slope
            tally[ACCESSES] += rows.count(i)
            tally[ROWS] += 1.0
            if player.confined() or judge:
                at_zero = s[i] * loss.value(0.0, y[i])
                tally[AT_ZERO] += at_zero
                if tally[ROWS] <= FIRST_ROWS:
                    tally[FIRST_LOSS] += at_zero
                    tally[FIRST_SLOPE] += player.size(i, s[i] * loss.derivative(0.0, y[i]))
            if judge:
                value = s[i] * loss.value(z, y[i])
                tally[LOSS] += value
                tally[DUAL] += value - z * slope  # −φ*(φ') = φ − z·φ', by Fenchel–Young
                tally[ERRORS] += s[i] if y[i] * z <= 0.0 else 0.0
                if gradients.v.shape[0] > 0:
                    rows.add(i, -slope, gradients)
            if played.shape[0] > 0:
                played[i] -= derivative
                visits[i] += 1.0
            G += player.size(i, slope)
        length = tally[FIRST_LOSS] / tally[FIRST_SLOPE] if tally[FIRST_LOSS] > 0.0 and tally[FIRST_SLOPE] > 0.0 else 1.0
        step = player.begin(G / (last - first), tally[AT_ZERO] / tally[ROWS], length) / (last - first)
        for b in range(first, last):
            if slopes[b - first] != 0.0:
                rows.add(order[b], -step * slopes[b - first], player)
        if player.end():
            return last
    return order.shape[0]


@kernel
def play_vector(rows, y, s, loss, player, order, k, tally, judge, played, visits, gradients, K):
    """The same for K outputs."""
    slopes = np.empty((min(k, order.shape[0]), K))
    z = np.empty(K)
    for first in range(0, order.shape[0], k):
        last = min(first + k, order.shape[0])
        G = 0.0
        for b in range(first, last):
            i = order[b]
            slope = slopes[b - first]
            tally[ACCESSES] += rows.count(i)
            tally[ROWS] += 1.0
            if player.confined() or judge:
                z[:] = 0.0
                at_zero = s[i] * loss.value(z, y[i])
                tally[AT_ZERO] += at_zero
                if tally[ROWS] <= FIRST_ROWS:
                    loss.derivative(z, y[i], slope)
                    tally[FIRST_LOSS] += at_zero
                    tally[FIRST_SLOPE] += player.size(i, s[i] * math.sqrt((slope * slope).sum()))
            rows.dots(i, player, z)
            loss.derivative(z, y[i], slope)
            square = 0.0
            product = 0.0
            for c in range(K):
                if played.shape[0] > 0:
                    played[i, c] -= slope[c]
                slope[c] *= s[i]
                square += slope[c] * slope[c]
                product += z[c] * slope[c]
            if played.shape[0] > 0:
                visits[i] += 1.0
            if judge:
                value = s[i] * loss.value(z, y[i])
                tally[LOSS] += value
                tally[DUAL] += value - product
                tally[ERRORS] += s[i] if np.argmax(z) != y[i] else 0.0
                if gradients.v.shape[0] > 0:
                    rows.adds(i, -slope, gradients)
            G += player.size(i, math.sqrt(square))
        length = tally[FIRST_LOSS] / tally[FIRST_SLOPE] if tally[FIRST_LOSS] > 0.0 and tally[FIRST_SLOPE] > 0.0 else 1.0
        step = player.begin(G / (last - first), tally[AT_ZERO] / tally[ROWS], length) / (last - first)
        slopes *= -step
        for b in range(first, last):
            rows.adds(order[b], slopes[b - first], player)
        if player.end():
            return last
    return order.shape[0]


class Game:
    """The rounds of one run: where rows come from, what has been suffered, and the certificate that leaves.

    ``problem`` is a :class:`fenchel.Problem` or a :class:`fenchel.Stream`; both hand out their rows in chunks. ``certify``
    keeps the slopes played where they make the certificate.
    """

    def __init__(
        self, problem: Any, *, batch: int, sampling: str, rng: np.random.Generator, start: Iterate | None, certify: bool = True
    ) -> None:
        self.problem, self.batch = problem, batch
        self.sampling, self.rng = checked_sampling(sampling, problem.in_memory), rng
        self.state = state = {} if start is None else start.state
        self.tally = state.get("tally", np.zeros(TALLIES)).copy()
        self.earlier = float(self.tally[ACCESSES])
        corners = certify and problem.in_memory and math.isinf(getattr(problem.loss, "smoothness", lambda: 0.0)())
        self.played = state.get("played", np.zeros(problem.dual_shape if corners else (0, 0)[: 1 + problem.vector_valued])).copy()
        self.visits = state.get("visits", np.zeros(problem.m if corners else 0)).copy()
        self.judge = not problem.in_memory
        self.gradients = state.get("gradients", np.zeros(math.prod(problem.shape) if self.judge else 0)).copy()
        self.passes, self.total_passes = 0.0, state.get("total_passes", 0)

    def chunks(self) -> Iterator[Chunk]:
        """The rows, chunk by chunk; a problem in memory goes on for ever."""
        begins_a_pass = True
        for chunk in self.problem.chunks(self.sampling, self.rng, self.batch):
            if begins_a_pass:
                self._forget_early_slopes()
            begins_a_pass = chunk.passes.is_integer()
            self.total_passes += begins_a_pass
            yield chunk
            del chunk  # before the next is asked for, so that no two are held

    def _forget_early_slopes(self) -> None:
        """Slopes are averaged over the passes since the last power of two: early ones were played far from the minimum."""
        if self.played.size and self.total_passes & (self.total_passes - 1) == 0 and self.total_passes > 1:
            self.played[:] = 0.0
            self.visits[:] = 0.0

    def play(self, chunk: Chunk, player: Any, order: np.ndarray) -> int:
        """Play rows of the chunk; how many, until the player paused."""
        problem = self.problem
        self.passes = chunk.passes
        common = (chunk.design.rows, chunk.y, chunk.s, problem.loss, player, order, self.batch, self.tally, self.judge)
        record = (self.played, self.visits, Plain(self.gradients))
        if problem.vector_valued:
            return int(play_vector(*common, *record, problem.outputs))
        return int(play(*common, *record))

    def iterate(self, w: np.ndarray, state: dict[str, Any]) -> Iterate:
        """What the solver yields: w with the certificate of the rounds played."""
        alpha = None
        if self.visits.any():
            visits = np.maximum(self.visits, 1.0)
            alpha = self.played / (visits[:, None] if self.problem.vector_valued else visits)
        accesses = int(self.tally[ACCESSES] - self.earlier)
        regularizer = self.problem.regularizer
        w = self.problem.nearest(w.reshape(self.problem.shape))  # an average leaves the domain by its rounding
        state = {**self.kept(), **state}
        return Iterate(w, self.passes, accesses, alpha, state=state, regularizer=regularizer, progressive=self.progressive())

    def progressive(self) -> ProgressiveLoss | None:
        """What the rows of a stream have told so far; None for rows in memory, which can be evaluated at any w."""
        rows = float(self.tally[ROWS])
        if self.problem.in_memory or rows == 0.0:
            return None
        return ProgressiveLoss(rows, float(self.tally[LOSS]), float(self.tally[DUAL]), self.gradients)

    def kept(self) -> dict[str, Any]:
        """What is needed to go on with the game."""
        certificate = {"played": self.played, "visits": self.visits} if self.played.size else {}
        record = {"gradients": self.gradients} if self.gradients.size else {}
        return {"tally": self.tally, "total_passes": self.total_passes, **certificate, **record}


def checked_batch(batch: Any, automatic: int = 1) -> int:
    """The mini-batch size k."""
    if isinstance(batch, str) and batch == "auto":
        return automatic
    if not isinstance(batch, (int, np.integer)) or isinstance(batch, bool) or batch < 1:
        raise InputError(Argument("batch", batch), ': give a whole number of rows of at least 1, or "auto".')
    return min(int(batch), LARGEST_BATCH)


def checked_sampling(sampling: Any, in_memory: bool) -> str:
    """The name of a row order; by default shuffled blocks of rows in memory, and the rows of a stream as they come."""
    checked_choice("sampling", sampling, ["auto", *SAMPLING])
    if sampling == "replacement" and not in_memory:
        raise InputError(Argument("sampling", "replacement"), " needs rows that can be read again: a Stream is read once.")
    return str(sampling) if sampling != "auto" else ("blocks" if in_memory else "sequential")

"""Which of the weights w_1, …, w_T of an online method to return: the last, a random one, the average, or that of a suffix.

How long a run will be is not known beforehand, so each is kept ready after every round, at O(entries touched) a round.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled, kernel
from fenchel.core.validation import checked_choice
from fenchel.linalg.weights import read_weights

CANCELLING = 1e3  # how far the factor may fall below its mean


@compiled
class Averaged(NamedTuple):
    """A player at w_t = f_t·u_t, with Σ_s f_s u_s = F_t u_t − Σ_s F_{s−1}(u_s − u_{s−1}), F_t = f_1 + … + f_t: only what changes counts.

    Where a player renews all of u (a new reference, a new scale), the sum so far is set aside first; also where f has
    fallen far below its mean, for then F_t u_t is much larger than the sum, and rounding would be all that is left.
    """

    player: Any
    v: np.ndarray
    owed: np.ndarray  # Σ_s F_{s−1}(u_s − u_{s−1})
    mass: np.ndarray  # F, and of how many rounds

    def raw(self, j):
        return self.player.raw(j)

    def factor(self):
        return self.player.factor()

    def shift(self, j, delta):
        before = self.player.raw(j)
        change = self.player.shift(j, delta)
        self.owed[j] += self.mass[0] * (self.player.raw(j) - before)
        return change

    def settle(self, change):
        if self.player.outdated(change):
            self.set_aside()
            self.player.refresh()

    def confined(self):
        return self.player.confined()

    def size(self, i, slope):
        return self.player.size(i, slope)

    def begin(self, G, P0, r):
        if self.player.renews():
            self.set_aside()
        return self.player.begin(G, P0, r)

    def end(self):
        paused = self.player.end()
        self.mass[0] += self.player.factor()
        self.mass[1] += 1.0
        if self.mass[0] > CANCELLING * self.mass[1] * self.player.factor():
            self.set_aside()
        return paused

    def total(self, j):
        return self.mass[0] * self.player.raw(j) - self.owed[j]

    def set_aside(self):
        for j in range(self.owed.shape[0]):
            self.owed[j] = -self.total(j)
        self.mass[:] = 0.0


@compiled
class Summed(NamedTuple):
    """A player whose weights have no common factor, with the sum of all so far: O(features) a round."""

    player: Any
    v: np.ndarray
    sums: np.ndarray

    def raw(self, j):
        return self.player.raw(j)

    def factor(self):
        return self.player.factor()

    def shift(self, j, delta):
        return self.player.shift(j, delta)

    def settle(self, change):
        self.player.settle(change)

    def confined(self):
        return self.player.confined()

    def size(self, i, slope):
        return self.player.size(i, slope)

    def begin(self, G, P0, r):
        return self.player.begin(G, P0, r)

    def end(self):
        paused = self.player.end()
        factor = self.player.factor()
        for j in range(self.sums.shape[0]):
            self.sums[j] += factor * self.player.raw(j)
        return paused

    def total(self, j):
        return self.sums[j]


@kernel
def read_total(player):
    """The sum of all weights so far."""
    out = np.empty(player.v.shape[0])
    for j in range(out.shape[0]):
        out[j] = player.total(j)
    return out


class Last:
    """Return the last w_t."""

    def __init__(self, player: Any, rng: np.random.Generator, state: dict[str, Any]) -> None:
        self.player, self.rng = player, rng
        self.t = state.get("rounds", 0)
        self.next_mark = state.get("next_mark", math.inf)  # the round after which there is something to take down

    def parts(self, order: np.ndarray, k: int) -> Iterator[np.ndarray]:
        """The rows, cut where a round ends that is marked."""
        first = 0
        while first < len(order):
            if self.t >= self.next_mark:
                self.mark()
            last = len(order) if math.isinf(self.next_mark) else min(len(order), first + k * (int(self.next_mark) - self.t))
            yield order[first:last]
            self.t += -(-(last - first) // k)
            if self.t >= self.next_mark:
                self.mark()
            first = last

    def mark(self) -> None:
        """Take down what is needed of the round just played, and set the next mark."""

    def weights(self) -> np.ndarray:
        """What to predict with after the rounds so far."""
        return np.asarray(read_weights(self.player))

    def state(self) -> dict[str, Any]:
        """What is needed to go on."""
        return {"rounds": self.t, "next_mark": self.next_mark}


class Random(Last):
    """Return one of w_1, …, w_t with equal probability, whatever t will be: w_s replaces the one kept with probability 1/s."""

    def __init__(self, player: Any, rng: np.random.Generator, state: dict[str, Any]) -> None:
        super().__init__(player, rng, {"next_mark": 1, **state})
        self.kept = state["kept"].copy() if "kept" in state else super().weights()

    def mark(self) -> None:
        """Keep these weights; the next replacement comes after round s with probability t/s, so log T are all there will be."""
        self.kept = super().weights()
        self.next_mark = math.floor(self.t / (1.0 - self.rng.random())) + 1

    def weights(self) -> np.ndarray:
        """The weights kept."""
        return self.kept

    def state(self) -> dict[str, Any]:
        """What is needed to go on."""
        return {**super().state(), "kept": self.kept}


class Average(Last):
    """Return the average of w_1, …, w_t."""

    def __init__(self, player: Any, rng: np.random.Generator, state: dict[str, Any]) -> None:
        total = state.get("total", np.zeros_like(player.v)).copy()
        player = Averaged(player, player.v, -total, np.zeros(2)) if player.factors() else Summed(player, player.v, total)
        super().__init__(player, rng, state)

    def total(self) -> np.ndarray:
        """w_1 + … + w_t"""
        return np.asarray(read_total(self.player))

    def weights(self) -> np.ndarray:
        """The average so far."""
        return self.total() / max(self.t, 1)

    def state(self) -> dict[str, Any]:
        """What is needed to go on."""
        return {**super().state(), "total": self.total()}


class Suffix(Average):
    """Return the average since the last power of two but one: of between a half and three quarters of all rounds."""

    def __init__(self, player: Any, rng: np.random.Generator, state: dict[str, Any]) -> None:
        super().__init__(player, rng, {"next_mark": 1, **state})
        none = np.zeros_like(player.v)
        self.since, self.before = state.get("since", 0), state.get("before", none).copy()
        self.since_next, self.before_next = state.get("since_next", 0), state.get("before_next", none).copy()

    def mark(self) -> None:
        """Take down the sum so far: the suffix after next begins here."""
        self.since, self.before = self.since_next, self.before_next
        self.since_next, self.before_next = self.t, self.total()
        self.next_mark = 2 * self.t

    def weights(self) -> np.ndarray:
        """The average of the suffix."""
        return (self.total() - self.before) / max(self.t - self.since, 1)

    def state(self) -> dict[str, Any]:
        """What is needed to go on."""
        mine = {"since": self.since, "before": self.before, "since_next": self.since_next, "before_next": self.before_next}
        return {**super().state(), **mine}


PREDICTORS = {"last": Last, "random": Random, "average": Average, "suffix": Suffix}


def predictor_of(name: str, player: Any, rng: np.random.Generator, state: dict[str, Any]) -> Any:
    """The predictor of that name, with the player it needs."""
    return PREDICTORS[checked_choice("predictor", name, PREDICTORS)](player, rng, state)

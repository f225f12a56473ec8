"""Which of the weights w_1, …, w_T of an online method to return: the last, a random one, the average, or that of a suffix

How long a run will be is not known beforehand, so each is available after every step, at O(entries touched) a step.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from fenchel.core.validation import checked_choice
from fenchel.linalg.weights import read_weights
from fenchel.solvers._online.averaging import averaged, read_total


class Last:
    """Return the last w_t. ``weights`` are what the loop updates."""

    def __init__(self, weights: Any, rng: np.random.Generator, state: dict[str, Any]) -> None:
        self.weights, self.rng = weights, rng
        self.t = state.get("steps", 0)
        self.next_mark = state.get("next_mark", math.inf)  # the step after which ``mark`` is called

    def parts(self, order: np.ndarray, k: int) -> Iterator[np.ndarray]:
        """The rows, cut where a step ends after which ``mark`` is called."""
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
        """Store what is needed of the weights after step t, and set the next mark."""

    def read(self) -> np.ndarray:
        """The weights to return after the steps so far."""
        return np.asarray(read_weights(self.weights))

    def state(self) -> dict[str, Any]:
        """What a later run needs to continue."""
        return {"steps": self.t, "next_mark": self.next_mark}


class Random(Last):
    """Return one of w_1, …, w_t with equal probability, whatever t will be: w_s replaces the stored one with probability 1/s."""

    def __init__(self, weights: Any, rng: np.random.Generator, state: dict[str, Any]) -> None:
        super().__init__(weights, rng, {"next_mark": 1, **state})
        self.stored = state["stored"].copy() if "stored" in state else super().read()

    def mark(self) -> None:
        """Store these weights. The next replacement comes later than step s with probability t/s, so there are about log T of them."""
        self.stored = super().read()
        self.next_mark = math.floor(self.t / (1.0 - self.rng.random())) + 1

    def read(self) -> np.ndarray:
        """The weights stored."""
        return self.stored

    def state(self) -> dict[str, Any]:
        """What a later run needs to continue."""
        return {**super().state(), "stored": self.stored}


class Average(Last):
    """Return the average of w_1, …, w_t."""

    def __init__(self, weights: Any, rng: np.random.Generator, state: dict[str, Any]) -> None:
        super().__init__(averaged(weights, state.get("total", np.zeros_like(weights.v)).copy()), rng, state)

    def total(self) -> np.ndarray:
        """w_1 + … + w_t"""
        return np.asarray(read_total(self.weights))

    def read(self) -> np.ndarray:
        """The average so far."""
        return self.total() / max(self.t, 1)

    def state(self) -> dict[str, Any]:
        """What a later run needs to continue."""
        return {**super().state(), "total": self.total()}


class Suffix(Average):
    """Return the average since the last power of two but one: of between a half and three quarters of all steps."""

    def __init__(self, weights: Any, rng: np.random.Generator, state: dict[str, Any]) -> None:
        super().__init__(weights, rng, {"next_mark": 1, **state})
        none = np.zeros_like(weights.v)
        self.since, self.before = state.get("since", 0), state.get("before", none).copy()
        self.since_next, self.before_next = state.get("since_next", 0), state.get("before_next", none).copy()

    def mark(self) -> None:
        """Store the sum so far: the suffix after the next one begins here."""
        self.since, self.before = self.since_next, self.before_next
        self.since_next, self.before_next = self.t, self.total()
        self.next_mark = 2 * self.t

    def read(self) -> np.ndarray:
        """The average of the suffix."""
        return (self.total() - self.before) / max(self.t - self.since, 1)

    def state(self) -> dict[str, Any]:
        """What a later run needs to continue."""
        own = {"since": self.since, "before": self.before, "since_next": self.since_next, "before_next": self.before_next}
        return {**super().state(), **own}


def suffix_state(t: int) -> dict[str, Any]:
    """The state of a suffix average that begins after step t."""
    return {"steps": t, "since": t, "since_next": t, "next_mark": max(1, 2 * t)}


PREDICTORS = {"last": Last, "random": Random, "average": Average, "suffix": Suffix}


def predictor_of(name: str, weights: Any, rng: np.random.Generator, state: dict[str, Any]) -> Last:
    """The predictor of that name, for these weights."""
    return PREDICTORS[checked_choice("predictor", name, PREDICTORS)](weights, rng, state)

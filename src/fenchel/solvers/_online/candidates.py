"""Candidates of the strength search with any regularizer, loss and batch: each runs the online loop on its own weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fenchel.core.compiled import kernel
from fenchel.core.threads import in_parallel
from fenchel.linalg.weights import Plain
from fenchel.problems.objective import Chunk
from fenchel.problems.result import Iterate
from fenchel.solvers._online.online_loop import LabelledRows, OnlineLoop
from fenchel.solvers._online.predictors import Average, predictor_of, suffix_state

EXPONENTS = tuple(float(k) for k in range(-4, 12))  # k of the strengths 2^k·R²/m that a search begins with
AVERAGE_UPDATES = 8  # how often averages are computed while they are evaluated, as each time costs O(features)
BLOCK = 1 << 16  # rows that all candidates learn from before any reads the next: they stay in the processor's cache


@kernel
def evaluate(data, loss, outputs, w, order, counters):
    """Add up the losses and errors of fixed weights."""
    for i in order:
        z = outputs.predict(data.rows, i, w)
        counters.loss += data.s[i] * loss.value(z, data.y[i])
        counters.errors += data.s[i] if outputs.is_wrong(z, data.y[i]) else 0.0


class Candidate:
    """One strength: its update rule, its loop, and the weights it would return."""

    def __init__(self, problem: Any, exponent: float, rule: Any, loop: OnlineLoop, predictor: str) -> None:
        self.problem, self.exponent, self.rule, self.loop = problem, exponent, rule, loop
        self.predictor = predictor_of(predictor, rule.weights, loop.rng, loop.state)

    def run(self, chunk: Chunk, order: np.ndarray, evaluate: bool) -> None:
        """Learn from rows; with ``evaluate``, predict each before."""
        averaging = isinstance(self.predictor, Average)
        if evaluate and averaging:
            self.evaluate_average(chunk, order)
        self.loop.evaluate = (evaluate and not averaging) or not self.problem.in_memory
        for part in self.predictor.parts(order, self.loop.batch):
            self.loop.run(chunk, self.rule, self.predictor.weights, part)

    def evaluate_average(self, chunk: Chunk, order: np.ndarray) -> None:
        """Evaluate the average so far on rows that come next."""
        data, w = LabelledRows(chunk.design.rows, chunk.y, chunk.s), Plain(self.predictor.read())
        evaluate(data, self.problem.loss, self.loop.outputs, w, order, self.loop.counters)

    def iterate(self, scale: float = 1.0) -> Iterate:
        """The state of the candidate, with λ multiplied."""
        state = {"lambda": scale * self.rule.weights.v, "t": float(self.rule.state.t)}
        return self.loop.iterate(self.predictor.read(), {**state, **self.predictor.state()})

    def average_from_here(self) -> None:
        """Begin the average of a suffix with the next step."""
        self.predictor = predictor_of("suffix", self.rule.weights, self.loop.rng, suffix_state(self.predictor.t))


class SeparateCandidates:
    """Candidates with a kernel call each, in several threads; ``candidate(exponent, of)`` makes them."""

    survivors = (6, 2)

    def __init__(self, candidate: Callable[..., Candidate], threads: int) -> None:
        self.candidate, self.threads = candidate, threads
        self.candidates = [candidate(k) for k in EXPONENTS]
        self.averaging = False
        self.labels = self.candidates[0].problem.labels

    @property
    def exponents(self) -> list[float]:
        """k of the strengths, in increasing order."""
        return [c.exponent for c in self.candidates]

    def run(self, chunk: Chunk, order: np.ndarray, evaluate: bool) -> None:
        """All candidates on the same rows, block by block."""
        batch = self.candidates[0].loop.batch
        rows = len(order) // AVERAGE_UPDATES if evaluate and self.averaging else BLOCK
        block = max(1, rows // batch) * batch
        for first in range(0, len(order), block):
            part = order[first : first + block]
            in_parallel([(candidate.run, chunk, part, evaluate) for candidate in self.candidates], self.threads)

    def evaluated(self) -> np.ndarray:
        """The sums of losses and of errors of every candidate so far."""
        return np.array([[c.loop.counters.loss, c.loop.counters.errors] for c in self.candidates])

    def keep(self, which: np.ndarray) -> None:
        """Continue with these candidates only."""
        self.candidates = [self.candidates[j] for j in which]

    def add_smaller(self) -> None:
        """Add half the smallest strength, with the same weights, in place of the largest."""
        smallest = self.candidates[0]
        self.candidates = [self.candidate(smallest.exponent - 1.0, smallest), *self.candidates[:-1]]

    def average_from_here(self) -> None:
        """Begin the averages over a suffix."""
        self.averaging = True
        for candidate in self.candidates:
            candidate.average_from_here()

    def iterate(self, j: int) -> Iterate:
        """The state of a candidate."""
        return self.candidates[j].iterate()

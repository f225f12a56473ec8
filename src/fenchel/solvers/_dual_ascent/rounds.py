"""A sweep of dual ascent in K threads: rounds of steps on different rows, of which each thread knows only its own

C. Ma, V. Smith, M. Jaggi, M. Jordan, P. Richtárik and M. Takáč, *Adding vs. averaging in distributed primal-dual optimization* (CoCoA+),
ICML 2015. In a round, thread k makes steps on its rows as if its own change Δ_k of v were σ times as large, with q_i ← σq_i, and then

    v ← v + t·Σ_k Δ_k,   α ← α + t·(change of α),   t = min(1, σ/ρ),   ρ = ‖Σ_k Δ_k‖² / Σ_k ‖Δ_k‖² ≤ K.

The dual objective is concave in α, and the curvature of Ω* at most 1/λ, so that it rises by at least t times what the threads expected
where t·ρ ≤ σ. The paper takes σ = K, for which t = 1. Where rows of different threads share few coordinates, ρ is near 1, and steps for
σ = K would be much too short; so σ follows the ρ of the last rounds, and t covers the rounds in which ρ has grown.

Passes of accelerated-sdca to a gap of 1e-3 with 1, 2 and 8 threads, λ = 1/m and 0.01/m: hinge 7, 6, 15 and 20, 21, 33 on 100,000 generated
documents, 11, 15, 32 and 32, 36, 65 on a9a, where rows share most coordinates; squared hinge 4, 4, 6 and 18, 18, 22 on the documents.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import kernel
from fenchel.core.threads import in_parallel
from fenchel.losses.outputs import outputs_of
from fenchel.problems.problem import Problem

MOST_ROUNDS = 16  # of a sweep: with 4 in place of 16 hinge loss on a9a, λ = 0.01/m, needs 54 passes in place of 35
# Entries of X that a thread reads in a round, at least: a round costs about 60 µs beside its steps, and these take about 1 ms.
ENTRIES_OF_ROUND = 400_000
WEIGHTS_PER_ENTRY = 0.1  # numbers that a round reads to add up the changes of v, relative to the entries of X that its steps read, at most
MARGIN = 1.3  # σ relative to the ratio of the last round: with 1.1 changes have to be shortened in three times as many rounds
GAIN = 1.3  # K/ρ at which threads gain nothing: one thread needs about ρ times fewer passes
FALL = 0.5  # share of the difference by which σ falls towards it


class Sweep(NamedTuple):
    """The entries of X read, Σ r_i q_i δ_i², the rows that moved, and the sum of the losses before the steps if it was asked for."""

    read: int
    movement: float
    moved: np.ndarray
    loss: float


class Rounds:
    """Sweeps over the rows of one problem that change α; ``step_on_rows`` makes the steps of a thread."""

    def __init__(self, problem: Problem, alpha: np.ndarray, step_on_rows: Callable[..., tuple[int, float, int, float]]) -> None:
        self.problem, self.alpha, self.threads = problem, alpha, problem.threads
        self.step_on_rows = step_on_rows
        self.sigma = float(self.threads)
        self.outputs = [outputs_of(problem) for _ in range(self.threads)]
        self.own = np.empty((self.threads, int(np.prod(problem.shape))))  # v of each thread
        self.before = np.empty_like(alpha)
        self.pays = True  # whether rows of different threads have little enough in common

    @staticmethod
    def count(problem: Problem, rows: int) -> int:
        """The rounds of a sweep over so many rows, or 0 where one thread takes less time."""
        entries = problem.density * rows * problem.outputs
        by_work = entries / (problem.threads * ENTRIES_OF_ROUND)
        by_weights = WEIGHTS_PER_ENTRY * entries / ((problem.threads + 1) * np.prod(problem.shape))
        return int(min(MOST_ROUNDS, by_work, by_weights)) if problem.threads > 1 and problem.penalised.separable else 0

    def sweep(self, w: Any, q: np.ndarray, visited: np.ndarray, progressive: bool) -> Sweep:
        """One step on each row visited."""
        rounds, moved = self.count(self.problem, len(visited)) if self.pays else 0, np.empty(len(visited), np.int64)
        if rounds == 0:
            read, movement, count, loss = self._steps(w, q, visited, progressive, 1.0, moved, 0)
            return Sweep(read, movement, moved[:count], loss)
        each = [w._replace(v=own) for own in self.own]
        found: list[tuple[int, float, int, float]] = [(0, 0.0, 0, 0.0)] * (rounds * self.threads)
        parts = list(itertools.pairwise(np.linspace(0, len(visited), len(found) + 1).astype(np.int64).tolist()))

        def run(k: int, part: int) -> None:
            (first, last), own = parts[part], each[k]
            copy(w.v, own.v)
            found[part] = self._steps(own, q, visited[first:last], progressive, self.sigma, moved[first:last], k)

        np.copyto(self.before, self.alpha)
        ratios = []
        for part in range(0, len(parts), self.threads):
            in_parallel([(run, k, part + k) for k in range(self.threads)])
            ratios.append(self._add_changes(w.v, visited[parts[part][0] : parts[part + self.threads - 1][1]]))
        self.pays = GAIN * float(np.mean(ratios)) <= self.threads
        read, movement, _, loss = map(sum, zip(*found, strict=True))
        movers = [moved[first : first + count] for (first, _), (_, _, count, _) in zip(parts, found, strict=True)]
        return Sweep(int(read), movement, np.concatenate(movers), loss)

    def _steps(self, w: Any, q: np.ndarray, visited: np.ndarray, progressive: bool, sigma: float, moved: np.ndarray, k: int) -> Any:
        problem = self.problem
        shared = problem.design.rows, problem.y, problem.row_weights, problem.loss, self.outputs[k]
        return self.step_on_rows(*shared, w, self.alpha, q, visited, progressive, sigma, moved)

    def _add_changes(self, v: np.ndarray, visited: np.ndarray) -> float:
        """v ← v + t·Σ_k Δ_k, where each thread has moved v by σΔ_k; choose the σ of the next round, and return ρ."""
        whole, parts = sum_of_changes(v, self.own)
        ratio = whole / parts if parts > 0.0 else 1.0
        t = min(1.0, self.sigma / ratio)
        add_multiple(self.own[0], t / self.sigma, v)
        if t < 1.0:
            m = len(self.alpha)
            shorten(self.before.reshape(m, -1), self.alpha.reshape(m, -1), visited, t)
        wanted = min(float(self.threads), max(1.0, MARGIN * ratio))
        self.sigma = wanted if wanted > self.sigma else self.sigma + FALL * (wanted - self.sigma)
        return ratio


@kernel
def copy(source, target):
    for j in range(source.shape[0]):
        target[j] = source[j]


@kernel
def sum_of_changes(v, own):
    """‖Σ_k Δ_k‖² and Σ_k ‖Δ_k‖² for the changes Δ_k = own_k − v; the sum itself is written to own_0."""
    whole, parts = 0.0, 0.0
    for j in range(v.shape[0]):
        total = 0.0
        for k in range(own.shape[0]):
            change = own[k, j] - v[j]
            total += change
            parts += change * change
        whole += total * total
        own[0, j] = total
    return whole, parts


@kernel
def add_multiple(x, c, out):
    """out ← out + c·x"""
    for j in range(out.shape[0]):
        out[j] += c * x[j]


@kernel
def shorten(before, alpha, visited, t):
    """α_i ← before_i + t·(α_i − before_i) for the rows visited"""
    for i in visited:
        for k in range(alpha.shape[1]):
            alpha[i, k] = before[i, k] + t * (alpha[i, k] - before[i, k])

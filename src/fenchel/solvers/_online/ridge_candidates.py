"""Candidates of the strength search with ridge penalties and one output, one row a step: all of them in one kernel

Under a ridge penalty w = λ/(σ·(t + offset)), so the candidates differ in λ and in one number each. The kernel holds four λ's
side by side, which SIMD instructions read and update together: four candidates cost little more than one. That is why the
loop of :mod:`.online_loop` is written a second time here, for groups of four.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fenchel.core.compiled import compiled, kernel
from fenchel.core.record import record
from fenchel.problems.objective import Chunk
from fenchel.problems.result import Iterate
from fenchel.solvers._online.candidates import EXPONENTS
from fenchel.solvers._online.online_loop import LabelledRows, first_counters
from fenchel.solvers._online.predictors import suffix_state


@compiled
def four_products(scale, factors, raw):
    return scale * factors[0] * raw[0], scale * factors[1] * raw[1], scale * factors[2] * raw[2], scale * factors[3] * raw[3]


@compiled
def four_averages(steps, sums, raw, deferred):
    """(F·u − deferred)/steps, the averages of :class:`.averaging.AveragedWeights`, as predictions."""
    return (
        (sums[0] * raw[0] - deferred[0]) / steps,
        (sums[1] * raw[1] - deferred[1]) / steps,
        (sums[2] * raw[2] - deferred[2]) / steps,
        (sums[3] * raw[3] - deferred[3]) / steps,
    )


@compiled
def four_steps(loss, z, y, s):
    return (
        -s * loss.derivative(z[0], y),
        -s * loss.derivative(z[1], y),
        -s * loss.derivative(z[2], y),
        -s * loss.derivative(z[3], y),
    )


@compiled
def add_four(loss, z, y, s, with_losses, evaluated):
    """Add the losses and errors of four predictions to ``evaluated``, of shape (4, 2)."""
    if with_losses:
        evaluated[0, 0] += s * loss.value(z[0], y)
        evaluated[1, 0] += s * loss.value(z[1], y)
        evaluated[2, 0] += s * loss.value(z[2], y)
        evaluated[3, 0] += s * loss.value(z[3], y)
    evaluated[0, 1] += s * (y * z[0] <= 0.0)
    evaluated[1, 1] += s * (y * z[1] <= 0.0)
    evaluated[2, 1] += s * (y * z[2] <= 0.0)
    evaluated[3, 1] += s * (y * z[3] <= 0.0)


@kernel
def run_four_by_four(data, loss, v, inverse, deferred, sums, time, order, evaluate, with_losses, evaluated):
    """Steps of one row for 4L candidates: w of candidate (l, c) is inverse[l, c]/(t + offset)·v[:, l, c].

    ``deferred`` and ``sums`` hold averages, as in :class:`.averaging.AveragedWeights`; before they begin, ``deferred`` is empty. Once
    there are averages, it is they that are evaluated.
    """
    averaging = deferred.shape[0] > 0
    for i in order:
        scale = 1.0 / max(time.t + time.offset, 1.0)
        for l in range(np.uintp(inverse.shape[0])):
            raw = data.rows.dot4(i, v, l)
            z = four_products(scale, inverse[l], raw)
            step = four_steps(loss, z, data.y[i], data.s[i])
            if evaluate:
                if averaging:
                    z = four_averages(max(time.t - time.averaged_from, 1.0), sums[l], raw, data.rows.dot4(i, deferred, l))
                add_four(loss, z, data.y[i], data.s[i], with_losses, evaluated[l])
            if step[0] != 0.0 or step[1] != 0.0 or step[2] != 0.0 or step[3] != 0.0:
                data.rows.add4(i, step[0], step[1], step[2], step[3], v, l)
                if averaging:
                    a, b, c, d = four_products(1.0, sums[l], step)
                    data.rows.add4(i, a, b, c, d, deferred, l)
        time.t += 1.0
        time.accesses += data.rows.count(i)
        if averaging:
            scale = 1.0 / (time.t + time.offset)
            for l in range(sums.shape[0]):
                for c in range(4):
                    sums[l, c] += scale * inverse[l, c]


@kernel
def keep_columns(v, K, which):
    """Move these of the K columns to the front, in place: the first n·len(which) entries are then the smaller matrix."""
    k = which.shape[0]
    for j in range(v.shape[0] // K):
        for c in range(k):
            v[j * k + c] = v[j * K + which[c]]


class RidgeCandidates:
    """All candidates in one kernel, four at a time; :class:`.strength_search.Candidates` documents the methods."""

    survivors = (8, 4)  # multiples of four

    def __init__(self, problem: Any, unit: float, offset: float) -> None:
        self.problem, self.labels, self.exponents, self.unit = problem, problem.labels, list(EXPONENTS), unit
        self.v = np.zeros(problem.n * len(EXPONENTS))
        self.deferred = np.zeros(0)
        self.time = record(t=0.0, offset=offset, averaged_from=0.0, accesses=0.0)
        self.sums_evaluated = np.zeros((len(EXPONENTS), 2))
        self._set_strengths()

    def _set_strengths(self) -> None:
        self.regularizers = [self.problem.regularizer.times(self.unit * 2.0**k) for k in self.exponents]
        self.inverse = np.array([1.0 / regularizer.strong_convexity() for regularizer in self.regularizers])
        self.sums = np.zeros(len(self.exponents))

    def run(self, chunk: Chunk, order: np.ndarray, evaluate: bool) -> None:
        """All candidates on the same rows."""
        L = len(self.exponents) // 4
        v, deferred = self.v.reshape(-1, L, 4), self.deferred.reshape(-1, L, 4)
        sums, inverse, evaluated = self.sums.reshape(L, 4), self.inverse.reshape(L, 4), self.sums_evaluated.reshape(L, 4, 2)
        data = LabelledRows(chunk.design.rows, chunk.y, chunk.s)
        # Logarithms would take more time than everything else, and errors are enough to rank the averages of classifiers.
        with_losses = evaluate and not (self.deferred.size and self.labels != "real")
        run_four_by_four(data, self.problem.loss, v, inverse, deferred, sums, self.time, order, evaluate, with_losses, evaluated)

    def evaluated(self) -> np.ndarray:
        """The sums of losses and of errors of every candidate, where they were computed."""
        return self.sums_evaluated.copy()

    def keep(self, which: np.ndarray) -> None:
        """Continue with these candidates only: a multiple of four."""
        keep_columns(self.v, len(self.exponents), which)
        self.v = self.v[: self.problem.n * len(which)]
        self.exponents = [self.exponents[j] for j in which]
        self.sums_evaluated = self.sums_evaluated[which].copy()
        self._set_strengths()

    def average_from_here(self) -> None:
        """Begin the averages over a suffix."""
        self.deferred, self.time.averaged_from = np.zeros(len(self.v)), self.time.t

    def iterate(self, j: int) -> Iterate:
        """The state of a candidate, as if it had been trained alone."""
        K, t = len(self.exponents), int(self.time.t)
        lam = self.v[j::K].copy()
        counters = first_counters()
        counters.rows, counters.accesses = t, self.time.accesses
        state = {"lambda": lam, "t": float(t), "steps": t, "counters": counters, "total_passes": 1}
        w = lam * self.inverse[j] / (t + self.time.offset)
        if self.deferred.size:
            total = self.sums[j] * lam - self.deferred[j::K]
            averaged_from = int(self.time.averaged_from)
            state |= {**suffix_state(averaged_from), "steps": t, "total": total}
            w = total / (t - averaged_from)
        return Iterate(w, 1.0, int(self.time.accesses), state=state, regularizer=self.regularizers[j])

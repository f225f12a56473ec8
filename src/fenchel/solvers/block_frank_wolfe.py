"""min_w λ/2·‖w‖² + (1/m) Σ_i s_i·max_y [Δ(y, y_i) + <w, ψ(x_i, y) − ψ(x_i, y_i)>] by dual ascent, one example at a time

Algorithm 4 of Lacoste-Julien, Jaggi, Schmidt & Pletscher, *Block-coordinate Frank–Wolfe optimization for structural SVMs*, ICML 2013:
the counterpart of SDCA for structured models, whose outputs are too many for a dual variable each. The dual, over mixtures α_i of outputs,

    max D(α) = (1/m) Σ_i s_i·b_i − ‖v‖²/(2λ),    b_i = Σ_y α_i(y)·Δ(y, y_i),    v = −(1/m) Σ_i s_i·A_i·μ_i
                                                μ_i = Σ_y α_i(y)·(parts(y) − parts(y_i))

is represented by b_i and μ_i alone, and w = v/λ. A step decodes one example, and moves its mixture towards the output ŷ that violates
its margin most, by the best step length:

    δ = parts(ŷ) − parts(y_i) − μ_i,    γ = clip(λ·(Δ(ŷ, y_i) − b_i + <w, A_i·δ>)/((s_i/m)·‖A_i·δ‖²), 0, 1)

There is no step size to choose, and D(α) is a lower bound at any time. The solver returns the average of the w_k with weights k since
the last power of two passes, which has the better rate (Theorem C.3 there).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fenchel.core.compiled import kernel
from fenchel.linalg.weights import Plain, untouched
from fenchel.problems.result import Iterate
from fenchel.problems.row_order import row_order
from fenchel.solvers.declaration import ridge, solver


def margin(problem: Any) -> str | None:
    """A structured model with the margin loss."""
    if not problem.structured:
        return "a structured problem; for rows use sdca"
    return None if not problem.likelihood else 'loss="margin", and this is the likelihood'


@kernel
def ascend(examples, loss, row_weights, l2, order, starts, b, mu, v, direction, deferred, k):
    """Frank–Wolfe steps on the examples of ``order``, after k others.

    deferred[j] is Σ_k S_{k−1}·(change of v_j in step k), S_k = 1 + … + k.
    """
    for i in order:
        mine = mu[starts[i] : starts[i + 1]]
        delta = np.empty(mine.shape[0])
        rise = loss.worst(examples, i, v, 1.0 / l2, delta) - b[i]
        for p in range(mine.shape[0]):
            delta[p] -= mine[p]
        examples.add(i, 1.0, delta, direction)
        gain = rise + examples.dot(i, delta, v) / l2
        size = row_weights[i] * direction.square()
        gamma = min(1.0, l2 * gain / size) if size > 0.0 else 1.0
        if gain > 0.0:
            b[i] += gamma * rise
            for p in range(mine.shape[0]):
                mine[p] += gamma * delta[p]
            for e in range(direction.found[0]):
                j = direction.which[e]
                change = -gamma * row_weights[i] * direction.v[j]
                v[j] += change
                deferred[j] += 0.5 * k * (k + 1.0) * change
        direction.clear()
        k += 1.0


@kernel
def image(examples, row_weights, starts, mu, out):
    """v = −(1/m) Σ_i s_i·A_i·μ_i"""
    for i in range(row_weights.shape[0]):
        examples.add(i, -row_weights[i], mu[starts[i] : starts[i + 1]], out)


class Dual:
    """A mixture of outputs for every example, and the weights that follow from it."""

    def __init__(self, problem: Any, state: dict[str, Any]) -> None:
        self.problem, self.l2 = problem, problem.regularizer.l2
        self.starts = np.concatenate([[0], np.cumsum(problem.part_sizes)])
        self.b = state.get("b", np.zeros(problem.m)).copy()
        self.mu = state.get("mu", np.zeros(int(self.starts[-1]))).copy()
        self.v = self.fresh_image()
        # The average is computed from v and from these sums, which a step changes only where it changes v.
        self.deferred, self.steps = state.get("deferred", np.zeros(problem.n)).copy(), state.get("steps", 0)
        self.direction = untouched(problem.n)

    def fresh_image(self) -> np.ndarray:
        """v computed from the mixtures, without the rounding errors of many steps."""
        v = np.zeros(self.problem.n)
        image(self.problem.examples, self.problem.row_weights, self.starts, self.mu, Plain(v))
        return v

    def ascend(self, order: np.ndarray) -> None:
        """One step on each of these examples."""
        problem = self.problem
        common = (problem.examples, problem.loss, problem.row_weights, self.l2, order, self.starts)
        ascend(*common, self.b, self.mu, self.v, self.direction, self.deferred, float(self.steps))
        self.steps += len(order)

    def restart_average(self) -> None:
        """Discard the steps that the average consists of."""
        self.deferred[:], self.steps = 0.0, 0

    @property
    def objective(self) -> float:
        """D(α)"""
        return float(self.problem.row_weights @ self.b) - float(self.v @ self.v) / (2.0 * self.l2)

    @property
    def average(self) -> np.ndarray:
        """Σ_k k·w_k / Σ_k k over the steps since the average began."""
        total = 0.5 * self.steps * (self.steps + 1.0)
        return (self.v - self.deferred / total) / self.l2

    @property
    def state(self) -> dict[str, Any]:
        """The state that a later run continues from."""
        return {"b": self.b, "mu": self.mu, "deferred": self.deferred, "steps": self.steps}


@solver("block-frank-wolfe", needs=(margin, ridge), structured=True)
def block_frank_wolfe(problem: Any, *, start: Iterate | None, rng: np.random.Generator, accuracy: float) -> Iterator[Iterate]:
    """Dual ascent on one example at a time: the margin of a structured model, ridge penalty."""
    dual = Dual(problem, {} if start is None else start.state)
    total = 0 if start is None else start.state.get("total", 0)
    passes = 0
    while True:
        if total & (total - 1) == 0:
            dual.restart_average()
        dual.ascend(row_order(problem.m, "permutation", rng))
        dual.v = dual.fresh_image()
        passes, total = passes + 1, total + 1
        yield Iterate(dual.average, passes, passes * problem.entries, lower_bound=dual.objective, state={**dual.state, "total": total})

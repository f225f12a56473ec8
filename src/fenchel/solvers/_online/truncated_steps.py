"""Gradient steps with truncation, min_w (1/m) Σ_i s_i φ(<w, x_i>, y_i) + σ‖w‖₁: what SMIDAS and TRUNCGRAD have in common

    θ ← θ − η∂g_t(w);   θ_j ← sign(θ_j)·max(0, |θ_j| − ησ) for all j;   w ← f⁻¹(θ),   f = ∇(½‖·‖_q²),  1/p + 1/q = 1

The paper, and what is proven about η: :mod:`fenchel.solvers._online.step_size`. The loop, the order of the rows and the weights
to return are those of every online method.

A method brings its weights (:class:`.protocols.OnlineWeights`) with two more methods:

    shrink(threshold)    θ_j ← sign(θ_j)·max(0, |θ_j| − threshold) for all j
    apply_deferred()     shrink the coordinates that have not been shrunk yet, after which η may change
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled, kernel
from fenchel.core.record import record
from fenchel.core.validation import checked_choice
from fenchel.linalg.weights import read_weights
from fenchel.problems.objective import Chunk
from fenchel.problems.result import Iterate
from fenchel.solvers._online.online_loop import OnlineLoop, checked_batch
from fenchel.solvers._online.predictors import PREDICTORS, predictor_of
from fenchel.solvers._online.step_size import StepSize, checked_eta, checked_rest

SCHEDULES = ("auto", "constant", "decreasing")
FIRST_WINDOW = 1024.0  # steps of the first window over which progress is measured
PROGRESS = 1e-3  # the relative decrease of the objective from one half of a window to the other that keeps η
CHECKS = 8  # evaluations of the penalty in each half


@compiled
class TruncatedStep(NamedTuple):
    """The update rule: a gradient step of size η, then the truncation by ησ."""

    weights: Any
    l1: float
    state: Any  # eta

    def needs_values_at_zero(self):
        return False

    def gradient_norm(self, i, derivative):
        return 0.0

    def step_size(self, G, loss_at_zero, natural_length):
        return self.state.eta

    def finish_step(self):
        self.weights.shrink(self.state.eta * self.l1)
        return False


@kernel
def apply_deferred(weights):
    weights.apply_deferred()


class TruncationRun:
    """A run of either method on a problem or a stream; ``first_rule`` and ``size``: see :class:`.step_size.StepSize`."""

    def __init__(
        self,
        problem: Any,
        first_rule: Callable[[np.ndarray, float], TruncatedStep],
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
        self.loop = loop = OnlineLoop(problem, batch=self.batch, sampling=sampling, rng=rng, start=start)
        self.decreasing = schedule == "decreasing" or (schedule == "auto" and eta == "auto")
        loop.evaluate = loop.evaluate or self.decreasing
        if problem.in_memory and hasattr(problem.loss, "conjugate"):
            # The lasso is not strongly convex: a bound from one w is off by the noise of w, not by its square, so derivatives are averaged.
            loop.keep_derivatives(True)
        state = loop.state
        if "eta" in state:
            rule = first_rule(np.zeros(problem.shape), state["eta"])
            rule.weights.v[:] = state["v"]
            self.rule = rule._replace(weights=rule.weights._replace(state=state["weights"].copy()))
        else:
            w = problem.origin if start is None else start.w
            search = StepSize(problem, first_rule, size, p, self.batch)
            self.rule = first_rule(w, search.find(eta, norm, steps, K, w, rng))
            loop.counters.accesses += search.accesses
        # Where the window began, evaluations in it, the mean objective in its first half; the penalty, loss and rows of the present half.
        first = record(begin=0.0, checks=0.0, first_half=0.0, penalty=0.0, loss_before=0.0, rows_before=0.0)
        self.progress = state.get("progress", first).copy()
        self.predictor = predictor_of(predictor, self.rule.weights, rng, state)

    def __iter__(self) -> Iterator[Iterate]:
        for chunk in self.loop.chunks():
            self.run(chunk)
            weights = self.rule.weights
            apply_deferred(weights)
            del chunk
            own = {"v": weights.v, "weights": weights.state, "eta": float(self.rule.state.eta), "progress": self.progress}
            yield self.loop.iterate(self.predictor.read(), {**own, **self.predictor.state()})

    def run(self, chunk: Chunk) -> None:
        """The steps of one chunk, with a check of the progress where it is due."""
        order = chunk.order
        while len(order):
            due = self.batch * (self.next_check - self.predictor.t) if self.decreasing else len(order)
            for part in self.predictor.parts(order[:due], self.batch):
                self.loop.run(chunk, self.rule, self.predictor.weights, part)
            order = order[due:]
            if self.decreasing and self.predictor.t >= self.next_check:
                self.check_progress()

    def check_progress(self) -> None:
        """Halve η where the mean objective in the second half of a window is no smaller than in the first: the steps then follow noise.

        A window is as long as all steps before it, so η_t lies between η_1 and about η_1/t: it never falls so fast that w
        could not reach every point.
        """
        apply_deferred(self.rule.weights)
        progress, counters = self.progress, self.loop.counters
        progress.penalty += self.problem.penalty(np.asarray(read_weights(self.rule.weights))) / CHECKS
        progress.checks += 1.0
        if progress.checks % CHECKS == 0.0:
            mean = (counters.loss - progress.loss_before) / (counters.rows - progress.rows_before) + progress.penalty
            if progress.checks == 2 * CHECKS:
                self.rule.state.eta *= 1.0 if mean < (1.0 - PROGRESS) * progress.first_half else 0.5
                progress.begin, progress.checks = progress.begin + max(FIRST_WINDOW, progress.begin), 0.0
            progress.first_half, progress.penalty = mean, 0.0
            progress.loss_before, progress.rows_before = counters.loss, counters.rows

    @property
    def next_check(self) -> int:
        """The step after which progress is checked next."""
        begin, checks = self.progress.begin, self.progress.checks
        return int(begin + max(FIRST_WINDOW, begin) * (checks + 1.0) / (2 * CHECKS))

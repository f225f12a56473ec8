"""min_w (1/m) Σ_i s_i φ(<w, x_i>, y_i) + Ω(w) by the Primal Gradient Solver

Figure 1 of Zhu, Chen, Zhu, Wang, Wang & Chen, *Inverse Time Dependency in Convex Regularized Learning*, ICDM 2009, for
Ω = σ/(2(p−1))·‖w‖_p² on R^n or on the ball ‖w‖_p ≤ B, and as well for every other strongly convex Ω of the package:

    λ ← 0, w_0 ← 0;   for t = 1, 2, …:   draw k rows A_t;   λ ← λ − ∂g_t(w_{t−1}),  g_t the mean loss on A_t
                                         w_t ← ∇Ω*(λ/(t+1))

Returned is the last w_t, a uniformly random one (the one the paper's Theorem 1 speaks of), the average of all, or of about
the last half. The paper pays O(dk + n) a step for p < 2. Here a step costs O(dk), projection included, for every p: see
:mod:`fenchel.solvers._online.dual_averaging`. The entropy is the exception: there a step costs O(n), and k = n/d by default, as in
section VII.

For hinge loss, p = 2 and while w stays inside the ball, Pegasos takes the same steps with the divisor t in place of t + 1
(``divisor="t"``). At the boundary the two differ: Pegasos continues from the projected point, while here λ is not projected,
only the w used for predictions is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled
from fenchel.core.errors import Argument, InputError
from fenchel.core.record import record
from fenchel.core.validation import checked_choice
from fenchel.problems.result import Iterate
from fenchel.solvers._online.chosen_strength import run_with_chosen_strength
from fenchel.solvers._online.dual_averaging import advance, dual_averaging
from fenchel.solvers._online.online_loop import ROWS_BEFORE_START, OnlineLoop, checked_batch
from fenchel.solvers._online.predictors import predictor_of
from fenchel.solvers.declaration import bounded_derivatives, has_bounded_derivatives, solver, strongly_convex_regularizer

DIVISORS = {"t+1": 1.0, "t": 0.0}


@compiled
class WholeSpace(NamedTuple):
    """S = R^n: losses with bounded derivatives need no ball."""

    def is_ball(self):
        return False

    def radius(self, loss_at_zero):
        return math.inf


@compiled
class Ball(NamedTuple):
    """S = {‖w‖_p ≤ B}: it contains the minimiser, by section IV, and derivatives on it are bounded for every loss."""

    regularizer: Any

    def is_ball(self):
        return True

    def radius(self, loss_at_zero):
        return self.regularizer.radius_of_minimiser(loss_at_zero)


@compiled
class PrimalGradient(NamedTuple):
    """The update rule of Figure 1: λ ← λ − ∂g_t(w_{t−1}), w_t ← ∇Ω*(λ/(t+1)), on S."""

    weights: Any  # of dual averaging: v is λ
    domain: Any  # S
    state: Any  # t, the offset added to it in the divisor, and the radius of S

    def needs_values_at_zero(self):
        return self.domain.is_ball()

    def gradient_norm(self, i, derivative):
        return 0.0

    def step_size(self, G, loss_at_zero, natural_length):
        self.state.radius = self.domain.radius(loss_at_zero)
        return 1.0

    def finish_step(self):
        self.state.t += 1.0
        self.weights.advance(1.0 / (self.state.t + self.state.offset), self.state.radius)
        return False


@solver("pgs", needs=(strongly_convex_regularizer, bounded_derivatives), online=True)
def pgs(
    problem: Any,
    *,
    start: Iterate | None,
    rng: np.random.Generator,
    accuracy: float,
    batch: int | str = "auto",
    sampling: str = "auto",
    predictor: str = "auto",
    divisor: str = "t+1",
    strength: str | None = None,
) -> Iterator[Iterate]:
    """The primal gradient solver: one row a step at O(non-zeros), for every strongly convex regularizer but the entropy.

    ``strength="auto"`` multiplies the regularizer of the problem by the factor that predicts best, found during the first
    pass (:mod:`fenchel.solvers._online.strength_search`), and by default returns the average over a suffix, as the
    last iterate is noisy at small strengths.
    """
    offset = DIVISORS[checked_choice("divisor", divisor, DIVISORS)]
    if predictor == "auto":
        predictor = "suffix" if strength == "auto" and problem.in_memory else "last"
    settings: dict[str, Any] = {"batch": checked_batch(batch, automatic_batch(problem)), "sampling": sampling, "rng": rng}
    if strength is not None and not (isinstance(strength, str) and strength == "auto"):
        raise InputError(Argument("strength", strength), ': give "auto", or leave it out and give the strength to the regularizer.')
    if strength is not None:
        if start is None or start.regularizer is None:
            rule = partial(primal_gradient, offset=offset)
            run = partial(run_pgs, offset=offset, predictor=predictor, settings=settings)
            yield from run_with_chosen_strength(problem, start, predictor, settings, rule, run)
            return
        problem = problem.replace(regularizer=start.regularizer)
    yield from run_pgs(problem, start, offset, predictor, settings)


def run_pgs(problem: Any, start: Iterate | None, offset: float, predictor: str, settings: dict[str, Any]) -> Iterator[Iterate]:
    """Figure 1, from 0 or from the start."""
    rule = primal_gradient(problem, start, offset)
    loop = OnlineLoop(problem, start=start, **settings)
    chosen = predictor_of(predictor, rule.weights, loop.rng, loop.state)
    for chunk in loop.chunks():
        for part in chosen.parts(chunk.order, loop.batch):
            loop.run(chunk, rule, chosen.weights, part)
        del chunk  # before the next is asked for, so that no two are held
        yield loop.iterate(chosen.read(), {"lambda": rule.weights.v, "t": float(rule.state.t), **chosen.state()})


def primal_gradient(problem: Any, start: Iterate | None, offset: float) -> PrimalGradient:
    """The update rule at λ = 0, at the start's own λ, or at one that gives the start's weights."""
    state = {} if start is None else start.state
    t, v = 0.0, np.zeros(math.prod(problem.shape))
    if "lambda" in state:
        t, v = state["t"], state["lambda"].copy()
    elif start is not None:
        t = float(problem.m) if problem.in_memory else ROWS_BEFORE_START
        v = (t + offset) * problem.penalty_gradient(start.w).reshape(-1)
    needs_ball = not has_bounded_derivatives(problem)
    weights = dual_averaging(problem.regularizer, v, needs_ball)
    domain = Ball(weights.coupled.regularizer) if needs_ball else WholeSpace()
    counters = state.get("counters")
    radius = math.inf if counters is None else domain.radius(counters.loss_at_zero / counters.rows)
    advance(weights, 1.0 / max(t + offset, 1.0), radius)
    return PrimalGradient(weights, domain, record(t=t, offset=offset, radius=math.inf))  # every step sets its radius first


def automatic_batch(problem: Any) -> int:
    """One row a step; where the step costs O(n) besides, as many rows as cost about the same."""
    general = not (problem.regularizer.separable or hasattr(problem.regularizer, "factor_of_multiple"))
    return max(1, round(problem.n / problem.density)) if general else 1

"""min_w λ/2·‖w‖² + (1/m) Σ_i s_i φ(<w, x_i>, y_i) by adaptive online gradient descent

Bartlett, Hazan & Rakhlin, *Adaptive online gradient descent*, NIPS 2008, as in Do, Le & Foo, *Proximal regularization for
online and batch learning*, ICML 2009, equation (4): the steps of Algorithm 1 on f_t(w) + τ_t/2·‖w‖², where

    τ_t = ½(√((λ_{1:t} + τ_{1:t−1})² + 8G_t²/(3R²)) − (λ_{1:t} + τ_{1:t−1})),   η_t = 1/(λ_{1:t} + τ_{1:t})

balances what the added curvature costs against what it saves. ``proximal`` centres the added term at w_t in place of 0, which
costs less. With ``rule="printed"`` they are as in the paper's experiments: G_t bounds all subgradients, and R is the radius of S,
√(P(0)/λ), which makes steps far too long where λ is small. By default G_t is the norm of the subgradient, and R a guess of ‖w*‖: 50 natural
lengths (:func:`~fenchel.solvers._online.subgradient_descent.natural_length`) unless given.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled
from fenchel.core.validation import checked_choice
from fenchel.problems.result import Iterate
from fenchel.solvers._online.subgradient_descent import (
    SubgradientRun,
    balancing,
    checked_radius,
    gradient_bound,
    schedule_state,
)
from fenchel.solvers.declaration import ridge, solver

LENGTHS = 50.0  # R in natural lengths, unless given
RULES = ("measured", "printed")


@compiled
class Adaptive(NamedTuple):
    """τ_t balances the two parts of Bartlett et al.'s bound, and its quadratic term is centred at 0."""

    l2: float
    R: float  # or 0, for one taken from the data
    state: Any  # λ_{1:t}, τ_{1:t}, and a bound on all subgradients if it is to be used

    def step(self, G, ball_radius, natural_length):
        state = self.state
        R = min(ball_radius, self.R if self.R > 0.0 else LENGTHS * natural_length)
        state.lambda_sum += self.l2
        tau = balancing(state.lambda_sum + state.tau_sum, math.sqrt(8.0 / 3.0) * max(G, state.G), R)
        state.tau_sum += tau
        return 1.0 / (state.lambda_sum + state.tau_sum), tau

    def after(self, norm):
        return False


@solver("adaptive", needs=(ridge,), online=True, structured=True)
def adaptive(
    problem: Any,
    *,
    start: Iterate | None,
    rng: np.random.Generator,
    accuracy: float,
    rule: str = "measured",
    radius: float | None = None,
    batch: int | str = "auto",
    sampling: str = "auto",
    predictor: str = "last",
) -> Iterator[Iterate]:
    """Subgradient steps on objectives with curvature added towards 0, as much as balances its bound: any loss, ridge penalty."""
    R, state = checked_radius(radius), schedule_state(problem, start)
    if checked_choice("rule", rule, RULES) == "printed":
        R, state.G = math.inf, max(state.G, gradient_bound(problem, 'rule="printed"'))
    schedule = Adaptive(problem.regularizer.l2, R, state)
    yield from SubgradientRun(problem, schedule, start=start, rng=rng, batch=batch, sampling=sampling, predictor=predictor)

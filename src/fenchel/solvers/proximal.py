"""min_w λ/2·‖w‖² + (1/m) Σ_i s_i φ(<w, x_i>, y_i) by proximal projected subgradient steps

Algorithm 2 of Do, Le & Foo, *Proximal regularization for online and batch learning*, ICML 2009: the steps of Algorithm 1 on
f_t(w) + τ_t/2·‖w − w_t‖², whose subgradient at w_t is that of f_t,

    w_{t+1} = Π_S[w_t − η_t g_t],   η_t = 1/(λ_{1:t} + τ_{1:t})

with regret at most ½ Σ_t [4τ_t R² + G_t²/(λ_{1:t} + τ_{1:t})] for ‖w*‖ ≤ R (Corollary 1). Two choices of τ_t:

    tau="balance"  τ_t = ½(√((λ_{1:t} + τ_{1:t−1})² + G_t²/R²) − (λ_{1:t} + τ_{1:t−1})): both parts equal in every step; at most
                   twice the bound of the best τ_t in hindsight (Theorem 1)
    tau="single"   τ_1 = τ and no other, which is where the bound is smallest (Proposition 1), for λ_t = λ, G_t = G and a
                   known number of steps: τ minimises 2τR² + ½ Σ_t G²/(λt + τ)

G_t is the norm of the subgradient (for "single", its bound over the data). R is a guess of ‖w*‖: 20 natural lengths
(:func:`~fenchel.solvers._online.subgradient_descent.natural_length`) unless given. The theory's √(P(0)/λ) makes steps far too
long where λ is small; ``optimistic`` increases R as needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled
from fenchel.core.errors import Argument, InputError
from fenchel.core.validation import checked_choice, is_number
from fenchel.problems.result import Iterate
from fenchel.solvers._online.online_loop import checked_batch
from fenchel.solvers._online.subgradient_descent import (
    SubgradientRun,
    balancing,
    checked_radius,
    gradient_bound,
    natural_length,
    schedule_state,
)
from fenchel.solvers.declaration import ridge, solver

LENGTHS = 20.0  # R in natural lengths, unless given
TERMS = 1000  # the first terms of the sum over t are added one by one, the others replaced by an integral


@compiled
class Proximal(NamedTuple):
    """τ_t balances the two parts of the bound in every step."""

    l2: float
    R: float  # or 0, for one taken from the data
    state: Any  # λ_{1:t}, τ_{1:t}, the R of the last step

    def step(self, G, ball_radius, natural_length):
        state = self.state
        R = min(ball_radius, self.R if self.R > 0.0 else LENGTHS * natural_length)
        if state.R > 0.0 and self.R <= 0.0:
            state.tau_sum *= state.R / R  # what it would be, had R been known from the first step
        state.R = R
        state.lambda_sum += self.l2
        state.tau_sum += balancing(state.lambda_sum + state.tau_sum, G, R)
        return 1.0 / (state.lambda_sum + state.tau_sum), 0.0  # the proximal term is centred at w_t, where its gradient is 0

    def after(self, norm):
        return False


@compiled
class SingleTau(NamedTuple):
    """τ_1 = τ, and 0 from then on."""

    l2: float
    state: Any  # λ_{1:t}, τ

    def step(self, G, ball_radius, natural_length):
        self.state.lambda_sum += self.l2
        return 1.0 / (self.state.lambda_sum + self.state.tau_sum), 0.0

    def after(self, norm):
        return False


def best_single_tau(l2: float, G: float, R: float, T: float) -> float:
    """The τ ≥ 0 that makes 2τR² + ½ Σ_{t≤T} G²/(λt + τ) smallest (Proposition 1): where 4R² = G² Σ_{t≤T} 1/(λt + τ)².

    >>> round(best_single_tau(1e-12, G=2.0, R=3.0, T=100.0), 6)  # G√T/(2R) without curvature
    3.333333
    """
    terms = min(int(T), TERMS)
    t = l2 * np.arange(1, terms + 1)

    def excess(tau: float) -> float:
        # The other terms are replaced by the integral of (λt + τ)⁻² from terms + ½ to T + ½.
        rest = (T - terms) / ((tau + l2 * (terms + 0.5)) * (tau + l2 * (T + 0.5)))
        return G * G * (float(np.sum((t + tau) ** -2.0)) + rest) - 4.0 * R * R

    if excess(0.0) <= 0.0:
        return 0.0
    from scipy.optimize import brentq  # here, for it takes long to import

    return float(brentq(excess, 0.0, G * math.sqrt(T) / (2.0 * R), xtol=1e-300, rtol=1e-12))


@solver("proximal", needs=(ridge,), online=True, structured=True)
def proximal(
    problem: Any,
    *,
    start: Iterate | None,
    rng: np.random.Generator,
    accuracy: float,
    tau: str = "balance",
    radius: float | None = None,
    horizon: float = 10.0,
    batch: int | str = "auto",
    sampling: str = "auto",
    predictor: str = "last",
) -> Iterator[Iterate]:
    """Subgradient steps with curvature added around the present point, for small λ: any loss, ridge penalty.

    ``radius`` is R; ``horizon``, for tau="single", how many passes the run will make.
    """
    l2, R = problem.regularizer.l2, checked_radius(radius)
    if not (is_number(horizon) and 0.0 < horizon < math.inf):
        raise InputError(Argument("horizon", horizon), ": give the number of passes that the run will make.")
    state = schedule_state(problem, start)
    schedule: Any = Proximal(l2, R, state)
    if checked_choice("tau", tau, ("balance", "single")) == "single":
        G = gradient_bound(problem, 'tau="single"')
        R = R or LENGTHS * natural_length(problem)
        state.tau_sum = best_single_tau(l2, G, R, max(1.0, horizon * problem.m / checked_batch(batch)))
        schedule = SingleTau(l2, state)
    yield from SubgradientRun(problem, schedule, start=start, rng=rng, batch=batch, sampling=sampling, predictor=predictor)

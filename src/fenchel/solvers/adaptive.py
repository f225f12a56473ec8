"""min_w λ/2·‖w‖² + (1/m) Σ_i s_i φ(<w, x_i>, y_i) by adaptive online gradient descent

Bartlett, Hazan & Rakhlin, *Adaptive online gradient descent*, NIPS 2008, as in Do, Le & Foo, *Proximal regularization for
online and batch learning*, ICML 2009, equation (4): the steps of Algorithm 1 on f_t(w) + τ_t/2·‖w‖², where

    τ_t = ½(√((λ_{1:t} + τ_{1:t−1})² + 8G_t²/(3R²)) − (λ_{1:t} + τ_{1:t−1})),   η_t = 1/(λ_{1:t} + τ_{1:t})

balances what the added curvature costs against what it saves. ``proximal`` pulls towards w_t in place of 0, and costs less.
G_t is the norm of the subgradient met, and R, a guess of ‖w*‖, 50 natural lengths unless given: the theory's
√(P(0)/λ) makes steps far too long where λ is small.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled
from fenchel.problems.result import Iterate
from fenchel.solvers._online.subgradient_descent import DescentRun, balancing, checked_radius, first_memory
from fenchel.solvers.declaration import ridge, solver

LENGTHS = 50.0


@compiled
class Adaptive(NamedTuple):
    """τ_t balances the two parts of Bartlett et al.'s bound, and pulls towards 0."""

    l2: float
    R: float  # or 0, for one taken from the data
    memory: np.ndarray  # λ_{1:t}, τ_{1:t}

    def step(self, G, radius, r):
        R = min(radius, self.R if self.R > 0.0 else LENGTHS * r)
        self.memory[0] += self.l2
        tau = balancing(self.memory[0] + self.memory[1], math.sqrt(8.0 / 3.0) * G, R)
        self.memory[1] += tau
        return 1.0 / (self.memory[0] + self.memory[1]), tau

    def after(self, norm):
        return False


@solver("adaptive", needs=(ridge,), online=True, structured=True)
def adaptive(
    problem: Any,
    *,
    start: Iterate | None,
    rng: np.random.Generator,
    accuracy: float,
    radius: float | None = None,
    batch: int | str = "auto",
    sampling: str = "auto",
    predictor: str = "last",
) -> Iterator[Iterate]:
    """Subgradient steps on objectives with curvature added towards 0, as much as balances its bound: any loss, ridge penalty."""
    rule = Adaptive(problem.regularizer.l2, checked_radius(radius), first_memory(problem, start))
    yield from DescentRun(problem, rule, start=start, rng=rng, batch=batch, sampling=sampling, predictor=predictor)

"""min_w λ/2·‖w‖² + (1/m) Σ_i s_i φ(<w, x_i>, y_i) by projected subgradient steps of size 1/(λt)

Algorithm 1 of Do, Le & Foo, *Proximal regularization for online and batch learning*, ICML 2009 (Hazan, Agarwal & Kale 2007;
for the hinge loss: Shalev-Shwartz, Singer & Srebro, *Pegasos*, ICML 2007):

    w_{t+1} = Π_S[w_t − η_t(λw_t + ∂ℓ_t(w_t))],   η_t = 1/λ_{1:t} = 1/(λt),   S = {‖w‖ ≤ √(P(0)/λ)}

Its regret is at most Σ_t G_t²/(2λt) (Lemma 1): small where λ is not, and useless where it is. See ``proximal`` and
``optimistic`` then.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled
from fenchel.problems.result import Iterate
from fenchel.solvers._online.subgradient_descent import SubgradientRun, schedule_state
from fenchel.solvers.declaration import ridge, solver


@compiled
class Pegasos(NamedTuple):
    """η_t = 1/λ_{1:t}"""

    l2: float
    state: Any  # λ_{1:t}

    def step(self, G, ball_radius, natural_length):
        self.state.lambda_sum += self.l2
        return 1.0 / self.state.lambda_sum, 0.0

    def after(self, norm):
        return False


@solver("pegasos", needs=(ridge,), online=True, structured=True)
def pegasos(
    problem: Any,
    *,
    start: Iterate | None,
    rng: np.random.Generator,
    accuracy: float,
    batch: int | str = "auto",
    sampling: str = "auto",
    predictor: str = "last",
) -> Iterator[Iterate]:
    """Stochastic subgradient steps of size 1/(λt), projected on the ball that holds the minimiser: any loss, ridge penalty."""
    schedule = Pegasos(problem.regularizer.l2, schedule_state(problem, start))
    yield from SubgradientRun(problem, schedule, start=start, rng=rng, batch=batch, sampling=sampling, predictor=predictor)

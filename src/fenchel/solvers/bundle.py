"""min_w λ/2·‖w‖² + ℓ(w) by cutting planes: each evaluation of ℓ gives a plane below it, and the minimiser of the model comes next

Teo, Vishwanathan, Smola & Le, *Bundle methods for regularized risk minimization*, JMLR 2010 (BMRM), after Joachims 2006:

    w_{t+1} = argmin_w λ/2·‖w‖² + max(0, max_{i ≤ t} a_iᵀw + b_i),     a_t ∈ ∂ℓ(w_t),  b_t = ℓ(w_t) − a_tᵀw_t

The minimum of the model is a lower bound on min P: the gap to the best P(w_t) is a certificate that requires nothing of the loss
but convexity, so that any oracle of values and subgradients will do. Where λ is small the model is far below P and its minimisers are
far apart; use ``proximal-bundle`` there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fenchel.problems.result import Iterate
from fenchel.solvers._bundle.bundle_state import BundleState
from fenchel.solvers.declaration import ridge, solver


@solver("bundle", needs=(ridge,), structured=True)
def bundle(
    problem: Any, *, start: Iterate | None, rng: np.random.Generator, accuracy: float, planes: int | None = None
) -> Iterator[Iterate]:
    """Cutting planes, one pass each: any loss, ridge penalty that is not weak; ``planes`` is how many are kept at most."""
    search = BundleState(problem, start, accuracy, planes)
    while not search.done:
        search.evaluate()
        search.next = search.raise_bound()
        yield search.iterate()

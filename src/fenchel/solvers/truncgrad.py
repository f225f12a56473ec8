"""min_w (1/m) Σ_i s_i φ(<w, x_i>, y_i) + σ‖w‖₁ by stochastic gradient steps with truncation

Langford, Li & Zhang, *Sparse online learning via truncated gradient*, JMLR 2009, in the variant TRUNCGRAD of Shalev-Shwartz &
Tewari, *Stochastic methods for l1-regularized loss minimization*, JMLR 2011, that truncates after every step:

    w ← 0;   for t = 1, 2, …:   draw k rows A_t;   w ← w − η∂g_t(w),  g_t the mean loss on A_t
                                w_j ← sign(w_j)·max(0, |w_j| − ησ) for all j

A weight that no row touches is only shrunk, and c shrinkings are one by cησ: a coordinate counts how many it has had, and the
others are deferred until it is read. So a step costs O(dk), and what is deferred is a difference of whole numbers times ησ:
there is no sum that could drift. η and what is proven about it: :mod:`fenchel.solvers._online.step_size`, with p = 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled
from fenchel.core.numeric import soft_threshold
from fenchel.core.record import record
from fenchel.problems.objective import Chunk
from fenchel.problems.result import Iterate
from fenchel.solvers._online.truncated_steps import TruncatedStep, TruncationRun
from fenchel.solvers.declaration import lasso, solver


@compiled
class TruncatedWeights(NamedTuple):
    """w, where each coordinate has been shrunk only as often as at its last visit."""

    v: np.ndarray
    shrunk: np.ndarray  # how many shrinkings each coordinate has had
    state: Any  # count: shrinkings so far; threshold: of each

    def raw(self, j):
        return soft_threshold(self.v[j], (self.state.count - self.shrunk[j]) * self.state.threshold)

    def factor(self):
        return 1.0

    def shift(self, j, delta):
        self.v[j] = self.raw(j) + delta
        self.shrunk[j] = self.state.count
        return 0.0

    def settle(self, change):
        pass

    def has_common_factor(self):
        return False

    def end_shifts(self):
        pass

    def end_step(self):
        pass

    def shrink(self, threshold):
        self.state.count += 1.0
        self.state.threshold = threshold

    def apply_deferred(self):
        for j in range(self.v.shape[0]):
            self.v[j] = self.raw(j)
            self.shrunk[j] = 0.0
        self.state.count = 0.0


@solver("truncgrad", needs=(lasso,), online=True)
def truncgrad(
    problem: Any,
    *,
    start: Iterate | None,
    rng: np.random.Generator,
    accuracy: float,
    eta: float | str = "auto",
    schedule: str = "auto",
    norm: float | None = None,
    steps: int | None = None,
    K: float | None = None,
    batch: int | str = "auto",
    sampling: str = "auto",
    predictor: str = "last",
) -> Iterator[Iterate]:
    """Truncated gradient: one row a step at O(non-zeros), any loss, lasso penalty.

    ``eta`` is the step size: a number, "auto" (the best of several on a sample of the rows), or that of the "theorem", from a bound
    ``norm`` on ‖w*‖₂ and the number of ``steps``, or of the "proposition", from ``K``. ``schedule`` "decreasing" halves it where
    progress ends, which is the default after eta="auto"; the theorems are about "constant" with ``predictor="random"``, one of
    w_1, …, w_T (in the paper from w_0 = 0 on).
    """

    def lengths(chunk: Chunk) -> np.ndarray:
        return chunk.design.row_norms()

    settings: dict[str, Any] = {"start": start, "rng": rng, "batch": batch, "sampling": sampling, "predictor": predictor}
    rules: dict[str, Any] = {"eta": eta, "schedule": schedule, "norm": norm, "steps": steps, "K": K}
    yield from TruncationRun(problem, partial(first_rule, problem.regularizer.l1), lengths, 2.0, **rules, **settings)


def first_rule(l1: float, w: np.ndarray, eta: float) -> TruncatedStep:
    """The update rule at w."""
    weights = TruncatedWeights(w.reshape(-1).copy(), np.zeros(w.size), record(count=0.0, threshold=0.0))
    return TruncatedStep(weights, l1, record(eta=eta))

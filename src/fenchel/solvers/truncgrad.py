"""min_w (1/m) Σ_i s_i φ(<w, x_i>, y_i) + σ‖w‖₁ by stochastic gradient steps with truncation

Langford, Li & Zhang, *Sparse online learning via truncated gradient*, JMLR 2009, in the variant TRUNCGRAD of Shalev-Shwartz &
Tewari, *Stochastic methods for l1-regularized loss minimization*, JMLR 2011, that truncates after every step:

    w ← 0;   for t = 1, 2, …:   draw k rows A_t;   w ← w − η∂g_t(w),  g_t the mean loss on A_t
                                w_j ← sign(w_j)·max(0, |w_j| − ησ) for all j

A weight that no row touches is only shrunk, and c shrinkings are one by cησ: a coordinate keeps how many it has had, the
rest are made up for when it is read. So a step costs O(dk), and what is owed is a difference of whole numbers times ησ: no
sum is kept that could drift. η and what is proven about it: :mod:`fenchel.solvers._online.step_size`, with p = 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled
from fenchel.core.numeric import soft_threshold
from fenchel.problems.objective import Chunk
from fenchel.problems.result import Iterate
from fenchel.solvers._online.truncated_steps import ETA, TruncationRun
from fenchel.solvers.declaration import lasso, solver

ROUNDS = 1  # what ``now`` holds after η: how often w has been shrunk


@compiled
class TruncatedGradient(NamedTuple):
    """The player at w, every coordinate as its last visit left it."""

    l1: float
    v: np.ndarray
    shrunk: np.ndarray  # how many shrinkings each has had
    now: np.ndarray

    def raw(self, j):
        return soft_threshold(self.v[j], (self.now[ROUNDS] - self.shrunk[j]) * (self.now[ETA] * self.l1))

    def factor(self):
        return 1.0

    def shift(self, j, delta):
        self.v[j] = self.raw(j) + delta
        self.shrunk[j] = self.now[ROUNDS]
        return 0.0

    def settle(self, change):
        pass

    def factors(self):
        return False

    def confined(self):
        return False

    def size(self, i, slope):
        return 0.0

    def begin(self, G, P0, r):
        return self.now[ETA]

    def end(self):
        self.now[ROUNDS] += 1.0
        return False

    def rest(self):
        for j in range(self.v.shape[0]):
            self.v[j] = self.raw(j)
            self.shrunk[j] = 0.0
        self.now[ROUNDS] = 0.0


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
    progress ends, as is done by default after eta="auto"; "constant" is what the theorems speak of, with ``predictor="random"``,
    one of w_1, …, w_T (theirs begin at w_0 = 0).
    """

    def lengths(chunk: Chunk) -> np.ndarray:
        return chunk.design.row_norms()

    settings: dict[str, Any] = {"start": start, "rng": rng, "batch": batch, "sampling": sampling, "predictor": predictor}
    rules: dict[str, Any] = {"eta": eta, "schedule": schedule, "norm": norm, "steps": steps, "K": K}
    yield from TruncationRun(problem, partial(first_player, problem.regularizer.l1), lengths, 2.0, **rules, **settings)


def first_player(l1: float, w: np.ndarray, eta: float) -> TruncatedGradient:
    """The player at rest at w."""
    return TruncatedGradient(l1, w.reshape(-1).copy(), np.zeros(w.size), np.array([eta, 0.0]))

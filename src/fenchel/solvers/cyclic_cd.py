"""min_w (1/m) Σ_i s_i φ(<w, x_i>, y_i) + Ω(w) by coordinate descent, one coordinate after the other

The cyclic variant of Algorithm 2 of Shalev-Shwartz & Tewari, *Stochastic Methods for l1-regularized Loss Minimization*, JMLR 2011
(section 4.2): the steps of :mod:`fenchel.solvers.scd` on j = 1 … n in turn, which reads X from one end to the other.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fenchel.problems.problem import Problem
from fenchel.problems.result import Iterate
from fenchel.solvers._coordinate.coordinate_descent import CoordinateDescent
from fenchel.solvers.declaration import known_smoothness, separable, solver


@solver("cyclic-cd", needs=(known_smoothness, separable), by_columns=True)
def cyclic_cd(
    problem: Problem, *, start: Iterate | None, rng: np.random.Generator, accuracy: float, beta: str = "column"
) -> Iterator[Iterate]:
    """Cyclic coordinate descent: smooth losses, with any regularizer that is a sum over weights."""
    descent = CoordinateDescent(problem, start, beta)
    every = np.arange(problem.n)
    while True:
        descent.step(every)
        yield descent.iterate()

"""What a bundle method knows on its way: the planes, the best point met, the best bound proven"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.errors import Argument, InputError
from fenchel.core.numeric import EPSILON
from fenchel.core.validation import checked_whole
from fenchel.problems.result import Iterate
from fenchel.solvers._bundle.planes import Planes

FEWEST = 10  # planes at least
SOME, MANY = 50, 300  # planes, if it is left to us: as many as fit into 32 MB, within these
NUMBERS = 1 << 22
EXACT = 0.01  # of the accuracy wanted is what the programmes are solved to
BOUND, TRIAL = 0, 1  # the programmes: of the bound on the minimum, and of the point to look at next
CLOSED = 4.0 * EPSILON  # of the bound: a smaller gap is none


class Look(NamedTuple):
    """What one look at a point tells."""

    objective: float
    slope: np.ndarray  #: a subgradient of the mean loss
    better: bool  #: whether the point is the best so far


class BundleState:
    """Look at points, keep the best; every look is one pass and one more plane."""

    def __init__(self, problem: Any, start: Iterate | None, accuracy: float, most: int | None, programmes: int = 1) -> None:
        size = math.prod(problem.shape)
        if most is not None and checked_whole("planes", most) < FEWEST:
            raise InputError(Argument("planes", most), f": give at least {FEWEST}, for fewer make no model, or None.")
        most = min(MANY, max(SOME, NUMBERS // size)) if most is None else most
        self.problem, self.l2, self.tolerance = problem, float(problem.regularizer.l2), EXACT * accuracy
        state: dict[str, Any] = {} if start is None else start.state
        known: tuple[float, float] | None = state.get("search")
        self.planes = Planes(size, most, programmes, state if known else None)
        self.w = (problem.origin if start is None else start.w).reshape(-1).astype(np.float64)
        self.objective, self.bound = known or (math.inf, 0.0)
        self.next: np.ndarray = state.get("next", self.w)
        self.z: Any = None
        self.looks = 0
        self.lost = False  # beyond what floating point can tell

    def look(self) -> Look:
        """Evaluate the next point."""
        w, problem = self.next, self.problem
        z = problem.predict(w.reshape(problem.shape))
        loss = problem.mean_loss(z)
        if loss < 0.0:
            raise InputError(f"Bundle methods need a loss that is nowhere negative, and here is one of {loss:.3g}: add a constant to it.")
        _, v = problem.loss_gradient(z)
        a = -v.reshape(-1)
        self.looks += 1
        with np.errstate(over="ignore", invalid="ignore"):
            square = float(a @ a)  # which enters the Gram matrix
        if not (math.isfinite(loss) and math.isfinite(square)):
            self.lost = True
            return Look(math.inf, np.zeros_like(a), False)
        objective = loss + 0.5 * self.l2 * float(w @ w)
        better = objective < self.objective
        if better:
            self.w, self.z, self.objective = w, z, objective
        self.planes.add(a, loss - float(a @ w))
        return Look(objective, a, better)

    def raise_bound(self) -> np.ndarray:
        """The minimiser of the model of P, whose minimum no P(w) is below."""
        found = self.planes.minimise(BOUND, self.l2, np.zeros_like(self.w), self.planes.b, self.tolerance)
        self.bound = max(self.bound, found.value)
        return found.w

    @property
    def done(self) -> bool:
        """Whether nothing but rounding is left between the best point and the bound, or nothing can be told any more."""
        return self.lost or self.objective - self.bound <= CLOSED * self.bound

    def iterate(self, state: dict[str, Any] | None = None) -> Iterate:
        """The best point so far, and what is needed to go on."""
        kept = {**self.planes.state, "next": self.next, "search": (self.objective, self.bound), **(state or {})}
        shape, accesses = self.problem.shape, 2 * self.looks * self.problem.entries
        bound = min(self.bound, self.objective)  # which is above it by rounding alone
        return Iterate(self.w.reshape(shape), float(self.looks), accesses, z=self.z, lower_bound=bound, state=kept)

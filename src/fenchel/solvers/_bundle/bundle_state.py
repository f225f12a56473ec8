"""The state of a bundle method: its planes, the best point evaluated, and the best lower bound proven"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.errors import Argument, InputError
from fenchel.core.numeric import EPSILON
from fenchel.core.validation import checked_whole
from fenchel.problems.result import Iterate
from fenchel.solvers._bundle.planes import Planes

FEWEST = 10  # smallest number of planes that a user may choose: fewer make no useful model
SOME, MANY = 50, 300  # bounds on the default number of planes, which is as many as fit into 32 MB
NUMBERS = 1 << 22  # float64 numbers in 32 MB
ACCURACY = 0.01  # relative to the accuracy wanted: how accurately the quadratic programmes are solved
BOUND, TRIAL = 0, 1  # the two programmes: that of the lower bound, and that of the next point
CLOSED = 4.0 * EPSILON  # relative to the bound: a smaller gap is rounding


class OracleResult(NamedTuple):
    """What one evaluation of the loss gives."""

    objective: float
    subgradient: np.ndarray  #: of the mean loss
    better: bool  #: whether the point is the best so far


class BundleState:
    """Evaluate points and keep the best; every evaluation is one pass and adds one plane."""

    def __init__(self, problem: Any, start: Iterate | None, accuracy: float, most: int | None, programmes: int = 1) -> None:
        size = math.prod(problem.shape)
        if most is not None and checked_whole("planes", most) < FEWEST:
            raise InputError(Argument("planes", most), f": give at least {FEWEST}, because fewer make no useful model, or None.")
        most = min(MANY, max(SOME, NUMBERS // size)) if most is None else most
        self.problem, self.l2, self.tolerance = problem, float(problem.regularizer.l2), ACCURACY * accuracy
        state: dict[str, Any] = {} if start is None else start.state
        known: tuple[float, float] | None = state.get("search")
        self.planes = Planes(size, most, programmes, state if known else None)
        self.w = (problem.origin if start is None else start.w).reshape(-1).astype(np.float64)
        self.objective, self.bound = known or (math.inf, 0.0)
        self.next: np.ndarray = state.get("next", self.w)
        self.z: Any = None
        self.evaluations = 0
        self.overflowed = False  # whether a loss or a subgradient left the range of floating point

    def evaluate(self) -> OracleResult:
        """Evaluate the loss and a subgradient at the next point."""
        w, problem = self.next, self.problem
        z = problem.predict(w.reshape(problem.shape))
        loss = problem.mean_loss(z)
        if loss < 0.0:
            raise InputError(f"Bundle methods need a loss that is never negative, and this one is {loss:.3g}: add a constant to it.")
        alpha, v = problem.loss_gradient(z)
        a = -v.reshape(-1)
        self.evaluations += 1
        with np.errstate(over="ignore", invalid="ignore"):
            square = float(a @ a)  # an entry of the Gram matrix
        if not (math.isfinite(loss) and math.isfinite(square)):
            self.overflowed = True
            return OracleResult(math.inf, np.zeros_like(a), False)
        objective = loss + 0.5 * self.l2 * float(w @ w)
        better = objective < self.objective
        if better:
            self.w, self.z, self.objective = w, z, objective
        known = hasattr(problem, "plane_errors")  # an oracle of values and subgradients alone does not know its rounding
        b_error, a_error = problem.plane_errors(w.reshape(problem.shape), loss, alpha, a) if known else (0.0, 0.0)
        self.planes.add(a, loss - float(a @ w) - b_error, a_error)
        return OracleResult(objective, a, better)

    def raise_bound(self) -> np.ndarray:
        """The minimiser of the model of P, whose minimum is a lower bound on min P."""
        found = self.planes.minimise(BOUND, self.l2, np.zeros_like(self.w), self.planes.b, self.tolerance)
        self.bound = max(self.bound, found.value)
        return found.w

    @property
    def done(self) -> bool:
        """Whether the gap between the best point and the bound is rounding, or an evaluation has overflowed."""
        return self.overflowed or self.objective - self.bound <= CLOSED * self.bound

    def iterate(self, state: dict[str, Any] | None = None) -> Iterate:
        """The best point so far, and the state that a later run continues from."""
        kept = {**self.planes.state, "next": self.next, "search": (self.objective, self.bound), **(state or {})}
        shape, accesses = self.problem.shape, 2 * self.evaluations * self.problem.entries
        bound = min(self.bound, self.objective)  # a bound above the objective is a rounding error
        return Iterate(self.w.reshape(shape), float(self.evaluations), accesses, z=self.z, lower_bound=bound, state=kept)

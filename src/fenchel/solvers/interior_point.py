"""min_w (1/m) Σ_i s_i φ(<w, x_i>, y_i) + l2/2·‖w‖², φ with corners, by a primal-dual interior point method

A piecewise linear loss is a maximum over a box, φ(z, y) = max_{l ≤ a ≤ u} a·(t − z) (or a sum of two of them), so that the dual
asks for α in boxes. With multipliers π, ρ of its two sides, z = Xw and the average complementarity μ the conditions are

    ρ − π = t − z,     π·(α − l) = μ,     ρ·(u − α) = μ,     l2·w = (1/m)·Xᵀ(sα)

and a step of Newton's method towards a smaller μ is, all but one eliminated, a system of the kind that smooth losses have
(:mod:`fenchel.solvers._second_order.newton_equations`), with weights h = s/(mθ), θ = π/(α − l) + ρ/(u − α). M. Ferris and T. Munson,
*Interior-point methods for massive support vector machines*, SIAM J. Optimization 2002. Some twenty to forty steps, whatever the strength
and the scaling.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fenchel.problems.problem import Problem
from fenchel.problems.result import Iterate
from fenchel.solvers._second_order.newton_equations import newton_equations
from fenchel.solvers.declaration import ridge_throughout, solver

SHRINK, CAUTIOUS = 0.1, 0.4  # what is to be left of μ after a step; more of it after a step that was cut short
WHOLE = 0.9  # a step that was not
INSIDE = 0.995  # of the way to the nearest side of a box
SHORTEST = 1e-10


def piecewise_linear(problem: Problem) -> str | None:
    """A loss that is a maximum over a box."""
    return None if hasattr(problem.loss, "boxes") else f"a piecewise linear loss with boxes, and {type(problem.loss).__name__} has none"


class Side:
    """One term a·(t − z), l ≤ a ≤ u, of the loss: the dual variable and the multipliers of the sides of its box."""

    def __init__(self, t: np.ndarray, low: np.ndarray, high: np.ndarray, z: np.ndarray) -> None:
        self.t, self.low, self.high = t, low, high
        r = t - z
        size = float(np.abs(r).mean()) + 1e-3 * float(np.abs(t).max()) + 1e-300
        self.alpha = 0.5 * (low + high)
        self.pi, self.rho = size + np.maximum(-r, 0.0), size + np.maximum(r, 0.0)

    def complementarity(self, row_weights: np.ndarray) -> float:
        """The weighted mean of π·(α − l) + ρ·(u − α), what is left of the gap."""
        return float(row_weights @ (self.pi * (self.alpha - self.low) + self.rho * (self.high - self.alpha)))

    def prepare(self, z: np.ndarray, mu: float) -> None:
        """What Newton's equations need: θ, and the α they would aim at if z stayed."""
        self.below, self.above, self.mu = self.alpha - self.low, self.high - self.alpha, mu
        self.theta = self.pi / self.below + self.rho / self.above
        self.pull = (self.t - z - mu / self.above + mu / self.below) / self.theta

    def step(self, Xd: np.ndarray) -> float:
        """The change that goes with a change Xd of z; how much of it stays inside."""
        self.da = self.pull - Xd / self.theta
        self.dpi = (self.mu - self.pi * self.da) / self.below - self.pi
        self.drho = (self.mu + self.rho * self.da) / self.above - self.rho
        pairs = ((self.below, self.da), (self.above, -self.da), (self.pi, self.dpi), (self.rho, self.drho))
        return min(1.0, *(INSIDE * float(longest(value, change)) for value, change in pairs))

    def move(self, t: float) -> None:
        """Take so much of the step."""
        self.alpha = self.alpha + t * self.da
        self.pi, self.rho = self.pi + t * self.dpi, self.rho + t * self.drho


def longest(value: np.ndarray, change: np.ndarray) -> float:
    """How many times the change can be made before a positive value is 0.

    >>> longest(np.array([1.0, 4.0]), np.array([3.0, -2.0]))
    2.0
    """
    falling = change < 0.0
    return float((value[falling] / -change[falling]).min(initial=np.inf))


@solver("interior-point", needs=(piecewise_linear, ridge_throughout))
def interior_point(problem: Problem, *, start: Iterate | None, rng: np.random.Generator, accuracy: float) -> Iterator[Iterate]:
    """A primal-dual interior point method: losses with corners and the ridge penalty, where rows or columns are few."""
    # A start is of no use to it: points near the sides of boxes are hard to leave.
    equations = newton_equations(problem.design, problem.penalised.l2, problem.free)
    w, z = problem.starting_point(None)
    sides = [Side(t, low, high, z) for t, low, high in problem.loss.boxes(problem.y)]
    passes, shrink = 0, SHRINK
    while True:
        alpha = np.sum([side.alpha for side in sides], axis=0)
        yield Iterate(w, passes, 2 * (passes + 1) * problem.design.nnz, alpha, z=z)
        mu = shrink * sum(side.complementarity(problem.row_weights) for side in sides) / (2 * len(sides))
        for side in sides:
            side.prepare(z, mu)
        h = problem.row_weights * np.sum([1.0 / side.theta for side in sides], axis=0)
        gradient = problem.penalty_gradient(w) - problem.adjoint(alpha + np.sum([side.pull for side in sides], axis=0))
        d, taken = equations.solve(h, gradient, 0.0)
        Xd = problem.predict(d)
        t = min(side.step(Xd) for side in sides)
        passes += taken + 2
        if not t > SHORTEST:
            return
        for side in sides:
            side.move(t)
        w = w + t * d
        z = problem.predict(w)
        shrink = SHRINK if t > WHOLE else CAUTIOUS

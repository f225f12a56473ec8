"""min_w (1/m) Σ_i s_i φ(<w, x_i>, y_i) + l2/2·‖w‖², φ piecewise linear, by a primal-dual interior point method

A piecewise linear loss is a maximum over a box, φ(z, y) = max_{l ≤ a ≤ u} a·(t − z) (or a sum of two of them), so that the dual
variable α lies in a box. With multipliers π, ρ of its two bounds, z = Xw and the average complementarity μ the conditions are

    ρ − π = t − z,     π·(α − l) = μ,     ρ·(u − α) = μ,     l2·w = (1/m)·Xᵀ(sα)

and a step of Newton's method towards a smaller μ reduces, by elimination, to a system of the kind that smooth losses have
(:mod:`fenchel.solvers._second_order.newton_equations`), with weights h = s/(mθ), θ = π/(α − l) + ρ/(u − α). M. Ferris and T. Munson,
*Interior-point methods for massive support vector machines*, SIAM J. Optimization 2002. It takes twenty to forty steps, whatever the
strength and the scaling of the columns. Small dense problems take these steps in one compiled call first
(:mod:`fenchel.solvers._second_order.small_interior_point`), and the loop below continues where their end is not accurate enough.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fenchel.problems.problem import Problem
from fenchel.problems.result import Iterate
from fenchel.solvers._second_order.newton_equations import newton_equations
from fenchel.solvers._second_order.small_interior_point import CAUTIOUS, INSIDE, NEAREST, SHORTEST, SHRINK, WHOLE, interior_point_steps
from fenchel.solvers._second_order.small_problems import dense_columns, steps_are_compiled
from fenchel.solvers.declaration import ridge_throughout, solver

MOST_STEPS = 100
SAFETY = 0.5  # share of the accuracy that the compiled steps aim at: what balancing α costs is not in their estimate


def piecewise_linear(problem: Problem) -> str | None:
    """A loss that is a maximum over a box."""
    return None if hasattr(problem.loss, "boxes") else f"a piecewise linear loss with boxes, and {type(problem.loss).__name__} has none"


class BoxTerm:
    """One term a·(t − z), l ≤ a ≤ u, of the loss: the dual variable and the multipliers of its two bounds."""

    def __init__(self, t: np.ndarray, low: np.ndarray, high: np.ndarray, z: np.ndarray, row_weights: np.ndarray) -> None:
        self.t, self.low, self.high = t, low, high
        r = t - z
        size = float(row_weights @ np.abs(r)) + 1e-3 * float(np.abs(t).max()) + 1e-300
        self.alpha = 0.5 * (low + high)
        self.pi, self.rho = size + np.maximum(-r, 0.0), size + np.maximum(r, 0.0)

    def complementarity(self, row_weights: np.ndarray) -> float:
        """The weighted mean of π·(α − l) + ρ·(u − α), which is the gap."""
        return float(row_weights @ (self.pi * (self.alpha - self.low) + self.rho * (self.high - self.alpha)))

    def prepare(self, z: np.ndarray, mu: float) -> None:
        """The parts of Newton's equations: θ, and the change of α if z stayed the same."""
        nearest = NEAREST * (self.high - self.low)
        self.below, self.above = np.maximum(self.alpha - self.low, nearest), np.maximum(self.high - self.alpha, nearest)
        self.mu = mu
        self.theta = self.pi / self.below + self.rho / self.above
        self.at_fixed_z = (self.t - z - mu / self.above + mu / self.below) / self.theta

    def step(self, Xd: np.ndarray) -> float:
        """The change of α, π and ρ for a change Xd of z; the longest step that stays inside the bounds."""
        self.da = self.at_fixed_z - Xd / self.theta
        self.dpi = (self.mu - self.pi * self.da) / self.below - self.pi
        self.drho = (self.mu + self.rho * self.da) / self.above - self.rho
        pairs = ((self.below, self.da), (self.above, -self.da), (self.pi, self.dpi), (self.rho, self.drho))
        return min(1.0, *(INSIDE * float(longest(value, change)) for value, change in pairs))

    def move(self, t: float) -> None:
        """Take the share t of the step."""
        self.alpha = self.alpha + t * self.da
        self.pi, self.rho = self.pi + t * self.dpi, self.rho + t * self.drho


def longest(value: np.ndarray, change: np.ndarray) -> float:
    """The largest t for which value + t·change has no negative entry.

    >>> longest(np.array([1.0, 4.0]), np.array([3.0, -2.0]))
    2.0
    """
    falling = change < 0.0
    return float((value[falling] / -change[falling]).min(initial=np.inf))


@solver("interior-point", needs=(piecewise_linear, ridge_throughout), limited=True)
def interior_point(
    problem: Problem, *, start: Iterate | None, rng: np.random.Generator, accuracy: float, most_passes: float
) -> Iterator[Iterate]:
    """A primal-dual interior point method: piecewise linear losses and the ridge penalty, where rows or columns are few."""
    # A start is not used: interior point methods are slow from points near the bounds.
    w, z = problem.starting_point(None)
    terms = [BoxTerm(t, low, high, z, problem.row_weights) for t, low, high in problem.loss.boxes(problem.y)]
    passes, shrink, equations = 0, SHRINK, None
    small = steps_are_compiled(problem)
    if small:
        w, taken = steps_of_small_problem(problem, w, z, terms, accuracy, most_passes)
        z, passes = problem.predict(w), 3 * taken
    while True:
        alpha = np.sum([term.alpha for term in terms], axis=0)
        yield Iterate(w, passes, 2 * (passes + 1) * problem.design.nnz, alpha, z=z, done=small, exact=True)
        equations = equations or newton_equations(problem.design, problem.penalised.l2, problem.free)
        mu = shrink * sum(term.complementarity(problem.row_weights) for term in terms) / (2 * len(terms))
        for term in terms:
            term.prepare(z, mu)
        h = problem.row_weights * np.sum([1.0 / term.theta for term in terms], axis=0)
        gradient = problem.penalty_gradient(w) - problem.adjoint(alpha + np.sum([term.at_fixed_z for term in terms], axis=0))
        d, taken = equations.solve(h, gradient, 0.0)
        Xd = problem.predict(d)
        t = min(term.step(Xd) for term in terms)
        passes += taken + 2
        if not t > SHORTEST:
            return
        for term in terms:
            term.move(t)
        w = w + t * d
        z = problem.predict(w)
        shrink = SHRINK if t > WHOLE else CAUTIOUS


def steps_of_small_problem(
    problem: Problem, w: np.ndarray, z: np.ndarray, terms: list[BoxTerm], accuracy: float, most_passes: float
) -> tuple[np.ndarray, int]:
    """A point at which the gap is about the accuracy, and the steps taken; the terms are changed to those at that point."""
    w, z, l2 = w.copy(), z.copy(), problem.penalised.l2
    boxes = np.array([(term.t, term.low, term.high) for term in terms])
    duals = np.array([(term.alpha, term.pi, term.rho) for term in terms])
    residual = problem.penalty_gradient(w) - problem.adjoint(duals[:, 0].sum(axis=0))
    penalised = residual[:-1] if problem.free else residual
    excess = float(penalised @ penalised) / (2.0 * l2)
    columns = dense_columns(problem)
    most = int(min(MOST_STEPS, max(0.0, most_passes) // 3))  # a step makes three passes
    taken = interior_point_steps(columns, problem.row_weights, l2, problem.free, boxes, duals, w, z, excess, SAFETY * accuracy, most)
    for term, (alpha, pi, rho) in zip(terms, duals, strict=True):
        term.alpha, term.pi, term.rho = alpha, pi, rho
    return w, int(taken)

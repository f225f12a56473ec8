"""min_w (1/m) Σ_i s_i φ(<w, x_i>, y_i) + l2/2·‖w‖², φ of linear and quadratic pieces, by a primal-dual interior point method

Such a loss is a maximum over a box, φ(z, y) = max_{l ≤ a ≤ u} a·(t − z) − γ/2·a² (or a sum of two of them), so that the dual variable α
lies in a box. With multipliers π, ρ of its two bounds, z = Xw and the average complementarity μ the conditions are

    ρ − π = t − z − γα,     π·(α − l) = μ,     ρ·(u − α) = μ,     l2·w = (1/m)·Xᵀ(sα)

and a step of Newton's method towards a smaller μ reduces, by elimination, to a system of the kind that smooth losses have
(:mod:`fenchel.solvers._second_order.newton_equations`), with weights h = s/(mθ), θ = π/(α − l) + ρ/(u − α) + γ. M. Ferris and T. Munson,
*Interior-point methods for massive support vector machines*, SIAM J. Optimization 2002. A step is a predictor towards μ = 0, then a
corrector with the same factorisation: :mod:`fenchel.solvers._second_order.complementarity` has both. It takes ten to forty steps, whatever
the strength and the scaling of the columns. Small dense problems take these steps in one compiled call first
(:mod:`fenchel.solvers._second_order.small_interior_point`), as do problems with few rows in terms of these
(:mod:`fenchel.solvers._second_order.few_rows`), and the loop below continues where their end is not accurate enough.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fenchel.problems.problem import Problem
from fenchel.problems.result import Iterate
from fenchel.solvers._second_order.complementarity import (
    MOST_IDLE,
    SHORTEST,
    changes_of_rows,
    complementarity,
    equations_of_rows,
    inverses_of_rows,
    move_rows,
    set_first_duals,
)
from fenchel.solvers._second_order.few_rows import has_few_rows, in_terms_of_rows
from fenchel.solvers._second_order.newton_equations import Inverse, newton_equations
from fenchel.solvers._second_order.small_interior_point import interior_point_steps
from fenchel.solvers._second_order.small_problems import dense_columns, steps_are_compiled
from fenchel.solvers.declaration import ridge_throughout, solver

MOST_STEPS = 100
SAFETY = 0.5  # share of the accuracy that the compiled steps aim at: what balancing α costs is not in their estimate
COLUMNS_PER_ROW = 2  # up to which the equations are solved by columns, whose weights h differ by many orders of magnitude


def maximum_over_boxes(problem: Problem) -> str | None:
    """A loss that is a maximum over a box."""
    has_boxes = hasattr(problem.loss, "boxes")
    return None if has_boxes else f"a loss of linear and quadratic pieces with boxes, and {type(problem.loss).__name__} has none"


def box_curvature(problem: Problem) -> float:
    """γ, which is 0 for a loss of linear pieces."""
    return float(getattr(problem.loss, "box_curvature", 0.0))


class InteriorPoint(NamedTuple):
    """w, z = X·w, and for each term of the loss its box (t, l, u) and its dual variables (α, π, ρ), a column for each row."""

    w: np.ndarray
    z: np.ndarray
    boxes: np.ndarray
    duals: np.ndarray

    @property
    def alpha(self) -> np.ndarray:
        """The dual point: the sum over the terms."""
        return np.asarray(self.duals[:, 0].sum(axis=0))


def first_point(problem: Problem) -> InteriorPoint:
    """The origin, with dual variables inside their boxes."""
    w, z = problem.starting_point(None)
    boxes, gamma = np.array(problem.loss.boxes(problem.y)), box_curvature(problem)
    duals = np.empty_like(boxes)
    set_first_duals(boxes, gamma, z, problem.row_weights, problem.objective_at_zero if gamma > 0.0 else 0.0, duals)
    return InteriorPoint(w.copy(), z.copy(), boxes, duals)


@solver("interior-point", needs=(maximum_over_boxes, ridge_throughout), evaluates_start=True, limited=True)
def interior_point(
    problem: Problem, *, start: Iterate | None, rng: np.random.Generator, accuracy: float, most_passes: float
) -> Iterator[Iterate]:
    """A primal-dual interior point method: losses of linear and quadratic pieces and the ridge penalty, where rows or columns are few."""
    # A start is not used: interior point methods are slow from points near the bounds.
    found, equations = after_compiled_steps(problem, accuracy, most_passes), None
    point, passes = found or (first_point(problem), 0.0)
    if found is not None:
        yield iterate_at(problem, point, passes, True)
    l2, r, gamma = problem.penalised.l2, problem.row_weights, box_curvature(problem)
    weights, fixed = np.empty(problem.m), np.empty(problem.m)
    inverses, changes = np.empty_like(point.duals), np.zeros_like(point.duals)
    excess, left, before, idle = gap_of_residual(problem, point), 1.0, math.inf, 0
    while True:
        w, z, boxes, duals = point
        total = complementarity(boxes, duals, changes, 0.0, r)
        gap = total + left * left * excess
        done = gap <= SAFETY * accuracy
        idle, before = (idle + 1 if gap >= before else 0), min(gap, before)
        if idle >= MOST_IDLE:
            return
        if found is None:
            yield iterate_at(problem, point, passes, done)
        if not total > 0.0:  # rounding has put every α at a bound
            return
        found, equations = None, equations or newton_equations(problem.design, l2, problem.free, COLUMNS_PER_ROW)
        inverses_of_rows(boxes, gamma, duals, inverses)
        equations_of_rows(boxes, gamma, duals, inverses, changes, z, r, 0.0, 0.0, weights, fixed)
        solved = equations.inverse(weights) if equations.is_factorised else partial(by_conjugate_gradients, equations, weights.copy())
        _, Xd = direction(problem, solved, w, fixed)
        length = changes_of_rows(boxes, gamma, duals, inverses, changes, z, Xd, 0.0, 0.0)
        after = complementarity(boxes, duals, changes, length, r)
        mu = after * (after / total) ** 2 / (2 * len(boxes))
        equations_of_rows(boxes, gamma, duals, inverses, changes, z, r, mu, 1.0, weights, fixed)
        d, Xd = direction(problem, solved, w, fixed)
        length = changes_of_rows(boxes, gamma, duals, inverses, changes, z, Xd, mu, 1.0)
        passes += 3.0
        if not length > SHORTEST:
            return
        move_rows(boxes, duals, changes, length)
        w, left = w + length * d, (1.0 - length) * left
        point = InteriorPoint(w, problem.predict(w), boxes, duals)


def direction(problem: Problem, solved: Inverse, w: np.ndarray, fixed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The solution d of the Newton equations, and X·d."""
    d = -solved(problem.penalty_gradient(w) - problem.design.rmatvec(fixed))
    return d, problem.predict(d)


def iterate_at(problem: Problem, point: InteriorPoint, passes: float, done: bool) -> Iterate:
    """The point as an iterate."""
    return Iterate(point.w, passes, int(2 * (passes + 1) * problem.design.nnz), point.alpha, z=point.z, done=done, exact=True)


def by_conjugate_gradients(equations: Any, weights: np.ndarray, g: np.ndarray) -> np.ndarray:
    """The solution of the Newton equations for −g, where their matrix is too large to be factorised."""
    return -np.asarray(equations.solve(weights, g, 0.0)[0])


def gap_of_residual(problem: Problem, point: InteriorPoint) -> float:
    """‖l2·w − v‖²/(2·l2), the part of the gap that is not complementarity; a step of length t leaves the share (1 − t)² of it."""
    residual = problem.penalty_gradient(point.w) - problem.adjoint(point.alpha)
    penalised = residual[:-1] if problem.free else residual
    return float(penalised @ penalised) / (2.0 * problem.penalised.l2)


def after_compiled_steps(problem: Problem, accuracy: float, most_passes: float) -> tuple[InteriorPoint, float] | None:
    """The point that compiled steps lead to, and the passes they make; None if the problem is not small, or products overflow."""
    reduced = in_terms_of_rows(problem) if has_few_rows(problem) else None
    if reduced is None and not steps_are_compiled(problem):
        return None
    small = problem if reduced is None else reduced.problem
    point = first_point(small)
    steps = take_small_steps(small, point, accuracy, most_passes)
    w = point.w if reduced is None else reduced.weights(point.w)
    return None if w is None else (point._replace(w=w, z=problem.predict(w)), 3.0 * steps if reduced is None else 2.0)


def take_small_steps(problem: Problem, point: InteriorPoint, accuracy: float, most_passes: float) -> int:
    """Move the point, in place, to one at which the gap is about the accuracy; the steps taken."""
    most = int(min(MOST_STEPS, max(0.0, most_passes) // 3))  # a step makes three passes
    columns, gamma, l2 = dense_columns(problem), box_curvature(problem), problem.penalised.l2
    return int(interior_point_steps(columns, problem.row_weights, l2, problem.free, gamma, *point, SAFETY * accuracy, most))

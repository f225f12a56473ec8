"""min_w P(w) = (1/m) Σ_i s_i φ(<w, x_i>, y_i) + l2/2·‖w‖², φ smooth with known second derivatives, by Newton's method

    (Xᵀ·diag(s_i φ''(z_i)/m)·X + l2·I)·d = −∇P(w),     w⁺ = w + t·d

with t halved until P falls by a share of its directional derivative (Armijo). Predictions are linear in w: z⁺ = z + t·Xd, so that trying
t costs no product with X, and a step costs one product Xd and one product with Xᵀ beside those of the equations. For a quadratic
loss one step is the solution: this is also the direct method for ridge regression.
The equations: :mod:`fenchel.solvers._second_order.newton_equations`; solved inexactly where that pays, as in C.-J. Lin, R. Weng
and S. Keerthi, *Trust region Newton method for large-scale logistic regression*, JMLR 2008. Small dense problems take these steps in one
compiled call first (:mod:`fenchel.solvers._second_order.small_problems`), as do problems with few rows in terms of these
(:mod:`fenchel.solvers._second_order.few_rows`), and the loop below certifies where they end. On tall data the first point is about the
minimiser on a sample of the rows (:mod:`fenchel.solvers._second_order.samples`). Where steps are short, they are taken under a stronger
penalty that becomes weaker again (:mod:`fenchel.solvers._second_order.continuation`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from fenchel.core.numeric import EPSILON
from fenchel.losses.outputs import outputs_of
from fenchel.problems.problem import Problem
from fenchel.problems.result import Iterate
from fenchel.problems.scaling import FAR
from fenchel.problems.sums import in_ranges
from fenchel.solvers._second_order.class_equations import ClassEquations
from fenchel.solvers._second_order.continuation import SHORT as STEP_IS_SHORT, strongest, weakened
from fenchel.solvers._second_order.curvatures import model_dual_points, model_dual_vectors, row_curvatures
from fenchel.solvers._second_order.few_rows import has_few_rows, in_terms_of_rows
from fenchel.solvers._second_order.newton_equations import newton_equations
from fenchel.solvers._second_order.samples import minimum_on_sample, samples_tell
from fenchel.solvers._second_order.small_problems import SUFFICIENT, steps_are_compiled, steps_of_small_problem
from fenchel.solvers._second_order.step_length import length_along
from fenchel.solvers.declaration import is_quadratic, ridge_throughout, second_derivatives, smooth_loss, solver

EXACT = 1e-6  # relative to the gradient: the smallest residual asked of conjugate gradients where the first step is the solution
SAFETY = 0.5  # share of the residual whose gap would be the accuracy: it is measured in the norm of the preconditioner
ROUNDING = 4.0 * EPSILON  # relative to P: smaller changes of P are rounding errors
FALLING = 0.5  # ratio to the gradient before: a gradient that falls so fast makes a step worthwhile even where P does not change
SHORTEST = 1e-15  # shortest step tried
TOO_SHORT = 1e-7  # a shorter step means that φ'' at z is no model at all, and its upper bound is tried instead
NEAR = 25.0  # smallest ratio of the accuracy to ε²·(predicted decrease), ε the relative error of the prediction, for the model's dual point
STRONGER = 3.0  # the ridge penalty on a sample, relative to that on all rows: fewer rows need more of it; 1 and 8 were slower
REFRESHED = 10  # steps after which z = X·w is computed again, against the accumulation of rounding errors


@solver("newton", needs=(smooth_loss, second_derivatives, ridge_throughout), evaluates_start=True, limited=True)
def newton(problem: Problem, *, start: Iterate | None, rng: np.random.Generator, accuracy: float, most_passes: float) -> Iterator[Iterate]:
    """Newton's method: smooth losses with the ridge penalty; the fastest where rows or columns are few."""
    equations = None
    w, z = problem.starting_point(start)
    # Far from the optimum, second derivatives may vanish: a start that is worse than the origin is not used.
    if start is not None and problem.objective(w, z) > problem.objective_at_zero:
        w, z = problem.starting_point(None)
    passes, steps, first, before, value, exact, is_near = 0.0, 0, 0.0, math.inf, math.nan, False, True
    # The problem whose steps are taken, and whether it has had a stronger penalty, or none is tried.
    posed, is_continued = problem, problem.vector_valued or is_quadratic(problem)
    if start is None and has_few_rows(problem):
        reduced = in_terms_of_rows(problem)
        if reduced is not None:
            u, _ = steps_of_small_problem(reduced.problem, *reduced.problem.starting_point(None), accuracy, most_passes)
            found = reduced.weights(u)
            w, z, exact, passes = (w, z, exact, passes) if found is None else (found, problem.predict(found), True, 2.0)
    elif steps_are_compiled(problem):
        w, taken = steps_of_small_problem(problem, w, z, accuracy, most_passes)
        z, exact, passes = problem.predict(w), True, 2 * taken
    elif start is None and samples_tell(problem):
        w, passes = minimum_on_sample(
            problem, rng, STRONGER, lambda sample, enough: newton.run(sample, start=None, rng=rng, accuracy=enough, most_passes=most_passes)
        )
        z, exact = problem.predict(w), True
    while True:
        alpha, v, unbalanced = dual_point_and_image(problem, z) if is_near else (*problem.loss_gradient(z), None)
        of_loss, is_first = (v if unbalanced is None else unbalanced), math.isnan(value)
        if not is_first:  # the first point may be the last, and is to be evaluated in any case
            gradient = problem.penalty_gradient(w) - of_loss
            is_near = not bound_is_useless(problem, gradient, value, accuracy)
        if is_near and unbalanced is None and problem.free:
            alpha = problem.balanced(alpha)
            v = problem.adjoint(alpha)
        bound = math.nan if is_near else -math.inf
        yield Iterate(w, passes, accesses(problem, passes), alpha, v, z, done=True, exact=exact, objective=value, estimated_bound=bound)
        equations = equations or equations_of(problem)
        if is_first:
            gradient, value = problem.penalty_gradient(w) - of_loss, problem.objective(w, z)
        size = float(np.linalg.norm(gradient))
        first = first or size
        if posed is not problem:
            posed = under_weaker_penalty(problem, posed, w, value, gradient)
            equations.set_strength(posed.penalised.l2)
            gradient = gradient + posed.penalty_gradient(w) - problem.penalty_gradient(w)
        if is_quadratic(problem):  # the step is the solution, whose gap is ‖residual‖²/(2·l2)
            forcing = max(EXACT, SAFETY * math.sqrt(2.0 * problem.penalised.l2 * accuracy) / size) if size > 0.0 else EXACT
        else:
            forcing = math.sqrt(size / first) if first else EXACT
        falling, before = size < FALLING * before, size
        at_w = value if posed is problem else posed.objective(w, z)
        for d, taken in directions(posed, equations, z, gradient, forcing):
            Xd = problem.predict(d)
            passes += taken + 1
            slope = float(np.vdot(gradient, d))
            t, new = step_length(posed, w, z, at_w, d, Xd, slope, falling)
            is_continued = is_continued or (t < STEP_IS_SHORT and strongest(problem) == problem.penalised.l2)
            if t >= TOO_SHORT or not is_continued:
                break
        if t == 0.0 and is_continued:
            return
        predicted, error = -0.5 * slope, at_w - new + 0.5 * slope
        may_be_last = t == 1.0 and posed is problem and hasattr(problem.loss, "conjugate")
        if may_be_last and NEAR * error * error <= predicted * accuracy:
            alpha, v = model_dual_point(problem, z, Xd)
            passes += 1
            if new - problem.estimated_bound(alpha, v, new, new - accuracy) <= accuracy:
                yield Iterate(w + d, passes, accesses(problem, passes), alpha, v, z + Xd, done=True, objective=new)
        w, steps = w + t * d, steps + 1
        value = new if posed is problem else new - posed.penalty(w) + problem.penalty(w)
        exact = steps % REFRESHED == 0
        z = problem.predict(w) if exact else z + t * Xd
        if t < STEP_IS_SHORT and not is_continued:
            posed, is_continued = under_stronger_penalty(problem), True


def accesses(problem: Problem, passes: float) -> int:
    """The entries of X read in so many passes, each with X and with Xᵀ, and in the first evaluation."""
    return int(2 * (passes + 1) * problem.design.nnz)


def under_stronger_penalty(problem: Problem) -> Problem:
    """The problem from which continuation begins (:mod:`fenchel.solvers._second_order.continuation`)."""
    return problem.replace(regularizer=problem.penalised.times(strongest(problem) / problem.penalised.l2))


def under_weaker_penalty(problem: Problem, posed: Problem, w: np.ndarray, value: float, gradient: np.ndarray) -> Problem:
    """The next problem of the continuation after the one posed; ``value`` and ``gradient`` are those of the last problem at w."""
    penalised, l2 = (w[:-1] if problem.free else w), problem.penalised.l2
    of_loss = gradient - problem.penalty_gradient(w)
    sums = float(of_loss @ of_loss), float(of_loss[: len(penalised)] @ penalised), float(penalised @ penalised)
    strength = weakened(posed.penalised.l2, l2, value - 0.5 * l2 * sums[2], *sums)
    return problem if strength == l2 else problem.replace(regularizer=problem.penalised.times(strength / l2))


def dual_point_and_image(problem: Problem, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A dual point α that is feasible, v = Xᵀ(sα)/m, and the same for −φ'(z), which may not be feasible: both from one product."""
    alpha = problem.negative_derivatives(z, problem.y)
    if not problem.free or problem.is_balanced(alpha):
        v = problem.adjoint(alpha)
        return alpha, v, v
    balanced = problem.balanced(alpha)
    both = problem.design.rmatvec(np.column_stack([balanced, alpha]) * problem.row_weights[:, None])
    v, unbalanced = (np.ascontiguousarray(half).reshape(problem.shape) for half in np.hsplit(both, 2))
    return balanced, v, unbalanced


def bound_is_useless(problem: Problem, gradient: np.ndarray, value: float, accuracy: float) -> bool:
    """Whether −φ'(z) gives no better bound than α = 0, and is far from the accuracy: its gap is ‖∇P(w)‖²/(2·l2), before it is balanced."""
    penalised = (gradient[:-1] if problem.free else gradient).reshape(-1)
    gap = float(penalised @ penalised) / (2.0 * problem.penalised.l2)
    return gap > max(value, FAR * accuracy) and hasattr(problem.loss, "conjugate")


def model_dual_point(problem: Problem, z: np.ndarray, Xd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The dual point α = −(φ'(z) + φ''(z)·Xd) of the quadratic model at its minimum, made feasible, and v = Xᵀ(sα)/m.

    The Newton equations say v = l2·(w + d): together with w + d its gap is of the order of the error of the model, where the gap of
    −φ'(z + Xd) is ‖∇P(w + d)‖²/(2·l2).
    """
    alpha = np.empty_like(z)
    if problem.vector_valued:
        model_dual_vectors(problem.loss, z, problem.y, Xd, alpha)
        alpha = problem.on_simplex(alpha)
    else:
        in_ranges(problem.threads, model_dual_points, problem.loss, (z, problem.y, Xd, alpha))
    if problem.free and not problem.is_balanced(alpha):
        alpha = problem.balanced(alpha)
    return alpha, problem.adjoint(alpha)


def equations_of(problem: Problem) -> Any:
    """The Newton equations in the way that costs least."""
    equations = newton_equations(problem.design, problem.penalised.l2, problem.free)
    return ClassEquations(problem, equations) if problem.vector_valued else equations


def directions(problem: Problem, equations: Any, z: np.ndarray, gradient: np.ndarray, forcing: float) -> Iterator[tuple[np.ndarray, int]]:
    """The Newton direction, then that of the upper bound s_i/(γm) of second derivatives; each with the passes it took."""
    bound = problem.row_weights * problem.loss.smoothness() if hasattr(problem.loss, "smoothness") else None
    if problem.vector_valued:
        yield equations.solve(z, gradient, forcing)
        if bound is not None:
            yield -equations.equations.inverse(bound)(gradient), 1
        return
    h = np.empty(problem.m)
    in_ranges(problem.threads, row_curvatures, problem.loss, (z, problem.y, problem.row_weights, h))
    yield equations.solve(h, gradient, forcing)
    if bound is not None:
        yield equations.solve(bound, gradient, forcing)


def step_length(
    problem: Problem, w: np.ndarray, z: np.ndarray, value: float, d: np.ndarray, Xd: np.ndarray, slope: float, falling: bool
) -> tuple[float, float]:
    """The first of t, t/2, t/4, … at which P has fallen from ``value`` by enough, and P there; t = 0 if rounding hides any decrease.

    The first t is near the minimum along d. Where P changes by rounding only, the gradient may still be
    ``falling``, and the gap with it: columns of very different scales.
    """
    t = 1.0 if -slope > (0.0 if falling else ROUNDING * abs(value)) else 0.0
    if t > 0.0 and not is_quadratic(problem):
        penalised = slice(None, -1) if problem.free else slice(None)
        l2, along = problem.penalised.l2, d[penalised]
        penalty = l2 * float(np.vdot(w[penalised], along)), l2 * float(np.vdot(along, along))
        t = float(length_along(problem.loss, outputs_of(problem), z, Xd, problem.y, problem.row_weights, slope, *penalty))
    while t > 0.0:
        new = problem.objective(w + t * d, z + t * Xd)
        if new <= value + SUFFICIENT * t * slope + ROUNDING * abs(value):
            return t, new
        t = 0.5 * t if t > SHORTEST else 0.0
    return 0.0, value

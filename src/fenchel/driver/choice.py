"""The automatic choice of a solver: a table of rules with their reasons; the first rule that applies decides"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.errors import InputError
from fenchel.core.numeric import TINY
from fenchel.driver import costs
from fenchel.driver.trial import Stage
from fenchel.problems.problem import Problem
from fenchel.solvers import solvers
from fenchel.solvers._coordinate.class_model import ClassNewton
from fenchel.solvers._coordinate.gram_matrix import LARGEST_GRAM
from fenchel.solvers._second_order.few_rows import has_few_rows
from fenchel.solvers._second_order.newton_equations import has_small_equations
from fenchel.solvers._second_order.samples import samples_tell
from fenchel.solvers._second_order.small_problems import steps_are_compiled
from fenchel.solvers.declaration import is_quadratic, is_ridge, sparse_penalty

SMALL = 100_000  # most entries of an X that counts as small
FEW_WEIGHTS = 10_000  # most weights of a structured model for the proximal bundle method
MOST_PARTS = 100_000_000  # most parts of outputs that block Frank–Wolfe keeps, eight bytes each
WELL_CONDITIONED = 2.0  # largest R²/(λγm) for plain SDCA
WELL_CONDITIONED_IF_OVERLAPPING = 0.1  # the same where rows share most coordinates
PLAIN = 50.0  # the same for a trial of it, in place of one with momentum: 120 random fits of LinearSVC took 0.95 of the time
FEW_PASSES = 30.0  # passes of dual ascent that a solver costs at least for a trial before it, and that plain dual ascent is compared with
FEWEST_PASSES = 8.0  # passes before dual ascent with momentum is judged, at least
# The same for plain dual ascent. On 324 problems of 16 data sets, overlapping rows included, the geometric mean of times was 5.26 ms with
# 2, 5.02 with 4, 5.06 with 6, and 5.75 where it was not tried before Newton's method.
FEWEST_PLAIN_PASSES = 4.0
JUDGED = 0.25  # the same relative to the passes that take as long as the next solver: where it is given up, this share of time is lost
# Passes, two for each step, after which Newton's method is slow where the second derivative jumps, at least: it may take as long as an
# interior point method would. With 40 in any case squared hinge on usps, λ = 10⁻⁴/m, took 400 ms in place of 100.
NEWTON_PASSES = 40.0
NARROW = 0.1  # width of the zone where φ'' is not 0, relative to the spread of the labels: Newton steps overshoot a narrower one


class Rule(NamedTuple):
    """A solver, its options, when it is chosen, and why."""

    solver: str
    options: dict[str, Any]
    fits: Any
    reason: str


def condition(problem: Problem) -> float:
    """R²/(λγm), R² the largest s_i‖x_i‖²: where it is large, plain SDCA needs passes in proportion to it. γ = 1 for non-smooth losses."""
    smoothness = problem.loss.smoothness() if hasattr(problem.loss, "smoothness") else 1.0
    curvature = float((problem.row_weights * problem.row_norms**2).max()) * (1.0 if math.isinf(smoothness) else smoothness)
    return curvature / max(problem.penalised.strong_convexity(), TINY)


def well_conditioned(problem: Problem) -> bool:
    """Whether a pass of SDCA reduces the gap by a constant factor."""
    return condition(problem) <= (WELL_CONDITIONED_IF_OVERLAPPING if problem.design.overlapping else WELL_CONDITIONED)


def is_small(problem: Problem) -> bool:
    """Few enough entries that the cost of a pass does not matter."""
    return problem.design.nnz <= SMALL


def is_non_smooth(problem: Problem) -> bool:
    """A loss with points where it is not differentiable."""
    return hasattr(problem.loss, "smoothness") and math.isinf(problem.loss.smoothness())


def has_steady_curvature(problem: Problem) -> bool:
    """A second derivative that is not zero outside a narrow zone of residuals or margins, so that Newton steps are useful."""
    loss = problem.loss
    if problem.vector_valued:
        return hasattr(loss, "curvature_times")
    if not hasattr(loss, "curvature"):
        return False
    if not hasattr(loss, "lipschitz"):
        return True
    spread = float(np.std(problem.y)) if problem.labels == "real" else 1.0
    return bool(loss.lipschitz() >= NARROW * spread * loss.smoothness())


def steps_take_no_time(problem: Problem) -> bool:
    """So few rows or columns that all steps of an interior point method are taken in one compiled call."""
    return steps_are_compiled(problem) or has_few_rows(problem)


def factorisable(problem: Problem) -> bool:
    """Rows or columns few enough for a Cholesky factorisation, and a second derivative that makes Newton steps useful.

    The equations of several classes together are solved by conjugate gradients, whatever a factorisation would cost.
    """
    design = problem.design
    are_few = has_small_equations(design) or (problem.vector_valued and min(design.m, design.width) <= LARGEST_GRAM)
    return has_steady_curvature(problem) and are_few


def several_outputs_and_l1(problem: Problem) -> bool:
    """A loss of several outputs under l1 without a model of its second derivatives: steps on one feature at a time converge slowly where
    classes depend on each other."""
    return problem.vector_valued and sparse_penalty(problem) is None and not ClassNewton.suits(problem)


RULES = (
    Rule("fista", {}, several_outputs_and_l1, "several outputs under l1: proximal gradient steps on all weights at once"),
    Rule("working-set", {}, has_steady_curvature, "l1: coordinate descent and Newton steps on the few columns that matter"),
    Rule(
        "newton",
        {},
        factorisable,
        "few columns or few rows: second derivatives cost little, whatever the scaling and the strength",
    ),
    Rule("newton", {}, is_quadratic, "least squares: conjugate gradients need a few dozen products, whatever the strength"),
    Rule("lbfgs", {}, is_small, "small and smooth: quasi-Newton steps cost little, and badly scaled columns do not slow them down"),
    Rule("interior-point", {}, steps_take_no_time, "small and piecewise linear: about ten steps whatever the strength"),
    Rule(
        "accelerated-sdca",
        {"variant": "practical"},
        is_non_smooth,
        "not smooth: dual ascent on the rows that move, around a point that moves as far as it can follow",
    ),
    Rule("sdca", {}, well_conditioned, "strong regularization: plain dual ascent converges in a few passes"),
    Rule("accelerated-sdca", {"variant": "practical"}, lambda problem: True, "weak regularization: dual ascent with momentum"),
    Rule("sdca", {}, lambda problem: True, "a non-separable regularizer: dual ascent keeps the sum that couples the weights up to date"),
    Rule("fista", {}, lambda problem: True, "a loss known by its value and derivative alone"),
    Rule("lbfgs", {}, lambda problem: True, "the same, with a non-separable regularizer"),
)


def few_weights(problem: Any) -> bool:
    """So few weights that a pass improves a model of planes more than steps on single examples improve w."""
    return bool(problem.n <= FEW_WEIGHTS)


def few_parts(problem: Any) -> bool:
    """Enough memory for a mixture of outputs for each example."""
    return bool(problem.part_sizes.sum() <= MOST_PARTS)


STRUCTURED_RULES = (
    Rule("lbfgs", {}, lambda problem: problem.likelihood, "smooth: quasi-Newton steps need the fewest decodings of every example"),
    Rule("fista", {}, lambda problem: problem.likelihood, "the same with a non-smooth penalty"),
    Rule("proximal-bundle", {}, few_weights, "a margin in few weights: cutting planes around the best point, however weak the penalty"),
    Rule("block-frank-wolfe", {}, few_parts, "a margin: dual ascent makes a step for every example it decodes"),
    Rule("optimistic", {}, lambda problem: True, "the same where mixtures of outputs would take too much memory"),
)

STREAM_RULES = (
    Rule("pgs", {}, lambda problem: True, "rows that are read once: every row is one step"),
    Rule("truncgrad", {}, lambda problem: True, "the same under l1, which is not strongly convex"),
)


def choose(problem: Any) -> tuple[str, dict[str, Any]]:
    """The solver for a problem, with the options to give it.

    >>> import numpy as np, fenchel as fl
    >>> X, y = np.ones((100, 1)), np.ones(100)
    >>> choose(fl.Problem(X, y, fl.Hinge(), fl.L2(1.0)))
    ('interior-point', {})
    >>> choose(fl.Problem(X, y, fl.Hinge(), fl.SquaredLp(1.0, p=1.5)))
    ('sdca', {})
    >>> choose(fl.Problem(X, y, fl.Squared(), fl.L2(1e-6)))
    ('newton', {})
    """
    if "choice" not in problem.decisions:
        problem.decisions["choice"] = _first_that_fits(problem)
    return problem.decisions["choice"]


def _first_that_fits(problem: Any) -> tuple[str, dict[str, Any]]:
    known = solvers()
    rules = STRUCTURED_RULES if problem.structured else RULES if problem.in_memory else STREAM_RULES
    for rule in rules:
        if known[rule.solver].refusal(problem) is None and rule.fits(problem):
            return rule.solver, rule.options
    loss, regularizer = type(problem.loss).__name__, type(problem.penalised).__name__ + " and an unpenalised intercept" * problem.free
    nearest = known["sdca" if problem.in_memory else "pgs"]
    raise InputError(f"No solver takes {loss} with {regularizer}: {nearest.name} comes nearest, but needs {nearest.refusal(problem)}.")


def can_be_slow(problem: Problem) -> bool:
    """Whether Newton's method may take very many steps, because the second derivative jumps, and an interior point method can follow."""
    return hasattr(problem.loss, "boxes") and not is_quadratic(problem) and has_small_equations(problem.design)


def dual_ascent_before(problem: Problem, passes: float, from_origin: bool = False) -> list[Stage]:
    """Dual ascent before a solver that takes as long as so many of its passes; it is judged after a quarter of them."""
    limits = max(passes, FEW_PASSES), max(JUDGED * passes, FEWEST_PASSES), from_origin
    if not is_non_smooth(problem) and condition(problem) <= PLAIN:
        return [Stage("sdca", {}, *limits)]
    return [*plain_trial(problem), Stage("accelerated-sdca", {"variant": "practical"}, *limits)]


def plain_trial(problem: Problem) -> list[Stage]:
    """A trial of plain dual ascent before that with momentum, where the loss is smooth and rows share few coordinates: there it may be
    fast even where it is badly conditioned."""
    is_able = solvers()["sdca"].refusal(problem) is None and not is_non_smooth(problem)
    return [Stage("sdca", {}, FEW_PASSES, FEWEST_PLAIN_PASSES)] if is_able and not problem.design.overlapping else []


def stages_for(problem: Problem, chosen: Stage) -> list[Stage]:
    """The solvers to run one after the other where one was chosen by a rule: it may be preceded by a trial, and followed by another.

    Only under the ridge penalty. Dual ascent is tried before a second-order method that takes longer than a few of its passes, and given up
    when that would take less time than it still needs. Newton's method is followed by an interior point method where the second derivative
    jumps; it is not judged by the course of its gap, which falls in its last steps only.
    """
    if problem.decisions.get("stages", (None,))[0] != chosen:
        problem.decisions["stages"] = chosen, _stages_around(problem, chosen)
    return list(problem.decisions["stages"][1])


def _stages_around(problem: Problem, chosen: Stage) -> list[Stage]:
    known = solvers()
    if not is_ridge(problem.penalised) or problem.vector_valued or problem.design.on_disk is not None:
        return [chosen]
    if chosen.solver == "newton":
        last = [chosen]
        if can_be_slow(problem):
            most = max(NEWTON_PASSES, 2.0 * costs.interior_point(problem) / costs.newton_step(problem, in_pieces=True))
            last = [chosen._replace(most=most, least=most), Stage("interior-point", {})]
        no_trial = is_quadratic(problem) or steps_take_no_time(problem) or samples_tell(problem)
        passes = 0.0 if no_trial else costs.newton(problem) / costs.dual_pass(problem)
        if passes < FEW_PASSES or known["accelerated-sdca"].refusal(problem) is not None:
            return last
        if can_be_slow(problem):  # most steps cost less where second derivatives stay the same, and then a trial is given up earlier
            passes = costs.newton(problem, in_pieces=True) / costs.dual_pass(problem)
        return [*dual_ascent_before(problem, passes), *last]
    if chosen.solver != "accelerated-sdca":
        return [chosen]
    able = [name for name in ("interior-point", "newton") if known[name].refusal(problem) is None]
    if not able or not has_small_equations(problem.design):
        return [*plain_trial(problem), chosen]
    cost = (costs.interior_point if able[0] == "interior-point" else costs.newton)(problem)
    return [*dual_ascent_before(problem, cost / costs.dual_pass(problem), able[0] == "interior-point"), Stage(able[0], {})]

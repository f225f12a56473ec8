"""Which solver for which problem: a table, with its reasons. The first row that takes the problem decides."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.errors import InputError
from fenchel.problems.problem import Problem
from fenchel.solvers import solvers
from fenchel.solvers._second_order.newton_equations import has_small_equations
from fenchel.solvers.declaration import is_quadratic, sparse_penalty

SMALL = 100_000  # entries of X
FEW_WEIGHTS = 10_000  # of a structured model
MOST_PARTS = 100_000_000  # of outputs, eight bytes each
WELL_CONDITIONED = 2.0  # R²/(λγm) up to which plain SDCA needs no help
NARROW = 0.1  # of the spread of labels: where curvature is confined to so little, Newton steps overshoot it
WELL_CONDITIONED_IF_OVERLAPPING = 0.1  # the same where rows share most coordinates


class Rule(NamedTuple):
    """A solver, its options, when it is the one to take, and why."""

    solver: str
    options: dict[str, Any]
    fits: Any
    reason: str


def well_conditioned(problem: Problem) -> bool:
    """Whether a pass of SDCA solves a constant share of the problem: R²/(λγ) is no more than a few times m."""
    smoothness = problem.loss.smoothness() if hasattr(problem.loss, "smoothness") else 1.0
    strength = problem.penalised.strong_convexity()
    curvature = float((problem.row_weights * problem.row_norms**2).max()) * (1.0 if math.isinf(smoothness) else smoothness)
    return curvature <= (WELL_CONDITIONED_IF_OVERLAPPING if problem.design.overlapping else WELL_CONDITIONED) * strength


def is_small(problem: Problem) -> bool:
    """Few enough entries that the cost of a pass does not matter."""
    return problem.design.nnz <= SMALL


def rows_are_few(problem: Problem) -> bool:
    """Fewer rows than weights, all penalised, under a loss with corners: dual ascent on its own settles in few passes."""
    return not problem.free and problem.m <= problem.n and hasattr(problem.loss, "smoothness") and math.isinf(problem.loss.smoothness())


def bends_slowly(problem: Problem) -> bool:
    """A second derivative that is good for more than a step: not one that is zero but for a narrow zone of residuals or margins."""
    loss = problem.loss
    if problem.vector_valued:
        return hasattr(loss, "curvature_times")
    if not hasattr(loss, "curvature"):
        return False
    spread = float(np.std(problem.y)) if problem.labels == "real" else 1.0
    return not hasattr(loss, "lipschitz") or loss.lipschitz() >= NARROW * spread * loss.smoothness()


def small_and_factorisable(problem: Problem) -> bool:
    """Few enough entries that as many Cholesky factorisations as an interior point method needs cost nothing."""
    return is_small(problem) and has_small_equations(problem.design)


def factorisable(problem: Problem) -> bool:
    """Rows or columns few enough for a Cholesky factorisation, of a second derivative that is good for a step."""
    return bends_slowly(problem) and has_small_equations(problem.design)


def several_outputs_and_l1(problem: Problem) -> bool:
    """A loss with one output per class under l1: steps on one feature at a time converge slowly where classes depend on each other."""
    return problem.vector_valued and sparse_penalty(problem) is None


RULES = (
    Rule("fista", {}, several_outputs_and_l1, "several classes under l1: proximal gradient steps on all weights at once"),
    Rule("working-set", {}, bends_slowly, "l1: coordinate descent and Newton steps on the few columns that matter"),
    Rule("newton", {}, factorisable, "few columns or few rows: second derivatives are cheap, and mind neither scaling nor weak penalties"),
    Rule("newton", {}, is_quadratic, "least squares: conjugate gradients need a few dozen products, whatever the strength"),
    Rule("lbfgs", {}, is_small, "small and smooth: quasi-Newton steps cost nothing and do not mind badly scaled columns"),
    Rule("interior-point", {}, small_and_factorisable, "small, with corners: some thirty steps whatever the strength"),
    Rule("sdca", {}, well_conditioned, "strong regularization: plain dual ascent converges in a few passes"),
    Rule("sdca", {}, rows_are_few, "fewer rows than weights: the dual is the smaller problem"),
    Rule("accelerated-sdca", {"variant": "practical"}, lambda problem: True, "weak regularization: dual ascent with momentum"),
    Rule("sdca", {}, lambda problem: True, "a regularizer in which the weights meet: dual ascent keeps their sum"),
    Rule("fista", {}, lambda problem: True, "a loss known by its value and derivative alone"),
    Rule("lbfgs", {}, lambda problem: True, "the same, with a regularizer in which the weights meet"),
)


def few_weights(problem: Any) -> bool:
    """So few weights that a model of planes learns more from a pass than steps on single examples do."""
    return bool(problem.n <= FEW_WEIGHTS)


def few_parts(problem: Any) -> bool:
    """Room for a mixture of outputs for each example."""
    return bool(problem.part_sizes.sum() <= MOST_PARTS)


STRUCTURED_RULES = (
    Rule("lbfgs", {}, lambda problem: problem.likelihood, "smooth: quasi-Newton steps need the fewest decodings of every example"),
    Rule("fista", {}, lambda problem: problem.likelihood, "the same with a penalty that has corners"),
    Rule("proximal-bundle", {}, few_weights, "a margin in few weights: cutting planes around the best point, however weak the penalty"),
    Rule("block-frank-wolfe", {}, few_parts, "a margin: dual ascent learns from every example it decodes"),
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
    known = solvers()
    rules = STRUCTURED_RULES if problem.structured else RULES if problem.in_memory else STREAM_RULES
    for rule in rules:
        if known[rule.solver].refusal(problem) is None and rule.fits(problem):
            return rule.solver, rule.options
    loss, regularizer = type(problem.loss).__name__, type(problem.penalised).__name__ + " and a free intercept" * problem.free
    nearest = known["sdca" if problem.in_memory else "pgs"]
    raise InputError(f"No solver takes {loss} with {regularizer}: {nearest.name} would, but needs {nearest.refusal(problem)}.")

"""About how long solvers take, in nanoseconds of one thread: what ``auto`` compares them by

The constants are those that ``benchmarks/costs.py`` measures. Solvers differ by factors of ten where the choice matters, so that constants
within a factor of two are good enough; what cannot be known before the run, the number of passes that dual ascent needs, is watched while
it runs (:mod:`fenchel.driver.trial`).
"""

from __future__ import annotations

import scipy.sparse as sp

from fenchel.problems.problem import Problem
from fenchel.solvers._coordinate.gram_matrix import LARGEST_GRAM
from fenchel.solvers._second_order.newton_equations import has_few_columns
from fenchel.solvers._second_order.weighted_gram import filled_in_cost, scattered_cost
from fenchel.solvers.declaration import is_quadratic

PRODUCT_DENSE, PRODUCT_SPARSE = 0.5, 1.2  # for each entry of X in a product with X or Xᵀ
STEP_DENSE, STEP_SPARSE, STEP_ROW = 0.6, 2.5, 50.0  # for each entry, and each row, in a pass of dual ascent
EVALUATION, EVALUATION_ROW = 75_000.0, 40.0  # for an evaluation, beside its two products, and for each of its rows
MULTIPLICATION = 0.025  # one of BLAS
SCATTERED = 0.9  # one at a place in memory that depends on the data
NEWTON_STEPS = 8.0  # of Newton's method from the origin
MATRICES = 2.0  # of second derivatives that all steps cost together where they change for few rows
INTERIOR_STEPS = 25.0  # of an interior point method
CONJUGATE_STEPS = 20.0  # of conjugate gradients for one Newton step


def product(problem: Problem) -> float:
    """A product with X or Xᵀ."""
    return (PRODUCT_SPARSE if sp.issparse(problem.design.storage) else PRODUCT_DENSE) * problem.design.nnz


def evaluation(problem: Problem) -> float:
    """Objective, lower bound and the products for them."""
    return 2.0 * product(problem) + EVALUATION_ROW * problem.m + EVALUATION


def dual_pass(problem: Problem) -> float:
    """A pass of dual ascent, and its share of the evaluations: about one for every three passes."""
    entry = STEP_SPARSE if sp.issparse(problem.design.storage) else STEP_DENSE
    return entry * problem.design.nnz + STEP_ROW * problem.m + evaluation(problem) / 3.0


def equations(problem: Problem, in_pieces: bool = False) -> tuple[float, float]:
    """Newton equations: what is computed once, and what is computed in every step; ``in_pieces`` for a loss of quadratic pieces, where the
    second derivatives of few rows change in most steps."""
    design, m, n = problem.design, problem.m, problem.n
    if has_few_columns(design):
        by_blas = MULTIPLICATION * filled_in_cost(design)
        gram = min(by_blas, SCATTERED * scattered_cost(design)) if sp.issparse(design.storage) else by_blas
        factors = MULTIPLICATION * n**3 / 3.0
        return (MATRICES * gram, factors) if in_pieces else (0.0, gram + factors)
    if m <= LARGEST_GRAM:
        rows = m * product(problem) if sp.issparse(design.storage) else MULTIPLICATION * m * m * n
        return rows, MULTIPLICATION * m**3 / 3.0 + SCATTERED * m * m + 2.0 * product(problem)
    return 0.0, 2.0 * CONJUGATE_STEPS * product(problem)


def newton_step(problem: Problem, in_pieces: bool = False) -> float:
    """A step of Newton's method; ``in_pieces`` as in :func:`equations`, one of the many in which few second derivatives change."""
    return equations(problem, in_pieces)[1] + product(problem) + evaluation(problem)


def newton(problem: Problem, in_pieces: bool = False) -> float:
    """Newton's method from the origin."""
    steps = 1.0 if is_quadratic(problem) else NEWTON_STEPS
    return equations(problem, in_pieces)[0] + steps * newton_step(problem, in_pieces)


def interior_point(problem: Problem) -> float:
    """An interior point method, whose steps solve the equations for two right-hand sides."""
    once, step = equations(problem)
    return once + INTERIOR_STEPS * (step + 4.0 * product(problem) + evaluation(problem))

"""Weights of a quadratic loss for many l1 strengths from the products of columns, to an estimated accuracy

After the normal equations (:mod:`fenchel.solvers._second_order.normal_equations`), as costly as one fit, no strength reads X again. The
weights have no certificate: they are for validation errors of cross-validation, or a first point of a solver.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from fenchel.problems.problem import Problem
from fenchel.solvers._coordinate.dense_model import minimise_by_gram
from fenchel.solvers._coordinate.fixed_signs import FixedSigns
from fenchel.solvers._coordinate.line_of_solutions import LineOfSolutions
from fenchel.solvers._second_order.normal_equations import NormalEquations, has_normal_equations

MOST_COLUMNS = 500  # of the Gram matrix, which costs the square of their number; a guess, not measured
MOST_FILLED_IN = 10_000_000  # entries of a sparse X that is made dense
MOST_STEPS = 200  # Newton steps for one strength
ROUNDING = 1e-12  # relative to l1: a gradient this much larger may be l1


def has_gram_path(problem: Problem, columns_per_row: int = 1) -> bool:
    """Whether columns are few, at most so many for each row, and the loss is quadratic.

    On a path with more columns than rows the Newton steps on G are many and slow.
    """
    X = problem.design.storage
    is_narrow = X.shape[1] <= min(MOST_COLUMNS, columns_per_row * X.shape[0])
    is_narrow = is_narrow and not (sp.issparse(X) and X.shape[0] * X.shape[1] > MOST_FILLED_IN)
    return is_narrow and has_normal_equations(problem)


def gram_path(problem: Problem, strengths: list[tuple[float, float]], accuracy: float) -> np.ndarray:
    """One row of weights, an unpenalised intercept last, for each pair of l1 and l2; the largest strengths first."""
    equations, line, signs = NormalEquations(problem), LineOfSolutions(), FixedSigns()
    g, w = equations.g, np.zeros(len(equations.g))
    found = np.zeros((len(strengths), len(w)))
    if np.abs(g).max() > (1.0 + ROUNDING) * min(l1 for l1, _ in strengths):  # otherwise w = 0 is optimal at all of them
        for k, (l1, l2) in enumerate(strengths):
            line.go_on(l1, w, g)
            minimise_by_gram(equations.G, l1, l2, w, g, accuracy, MOST_STEPS, signs)
            found[k] = w
    return equations.with_intercept(found)

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


class GramPath:
    """The weights w at the strengths of a path in turn, and the gradient g of the mean loss there; the intercept is at its best."""

    def __init__(self, problem: Problem) -> None:
        self.equations = NormalEquations(problem)
        self.g = self.equations.g.copy()
        self.w = np.zeros(len(self.g))
        self._line, self._signs = LineOfSolutions(), FixedSigns()

    def move_to(self, l1: float, l2: float, accuracy: float) -> None:
        """Go on to other strengths, until the gap is about the accuracy."""
        self._line.go_on(l1, self.w, self.g)
        if self.w.any() or np.abs(self.g).max() > (1.0 + ROUNDING) * l1:  # otherwise rounding errors would become weights
            self.improve(l1, l2, accuracy)

    def improve(self, l1: float, l2: float, accuracy: float) -> None:
        """Come as close to the solution for the same strengths."""
        minimise_by_gram(self.equations.G, l1, l2, self.w, self.g, accuracy, MOST_STEPS, self._signs)


def gram_path(problem: Problem, strengths: list[tuple[float, float]], accuracy: float) -> np.ndarray:
    """One row of weights, an unpenalised intercept last, for each pair of l1 and l2; the largest strengths first."""
    path = GramPath(problem)
    found = np.zeros((len(strengths), len(path.w)))
    for k, (l1, l2) in enumerate(strengths):
        path.move_to(l1, l2, accuracy)
        found[k] = path.w
    return path.equations.with_intercept(found)

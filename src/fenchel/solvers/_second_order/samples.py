"""A first point for second-order methods on tall data: about the minimiser on a sample of the rows, found from a smaller sample in turn

The time to an accuracy falls as rows are added (Shalev-Shwartz & Srebro, *SVM optimization: inverse dependence on training set size*,
ICML 2008): a sample leads nearly as far as all rows do, for a fraction of the cost of a step. Steps on it end where they gain less than
what the sample cannot tell, or where other rows have much larger losses: with a weak penalty a sample may be separable where all rows are
not, and its minimiser is then far from theirs, where Newton steps are short.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import scipy.sparse as sp

from fenchel.problems.problem import Problem
from fenchel.problems.result import Iterate
from fenchel.solvers.declaration import is_quadratic

GROWTH = 8  # ratio of the rows of a problem to those of its sample
ROWS_PER_WEIGHT = 20  # fewest rows of a sample for each weight
ROWS_PER_CLASS = 20  # fewest rows of a sample of each class, on average
HELD_OUT = 4  # ratio of the rows of a sample to the other rows on which its steps are judged
FEWEST = 200_000  # entries of X below which steps on all rows cost little
# Ratio of the objective on other rows to that on the sample at which steps on it end. With 1.5, 1.3 and 1.2 logistic regression on w8a,
# λ = 0.01/m, takes 1.1, 1.2 and 1.8 times as long as with 2, and 2.4 times without this end.
ELSEWHERE = 2.0
ENOUGH = 0.1  # relative to P(0)·n/m of the sample, about what its minimiser and that of all rows differ by: smaller gains are not sought


def samples_tell(problem: Problem) -> bool:
    """Whether a sample has enough rows for each weight and class to come near the minimiser, and costs little compared with all rows."""
    rows_can_be_taken = not (sp.issparse(problem.design.storage) and problem.design.stored_by_columns)
    is_tall = problem.m >= GROWTH * ROWS_PER_WEIGHT * problem.n * problem.outputs
    if not (rows_can_be_taken and is_tall and problem.design.nnz >= FEWEST) or is_quadratic(problem):
        return False
    if np.count_nonzero(problem.row_weights) < problem.m:
        return False
    if problem.labels == "real":
        return True
    if problem.labels == "class":
        rarest = np.bincount(problem.y.astype(np.int64), minlength=max(2, problem.outputs)).min()
    else:
        positive = np.count_nonzero(problem.y > 0.0)
        rarest = min(positive, problem.m - positive)
    return bool(rarest >= GROWTH * ROWS_PER_CLASS)


def minimum_on_sample(
    problem: Problem, rng: np.random.Generator, times: float, solve: Callable[[Problem, float], Iterator[Iterate]]
) -> tuple[np.ndarray, float]:
    """About the minimiser on a sample, with the penalty so many times as strong, and how many passes over all rows it took.

    ``solve`` takes a problem and an accuracy to iterates.
    """
    m = problem.m // GROWTH
    rows = np.sort(rng.choice(problem.m, m + m // HELD_OUT, replace=False, shuffle=False))
    is_held_out = np.arange(len(rows)) % (HELD_OUT + 1) == 0
    sample, others = problem.on_rows(rows[~is_held_out]), problem.on_rows(rows[is_held_out])
    sample = sample.replace(regularizer=problem.penalised.times(times))
    enough = ENOUGH * problem.objective_at_zero * problem.n * problem.outputs / m
    found, value = problem.origin, math.inf
    for iterate in solve(sample, enough):
        before, value = value, sample.objective(iterate.w, iterate.z)
        if others.objective(iterate.w) > ELSEWHERE * value:
            break
        found = iterate.w
        if before - value <= enough:
            break
    return found, iterate.passes / GROWTH

"""The matrix Σ_i r_i (diag(p_i) − p_i p_iᵀ) ⊗ x_i x_iᵀ + λI of the Newton equations of K classes, nK × nK, and its Cholesky factors

It consists of K × K blocks Σ_i h_i x_i x_iᵀ, one for each pair of classes. Where columns are few, all blocks are one product of two
matrices: the numbers h_i of all pairs of classes, and the products x_ij x_ij' of all pairs of columns, which are kept for the next matrix.
Where they are many, each block is computed by itself (:mod:`fenchel.solvers._second_order.weighted_gram`).

The factors serve as a preconditioner of conjugate gradients, for which single precision is enough.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from fenchel.core.compiled import kernel
from fenchel.core.threads import in_parallel
from fenchel.problems.problem import Problem
from fenchel.solvers._second_order.newton_equations import Inverse, factorised
from fenchel.solvers._second_order.weighted_gram import WeightedGram, gram_cost

LARGEST = 3000  # most rows of the matrix
MOST_PRODUCTS = 15_000_000  # most products of pairs of columns that are kept: 60 MB
LARGE = 100_000  # products from which they are kept in single precision
NEGLIGIBLE = 1e-8  # penalty relative to the mean of the diagonal that does not determine weights: divided by it, rounding errors would
ROWS_AT_ONCE = 2048  # in one call of BLAS

# Nanoseconds of one thread. For each product of two columns: reading it, and multiplying it with the number of one pair of classes. For
# each number of LAPACK's factorisation, and for each of a block that is computed by itself. For a product of conjugate gradients: each
# entry of a dense or sparse X and class, and what does not depend on the size. On 13 of 15 data sets of 150 to 67,557 rows and 15 to 2,570
# weights the cost was within a factor of two of what was measured, on the others within a factor of four.
READ, MULTIPLIED, FACTORISED, SCATTERED = 0.25, 0.02, 0.025, 0.9
ENTRY_DENSE, ENTRY_SPARSE, CALL = 0.12, 0.8, 20_000.0


class ClassMatrix:
    """The matrices of all steps of a run."""

    def __init__(self, problem: Problem, penalty: np.ndarray) -> None:
        self.problem, self.penalty = problem, penalty
        self.classes, self.columns = pairs(problem.outputs), pairs(problem.n)
        self.keeps_products = problem.m * len(self.columns[0]) <= MOST_PRODUCTS

    @staticmethod
    def suits(problem: Problem) -> bool:
        """Whether second derivatives have this form, and the matrix is small enough."""
        return hasattr(problem.loss, "curvature_weights") and problem.n * problem.outputs <= LARGEST

    @cached_property
    def cost(self) -> float:
        """About how many products of conjugate gradients take as long as a matrix and its factors."""
        problem, count, entries = self.problem, len(self.classes[0]), self.problem.entries * self.problem.outputs
        if self.keeps_products:
            sums = (READ + MULTIPLIED * count) * problem.m * len(self.columns[0])
        else:
            sums = SCATTERED * count * gram_cost(problem.design)
        factors = FACTORISED * (problem.n * problem.outputs) ** 3 / 3.0
        product = CALL + (ENTRY_SPARSE if sp.issparse(problem.design.storage) else ENTRY_DENSE) * entries
        return (CALL + sums + factors) / product

    def inverse(self, p: np.ndarray) -> Inverse:
        """The function that takes g to the solution, for second derivatives given by p."""
        problem, n, K = self.problem, self.problem.n, self.problem.outputs
        blocks = (self._sums if self.keeps_products else self._blocks)(p)
        H = blocks[symmetric(*self.classes)].transpose(2, 0, 3, 1).reshape(n * K, n * K)
        is_known = self.penalty > NEGLIGIBLE * H.diagonal().mean()
        H.flat[:: n * K + 1] += np.repeat(self.penalty.reshape(-1), K)
        if problem.free:
            # All intercepts may change by the same number: for a solution that is orthogonal to that, any positive curvature will do.
            H[-K:, -K:] += H[-K:, -K:].diagonal().mean()
        solve = factorised(H)

        # The second derivatives are 0 along weights that are the same for all classes, where the solution is therefore known.
        along = np.divide(1.0, self.penalty, out=np.zeros_like(self.penalty), where=is_known)

        def apply(g: np.ndarray) -> np.ndarray:
            d = solve(g.reshape(-1)).reshape(g.shape)
            return d - d.mean(axis=1, keepdims=True) + along * g.mean(axis=1, keepdims=True)

        return apply

    def _sums(self, p: np.ndarray) -> np.ndarray:
        """The block of each pair of classes, by one product with the products of columns."""
        problem = self.problem
        h = np.empty((len(self.classes[0]), problem.m), self._products.dtype)
        pair_curvatures(np.ascontiguousarray(p.T), problem.row_weights, *self.classes, h)
        bounds = problem.design.ranges(problem.design.stored_rows, problem.m)
        parts = [np.zeros((len(h), len(self.columns[0]))) for _ in bounds]

        def add(first: int, last: int, total: np.ndarray) -> None:
            for a in range(first, last, ROWS_AT_ONCE):
                b = min(a + ROWS_AT_ONCE, last)
                total += h[:, a:b] @ self._products[a:b]

        in_parallel([(add, a, b, part) for (a, b), part in zip(bounds, parts, strict=True)])
        return sum(parts[1:], start=parts[0])[:, symmetric(*self.columns)]

    def _blocks(self, p: np.ndarray) -> np.ndarray:
        """The block of each pair of classes, one after the other."""
        r, found = self.problem.row_weights, []
        for k, l in zip(*self.classes, strict=True):
            G = self._gram(r * p[:, k] * ((1.0 if k == l else 0.0) + (-1.0 if k == l else 1.0) * p[:, l]), True)
            G = np.tril(G) + np.tril(G, -1).T
            found.append(G if k == l else -G)
        return np.array(found)

    @cached_property
    def _gram(self) -> Any:
        return WeightedGram(self.problem.design, float(self.penalty.max()))

    @property
    def _products(self) -> np.ndarray:
        """x_ij·x_ij' of every row for all pairs of columns, the constant feature included; kept for other regularizers too."""
        if "products of columns" not in self.problem.memo:
            self.problem.memo["products of columns"] = self._computed_products()
        return self.problem.memo["products of columns"]

    def _computed_products(self) -> np.ndarray:
        design, size = self.problem.design, self.problem.m * len(self.columns[0])
        is_single = size >= LARGE and design.suits_single
        X = np.full((self.problem.m, self.problem.n), design.intercept, np.float32 if is_single else np.float64)
        X[:, : design.width] = design.storage.toarray() if sp.issparse(design.storage) else design.storage
        return X[:, self.columns[0]] * X[:, self.columns[1]]


def pairs(count: int) -> tuple[np.ndarray, np.ndarray]:
    """All pairs j ≥ k of numbers below the count.

    >>> [part.tolist() for part in pairs(2)]
    [[0, 1, 1], [0, 0, 1]]
    """
    return np.tril_indices(count)


def symmetric(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The symmetric matrix that holds the place of each pair.

    >>> symmetric(*pairs(2)).tolist()
    [[0, 1], [1, 2]]
    """
    places = np.empty((rows[-1] + 1, rows[-1] + 1), np.int64)
    places[rows, columns] = places[columns, rows] = np.arange(len(rows))
    return places


@kernel
def pair_curvatures(p, r, first, second, h):
    """h_i = r_i (p_ki [k = l] − p_ki p_li) for each pair of classes k, l"""
    for c in range(first.shape[0]):
        k, l = first[c], second[c]
        one = 1.0 if k == l else 0.0
        for i in range(p.shape[1]):
            h[c, i] = r[i] * p[k, i] * (one - p[l, i])

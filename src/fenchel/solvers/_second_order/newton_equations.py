"""The Newton equations (Xᵀ·diag(h)·X + λI)·d = −g, λ = 0 for an unpenalised intercept, in three ways

``ByColumns``   few columns: the n × n matrix itself, and its Cholesky factors.
``ByRows``      few rows: an m × m matrix instead. With s = √h and u = s·q the equations are those of q and the intercept's step β,

                    (I + s·XXᵀ·s/λ)·q − β·s = −s·Xg/λ,     <s, q> = −g_b,     d = −(g + Xᵀu)/λ,

                where XXᵀ is the same in every step. (Written for −g; ``inverse`` solves for g.)
``ByProducts``  both many: conjugate gradients on products with X and Xᵀ, preconditioned by the diagonal. Hsia, Chiang & Lin,
                *Preconditioned conjugate gradient methods in truncated Newton frameworks for large-scale linear
                classification*, ACML 2018.

For K classes: :mod:`fenchel.solvers._second_order.class_equations`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import lapack

from fenchel.core.numeric import TINY
from fenchel.linalg.design import Design
from fenchel.solvers._coordinate.gram_matrix import LARGEST_GRAM
from fenchel.solvers._second_order.weighted_gram import WeightedGram, gram_cost

Inverse = Callable[[np.ndarray], np.ndarray]
JITTER = 1e-13  # relative to the mean of the diagonal: added to it, then tenfold, until the Cholesky factorisation succeeds
LOOSEST = 0.1  # relative to ‖g‖: largest residual of conjugate gradients; it shrinks towards the optimum
ROUGH = 1e-3  # relative to ‖g‖: residual from which second derivatives may have single precision
MOST_STEPS = 300  # of conjugate gradients for one Newton step
COLUMNS_PER_ROW = 1  # columns for each row up to which the n × n matrix is preferred to the m × m one
PRODUCTS_PER_STEP = 40.0  # products with X that conjugate gradients are assumed to need, compared with the cost of the Gram matrix


def newton_equations(design: Design, l2: float, free: bool, columns_per_row: float = COLUMNS_PER_ROW) -> Any:
    """The way to solve them that costs least on this matrix, or by columns if these are no more than so many for each row.

    Solutions by rows are differences of large vectors divided by λ, and have fewer correct digits where λ is small.
    """
    if has_few_columns(design, columns_per_row):
        return ByColumns(design, l2, free)
    if design.m <= LARGEST_GRAM:
        return ByRows(design, l2, free)
    return ByProducts(design, l2, free)


def has_small_equations(design: Design) -> bool:
    """Whether one of the matrices is small enough to be factorised."""
    return design.m <= LARGEST_GRAM or has_few_columns(design)


def has_few_columns(design: Design, per_row: float = COLUMNS_PER_ROW) -> bool:
    """Whether the n × n matrix is small, and costs no more than what would take its place: the products of conjugate gradients where
    rows are many, else the m × m matrix, which costs more."""
    are_few = design.width <= min(LARGEST_GRAM, per_row * design.m)
    return are_few and (design.m <= LARGEST_GRAM or gram_cost(design) <= PRODUCTS_PER_STEP * design.nnz)


class ByColumns:
    """Cholesky factors of Xᵀ·diag(h)·X + λI."""

    is_factorised = True  #: whether ``inverse`` is that of the matrix, not of an approximation

    def __init__(self, design: Design, l2: float, free: bool) -> None:
        self.l2, self.penalised = l2, np.arange(design.n - free)
        self.gram = WeightedGram(design, l2)

    def set_strength(self, l2: float) -> None:
        """Change λ, for all solutions from now on."""
        self.l2 = l2

    def inverse(self, h: np.ndarray, rough: bool = False) -> Inverse:
        """The function that takes g to the solution, for one g or one in each column."""
        G = self.gram(h, rough)
        G[self.penalised, self.penalised] += self.l2
        return factorised(G)

    def solve(self, h: np.ndarray, g: np.ndarray, forcing: float) -> tuple[np.ndarray, int]:
        """d, and how many passes over the data it took."""
        return -self.inverse(h, rough=forcing >= ROUGH)(g), 1


class ByRows:
    """Cholesky factors of I + s·XXᵀ·s/λ."""

    is_factorised = True

    def __init__(self, design: Design, l2: float, free: bool) -> None:
        self.design, self.l2, self.free = design, l2, free
        self.K = design.products_of_rows
        if design.intercept and not free:
            self.K = self.K + design.intercept**2

    def set_strength(self, l2: float) -> None:
        """Change λ, for all solutions from now on."""
        self.l2 = l2

    def inverse(self, h: np.ndarray) -> Inverse:
        """The function that takes g to the solution, for one g or one in each column."""
        design, l2, s = self.design, self.l2, np.sqrt(h)
        B = (s[:, None] * self.K) * (s / l2)
        B[np.diag_indices_from(B)] += 1.0
        solved = factorised(B)
        by_intercept = solved(s) if self.free else s

        def apply(g: np.ndarray) -> np.ndarray:
            penalised = g.copy()
            if self.free:
                penalised[-1] = 0.0
            q = solved((s * design.matvec(penalised).T).T) / l2
            beta = (g[-1] - s @ q) / max(s @ by_intercept, TINY) if self.free else 0.0
            q = q + (np.multiply.outer(by_intercept, beta) if self.free else 0.0)
            d = (penalised - design.rmatvec((s * q.T).T)) / l2
            if self.free:
                d[-1] = beta
            return d

        return apply

    def solve(self, h: np.ndarray, g: np.ndarray, forcing: float) -> tuple[np.ndarray, int]:
        """d, and how many passes over the data it took."""
        return -self.inverse(h)(g), 2


class ByProducts:
    """Conjugate gradients, to a residual that shrinks with the gradient."""

    is_factorised = False

    def __init__(self, design: Design, l2: float, free: bool) -> None:
        self.design, self.free = design, free
        self.set_strength(l2)

    def set_strength(self, l2: float) -> None:
        """Change λ, for all solutions from now on."""
        self.penalty = penalties(self.design, l2, self.free)

    def inverse(self, h: np.ndarray) -> Inverse:
        """The inverse of the diagonal alone."""
        diagonal = self.penalty + self.design.column_squares(h)
        diagonal = np.maximum(diagonal, JITTER * diagonal.max())
        return lambda g: (g.T / diagonal).T

    def solve(self, h: np.ndarray, g: np.ndarray, forcing: float) -> tuple[np.ndarray, int]:
        """d, and how many passes over the data it took."""

        def product(p: np.ndarray) -> np.ndarray:
            return self.design.rmatvec(h * self.design.matvec(p)) + self.penalty * p

        return conjugate_gradients(product, self.inverse(h), g, forcing)


def penalties(design: Design, l2: float, free: bool) -> np.ndarray:
    """λ for every weight, 0 for an unpenalised intercept."""
    return np.append(np.full(design.n - free, l2), np.zeros(int(free)))


def conjugate_gradients(
    product: Inverse, inverse: Inverse, g: np.ndarray, forcing: float, most: float = MOST_STEPS
) -> tuple[np.ndarray, int]:
    """d with H·d near −g, from products with H, ``most`` at most, and a preconditioner near its inverse; and the products plus one."""
    d, r = np.zeros_like(g), -g
    y = inverse(r)
    p, rho = y, float(np.vdot(r, y))
    target = min(LOOSEST, forcing) * math.sqrt(max(rho, 0.0))
    steps = 0
    while steps < most and rho > 0.0:
        steps += 1
        Hp = product(p)
        curvature = float(np.vdot(p, Hp))
        if not curvature > 0.0:
            break
        t = rho / curvature
        d = d + t * p
        r = r - t * Hp
        y = inverse(r)
        rho, before = float(np.vdot(r, y)), rho
        if math.sqrt(max(rho, 0.0)) <= target:
            break
        p = y + (rho / before) * p
    return d, 1 + steps


def factorised(A: np.ndarray) -> Inverse:
    """The function that takes b to A⁻¹b, for a positive semidefinite A (its lower triangle is read), with as little jitter as possible."""
    diagonal = A.diagonal().copy()
    jitter = JITTER * max(float(diagonal.mean()), TINY)
    factors, info = lapack.dpotrf(A.T, lower=0)
    while info != 0:
        np.fill_diagonal(A, diagonal + jitter)
        factors, info = lapack.dpotrf(A.T, lower=0)
        jitter *= 10.0
    return lambda b: lapack.dpotrs(factors, b, lower=0)[0]

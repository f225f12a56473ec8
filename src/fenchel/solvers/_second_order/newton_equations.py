"""The Newton equations (Xᵀ·diag(h)·X + λI)·d = −g, λ = 0 for a free intercept, in three ways, and those of several classes in a fourth

``ByColumns``   few columns: the n × n matrix itself, and its Cholesky factors.
``ByRows``      few rows: an m × m matrix instead. With s = √h and u = s·q the equations are those of q and the intercept's step β,

                    (I + s·XXᵀ·s/λ)·q − β·s = −s·Xg/λ,     <s, q> = −g_b,     d = −(g + Xᵀu)/λ,

                where XXᵀ is the same in every step. (Written for −g; ``inverse`` solves for g.)
``ByProducts``  both many: conjugate gradients on products with X and Xᵀ, scaled by the diagonal. Hsia, Chiang & Lin,
                *Preconditioned conjugate gradient methods in truncated Newton frameworks for large-scale linear
                classification*, ACML 2018.

Of K classes the matrix has nK rows and columns, and conjugate gradients solve its equations too; what they are scaled by is the inverse of
one of the matrices above, h the mean curvature over the classes, which does away with whatever X has of scales and correlations.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack

from fenchel.core.compiled import kernel
from fenchel.core.numeric import TINY
from fenchel.core.threads import in_parallel, one_thread
from fenchel.linalg.design import BLOCK, Design
from fenchel.solvers._coordinate.gram_matrix import LARGEST_GRAM, gram

Inverse = Callable[[np.ndarray], np.ndarray]
JITTER = 1e-13  # of the mean of the diagonal, tenfold until the matrix has its Cholesky factors
LOOSEST = 0.1  # of ‖g‖: what conjugate gradients may leave of the equations, less as the end comes near
MOST_STEPS = 300  # of conjugate gradients for one Newton step
MOST_TO_ROWS = 2  # columns a row: with more of them the m × m matrix is the smaller
BLAS = 50.0  # multiplications in the time of a scattered one
OUTER_COST = 40.0  # products with X that a step of conjugate gradients is thought to need, to be weighed against the Gram matrix


@kernel
def outer_rows(rows, h, first, last, G):
    """G ← G + Σ h_i x_i x_iᵀ, its lower triangle."""
    for i in range(first, last):
        rows.add_outer(i, h[i], G)


def newton_equations(design: Design, l2: float, free: bool) -> Any:
    """The way to solve them that costs least on this matrix."""
    if _has_few_columns(design):
        return ByColumns(design, l2, free)
    if design.m <= LARGEST_GRAM:
        return ByRows(design, l2, free)
    return ByProducts(design, l2, free)


def has_small_equations(design: Design) -> bool:
    """Whether there is a matrix of the equations small enough to be factorised."""
    return design.m <= LARGEST_GRAM or _has_few_columns(design)


def _has_few_columns(design: Design) -> bool:
    return design.width <= min(LARGEST_GRAM, MOST_TO_ROWS * design.m) and _outer_products(design) <= OUTER_COST * design.nnz


def _outer_products(design: Design) -> float:
    """About how many multiplications the Gram matrix takes, in units of scattered ones."""
    return min(_filled_in(design), _scattered(design)) if sp.issparse(design.storage) else _filled_in(design)


def _filled_in(design: Design) -> float:
    return design.m * design.width**2 / BLAS


def _scattered(design: Design) -> float:
    rows = np.diff(design.stored_rows.indptr).astype(np.float64)
    return float(rows @ rows) / 2.0


class ByColumns:
    """Cholesky factors of Xᵀ·diag(h)·X + λI."""

    def __init__(self, design: Design, l2: float, free: bool) -> None:
        self.design, self.l2, self.free = design, l2, free
        self.products = _products_of(design)

    def inverse(self, h: np.ndarray) -> Inverse:
        """What takes g to the solution, for one g or one a column."""
        design = self.design
        G = np.zeros((design.n, design.n))
        G[: design.width, : design.width] = self.products(design, h)
        if design.intercept:
            G[-1, :-1] = (design.rmatvec(h) * design.intercept)[:-1]
            G[-1, -1] = design.intercept**2 * h.sum()
        diagonal = np.arange(design.n - self.free)
        G[diagonal, diagonal] += self.l2
        return _factorised(G)

    def solve(self, h: np.ndarray, g: np.ndarray, forcing: float) -> tuple[np.ndarray, int]:
        """d, and how many passes over the data it took."""
        return -self.inverse(h)(g), 1


class ByRows:
    """Cholesky factors of I + s·XXᵀ·s/λ."""

    def __init__(self, design: Design, l2: float, free: bool) -> None:
        self.design, self.l2, self.free = design, l2, free
        X = design.storage
        if sp.issparse(X):
            X = X.astype(np.float64, copy=False)
            self.K = (X @ X.T).toarray()
        else:
            with one_thread:
                self.K = gram(X, np.arange(design.m), None, np.ones(design.width), design.threads)
        if design.intercept and not free:
            self.K += design.intercept**2

    def inverse(self, h: np.ndarray) -> Inverse:
        """What takes g to the solution, for one g or one a column."""
        design, l2, s = self.design, self.l2, np.sqrt(h)
        B = (s[:, None] * self.K) * (s / l2)
        B[np.diag_indices_from(B)] += 1.0
        solved = _factorised(B)
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

    def __init__(self, design: Design, l2: float, free: bool) -> None:
        self.design, self.penalty = design, penalties(design, l2, free)

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
    """λ for every weight, 0 for a free intercept."""
    return np.append(np.full(design.n - free, l2), np.zeros(int(free)))


def conjugate_gradients(product: Inverse, inverse: Inverse, g: np.ndarray, forcing: float) -> tuple[np.ndarray, int]:
    """d with H·d near −g, given products with H and with what is near its inverse; and how many products it took, and one more."""
    d, r = np.zeros_like(g), -g
    y = inverse(r)
    p, rho = y, float(np.vdot(r, y))
    target = min(LOOSEST, forcing) * math.sqrt(max(rho, 0.0))
    steps = 0
    while steps < MOST_STEPS and rho > 0.0:
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


def _products_of(design: Design) -> Callable[[Design, np.ndarray], np.ndarray]:
    """The cheapest way to the lower triangle of Xᵀ·diag(h)·X, without the constant feature."""
    if not sp.issparse(design.storage):
        return _dense_products
    return _filled_in_products if _scattered(design) > _filled_in(design) else _scattered_products


def _dense_products(design: Design, h: np.ndarray) -> np.ndarray:
    with one_thread:
        return gram(design.storage.T, np.arange(design.width), None, h, design.threads)


def _scattered_products(design: Design, h: np.ndarray) -> np.ndarray:
    rows = design.stored_rows
    bounds = design.ranges(rows, design.m)
    parts = [np.zeros((design.width, design.width)) for _ in bounds]
    in_parallel([(outer_rows, rows, h, a, b, part) for (a, b), part in zip(bounds, parts, strict=True)])
    return sum(parts[1:], start=parts[0])


def _filled_in_products(design: Design, h: np.ndarray) -> np.ndarray:
    """Of sparse rows that are so full that they are better filled in, a block at a time."""
    X = design.storage.tocsr()
    bounds = design.ranges(design.stored_rows, design.m)
    parts = [np.zeros((design.width, design.width)) for _ in bounds]

    def add(first: int, last: int, total: np.ndarray) -> None:
        for a in range(first, last, BLOCK):
            b = min(a + BLOCK, last)
            A = X[a:b].toarray().astype(np.float64, copy=False) * np.sqrt(h[a:b])[:, None]
            total += A.T @ A

    with one_thread:
        in_parallel([(add, a, b, part) for (a, b), part in zip(bounds, parts, strict=True)])
    return sum(parts[1:], start=parts[0])


def _factorised(A: np.ndarray) -> Inverse:
    """What takes b to A⁻¹b, for a positive semidefinite A (its lower triangle is read), with as little jitter as makes it definite."""
    diagonal = A.diagonal().copy()
    jitter = JITTER * max(float(diagonal.mean()), TINY)
    with one_thread:
        factors, info = lapack.dpotrf(A.T, lower=0)
        while info != 0:
            np.fill_diagonal(A, diagonal + jitter)
            factors, info = lapack.dpotrf(A.T, lower=0)
            jitter *= 10.0
    return lambda b: lapack.dpotrs(factors, b, lower=0)[0]

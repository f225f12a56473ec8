"""The Newton equations (Xᵀ·diag(h)·X + λI)·d = −g, λ = 0 for a free intercept, in three ways

``ByColumns``   few columns: the n × n matrix itself, and its Cholesky factors.
``ByRows``      few rows: an m × m matrix instead. With s = √h and u = s·q the equations are those of q and the intercept's step β,

                    (I + s·XXᵀ·s/λ)·q − β·s = −s·Xg/λ,     <s, q> = −g_b,     d = −(g + Xᵀu)/λ,

                where XXᵀ is the same in every step.
``ByProducts``  both many: conjugate gradients on products with X and Xᵀ, scaled by the diagonal. Hsia, Chiang & Lin,
                *Preconditioned conjugate gradient methods in truncated Newton frameworks for large-scale linear
                classification*, ACML 2018.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack

from fenchel.compiled import kernel
from fenchel.coordinate.gram import LARGEST_GRAM, gram, one_thread
from fenchel.matrices import Design, in_parallel
from fenchel.numeric import TINY

JITTER = 1e-13  # of the mean of the diagonal, tenfold until the matrix has its Cholesky factors
LOOSEST = 0.1  # of ‖g‖: what conjugate gradients may leave of the equations, less as the end comes near
MOST_STEPS = 300  # of conjugate gradients for one Newton step
MOST_TO_ROWS = 2  # columns a row: with more of them the m × m matrix is the smaller
OUTER_COST = 40.0  # products with X that a step of conjugate gradients is thought to need, to be weighed against the Gram matrix


@kernel
def outer_rows(rows, h, first, last, G):
    """G ← G + Σ h_i x_i x_iᵀ, its lower triangle."""
    for i in range(first, last):
        rows.add_outer(i, h[i], G)


@kernel
def squares_of_rows(rows, h, first, last, out):
    """out_j ← out_j + Σ_i h_i x_ij²"""
    for i in range(first, last):
        rows.add_squares(i, h[i], out)


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
    return design.columns <= min(LARGEST_GRAM, MOST_TO_ROWS * design.m) and _outer_products(design) <= OUTER_COST * design.nnz


def _outer_products(design: Design) -> float:
    """About how many multiplications the Gram matrix takes, in units of scattered ones: BLAS does fifty in the time of one."""
    if not sp.issparse(design.storage):
        return design.m * design.columns**2 / 50.0
    rows = np.diff(design._stored_rows().indptr).astype(np.float64)
    return float(rows @ rows) / 2.0


class ByColumns:
    """Cholesky factors of Xᵀ·diag(h)·X + λI."""

    def __init__(self, design: Design, l2: float, free: bool) -> None:
        self.design, self.l2, self.free = design, l2, free

    def solve(self, h: np.ndarray, g: np.ndarray, forcing: float) -> tuple[np.ndarray, int]:
        """d, and how many passes over the data it took."""
        design = self.design
        G = np.zeros((design.n, design.n))
        G[: design.columns, : design.columns] = _gram_of(design, h)
        if design.intercept:
            G[-1, :-1] = (design.rmatvec(h) * design.intercept)[:-1]
            G[-1, -1] = design.intercept**2 * h.sum()
        diagonal = np.arange(design.n - self.free)
        G[diagonal, diagonal] += self.l2
        return _solved(G, -g), 1


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
                self.K = gram(X, np.arange(design.m), None, np.ones(design.columns), design.threads)
        if design.intercept and not free:
            self.K += design.intercept**2

    def solve(self, h: np.ndarray, g: np.ndarray, forcing: float) -> tuple[np.ndarray, int]:
        """d, and how many passes over the data it took."""
        design, l2 = self.design, self.l2
        penalised = np.append(g[:-1], 0.0) if self.free else g
        s = np.sqrt(h)
        B = (s[:, None] * self.K) * (s / l2)
        B[np.diag_indices_from(B)] += 1.0
        right = -s * design.matvec(penalised) / l2
        q, by_intercept = _solved(B, np.column_stack([right, s])).T
        beta = 0.0
        if self.free:
            beta = -(g[-1] + s @ q) / max(s @ by_intercept, TINY)
            q = q + beta * by_intercept
        d = -(penalised + design.rmatvec(s * q)) / l2
        if self.free:
            d[-1] = beta
        return d, 2


class ByProducts:
    """Conjugate gradients, to a residual that shrinks with the gradient."""

    def __init__(self, design: Design, l2: float, free: bool) -> None:
        self.design, self.free = design, free
        self.penalty = np.full(design.n, l2)
        if free:
            self.penalty[-1] = 0.0

    def solve(self, h: np.ndarray, g: np.ndarray, forcing: float) -> tuple[np.ndarray, int]:
        """d, and how many passes over the data it took."""
        design = self.design
        diagonal = self.penalty + column_squares(design, h)
        diagonal = np.maximum(diagonal, JITTER * diagonal.max())
        target = min(LOOSEST, forcing) * math.sqrt(g @ (g / diagonal))
        d, r = np.zeros_like(g), -g
        y = r / diagonal
        p, rho = y.copy(), float(r @ y)
        steps = 0
        while steps < MOST_STEPS:
            steps += 1
            Hp = design.rmatvec(h * design.matvec(p)) + self.penalty * p
            curvature = float(p @ Hp)
            if not curvature > 0.0:
                break
            t = rho / curvature
            d += t * p
            r -= t * Hp
            y = r / diagonal
            rho, before = float(r @ y), rho
            if math.sqrt(rho) <= target:
                break
            p = y + (rho / before) * p
        return d, 1 + steps


def _gram_of(design: Design, h: np.ndarray) -> np.ndarray:
    """The lower triangle of Xᵀ·diag(h)·X, without the constant feature."""
    if not sp.issparse(design.storage):
        with one_thread:
            return gram(design.storage.T, np.arange(design.columns), None, h, design.threads)
    rows = design._stored_rows()
    bounds = design._shares(rows, design.m)
    parts = [np.zeros((design.columns, design.columns)) for _ in bounds]
    in_parallel([(outer_rows, rows, h, a, b, part) for (a, b), part in zip(bounds, parts, strict=True)])
    return sum(parts[1:], start=parts[0])


def column_squares(design: Design, h: np.ndarray) -> np.ndarray:
    """Σ_i h_i x_ij² for every column j."""
    out = np.zeros(design.n)
    squares_of_rows(design.rows, h, 0, design.m, out)
    return out


def _solved(A: np.ndarray, right: np.ndarray) -> np.ndarray:
    """A⁻¹·right for a positive semidefinite A, of which the lower triangle is read; the smallest jitter that makes it definite."""
    diagonal = A.diagonal()
    jitter = JITTER * max(float(diagonal.mean()), TINY)
    with one_thread:
        factors, info = lapack.dpotrf(A.T, lower=0)
        while info != 0:
            np.fill_diagonal(A, diagonal + jitter)
            factors, info = lapack.dpotrf(A.T, lower=0)
            jitter *= 10.0
        solution, _ = lapack.dpotrs(factors, right, lower=0)
    return solution

"""The quadratic model of :mod:`fenchel.solvers._coordinate.quadratic_model` on dense columns, where second derivatives cost little

``minimise_by_gram``  many rows: coordinate sweeps, and Newton steps with fixed signs, on G = Xᵀ·diag(h)·X, whose cost does not depend on
                      the rows.
``minimise_by_rows``  fewer rows than columns: Li, Sun & Toh, *A highly efficient semismooth Newton augmented Lagrangian method for
                      solving lasso problems*, SIAM J. Optimization 2018. Proximal steps of growing length σ on w, each
                      solved in its dual variable ξ, one number for each row, by Newton's method on a smooth function: it
                      determines all weights at once, which pays where columns outnumber the rows and many supports are nearly optimal.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import lapack

from fenchel.core.compiled import compiled, kernel
from fenchel.core.numeric import TINY, soft_threshold
from fenchel.solvers._coordinate.fixed_signs import FixedSigns

SWEEPS = 12  # coordinate sweeps between two Newton steps, at least
PER_STEP = 0.6  # multiplications of sweeps, for the cube of the number of non-zero weights, that take about as long as a Newton step
SWEEP_PRODUCTS = 20_000  # multiplications of coordinate sweeps that take about as long as the Python code of a Newton step
FIRST_STEP, GROWTH = 10.0, 5.0  # the first σ, in units of the inverse of a column's mean curvature, and its factor after each step
MOST_PROXIMAL = 12  # most proximal steps: the σ of further ones would be so large that rounding prevails
SUFFICIENT, ROUNDING = 1e-4, 1e-14  # share of the directional derivative that a step must decrease by, and rounding relative to the value
MOST_NEWTON = 30  # most Newton steps for one proximal step
INEXACT = 1e-2  # relative to ‖ξ‖: largest residual of the equation for ξ, divided by the number of Newton steps so far


@kernel
def sweeps_by_gram(G, l1, l2, w, g, target, most):
    """Coordinate sweeps that update the gradient, g ← g + (change of w_k)·G_k; an estimate of the gap."""
    gap = 0.0
    for _ in range(most):
        violation, size = 0.0, 0.0
        for k in range(w.shape[0]):
            curvature = max(G[k, k], TINY)
            old = w[k]
            new = soft_threshold(curvature * old - g[k], l1) / (curvature + l2)
            if new != old:
                delta = new - old
                w[k] = new
                for l in range(g.shape[0]):
                    g[l] += delta * G[k, l]
                violation = max(violation, (curvature + l2) * abs(delta))
            size += abs(new)
        gap = violation * size
        if gap <= target:
            # Steps that followed in the same sweep may have violated other conditions, where columns are correlated.
            gap = largest_violation(l1, l2, w, g) * size
            if gap <= target:
                break
    return gap


@compiled
def largest_violation(l1, l2, w, g):
    """The largest violation of an optimality condition."""
    largest = 0.0
    for k in range(w.shape[0]):
        if w[k] != 0.0:
            largest = max(largest, abs(g[k] + l2 * w[k] + math.copysign(l1, w[k])))
        else:
            largest = max(largest, abs(g[k]) - l1)
    return largest


def minimise_by_gram(
    G: np.ndarray, l1: float, l2: float, w: np.ndarray, g: np.ndarray, target: float, most: int, signs: FixedSigns | None = None
) -> None:
    """Minimise the model until its gap is about the target; w and its gradient g are changed in place.

    G may have further rows and columns, for weights to come.
    ``signs`` are the Newton steps on a model with the same G, whose factors serve again.
    """
    G = G if G.flags.c_contiguous else G.T  # G is symmetric, and BLAS leaves it by columns: reading its rows would take 4 times as long
    sweeps = max(SWEEPS, SWEEP_PRODUCTS // max(1, len(w)) ** 2)
    signs = signs or FixedSigns()
    for _ in range(most):
        if sweeps_by_gram(G, l1, l2, w, g, target, sweeps) <= target:
            return
        further = int(PER_STEP * np.count_nonzero(w) ** 3 / len(w) ** 2) - sweeps
        if further > 0 and sweeps_by_gram(G, l1, l2, w, g, target, further) <= target:
            return
        signs.step(G, l1, l2, w, g)


def minimise_by_rows(
    B: np.ndarray, b: np.ndarray, l1: float, l2: float, w: np.ndarray, xi: np.ndarray, target: float, most: int
) -> tuple[np.ndarray, bool]:
    """The w that minimises ½‖wB − b‖² + l1·‖w‖₁ + l2/2·‖w‖²; and whether its gap is about the target.

    ``xi`` is wB − b, or near it.
    """
    sigma = FIRST_STEP / max(float(np.einsum("ij,ij->i", B, B).mean()), TINY)
    steps, best, least = 0, w, np.inf
    for _ in range(MOST_PROXIMAL):
        w, xi, taken = _proximal_step(B, b, l1, l2, w, xi, sigma, INEXACT / (1.0 + steps), most - steps)
        g = B @ xi + l2 * w
        violation = np.where(w != 0.0, np.abs(g + l1 * np.sign(w)), np.maximum(np.abs(g) - l1, 0.0)).max()
        gap = float(violation * np.abs(w).sum())
        best, least = (w, gap) if gap < least else (best, least)
        steps += taken
        if gap <= target or steps >= most:
            break
        sigma *= GROWTH
    return best, least <= target


def _proximal_step(
    B: np.ndarray, b: np.ndarray, l1: float, l2: float, before: np.ndarray, xi: np.ndarray, sigma: float, inexact: float, most: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """argmin_w of the model plus ‖w − before‖²/2σ: w = prox(x), x = before − σBξ, where F(ξ) = ξ + b − wB vanishes."""
    shrinks = 1.0 / (1.0 + sigma * l2)

    def prox(x: np.ndarray) -> np.ndarray:
        return np.copysign(np.maximum(np.abs(x) - sigma * l1, 0.0), x) * shrinks

    def value(xi: np.ndarray, x: np.ndarray, w: np.ndarray) -> float:
        """The function whose gradient is F."""
        moreau = 0.5 * (x @ x - (x - w) @ (x - w)) / sigma - l1 * np.abs(w).sum() - 0.5 * l2 * (w @ w)
        return float(0.5 * (xi @ xi) + b @ xi + moreau)

    x = before - sigma * (B @ xi)
    w = prox(x)
    steps = 0
    while steps < min(most, MOST_NEWTON):
        S = np.flatnonzero(w)
        A = B[S]
        F = xi + b - w[S] @ A
        if inexact**2 * (xi @ xi) >= F @ F:
            break
        steps += 1
        d = _newton_direction(A, sigma * shrinks, F)
        Bd = sigma * (B @ d)
        now, slope, t = value(xi, x, w), float(F @ d), 1.0
        while True:
            tried = prox(x - t * Bd)
            if t < TINY or value(xi + t * d, x - t * Bd, tried) <= now + SUFFICIENT * t * slope + ROUNDING * abs(now):
                break
            t *= 0.5
        xi, x, w = xi + t * d, x - t * Bd, tried
    return w, w @ B - b, steps


def _newton_direction(A: np.ndarray, c: float, F: np.ndarray) -> np.ndarray:
    """−(I + c·AᵀA)⁻¹F, from the smaller of two equivalent systems."""
    if not len(A):
        return -F
    few = len(A) < len(F)
    H = c * (A @ A.T if few else A.T @ A)
    H[np.diag_indices_from(H)] += 1.0
    solved = lapack.dposv(H, A @ F if few else F, lower=1, overwrite_a=1)[1]
    return np.asarray(c * (solved @ A) - F if few else -solved)

"""An unpenalised intercept b: the b that minimises the mean loss of z + b, and dual points that satisfy its constraint

Ω does not depend on b, so that D(α) is finite only where Σ_i s_i α_i = 0: the dual point is *balanced*. α = −φ'(z) is balanced exactly
where b minimises the mean loss. Any other α is scaled towards 0, where φ* stays finite because φ ≥ 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fenchel.core.compiled import compiled, kernel
from fenchel.core.numeric import EPSILON, TINY, narrowed
from fenchel.problems.rounding import COMPENSATED, SMALLEST
from fenchel.problems.sums import sum_losses, weighted_sums

BALANCED = 1e-12  # relative to Σ|s_i α_i|: a sum of s_i α_i this small is 0 up to rounding
SUMMED = 64 * EPSILON  # the relative error of a pairwise sum of up to 2⁴⁸ numbers
MOST_CUTS = 400  # of an interval, more than bisection alone needs
FARTHEST = 1e15  # largest |b| searched: beyond it there is no minimum, as when all labels are the same class


def best_intercept(problem: Any, z: np.ndarray) -> Any:
    """The b that minimises the mean loss of z + b, for a smooth loss: a root of the derivative, or one b for each class."""
    z, y, row_weights = _merged(problem, z)
    if problem.vector_valued:
        return _best_intercepts(problem, z, y, row_weights)

    alpha = problem.negative_derivatives(z, y)
    first = -float(alpha @ row_weights)
    if not abs(first) > EPSILON * float(np.abs(alpha) @ row_weights):
        return 0.0
    if getattr(problem.loss, "is_quadratic", False) and problem.loss.curvature(0.0, 1.0) == 1.0:
        return -first / float(row_weights.sum())
    # The derivative changes by at most 1/γ for each unit of b, so the minimum is at least this far away.
    smoothness = getattr(problem.loss, "smoothness", lambda: 1.0)()
    far = -first / smoothness if math.isfinite(smoothness) else -math.copysign(1.0, first)
    return float(minimum_of_shifted(problem.loss, z, y, row_weights, first, far))


@kernel
def minimum_of_shifted(loss, z, y, row_weights, first, far):
    """The b that minimises Σ_i r_i φ(z_i + b, y_i), at least as far from 0 as ``far``; 0 if there is none.

    ``first`` is the derivative at b = 0. The derivative is monotone in b: its sign changes in an interval that is halved at least every
    third time, and cut at the root of a line through its ends otherwise (M. Dowell and P. Jarratt, *A modified regula falsi method*, BIT
    1971).
    """
    near, at_near = 0.0, 1.0  # derivatives are relative to the first: products of two of them would underflow for tiny labels
    at_far = shifted_derivative(loss, z, y, row_weights, far) / first
    while at_far > 0.0:
        near, at_near, far = far, at_far, 2.0 * far
        if abs(far) > FARTHEST:
            return 0.0
        at_far = shifted_derivative(loss, z, y, row_weights, far) / first
    last = 0  # which end was replaced last
    for k in range(MOST_CUTS):
        if at_far == 0.0 or abs(far - near) <= max(4.0 * EPSILON * abs(far), SMALLEST):
            return far
        middle = 0.5 * (near + far)
        cut = far - at_far * (far - near) / (at_far - at_near) if k % 3 < 2 else middle
        if not min(near, far) < cut < max(near, far):
            cut = middle
        at_cut = shifted_derivative(loss, z, y, row_weights, cut) / first
        near, at_near, far, at_far, last = narrowed(near, at_near, far, at_far, last, cut, at_cut)
    return far


@compiled
def shifted_derivative(loss, z, y, row_weights, b):
    """Σ_i r_i φ'(z_i + b, y_i)"""
    total = 0.0
    for i in range(z.shape[0]):
        total += row_weights[i] * loss.derivative(z[i] + b, y[i])
    return total


def _merged(problem: Any, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Predictions, labels and weights, with one row for each class where all predictions are the same, as those of w = 0."""
    if problem.labels == "real" or len(z) == 0 or not (z == z[0]).all():
        return z, problem.y, problem.row_weights
    classes, which = np.unique(problem.y, return_inverse=True)
    return np.repeat(z[:1], len(classes), axis=0), classes, np.bincount(which, problem.row_weights)


def _best_intercepts(problem: Any, z: np.ndarray, y: np.ndarray, row_weights: np.ndarray) -> np.ndarray:
    from scipy.optimize import minimize

    def value_and_gradient(b: np.ndarray) -> tuple[float, np.ndarray]:
        value = float(sum_losses(problem.loss, z + b, y, row_weights))
        return value, -(problem.negative_derivatives(z + b, y).T @ row_weights)

    found = minimize(value_and_gradient, np.zeros(problem.outputs), jac=True, method="L-BFGS-B", options={"ftol": 0.0, "gtol": BALANCED})
    return np.asarray(found.x - found.x.mean())


def is_balanced(alpha: np.ndarray, row_weights: np.ndarray) -> bool:
    """Whether Σ s_i α_i = 0 up to rounding, for every class.

    >>> is_balanced(np.array([0.2, -0.1]), np.array([0.5, 1.0]))
    True
    """
    return imbalance(alpha, row_weights) <= BALANCED


def imbalance(alpha: np.ndarray, row_weights: np.ndarray) -> float:
    """The part ε by which entries of α have to shrink for Σ s_i α_i = 0 to hold exactly, for every class.

    The positive entries, or the negative ones, times 1 − ε make an exactly balanced point, where φ*(−(1 − ε)α) ≤ (1 − ε)φ*(−α) because
    φ* is convex and φ*(0) ≤ 0. With K classes the entries of a class that has too much shrink, and what they lose goes to others.

    >>> imbalance(np.array([0.4, -0.2]), np.array([0.5, 0.5])) >= 0.5
    True
    """
    if alpha.ndim == 1:
        total, size = weighted_sums(alpha, row_weights)
        excess = abs(total) + COMPENSATED * size
        return 2.0 * excess / max(size + excess, TINY)
    weighted = np.ascontiguousarray(alpha.T * row_weights)  # NumPy adds contiguous entries pairwise, with an error of order log m
    sizes = np.abs(weighted).sum(axis=-1)
    excess = np.abs(weighted.sum(axis=-1)) + SUMMED * sizes
    return float(np.max(2.0 * excess / np.maximum(sizes + excess, TINY)))


def balanced(alpha: np.ndarray, row_weights: np.ndarray) -> np.ndarray:
    """α with its positive or its negative entries scaled towards 0, whichever have the larger weighted sum.

    >>> balanced(np.array([0.4, -0.1]), np.array([0.5, 0.5])).tolist()
    [0.1, -0.1]
    """
    weighted = alpha * row_weights
    positive, negative = float(weighted.clip(min=0.0).sum()), float(-weighted.clip(max=0.0).sum())
    if positive > negative:
        return np.where(alpha > 0.0, alpha * (negative / positive), alpha)
    return np.where(alpha < 0.0, alpha * (positive / max(negative, TINY)), alpha)


def balanced_classes(alpha: np.ndarray, y: np.ndarray, row_weights: np.ndarray) -> np.ndarray:
    """A dual point near α with Σ s_i α_i = 0 for every class.

    α_i is e_y minus probabilities p_i, and the weighted sum of p over the rows has to equal the weight of each class. Classes whose
    sum is too large are scaled down, and what they lose goes to the classes whose sum is too small.

    >>> balanced_classes(np.array([[0.8, -0.8], [-0.4, 0.4]]), np.array([0, 1]), np.array([0.5, 0.5])).round(2).tolist()
    [[0.57, -0.57], [-0.57, 0.57]]
    """
    p = -alpha
    p[np.arange(len(y)), y] += 1.0
    sums, weights = row_weights @ p, np.bincount(y, row_weights, alpha.shape[1])
    kept = np.minimum(1.0, weights / np.maximum(sums, TINY))
    missing = np.maximum(weights - sums, 0.0)
    moved = p @ (1.0 - kept)
    p = p * kept + moved[:, None] * (missing / max(missing.sum(), TINY))
    p[np.arange(len(y)), y] -= 1.0
    return -p


def on_simplex(alpha: np.ndarray, y: np.ndarray) -> np.ndarray:
    """α with the probabilities p_i = e_y − α_i of each row made non-negative and summing to 1 up to the last digit.

    >>> abs(on_simplex(np.array([[0.5, -0.5 - 1e-12]]), np.array([0])).sum()) < 1e-15
    np.True_
    """
    own = np.arange(len(y)), y
    p = -alpha
    p[own] += 1.0
    if np.abs(alpha.sum(axis=1)).max() <= alpha.shape[1] * EPSILON and p.min() >= 0.0:
        return alpha
    p = p.clip(min=0.0)
    p /= p.sum(axis=1, keepdims=True)
    p[own] -= 1.0
    return -p

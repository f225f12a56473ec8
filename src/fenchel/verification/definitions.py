"""Losses, penalties and their conjugates, written down again from their formulas for arrays of any kind of number

Everything is for α with the sign of the dual objective: conjugates are φ*(−α). Each function returns its values and their sizes,
the absolute values of what is added and cancelled in them, to which rounding is relative.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Terms = tuple[np.ndarray, np.ndarray]


class LossDefinition(NamedTuple):
    """φ(z, y), φ*(−α, y), and the nearest α in the domain of φ*."""

    value: Callable[..., np.ndarray]
    conjugate: Callable[..., Terms]
    feasible: Callable[..., np.ndarray]


class PenaltyDefinition(NamedTuple):
    """Ω(w); Ω*(v), or where it is infinite the maximum over the w whose objective is at most a given one; and the largest c ≤ 1 with a
    finite Ω*(cv)."""

    value: Callable[..., Terms]
    conjugate: Callable[..., Terms]
    scale: Callable[..., Any] = lambda numbers, parameters, v: 1


def positive(x: Any) -> np.ndarray:
    """max(x, 0)"""
    return np.maximum(x, 0)


def clipped(low: Any, high: Any) -> Callable[..., np.ndarray]:
    """α cut off at low and high, numbers or functions of the parameters."""
    ends = [end if callable(end) else (lambda parameters, end=end: end) for end in (low, high)]
    return lambda numbers, parameters, a, y: np.minimum(np.maximum(a, ends[0](parameters)), ends[1](parameters))


def margin_clipped(high: float) -> Callable[..., np.ndarray]:
    """α with 0 ≤ αy ≤ high."""
    return lambda numbers, parameters, a, y: y * np.minimum(positive(a * y), high)


def anywhere(numbers: Any, parameters: Any, a: np.ndarray, y: np.ndarray) -> np.ndarray:
    """α itself: φ* is finite everywhere."""
    return a


def conjugate_with(extra: Callable[..., np.ndarray]) -> Callable[..., Terms]:
    """φ*(−α) = −αy + extra(α), for losses of the residual y − z and of the margin 1 − yz alike."""

    def conjugate(numbers: Any, parameters: Any, a: np.ndarray, y: np.ndarray) -> Terms:
        rest = extra(parameters, a)
        return rest - a * y, np.abs(a * y) + np.abs(rest)

    return conjugate


def x_log_x(numbers: Any, x: np.ndarray) -> np.ndarray:
    """x·log x, continued to 0 at 0."""
    inside = np.where(x > 0, x, 1)
    return np.where(x > 0, x * numbers.log(inside), 0)


def entropy_conjugate(numbers: Any, parameters: Any, a: np.ndarray, y: np.ndarray) -> Terms:
    """p·log p + (1 − p)·log(1 − p) with p = αy."""
    p = a * y
    terms = x_log_x(numbers, p), x_log_x(numbers, 1 - p)
    return terms[0] + terms[1], np.abs(terms[0]) + np.abs(terms[1]) + 1


def smooth_hinge(numbers: Any, parameters: Any, z: np.ndarray, y: np.ndarray) -> np.ndarray:
    """max(0, 1 − yz), quadratic over a width γ."""
    (gamma,) = parameters
    slack = positive(1 - y * z)
    return np.where(slack < gamma, slack * slack / (2 * gamma), slack - gamma / 2)


def huber(numbers: Any, parameters: Any, z: np.ndarray, y: np.ndarray) -> np.ndarray:
    """½r² up to |r| = δ, linear beyond."""
    (delta,) = parameters
    r = np.abs(z - y)
    return np.where(r <= delta, r * r / 2, delta * r - delta * delta / 2)


def lower_slope(parameters: Any) -> Any:
    """τ − 1, which the quantile loss rounds to a float."""
    return type(parameters[0])(float(parameters[0]) - 1.0)


# ---- losses of K outputs: α is (m, K), and p = e_y − α lies on the simplex ----


def probabilities(a: np.ndarray, y: np.ndarray) -> np.ndarray:
    """p = e_y − α"""
    p = -a
    p[np.arange(len(y)), y] += 1
    return p


def on_simplex(numbers: Any, parameters: Any, a: np.ndarray, y: np.ndarray) -> np.ndarray:
    """α with p made non-negative and of sum 1."""
    p = positive(probabilities(a, y))
    p = p / p.sum(axis=1)[:, None]
    p[np.arange(len(y)), y] -= 1
    return -p


def own(z: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The entry of the true class in each row."""
    return z[np.arange(len(y)), y]


def softmax(numbers: Any, parameters: Any, z: np.ndarray, y: np.ndarray) -> np.ndarray:
    """log Σ_c e^{z_c} − z_y"""
    top = z.max(axis=1)
    return top + numbers.log(numbers.exp(z - top[:, None]).sum(axis=1)) - own(z, y)


def softmax_conjugate(numbers: Any, parameters: Any, a: np.ndarray, y: np.ndarray) -> Terms:
    """Σ_c p_c log p_c"""
    terms = x_log_x(numbers, probabilities(a, y))
    return terms.sum(axis=1), np.abs(terms).sum(axis=1) + a.shape[1]


def multiclass_hinge(numbers: Any, parameters: Any, z: np.ndarray, y: np.ndarray) -> np.ndarray:
    """max_c 1[c ≠ y] + z_c − z_y"""
    margins = z - own(z, y)[:, None] + 1
    margins[np.arange(len(y)), y] -= 1
    return positive(margins.max(axis=1))


def multiclass_hinge_conjugate(numbers: Any, parameters: Any, a: np.ndarray, y: np.ndarray) -> Terms:
    """−α_y + γ/2·‖α‖², with γ = 0 for the hinge itself."""
    gamma = parameters[0] if len(parameters) else 0
    squares = (a * a).sum(axis=1) * gamma / 2
    return squares - own(a, y), squares + np.abs(own(a, y)) + 1


def smooth_multiclass_hinge(numbers: Any, parameters: Any, z: np.ndarray, y: np.ndarray) -> np.ndarray:
    """max over p on the simplex of <z, p − e_y> + 1 − p_y − γ/2·‖p − e_y‖²: at the projection of e_y + (z − e_y)/γ."""
    (gamma,) = parameters
    rows = np.arange(len(y))
    target = z / gamma
    target[rows, y] += 1 - 1 / gamma
    ordered = -np.sort(-target, axis=1)
    K = z.shape[1]
    sums = np.cumsum(ordered - ordered[:, :1], axis=1)
    counts = np.arange(1, K + 1)
    shifts = (sums - 1) / counts
    last = ((ordered - ordered[:, :1]) > shifts).sum(axis=1) - 1
    p = positive(target - ordered[:, :1] - shifts[rows, last][:, None])
    u = p
    u[rows, y] -= 1
    return (z * u).sum(axis=1) - own(u, y) - (u * u).sum(axis=1) * gamma / 2


LOSSES: dict[str, LossDefinition] = {
    "Squared": LossDefinition(
        lambda numbers, parameters, z, y: (z - y) ** 2 / 2, conjugate_with(lambda parameters, a: a * a / 2), anywhere
    ),
    "Absolute": LossDefinition(
        lambda numbers, parameters, z, y: np.abs(z - y), conjugate_with(lambda parameters, a: 0 * a), clipped(-1, 1)
    ),
    "Quantile": LossDefinition(
        lambda numbers, parameters, z, y: np.maximum(parameters[0] * (y - z), lower_slope(parameters) * (y - z)),
        conjugate_with(lambda parameters, a: 0 * a),
        clipped(lower_slope, lambda parameters: parameters[0]),
    ),
    "EpsilonInsensitive": LossDefinition(
        lambda numbers, parameters, z, y: positive(np.abs(z - y) - parameters[0]),
        conjugate_with(lambda parameters, a: parameters[0] * np.abs(a)),
        clipped(-1, 1),
    ),
    "SquaredEpsilonInsensitive": LossDefinition(
        lambda numbers, parameters, z, y: positive(np.abs(z - y) - parameters[0]) ** 2 / 2,
        conjugate_with(lambda parameters, a: a * a / 2 + parameters[0] * np.abs(a)),
        anywhere,
    ),
    "Huber": LossDefinition(
        huber,
        conjugate_with(lambda parameters, a: a * a / 2),
        clipped(lambda parameters: -parameters[0], lambda parameters: parameters[0]),
    ),
    "Logistic": LossDefinition(lambda numbers, parameters, z, y: numbers.log1p_exp(-y * z), entropy_conjugate, margin_clipped(1)),
    "Hinge": LossDefinition(
        lambda numbers, parameters, z, y: positive(1 - y * z), conjugate_with(lambda parameters, a: 0 * a), margin_clipped(1)
    ),
    "SquaredHinge": LossDefinition(
        lambda numbers, parameters, z, y: positive(1 - y * z) ** 2 / 2,
        conjugate_with(lambda parameters, a: a * a / 2),
        margin_clipped(math.inf),
    ),
    "SmoothHinge": LossDefinition(smooth_hinge, conjugate_with(lambda parameters, a: parameters[0] * a * a / 2), margin_clipped(1)),
    "Softmax": LossDefinition(softmax, softmax_conjugate, on_simplex),
    "MulticlassHinge": LossDefinition(multiclass_hinge, multiclass_hinge_conjugate, on_simplex),
    "SmoothMulticlassHinge": LossDefinition(smooth_multiclass_hinge, multiclass_hinge_conjugate, on_simplex),
}


# ---- penalties, of all weights as one vector ----


def soft(x: np.ndarray, threshold: Any) -> np.ndarray:
    """x moved towards 0 by the threshold."""
    return np.sign(x) * positive(np.abs(x) - threshold)


def plain(values: np.ndarray) -> Terms:
    """Values in which nothing cancels."""
    return values, np.abs(values)


def l1_conjugate(numbers: Any, parameters: Any, v: np.ndarray, objective: Any) -> Terms:
    """The largest <v, w> − l1·‖w‖₁ of a w whose objective is at most the given one, because l1·‖w‖₁ ≤ P(w)."""
    excess = positive(np.abs(v).max() - parameters[0])
    return plain(np.array([objective / parameters[0] * excess if excess > 0 else 0 * excess]))


def l1_scale(numbers: Any, parameters: Any, v: np.ndarray) -> Any:
    """The largest c ≤ 1 with |cv| ≤ l1."""
    top = np.abs(v).max()
    return min(1, parameters[0] / top) if top > 0 else 1


def p_norm(numbers: Any, x: np.ndarray, p: Any) -> Any:
    """‖x‖_p"""
    top = np.abs(x).max()
    return top * numbers.power(numbers.power(np.abs(x) / top, p).sum(keepdims=True), 1 / p)[0] if top > 0 else top


def lp_value(numbers: Any, parameters: Any, w: np.ndarray) -> Terms:
    """strength/(2(p − 1))·‖w‖_p²"""
    strength, p, _ = parameters
    return plain(numbers.array([strength / (p - 1) / 2]) * p_norm(numbers, w, p) ** 2)


def lp_conjugate(numbers: Any, parameters: Any, v: np.ndarray, objective: Any) -> Terms:
    """max over r ≤ radius of r‖v‖_q − strength/(2(p − 1))·r²"""
    strength, p, radius = parameters
    norm = p_norm(numbers, v, p / (p - 1))
    curvature = strength / (p - 1)
    r = min(norm / curvature, radius)
    value = numbers.array([r * norm - curvature * r * r / 2])
    return value, np.abs(numbers.array([r * norm])) * 2


def entropy_penalty_conjugate(numbers: Any, parameters: Any, v: np.ndarray, objective: Any = None) -> Terms:
    """strength·radius·log((1/n)·Σ cosh(v_j/strength))"""
    strength, radius = parameters
    x = np.abs(v) / strength
    top = x.max()
    total = (numbers.exp(x - top) + numbers.exp(-x - top)).sum(keepdims=True) / (2 * len(v))
    value = strength * radius * (top + numbers.log(total))
    return value, np.abs(value) + strength * radius * (top + 40)


def entropy_penalty(numbers: Any, parameters: Any, w: np.ndarray) -> Terms:
    """The value of any v in <w, v> − Ω*(v) is a lower bound on Ω(w), and the best v an equality: found in floating point."""
    from fenchel.regularizers import Entropy

    strength, radius = (float(value) for value in parameters)
    given = np.asarray(w, dtype=np.float64)
    out = np.empty_like(given)
    Entropy(strength, radius).gradient(given, out)
    best, size = entropy_penalty_conjugate(numbers, parameters, numbers.array(out))
    products = w * numbers.array(out)
    return positive(products.sum() - best), np.abs(products).sum() + size


def box_conjugate(inner: PenaltyDefinition, links: Callable[..., list[np.ndarray]]) -> Callable[..., Terms]:
    """max over low ≤ w ≤ high of vw − Ω(w): the best of the points where it can lie."""

    def conjugate(numbers: Any, parameters: Any, v: np.ndarray, objective: Any) -> Terms:
        low, high, own_parameters = parameters
        if inner is PENALTIES["L1"]:
            reach = objective / own_parameters[0]
            low, high = np.maximum(low, -reach), np.minimum(high, reach)
        best: Any = None
        size: Any = 0
        for w in (*links(own_parameters, v), low + 0 * v, high + 0 * v):
            point = np.minimum(np.maximum(w, low), high)
            finite = np.isfinite(point.astype(np.float64))
            inside = np.where(finite, point, 0)
            cost, cost_size = inner.value(numbers, own_parameters, inside)
            value = np.where(finite, v * inside - cost, -math.inf)
            best = value if best is None else np.maximum(best, value)
            size = np.maximum(size, np.abs(v * inside) + cost_size)
        return best, size

    return conjugate


PENALTIES: dict[str, PenaltyDefinition] = {
    "L2": PenaltyDefinition(
        lambda numbers, parameters, w: plain(parameters[0] * w * w / 2),
        lambda numbers, parameters, v, objective: plain(v * v / (2 * parameters[0])),
    ),
    "L1": PenaltyDefinition(lambda numbers, parameters, w: plain(parameters[0] * np.abs(w)), l1_conjugate, l1_scale),
    "L1L2": PenaltyDefinition(
        lambda numbers, parameters, w: plain(parameters[0] * np.abs(w) + parameters[1] * w * w / 2),
        lambda numbers, parameters, v, objective: plain(positive(np.abs(v) - parameters[0]) ** 2 / (2 * parameters[1])),
    ),
    "NoPenalty": PenaltyDefinition(
        lambda numbers, parameters, w: plain(0 * w), lambda numbers, parameters, v, objective: plain(np.where(v == 0, 0, math.inf))
    ),
    "Linear": PenaltyDefinition(
        lambda numbers, parameters, w: plain(parameters[0] * w),
        lambda numbers, parameters, v, objective: plain(np.where(v == parameters[0], 0, math.inf)),
    ),
    "SquaredLp": PenaltyDefinition(lp_value, lp_conjugate),
    "Entropy": PenaltyDefinition(entropy_penalty, entropy_penalty_conjugate),
}

# Where vw − Ω(w) is largest without bounds.
LINKS: dict[str, Callable[..., list[np.ndarray]]] = {
    "L2": lambda parameters, v: [v / parameters[0]],
    "L1": lambda parameters, v: [0 * v],
    "L1L2": lambda parameters, v: [soft(v, parameters[0]) / parameters[1]],
    "NoPenalty": lambda parameters, v: [0 * v],
    "Linear": lambda parameters, v: [0 * v],
}

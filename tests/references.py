"""Independent optima: every loss and regularizer once more, in cvxpy, solved by an interior point method."""

from __future__ import annotations

import functools
import warnings

import cvxpy as cp
import numpy as np

import fenchel as fl
from fenchel.losses import losses
from fenchel.regularizers import regularizers
from tests.data import data


def scalar_loss(loss, z, y):
    match type(loss).__name__:
        case "Squared":
            return 0.5 * cp.square(z - y)
        case "Absolute":
            return cp.abs(z - y)
        case "EpsilonInsensitive":
            return cp.pos(cp.abs(z - y) - loss.epsilon)
        case "SquaredEpsilonInsensitive":
            return 0.5 * cp.square(cp.pos(cp.abs(z - y) - loss.epsilon))
        case "Huber":
            return 0.5 * cp.huber(z - y, loss.delta)
        case "Quantile":
            return cp.maximum(loss.tau * (y - z), (loss.tau - 1.0) * (y - z))
        case "Hinge":
            return cp.pos(1 - cp.multiply(y, z))
        case "SmoothHinge":  # the Moreau envelope of the hinge: min over the part of the slack that is charged linearly
            slack = cp.pos(1 - cp.multiply(y, z))
            return cp.huber(slack, loss.gamma) / (2 * loss.gamma)
        case "SquaredHinge":
            return 0.5 * cp.square(cp.pos(1 - cp.multiply(y, z)))
        case "Logistic":
            return cp.logistic(-cp.multiply(y, z))
    raise NotImplementedError(f"write the reference of {type(loss).__name__}")


def vector_loss(loss, Z, y):
    """A list of one expression per row."""
    K = Z.shape[1]
    rows = []
    for i, c in enumerate(y):
        e = np.eye(K)[c]
        if type(loss).__name__ == "Softmax":
            rows.append(cp.log_sum_exp(Z[i]) - Z[i, c])
        elif type(loss).__name__ == "MulticlassHinge":
            rows.append(cp.max(Z[i] + (1 - e)) - Z[i, c])
        elif type(loss).__name__ == "SmoothMulticlassHinge":
            # (φ* + γ/2‖·‖²)* = inf-convolution of φ with ‖·‖²/2γ
            u = cp.Variable(K)
            rows.append(cp.max(u + (1 - e)) - u[c] + cp.sum_squares(Z[i] - u) / (2 * loss.gamma))
        else:
            raise NotImplementedError(f"write the reference of {type(loss).__name__}")
    return rows


def penalty(regularizer, w):
    """An expression and constraints."""
    match type(regularizer).__name__:
        case "L2":
            return 0.5 * regularizer.l2 * cp.sum_squares(w), []
        case "L1":
            return regularizer.l1 * cp.norm1(w), []
        case "L1L2":
            return 0.5 * regularizer.l2 * cp.sum_squares(w) + regularizer.l1 * cp.norm1(w), []
        case "NoPenalty":
            return 0.0, []
        case "Box":
            inner, constraints = penalty(regularizer.penalty, w)
            finite = lambda bound: np.clip(bound, -1e6, 1e6)  # noqa: E731
            return inner, [*constraints, w >= finite(regularizer.lower), w <= finite(regularizer.upper)]
        case "SquaredLp":
            norm = cp.pnorm(w, regularizer.p, approx=False)
            ball = [norm <= regularizer.radius] if np.isfinite(regularizer.radius) else []
            return 0.5 * regularizer.strength / (regularizer.p - 1.0) * cp.square(norm), ball
        case "Entropy":
            parts = cp.Variable(2 * w.size, nonneg=True)
            level = regularizer.radius / (2 * w.size)
            divergence = regularizer.strength * cp.sum(cp.rel_entr(parts, np.full(2 * w.size, level)))
            return divergence, [cp.sum(parts) == regularizer.radius, parts[: w.size] - parts[w.size :] == w]
    raise NotImplementedError(f"write the reference of {type(regularizer).__name__}")


def optimum(X, y, loss, regularizer, row_weights=None, free=False) -> float:
    """min P, to about 1e-8, with a free intercept or without one."""
    m, n = X.shape
    row_weights = np.full(m, 1.0 / m) if row_weights is None else row_weights
    if loss.labels == "class":
        W = cp.Variable((n, int(y.max()) + 1))
        b = cp.Variable((1, int(y.max()) + 1)) if free else np.zeros((1, int(y.max()) + 1))
        mean_loss = sum(s * term for s, term in zip(row_weights, vector_loss(loss, X @ W + np.ones((m, 1)) @ b, y), strict=True))
        omega, constraints = penalty(regularizer, cp.vec(W, order="C"))
    else:
        w = cp.Variable(n)
        mean_loss = row_weights @ scalar_loss(loss, X @ w + (cp.Variable() if free else 0.0), y)
        omega, constraints = penalty(regularizer, w)
    problem = cp.Problem(cp.Minimize(mean_loss + omega), constraints)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "may be inaccurate": the next line asks another method then
        problem.solve(solver=cp.CLARABEL)
        if problem.status != cp.OPTIMAL:
            problem.solve(solver=cp.SCS, eps_abs=1e-9, eps_rel=1e-9, max_iters=200_000)
    assert problem.status == cp.OPTIMAL
    return float(problem.value)


def instances() -> tuple[dict[str, object], dict[str, object]]:
    """One of every loss and regularizer the registries know, with ordinary parameters (a name may come more than once)."""
    given = {
        "l1": [fl.L1(0.05)],
        "l2": [fl.L2(0.05)],
        "l1-l2": [fl.L1L2(l1=0.03, l2=0.05)],
        "squared-lp": [fl.SquaredLp(0.1, p=1.5), fl.SquaredLp(0.05, p=1.3, radius=0.5)],
        "entropy": [fl.Entropy(0.1, radius=2.0)],
        "box": [fl.Box(-0.1, 0.3), fl.Box(0.0, np.inf, fl.L1(0.03)), fl.Box(-0.2, 0.2, fl.L2(0.05))],
    }
    every = {name: given[name] if name in given else [cls()] for name, cls in regularizers().items()}
    flat = {f"{name}-{k}" if k else name: r for name, several in every.items() for k, r in enumerate(several)}
    return {name: cls() for name, cls in losses().items()}, flat


@functools.cache
def reference(loss: str, regularizer: str) -> float:
    every_loss, every_regularizer = instances()
    chosen = every_loss[loss]
    return optimum(*data(chosen.labels), chosen, every_regularizer[regularizer])

"""Short, slow versions of what fenchel computes fast: plain formulas on whole arrays, nothing incremental."""

import itertools
import math
from typing import NamedTuple

import numpy as np


def squared_lp_link(v, strength, p, radius):
    """argmax <v, w> − strength/(2(p−1))·‖w‖_p² over ‖w‖_p ≤ radius"""
    q = p / (p - 1.0)
    size = np.abs(v).max()
    if size == 0.0:
        return np.zeros_like(v)
    x = v / size  # powers of v itself may leave the range of floating point
    norm = (np.abs(x) ** q).sum() ** (1.0 / q)
    w = size * norm ** (2.0 - q) * np.abs(x) ** (q - 1.0) * np.sign(x) / ((q - 1.0) * strength)
    return w * min(1.0, radius / (size * norm / ((q - 1.0) * strength)))


def entropy_link(v, strength, radius):
    """radius·sinh(v/s) / Σ cosh(v/s)"""
    x = np.abs(v) / strength
    e = np.exp(x - x.max())
    # sinh and cosh over e^{max x}, without taking nearly equal numbers from each other
    sinh, cosh = -np.expm1(-2.0 * x) * e, (1.0 + np.exp(-2.0 * x)) * e
    return radius * np.sign(v) * sinh / cosh.sum()


def dual_gain(loss, a, alpha, z, y, q):
    """−φ*(−a) − <z, a> − q/2·‖a − α‖²: what a dual step maximises over a"""
    return -loss.conjugate(-a, y) - np.dot(z, a) - 0.5 * q * np.sum((a - alpha) ** 2)


def simplex_points(K, count, rng):
    """Points of the simplex: its corners, its centre, and random ones inside and on its faces."""
    inside = rng.dirichlet(np.ones(K), size=count)
    near_faces = rng.dirichlet(np.full(K, 0.1), size=count)
    return np.vstack([np.eye(K), np.full((1, K), 1.0 / K), inside, near_faces])


def batches(m, k, passes):
    """The rows in their own order, pass after pass, k at a time."""
    return [np.arange(first, min(first + k, m)) for first in range(0, m, k)] * passes


def pgs(loss, X, y, batches, link, divisor=1):
    """Every w_t of Figure 1, computed as printed: all of λ and all of w in every step. ``link`` is ∇Ω*."""
    lam, w, visited = np.zeros(X.shape[1]), np.zeros(X.shape[1]), []
    for t, batch in enumerate(batches, start=1):
        derivatives = [loss.derivative(float(X[i] @ w), y[i]) for i in batch]
        lam = lam - X[batch].T @ derivatives / len(batch)
        w = link(lam / (t + divisor))
        visited.append(w)
    return np.array(visited)


def pegasos(loss, X, y, batches, l2, radius=np.inf):
    """Every w_t of Algorithm 1 of the proximal paper, projected on a ball."""
    w, visited = np.zeros(X.shape[1]), []
    for t, batch in enumerate(batches, start=1):
        derivatives = [loss.derivative(float(X[i] @ w), y[i]) for i in batch]
        w = w - (l2 * w + X[batch].T @ derivatives / len(batch)) / (l2 * t)
        w = w * min(1.0, radius / max(np.linalg.norm(w), 1e-300))
        visited.append(w)
    return np.array(visited)


def simplex_programme(G, h, curvature):
    """max over the simplex of <h, x> − <x, Gx>/(2κ): the best of the optima on every support that lie on the simplex."""
    best = -math.inf
    for size in range(1, len(h) + 1):
        for S in map(list, itertools.combinations(range(len(h)), size)):
            system = np.block([[G[np.ix_(S, S)], np.ones((size, 1))], [np.ones((1, size)), np.zeros((1, 1))]])
            x = np.linalg.lstsq(system, np.append(curvature * h[S], 1.0), rcond=1e-13)[0][:-1]
            if x.min() >= -1e-12 and abs(x.sum() - 1.0) <= 1e-9:
                x = x.clip(0.0) / x.clip(0.0).sum()
                best = max(best, h[S] @ x - x @ G[np.ix_(S, S)] @ x / (2.0 * curvature))
    return best


def bundle_dual(l2, tau, w, A, b, alpha):
    """D'_t(α) of Do, Le & Foo."""
    v = tau @ w - alpha @ A
    return float(0.5 * tau @ (w * w).sum(axis=1) + alpha @ b - v @ v / (2 * (l2 * len(tau) + tau.sum())))


class Round(NamedTuple):
    """A round of Algorithm 4."""

    w: np.ndarray
    objective: float
    A: float
    tau: float
    R: float
    curvature: float  # λt + τ_{1:t}
    after: np.ndarray  # w_{t+1}


def algorithm_4(problem, steps):
    """The proximal bundle method with the optimistic R, each programme α ≥ 0, Σα ≤ t solved by DAQP."""
    import daqp

    l2 = problem.regularizer.l2
    w, R, phase, derivatives, offsets, out = problem.origin, min(1.0, 1.0 / math.sqrt(l2)), [], [], [], []
    for _ in range(steps):
        a = problem.gradient(w) - l2 * w
        derivatives.append(a)
        offsets.append(problem.mean_loss(problem.predict(w)) - a @ w)
        t = len(phase) + 1
        c = l2 * t + sum(tau for tau, _ in phase)
        tau = (-c + math.sqrt(c**2 + (l2 * R + np.linalg.norm(a)) ** 2 / R**2)) / 2
        phase.append((tau, w))
        c += tau
        u, M, size = sum(tau * w for tau, w in phase), np.array(derivatives), len(derivatives)
        limits = np.append(np.full(size, 1e30), float(t)), np.append(np.zeros(size), -1e30)
        programme = (M @ M.T / c + 1e-13 * np.eye(size), -np.array(offsets) - M @ u / c, np.ones((1, size)))
        alpha = daqp.solve(*programme, *limits, np.zeros(size + 1, dtype=np.int32), primal_tol=1e-11)[0]
        after = (u - alpha @ M) / c
        out.append(Round(w, problem.objective(w), float(np.linalg.norm(a)), tau, R, c, after))
        w = after
        if np.linalg.norm(w) >= R:
            R, phase = math.sqrt(2.0) * R, []
    return out

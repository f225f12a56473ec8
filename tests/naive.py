"""Short, slow twins of what fenchel computes fast: plain formulas on whole arrays, nothing incremental."""

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


def pgs(loss, X, y, rounds, link, divisor=1):
    """Every w_t of Figure 1, computed as printed: the whole of λ, the whole of w, every round. ``link`` is ∇Ω*."""
    lam, w, visited = np.zeros(X.shape[1]), np.zeros(X.shape[1]), []
    for t, batch in enumerate(rounds, start=1):
        slopes = [loss.derivative(float(X[i] @ w), y[i]) for i in batch]
        lam = lam - X[batch].T @ slopes / len(batch)
        w = link(lam / (t + divisor))
        visited.append(w)
    return np.array(visited)


def pegasos(loss, X, y, rounds, l2, radius=np.inf):
    """Every w_t of Algorithm 1 of the proximal paper, projected on a ball."""
    w, visited = np.zeros(X.shape[1]), []
    for t, batch in enumerate(rounds, start=1):
        slopes = [loss.derivative(float(X[i] @ w), y[i]) for i in batch]
        w = w - (l2 * w + X[batch].T @ slopes / len(batch)) / (l2 * t)
        w = w * min(1.0, radius / max(np.linalg.norm(w), 1e-300))
        visited.append(w)
    return np.array(visited)

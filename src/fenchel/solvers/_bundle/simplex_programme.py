"""max over x ≥ 0, Σx = 1 of <h, x> − <x, Gx>/(2κ): the dual of a model made of planes

A primal active set method with warm start. On its support S the optimum solves G_S x = κ(h_S − ν·1), Σx = 1; a Cholesky
factor of G_S + ρ·11ᵀ (the same programme, because Σx is fixed, and regular wherever the planes of S are affinely independent)
gives the step towards it, and gains or loses a row as planes enter or leave S. Every step starts from a gradient that is computed
again, so that it corrects the rounding errors of the one before: a small curvature κ makes these programmes very ill-conditioned,
and first-order methods converge very slowly on them.
"""

from __future__ import annotations

import math

import numpy as np

from fenchel.core.compiled import compiled, kernel
from fenchel.core.numeric import sum_of

DEPENDENT = 1e-12  # relative to a plane's squared norm: a smaller distance from the span of the others is rounding
PLANE_ERROR = 1e-16  # relative to the numbers that planes' values are computed from: their rounding errors
PIVOTS = 20  # most steps for each plane: more than any programme has needed
REFINEMENTS = 3  # further steps on a support that is optimal up to rounding


def maximise(G: np.ndarray, h: np.ndarray, curvature: float, x: np.ndarray, tolerance: float = 0.0) -> np.ndarray:
    """Improve x, a point of the simplex, to within ``tolerance`` (or rounding) of the maximum; the gradient h − Gx/κ there.

    G may be larger than x is long: only its first rows and columns are used. The largest entry of the gradient minus its mean under
    x bounds the distance of the value from the maximum.

    >>> x = np.array([1.0, 0.0])
    >>> maximise(np.array([[1.0, 0.0], [0.0, 3.0]]), np.zeros(2), 1.0, x).round(12).tolist(), x.round(12).tolist()
    ([-0.75, -0.75], [0.75, 0.25])
    """
    g = np.empty(len(x))
    pivot(G, h, float(curvature), x, g, float(tolerance), PIVOTS * (5 + len(x)))
    return g


@kernel
def pivot(G, h, curvature, x, g, tolerance, most):
    t = h.shape[0]
    L, S, l, inside = np.zeros((t, t)), np.zeros(t, np.int64), np.empty(t), np.zeros(t, np.bool_)
    rho = largest_diagonal(G, t)
    s = factorise(G, rho, L, S, x, inside, l)
    optimal, refined = False, 0
    for k in range(most):
        gradient(G, h, curvature, x, S, s, g)
        mean = 0.0
        for a in range(s):
            mean += x[S[a]] * g[S[a]]
        top, outside, j = highest(g, inside)
        enough = max(tolerance, PLANE_ERROR * (abs(mean) + 0.1 * rho / curvature))
        if top - mean <= enough or refined > REFINEMENTS or k == most - 1:
            break
        if optimal and outside - mean > enough:
            s = join(G, rho, L, S, s, x, inside, l, j)
            optimal, refined = False, 0
        else:
            refined += optimal
            s, optimal = step(L, S, s, x, inside, g, curvature)


@compiled
def largest_diagonal(G, t):
    most = 0.0
    for i in range(t):
        most = max(most, G[i, i])
    return most if most > 0.0 else 1.0


@compiled
def highest(g, inside):
    """The largest entry, the largest entry outside S and its index."""
    top, best, j = -math.inf, -math.inf, -1
    for i in range(g.shape[0]):
        top = max(top, g[i])
        if not inside[i] and g[i] > best:
            best, j = g[i], i
    return top, best, j


@compiled
def gradient(G, h, curvature, x, S, s, g):
    """g = h − Gx/κ"""
    g[:] = 0.0
    for k in range(s):
        row, c = G[S[k]], x[S[k]]
        for i in range(g.shape[0]):
            g[i] += c * row[i]
    for i in range(g.shape[0]):
        g[i] = h[i] - g[i] / curvature


@compiled
def factorise(G, rho, L, S, x, inside, l):
    """The factor of the support of x; planes that depend on earlier ones get the share 0."""
    s, total = 0, 0.0
    for i in range(x.shape[0]):
        if x[i] > 0.0:
            left = bordered(G, rho, L, S, s, i, l)
            if left > 0.0:
                append(L, S, s, inside, l, left, i)
                s += 1
                total += x[i]
            else:
                x[i] = 0.0
    for i in range(x.shape[0]):
        x[i] /= total
    return s


@compiled
def bordered(G, rho, L, S, s, j, l):
    """Solve L·l = the column of j; the squared distance of j from the span of S, 0 where that is rounding."""
    square = G[j, j] + rho
    left = square
    for a in range(s):
        v = G[j, S[a]] + rho
        for b in range(a):
            v -= L[a, b] * l[b]
        l[a] = v / L[a, a]
        left -= l[a] * l[a]
    return left if left > DEPENDENT * square else 0.0


@compiled
def append(L, S, s, inside, l, left, j):
    for a in range(s):
        L[s, a] = l[a]
    L[s, s] = math.sqrt(left)
    S[s] = j
    inside[j] = True


@compiled
def remove(L, S, s, inside, k):
    """Remove the k-th of S from the factor, by rotations."""
    inside[S[k]] = False
    for a in range(k, s - 1):
        S[a] = S[a + 1]
        for b in range(a + 2):
            L[a, b] = L[a + 1, b]
    for a in range(k, s - 1):
        r = math.hypot(L[a, a], L[a, a + 1])
        c, d = L[a, a] / r, L[a, a + 1] / r
        L[a, a], L[a, a + 1] = r, 0.0
        for b in range(a + 1, s - 1):
            u, v = L[b, a], L[b, a + 1]
            L[b, a], L[b, a + 1] = c * u + d * v, c * v - d * u
    return s - 1


@compiled
def backward(L, s, y):
    """Solve Lᵀ·y = y, in place."""
    for a in range(s - 1, -1, -1):
        y[a] /= L[a, a]
        v = y[a]
        for b in range(a):
            y[b] -= L[a, b] * v


@compiled
def step(L, S, s, x, inside, g, curvature):
    """Towards the optimum on S, as far as no share becomes negative; the size of S, and whether the optimum was reached."""
    p, q = np.empty(s), np.empty(s)
    for a in range(s):
        u, v = g[S[a]], 1.0
        for b in range(a):
            u -= L[a, b] * p[b]
            v -= L[a, b] * q[b]
        p[a], q[a] = u / L[a, a], v / L[a, a]
    backward(L, s, p)
    backward(L, s, q)
    nu = sum_of(p) / sum_of(q)
    for a in range(s):
        p[a] = curvature * (p[a] - nu * q[a])
    size, _ = move_support(L, S, s, x, inside, p, 1.0)
    total = 0.0
    for a in range(size):
        total += x[S[a]]
    for a in range(size):
        x[S[a]] /= total
    return size, size == s


@compiled
def move_support(L, S, s, x, inside, p, longest):
    """x_S += θp, θ ≤ longest as large as x ≥ 0 allows; a share that becomes 0 leaves S."""
    theta, leaves = longest, -1
    for a in range(s):
        if p[a] < 0.0 and x[S[a]] < -theta * p[a]:
            theta, leaves = x[S[a]] / -p[a], a
    if math.isinf(theta):
        return s, 0.0
    for a in range(s):
        x[S[a]] = max(x[S[a]] + theta * p[a], 0.0)
    if leaves >= 0:
        x[S[leaves]] = 0.0
        s = remove(L, S, s, inside, leaves)
    return s, theta


@compiled
def join(G, rho, L, S, s, x, inside, l, j):
    """Add plane j to S; where it depends on S, move along the direction without curvature until another plane has left."""
    left = bordered(G, rho, L, S, s, j, l)
    while left <= 0.0:
        backward(L, s, l)
        size, theta = move_support(L, S, s, x, inside, -l[:s], math.inf)
        if size == s:
            return s
        x[j] += theta
        s = size
        left = bordered(G, rho, L, S, s, j, l)
    append(L, S, s, inside, l, left, j)
    return s + 1

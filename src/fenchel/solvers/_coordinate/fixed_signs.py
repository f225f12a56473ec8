"""The minimum of a quadratic model over the weights that are not zero, with the signs that they have

The step of feature-sign search: H. Lee, A. Battle, R. Raina and A. Y. Ng, *Efficient sparse coding algorithms*, NIPS 2006. With fixed
signs the model is quadratic. A Newton step goes as far as the first weight that becomes zero, which stays zero, until a whole step
changes no sign. The Cholesky factors of the weights that are left are updated by rotations, so that a step costs as much as the solution
of triangular equations.
"""

from __future__ import annotations

import math

import numpy as np

from fenchel.core.compiled import compiled, kernel, reassociated


@kernel
def minimise_with_signs(R, proximal, w, slopes):
    """Change w, all of whose entries are not zero; how many steps.

    RᵀR is the matrix of second derivatives plus ``proximal`` on its diagonal, and ``slopes`` are the derivatives at w; all three are
    overwritten.
    """
    left = w.shape[0]
    which, x, d = np.arange(left), w.copy(), np.empty(left)
    steps = 0
    while left > 0:
        steps += 1
        solve(R, slopes, left, d)
        t, first = 1.0, -1
        for k in range(left):
            if (x[k] + d[k]) * x[k] <= 0.0 and -x[k] / d[k] < t:
                t, first = -x[k] / d[k], k
        for k in range(left):
            x[k] += t * d[k]
            slopes[k] = (1.0 - t) * slopes[k] - t * proximal[k] * d[k]
        if first < 0:
            break
        w[which[first]] = 0.0
        left -= 1
        for k in range(first, left):
            which[k], x[k], slopes[k], proximal[k] = which[k + 1], x[k + 1], slopes[k + 1], proximal[k + 1]
        remove(R, first, left)
    for k in range(left):
        w[which[k]] = x[k]
    return steps


@compiled
@reassociated
def solve(R, slopes, n, d):
    """d = −(RᵀR)⁻¹·slopes for the first n rows and columns"""
    for k in range(n):
        d[k] = -slopes[k]
    for k in range(n):
        d[k] /= R[k, k]
        c = d[k]
        for l in range(k + 1, n):
            d[l] -= c * R[k, l]
    for k in range(n - 1, -1, -1):
        total = d[k]
        for l in range(k + 1, n):
            total -= R[k, l] * d[l]
        d[k] = total / R[k, k]


@compiled
def remove(R, column, n):
    """The factor without one of its n + 1 columns: rotations of neighbouring rows make it triangular again."""
    for k in range(n + 1):
        for l in range(max(column, k - 1), n):
            R[k, l] = R[k, l + 1]
    for k in range(column, n):
        length = math.hypot(R[k, k], R[k + 1, k])
        cosine, sine = R[k, k] / length, R[k + 1, k] / length
        for l in range(k, n):
            upper, lower = R[k, l], R[k + 1, l]
            R[k, l] = cosine * upper + sine * lower
            R[k + 1, l] = cosine * lower - sine * upper

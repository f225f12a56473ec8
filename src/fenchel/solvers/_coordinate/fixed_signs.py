"""The minimum of a quadratic model over the weights that are not zero, with the signs that they have

The step of feature-sign search: H. Lee, A. Battle, R. Raina and A. Y. Ng, *Efficient sparse coding algorithms*, NIPS 2006. With fixed
signs the model is quadratic. A Newton step goes as far as the first weight that becomes zero, which stays zero, until a whole step
changes no sign. The Cholesky factors of the weights that are left are updated by rotations, so that a step costs as much as the solution
of triangular equations. They are kept for the next step, which has most of its weights in common with this one: those of new weights are
appended.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import lapack

from fenchel.core.compiled import compiled, kernel, reassociated
from fenchel.core.numeric import assign, integers_below

# Added to the diagonal of the Newton equations, relative to it, because columns may be dependent. With 1e-4 a model of 212 correlated
# columns needs 123 Newton steps, with 1e-7 it needs 8.
PROXIMAL = 1e-8
# Largest share of weights that come or go for which factors are updated: LAPACK's are 5 times as fast as these rotations, for each number.
UPDATED = 0.15
BLOCK = 64  # rows of triangular equations solved at a time, beside products of matrices


class FixedSigns:
    """Newton steps on models ½<w, G·w> + <b, w> + l1·‖w‖₁ + l2/2·‖w‖² that share G, which may grow by further weights at its end."""

    def __init__(self) -> None:
        self.l2 = math.nan
        self.order = np.empty(0, np.int64)  # the weights of the factors R,
        self.R = np.empty((0, 0))  # in its upper left corner, with room for more
        self.proximal = np.empty(0)

    def step(self, G: np.ndarray, l1: float, l2: float, w: np.ndarray, g: np.ndarray) -> None:
        """Go to about the minimum over the non-zero weights with fixed signs, leaving out those that become zero on the way.

        w and g = G·w + b are changed in place.
        """
        if not self._follow(G, l2, w):
            return
        S = self.order
        before = w[S]
        new = before.copy()
        minimise_with_signs(self.R, self.proximal, new, g[S] + l1 * np.sign(before) + l2 * before)
        left = np.flatnonzero(new)
        self.order, self.proximal = S[left], self.proximal[: len(left)].copy()
        w[S] = new
        add_rows(G, S, new - before, g)

    def _follow(self, G: np.ndarray, l2: float, w: np.ndarray) -> bool:
        """Let the factors be those of the non-zero weights; whether there are any, and their matrix is positive definite."""
        is_used = w != 0.0
        gone = np.flatnonzero(~is_used[self.order])
        is_used[self.order] = False
        new, kept = np.flatnonzero(is_used), len(self.order) - len(gone)
        if l2 != self.l2 or len(gone) + len(new) > UPDATED * (kept + len(new)) or not self._update(G, l2, gone, new):
            return self._begin(G, l2, np.flatnonzero(w))
        return bool(kept + len(new))

    def _begin(self, G: np.ndarray, l2: float, S: np.ndarray) -> bool:
        """Factors of the weights S from the beginning."""
        H = G[np.ix_(S, S)]
        self.l2, self.order, self.proximal = l2, S, PROXIMAL * H.diagonal()
        H.flat[:: len(S) + 1] += l2 + self.proximal
        factors, info = lapack.dpotrf(H.T, lower=1, overwrite_a=1) if len(S) else (H, 0)
        if info != 0 or not len(S):
            self.l2 = math.nan
            return False
        if len(S) > len(self.R):
            room = 2 * len(S)
            self.R = np.empty((room, room))
        self.R[: len(S), : len(S)] = factors.T
        return True

    def _update(self, G: np.ndarray, l2: float, gone: np.ndarray, new: np.ndarray) -> bool:
        """Factors without those at the places ``gone``, and with the weights ``new``; whether that is possible."""
        left = len(self.order)
        if left - len(gone) + len(new) > len(self.R):
            return False
        for place in gone[::-1]:
            left -= 1
            remove_one(self.R, place, left)
        self.order, self.proximal = np.delete(self.order, gone), np.delete(self.proximal, gone)
        if not len(new):
            return True
        order, diagonal = np.concatenate([self.order, new]), G[new, new]
        proximal = np.concatenate([self.proximal, PROXIMAL * diagonal])
        across = G[np.ix_(order, new)]
        across[left + np.arange(len(new)), np.arange(len(new))] += l2 + PROXIMAL * diagonal
        self.order, self.proximal = order, proximal
        return bool(append(self.R, across, left))


@kernel
def minimise_with_signs(R, proximal, w, slopes):
    """Change w, all of whose entries are not zero; how many steps.

    RᵀR is the matrix of second derivatives plus ``proximal`` on its diagonal, and ``slopes`` are the derivatives at w; all three are
    overwritten.
    """
    left = w.shape[0]
    which, x, d = integers_below(left), np.empty(left), np.empty(left)
    assign(x, w)
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


@kernel
def remove_one(R, column, n):
    remove(R, column, n)


def append(R: np.ndarray, across: np.ndarray, n: int) -> bool:
    """Append columns to a factor of n columns, ``across`` being their products with these and with each other; whether that is possible."""
    new = across.shape[1]
    for first in range(0, n, BLOCK):
        last = min(first + BLOCK, n)
        solve_block(R, across, first, last)
        across[last:n] -= R[first:last, last:n].T @ across[first:last]
    if n:
        across[n:] -= across[:n].T @ across[:n]
    factors, info = lapack.dpotrf(across[n:], lower=0)
    R[:n, n : n + new], R[n : n + new, n : n + new] = across[:n], factors
    return bool(info == 0)


@kernel
def solve_block(R, across, first, last):
    """Rows ``first`` to ``last`` of the solution of RᵀX = across, for which the rows before are subtracted already."""
    for i in range(first, last):
        for k in range(across.shape[1]):
            across[i, k] /= R[i, i]
        for j in range(i + 1, last):
            subtract_multiple(across[i], R[i, j], across[j])


@compiled
@reassociated
def subtract_multiple(x, c, out):
    for k in range(out.shape[0]):
        out[k] -= c * x[k]


@kernel
def add_rows(G, S, change, g):
    """g ← g + Σ_k change_k·G_{S_k}"""
    for k in range(S.shape[0]):
        if change[k] != 0.0:
            subtract_multiple(G[S[k]], -change[k], g)


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

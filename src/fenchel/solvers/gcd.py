"""min_w (1/m) Σ_i s_i φ(<w, x_i>, y_i) + Ω(w) by greedy coordinate descent

The deterministic relative of SCD in section 4.2 of Shalev-Shwartz & Tewari, *Stochastic Methods for l1-regularized Loss
Minimization*, JMLR 2011: the coordinate whose step guarantees the largest decrease,

    j = argmax_j −min_η [ g_j·η + β_j/2·η² + Ω_j(w_j + η) − Ω_j(w_j) ],     w_j ← w_j + η_j

The paper computes the whole gradient for every step. Here g is kept: a step on j changes the slopes of the rows in column j only,
and adding those rows to g costs their entries, far fewer than all of X where it is sparse.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled, kernel
from fenchel.linalg.weights import Plain
from fenchel.problems.problem import Problem
from fenchel.problems.result import Iterate
from fenchel.solvers._coordinate.coordinate_descent import CoordinateDescent
from fenchel.solvers.declaration import known_smoothness, separable, solver

ANEW = 10  # passes after which g is computed anew, against the drift of its sums


@compiled
class Followed(NamedTuple):
    """Slopes whose every change is carried over to the gradient."""

    slopes: Any
    rows: Any
    g: Any
    accesses: np.ndarray

    def shift(self, i, delta):
        old = self.slopes.raw(i)
        self.slopes.shift(i, delta)
        self.rows.add(i, self.slopes.raw(i) - old, self.g)
        self.accesses[0] += self.rows.count(i)
        return 0.0

    def settle(self, change):
        pass


@compiled
class VectorFollowed(NamedTuple):
    """The same for K outputs, entry i·K + k."""

    slopes: Any
    rows: Any
    g: Any
    accesses: np.ndarray
    change: np.ndarray

    def shift(self, e, delta):
        K = self.change.shape[0]
        i, k = e // K, e % K
        if k == K - 1:
            self.change[:] = self.slopes.slopes[i]
            self.slopes.shift(e, delta)
            for c in range(K):
                self.change[c] = self.slopes.slopes[i, c] - self.change[c]
            self.rows.adds(i, self.change, self.g)
            self.accesses[0] += self.rows.count(i)
        else:
            self.slopes.shift(e, delta)
        return 0.0

    def settle(self, change):
        pass


@compiled
def guaranteed(regularizer, w, g, beta, j):
    """The best step on a coordinate under its quadratic bound, and the decrease it guarantees."""
    step = regularizer.prox(w - g / beta, 1.0 / beta, j) - w
    if step == 0.0:
        return 0.0, 0.0
    # At least as much as the curvature alone, which rounding can't hide where the sum cancels.
    least = 0.5 * beta * step * step
    return step, max(least, -(g * step + least + regularizer.term(w + step, j) - regularizer.term(w, j)))


@kernel
def greedy_steps(columns, followed, regularizer, w, beta, budget):
    """Steps until they have read as much as the budget; whether any was left to take."""
    g = followed.g.v
    while followed.accesses[0] < budget:
        best, chosen, step = 0.0, -1, 0.0
        for j in range(w.shape[0]):
            change, decrease = guaranteed(regularizer, w[j], g[j], beta[j], j)
            if decrease > best:
                best, chosen, step = decrease, j, change
        if chosen < 0:
            return False
        w[chosen] += step
        columns.add(chosen, step, followed)
        followed.accesses[0] += columns.count(chosen)
    return True


@kernel
def greedy_vector_steps(columns, followed, regularizer, w, beta, budget):
    """The same for K outputs: all of a feature's weights at once."""
    K = w.shape[1]
    g = followed.g.v
    steps = np.empty(K)
    while followed.accesses[0] < budget:
        best, chosen = 0.0, -1
        for j in range(w.shape[0]):
            total = 0.0
            for k in range(K):
                total += guaranteed(regularizer, w[j, k], g[j * K + k], beta[j], j * K + k)[1]
            if total > best:
                best, chosen = total, j
        if chosen < 0:
            return False
        for k in range(K):
            e = chosen * K + k
            steps[k] = guaranteed(regularizer, w[chosen, k], g[e], beta[chosen], e)[0]
            w[chosen, k] += steps[k]
        columns.adds(chosen, steps, followed)
        followed.accesses[0] += columns.count(chosen)
    return True


@solver("gcd", needs=(known_smoothness, separable))
def gcd(problem: Problem, *, start: Iterate | None, rng: np.random.Generator, accuracy: float, beta: str = "column") -> Iterator[Iterate]:
    """Greedy coordinate descent: smooth losses, with any regularizer that is a sum over weights."""
    descent = CoordinateDescent(problem, start, beta)
    tally = np.array([descent.accesses])
    steps: Any = greedy_vector_steps if problem.vector_valued else greedy_steps
    some_left = True
    while some_left:
        _, v = problem.loss_gradient(descent.z)
        tally[0] += problem.design.nnz
        common = (descent.slopes(), problem.design.rows, Plain(-v.reshape(-1)), tally)
        followed: Any = VectorFollowed(*common, np.empty(problem.outputs)) if problem.vector_valued else Followed(*common)
        for _ in range(ANEW):
            some_left = steps(descent.columns, followed, problem.regularizer, descent.w, descent.beta, tally[0] + problem.design.nnz)
            descent.accesses = int(tally[0])
            yield descent.iterate()
            if not some_left:
                break

"""The weights of one feature: a number for a loss of one output, a row of K numbers for K outputs, so that kernels are written once

Below, g and a step are a number, or an array that the next call overwrites.

    g = feature.gradient(columns, j, derivatives)              <x_j, derivatives>
    step = feature.proximal_step(regularizer, w, j, g, beta)   w_j ← prox(w_j − g/β), and its change
    feature.predicted_decrease(regularizer, w, g, beta, j)     by how much that step lowers the objective at least; here g is the whole
                                                               gradient, entry j·K + k
    feature.part(g, j)                                         the part of the whole gradient that belongs to feature j
    feature.add(columns, j, step, target)                      target ← target + step·x_j
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fenchel.core.compiled import compiled, inlined
from fenchel.problems.problem import Problem


@inlined
def decrease_of_step(regularizer, w, g, beta, j):
    """By how much the best step on one weight under its quadratic bound lowers the objective at least."""
    step = regularizer.prox(w - g / beta, 1.0 / beta, j) - w
    if step == 0.0:
        return 0.0
    # The curvature alone guarantees this much, which rounding cannot hide where the terms of the sum cancel.
    least = 0.5 * beta * step * step
    return max(least, -(g * step + least + regularizer.term(w + step, j) - regularizer.term(w, j)))


@compiled
class OneWeight(NamedTuple):
    """A feature with one weight."""

    def gradient(self, columns, j, derivatives):
        return columns.dot(j, derivatives)

    def part(self, g, j):
        return g[j]

    def proximal_step(self, regularizer, w, j, g, beta):
        old = w[j]
        w[j] = regularizer.prox(old - g / beta, 1.0 / beta, j)
        return w[j] - old

    def predicted_decrease(self, regularizer, w, g, beta, j):
        return decrease_of_step(regularizer, w[j], g[j], beta, j)

    def is_zero(self, step):
        return step == 0.0

    def add(self, columns, j, step, target):
        columns.add(j, step, target)


@compiled
class SeveralWeights(NamedTuple):
    """A feature with K weights, and the arrays that hold a gradient and a step."""

    g: np.ndarray
    step: np.ndarray

    def gradient(self, columns, j, derivatives):
        columns.dots(j, derivatives, self.g)
        return self.g

    def part(self, g, j):
        K = self.g.shape[0]
        for k in range(K):
            self.g[k] = g[j * K + k]
        return self.g

    def proximal_step(self, regularizer, w, j, g, beta):
        K = self.step.shape[0]
        for k in range(K):
            old = w[j, k]
            w[j, k] = regularizer.prox(old - g[k] / beta, 1.0 / beta, j * K + k)
            self.step[k] = w[j, k] - old
        return self.step

    def predicted_decrease(self, regularizer, w, g, beta, j):
        K = self.step.shape[0]
        total = 0.0
        for k in range(K):
            total += decrease_of_step(regularizer, w[j, k], g[j * K + k], beta, j * K + k)
        return total

    def is_zero(self, step):
        total = 0.0
        for k in range(step.shape[0]):
            total += abs(step[k])
        return total == 0.0

    def add(self, columns, j, step, target):
        columns.adds(j, step, target)


def feature_weights(problem: Problem) -> OneWeight | SeveralWeights:
    """The weights of a feature of this problem."""
    return SeveralWeights(np.empty(problem.outputs), np.empty(problem.outputs)) if problem.vector_valued else OneWeight()

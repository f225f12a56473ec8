"""What the recursion adds and multiplies with: one recursion gives the best structure and the sum over all of them.

            plus          times    score x becomes
MaxPlus     max           +        x                 the score of the best structure
SumProduct  +             ·        eˣ                the sum of e^score: fast, but out of range if the scores are large
LogSum      log(eᵃ + eᵇ)  +        x                 its logarithm: never out of range, some ten times slower

``zero`` and ``one`` are the numbers that change nothing when added and multiplied. ``gather`` is Σ_e a[p + e]·b[q + e] over n places in a row, and takes nearly all the time. ``spread`` is its transpose:
e[p + k] += c·b[q + k]. ``share`` is a part of the total z, as a number in [0, 1].
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fenchel.compiled import compiled, reassociated


def _vectorised(method):
    """A maximum becomes vector instructions only if no value is NaN, and which zero comes first does not matter."""
    method.jit_options = {"fastmath": {"nnan", "nsz", "reassoc"}}
    return method


@compiled
class MaxPlus(NamedTuple):
    zero: float = -math.inf
    one: float = 0.0

    def embed(self, score):
        return score

    def plus(self, a, b):
        return max(a, b)

    def times(self, a, b):
        return a + b

    @_vectorised
    def gather(self, a, p, b, q, n):
        best = -math.inf
        for e in range(np.uintp(n)):
            x = a[np.uintp(p) + e] + b[np.uintp(q) + e]
            best = x if x > best else best
        return best


@compiled
class SumProduct(NamedTuple):
    zero: float = 0.0
    one: float = 1.0

    def embed(self, score):
        return math.exp(score)

    def plus(self, a, b):
        return a + b

    def times(self, a, b):
        return a * b

    @reassociated
    def gather(self, a, p, b, q, n):
        total = 0.0
        for e in range(np.uintp(n)):
            total += a[np.uintp(p) + e] * b[np.uintp(q) + e]
        return total

    def spread(self, e, p, c, b, q, n):
        for k in range(np.uintp(n)):
            e[np.uintp(p) + k] += c * b[np.uintp(q) + k]

    def share(self, a, z):
        return a / z


@compiled
class LogSum(NamedTuple):
    zero: float = -math.inf
    one: float = 0.0

    def embed(self, score):
        return score

    def plus(self, a, b):
        return log_plus(a, b)

    def times(self, a, b):
        return a + b

    def gather(self, a, p, b, q, n):
        top = -math.inf
        for e in range(np.uintp(n)):
            top = max(top, a[np.uintp(p) + e] + b[np.uintp(q) + e])
        if top == -math.inf:
            return top
        total = 0.0
        for e in range(np.uintp(n)):
            total += math.exp(a[np.uintp(p) + e] + b[np.uintp(q) + e] - top)
        return top + math.log(total)

    def spread(self, e, p, c, b, q, n):
        for k in range(np.uintp(n)):
            e[np.uintp(p) + k] = log_plus(e[np.uintp(p) + k], c + b[np.uintp(q) + k])

    def share(self, a, z):
        return math.exp(a - z)


@compiled
def log_plus(a, b):
    """log(eᵃ + eᵇ)"""
    top = max(a, b)
    return top if top == -math.inf else top + math.log1p(math.exp(-abs(a - b)))


MAX_PLUS, SUM_PRODUCT, LOG_SUM = MaxPlus(), SumProduct(), LogSum()

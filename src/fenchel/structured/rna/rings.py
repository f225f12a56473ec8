"""Semirings for the recursion: the same recursion computes the best structure and the sum over all structures.

             plus          times    score x becomes
MAX_PLUS     max           +        x                 the score of the best structure
SUM_PRODUCT  +             ·        eˣ                the sum of e^score: fast, but overflows if the scores are large
LOG_SUM      log(eᵃ + eᵇ)  +        x                 its logarithm: never overflows, about ten times slower

They are instances of one class, so that kernels are compiled only once.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fenchel.core.compiled import compiled, reassociated

MAX, SUM, LOG = 0, 1, 2


def _vectorised(method):
    """Let a maximum vectorise, which requires that no value is NaN and that the sign of zero does not matter."""
    method.jit_options = {"fastmath": {"nnan", "nsz", "reassoc"}}
    return method


@compiled
def log_plus(a, b):
    """log(eᵃ + eᵇ)"""
    top = max(a, b)
    return top if top == -math.inf else top + math.log1p(math.exp(-abs(a - b)))


@compiled
def log_gather(a, p, b, q, n):
    """log Σ_e exp(a[p + e] + b[q + e])"""
    top = -math.inf
    for e in range(n):
        top = max(top, a[p + e] + b[q + e])
    if top == -math.inf:
        return top
    total = 0.0
    for e in range(n):
        total += math.exp(a[p + e] + b[q + e] - top)
    return top + math.log(total)


@compiled
class Ring(NamedTuple):
    """A semiring; ``zero`` and ``one`` are the neutral elements of ⊕ and ⊗."""

    kind: int
    zero: float
    one: float

    def embed(self, score):
        """The semiring element of a score."""
        return math.exp(score) if self.kind == SUM else score

    def plus(self, a, b):
        """a ⊕ b"""
        if self.kind == SUM:
            return a + b
        return max(a, b) if self.kind == MAX else log_plus(a, b)

    def times(self, a, b):
        """a ⊗ b"""
        return a * b if self.kind == SUM else a + b

    def ratio(self, a, z):
        """The share of a in the total z, as a number in [0, 1]."""
        return a / z if self.kind == SUM else math.exp(a - z)

    def gather(self, a, p, b, q, n):
        """⊕_e a[p + e] ⊗ b[q + e] over n contiguous entries: this takes nearly all the time."""
        if self.kind == SUM:
            return self.dot(a, np.uintp(p), b, np.uintp(q), np.uintp(n))
        if self.kind == MAX:
            return self.largest(a, np.uintp(p), b, np.uintp(q), np.uintp(n))
        return log_gather(a, p, b, q, n)

    @_vectorised
    def largest(self, a, p, b, q, n):
        """max_e a[p + e] + b[q + e]"""
        best = -math.inf
        for e in range(n):
            x = a[p + e] + b[q + e]
            best = x if x > best else best
        return best

    @reassociated
    def dot(self, a, p, b, q, n):
        """Σ_e a[p + e]·b[q + e]"""
        total = 0.0
        for e in range(n):
            total += a[p + e] * b[q + e]
        return total

    def spread(self, a, p, c, b, q, n):
        """a[p + e] ← a[p + e] ⊕ c ⊗ b[q + e]: the transpose of gather."""
        if self.kind == SUM:
            for e in range(np.uintp(n)):
                a[np.uintp(p) + e] += c * b[np.uintp(q) + e]
        else:
            for e in range(n):
                a[p + e] = log_plus(a[p + e], c + b[q + e])


MAX_PLUS = Ring(MAX, -math.inf, 0.0)
SUM_PRODUCT = Ring(SUM, 0.0, 1.0)
LOG_SUM = Ring(LOG, -math.inf, 0.0)

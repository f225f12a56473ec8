"""Ω(w) = penalty of the weights before ``first``; the weights from there on are the unpenalised intercept"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from fenchel.core.compiled import compiled
from fenchel.core.errors import Argument, InputError


@compiled
class UnpenalisedIntercept(NamedTuple):
    """A penalty on all weights but the last ones, as created by ``Problem(intercept="free")``.

    >>> from fenchel.regularizers import L1
    >>> penalty = UnpenalisedIntercept(L1(0.5), first=2)
    >>> penalty.term(-3.0, 0), penalty.term(-3.0, 2)
    (1.5, 0.0)
    """

    penalty: Any
    first: int
    intercept_l2: float = 0.0  # c of a quadratic term c/2·w² on the intercept, for solvers that add curvature to all weights

    @property
    def internal(self):
        return True  # created by Problem, not by name

    @property
    def separable(self):
        return True

    @property
    def smooth(self):
        return getattr(self.penalty, "smooth", False)

    def check(self):
        if not self.penalty.separable:
            raise InputError(
                Argument("intercept", "free"),
                f" needs a separable penalty, and {type(self.penalty).__name__} is not separable: "
                "give the value of a constant feature instead, for instance ",
                Argument("intercept", 10.0),
                ".",
            )

    def term(self, w, j):
        return self.penalty.term(w, j) if j < self.first else 0.5 * self.intercept_l2 * w * w

    def conjugate_term(self, v, j):
        if j < self.first:
            return self.penalty.conjugate_term(v, j)
        # Without the quadratic term, <v, w> is bounded only where v = 0, which Problem ensures up to rounding.
        return 0.5 * v * v / self.intercept_l2 if self.intercept_l2 > 0.0 else 0.0

    def link(self, v, j):
        if j < self.first:
            return self.penalty.link(v, j)
        return v / self.intercept_l2 if self.intercept_l2 > 0.0 else (0.0 if v == 0.0 else math.copysign(math.inf, v))

    def prox(self, x, step, j):
        return self.penalty.prox(x, step, j) if j < self.first else x / (1.0 + step * self.intercept_l2)

    def derivative(self, w, j):
        return self.penalty.derivative(w, j) if j < self.first else self.intercept_l2 * w

    def strong_convexity(self):
        return min(self.penalty.strong_convexity(), self.intercept_l2)

    def domain_scale(self, v):
        """The largest c for which Ω*(cv) is finite; v is 0 at the intercept."""
        return self.penalty.domain_scale(v[: self.first]) if self.penalty.strong_convexity() == 0.0 else 1.0

    def conjugate_within(self, v, objective):
        """max <v,w> − Ω(w) over the w whose objective can be at most the given one; v is 0 at the intercept."""
        return self.penalty.conjugate_within(v[: self.first], objective)

    def within(self, objective):
        """The same, with the penalty restricted to the region in which weights of at most this objective can lie."""
        return UnpenalisedIntercept(self.penalty.within(objective), self.first)

    def with_l2(self, extra):
        return UnpenalisedIntercept(self.penalty.with_l2(extra), self.first, self.intercept_l2 + extra)

    def times(self, c):
        return UnpenalisedIntercept(self.penalty.times(c), self.first, c * self.intercept_l2)

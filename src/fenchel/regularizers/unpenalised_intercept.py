"""Ω(w) = penalty of the first weights; those from ``first`` on are free: an intercept that is not penalised"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from fenchel.core.compiled import compiled
from fenchel.core.errors import Argument, InputError


@compiled
class Free(NamedTuple):
    """A penalty that leaves the last weights alone, as ``Problem(intercept="free")`` makes it.

    >>> from fenchel.regularizers import L1
    >>> Free(L1(0.5), 2).term(-3.0, 0), Free(L1(0.5), 2).term(-3.0, 2)
    (1.5, 0.0)
    """

    penalty: Any
    first: int
    pull: float = 0.0  # c: c/2·w² on the free weights, from a solver that adds curvature to everything

    @property
    def internal(self):
        return True  # made by Problem, never asked for by name

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
                f" needs a penalty that is a sum over weights, and {type(self.penalty).__name__} is not: "
                "give the constant feature a value instead, for instance ",
                Argument("intercept", 10.0),
                ".",
            )

    def term(self, w, j):
        return self.penalty.term(w, j) if j < self.first else 0.5 * self.pull * w * w

    def conjugate_term(self, v, j):
        if j < self.first:
            return self.penalty.conjugate_term(v, j)
        # Without a pull <v, w> is bounded at a free weight only where v = 0, which Problem sees to but for rounding.
        return 0.5 * v * v / self.pull if self.pull > 0.0 else 0.0

    def link(self, v, j):
        if j < self.first:
            return self.penalty.link(v, j)
        return v / self.pull if self.pull > 0.0 else (0.0 if v == 0.0 else math.copysign(math.inf, v))

    def prox(self, x, step, j):
        return self.penalty.prox(x, step, j) if j < self.first else x / (1.0 + step * self.pull)

    def derivative(self, w, j):
        return self.penalty.derivative(w, j) if j < self.first else self.pull * w

    def strong_convexity(self):
        return min(self.penalty.strong_convexity(), self.pull)

    def domain_scale(self, v):
        """The largest c for which Ω*(cv) is finite, v being 0 at the free weights."""
        return self.penalty.domain_scale(v[: self.first]) if self.penalty.strong_convexity() == 0.0 else 1.0

    def conjugate_within(self, v, objective):
        """max <v,w> − Ω(w) over the w whose objective can be at most the given one, v being 0 at the free weights."""
        return self.penalty.conjugate_within(v[: self.first], objective)

    def within(self, objective):
        """The same with the penalty cut to where weights with at most this objective can lie."""
        return Free(self.penalty.within(objective), self.first)

    def with_l2(self, extra):
        return Free(self.penalty.with_l2(extra), self.first, self.pull + extra)

    def with_l2_on_free(self):
        """The free weights held as strongly as the penalty holds the others at least."""
        return Free(self.penalty, self.first, self.penalty.strong_convexity())

    def times(self, c):
        return Free(self.penalty.times(c), self.first, c * self.pull)

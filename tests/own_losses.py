"""Losses that a user may define: quadratic ones that answer every question that ``fl.Squared`` answers."""

from __future__ import annotations

from typing import NamedTuple

import fenchel as fl


@fl.compiled
class OwnSquared(NamedTuple):
    """factor/2·(z − y)²"""

    factor: float = 1.0

    @property
    def is_quadratic(self):
        return True

    def value(self, z, y):
        return 0.5 * self.factor * (z - y) ** 2

    def derivative(self, z, y):
        return self.factor * (z - y)

    def curvature(self, z, y):
        return self.factor

    def conjugate(self, u, y):
        return u * y + 0.5 * u * u / self.factor

    def dual_step(self, alpha, z, y, q):
        return (y - z + q * alpha) / (1.0 / self.factor + q)

    def smoothness(self):
        return self.factor


@fl.compiled
class OwnElasticNet(NamedTuple):
    """l1·‖w‖₁ + l2/2·‖w‖², either of which may be 0."""

    l1: float = 0.0
    l2: float = 0.0

    @property
    def separable(self):
        return True

    @property
    def is_elastic_net(self):
        return True

    @property
    def smooth(self):
        return self.l1 == 0.0

    def term(self, w, j):
        return self.l1 * abs(w) + 0.5 * self.l2 * w * w

    def conjugate_term(self, v, j):
        excess = max(abs(v) - self.l1, 0.0)
        return excess * excess / (2.0 * self.l2)

    def derivative(self, w, j):
        return self.l2 * w + (self.l1 if w > 0.0 else -self.l1 if w < 0.0 else 0.0)

    def prox(self, x, step, j):
        shrunk = max(abs(x) - step * self.l1, 0.0) / (1.0 + step * self.l2)
        return shrunk if x > 0.0 else -shrunk

    def strong_convexity(self):
        return self.l2

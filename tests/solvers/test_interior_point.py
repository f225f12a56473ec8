"""The interior point method: piecewise linear losses to many digits."""

from __future__ import annotations

import fenchel as fl
from tests.data import data


def test_the_interior_point_method_finds_the_optimum_to_many_digits_at_every_strength():
    X, y = data("binary")
    X = X * [1.0, 1e3, 1e-3, 1.0, 1.0, 1.0]
    for loss, labels in ((fl.Hinge(), y), (fl.Quantile(0.8), X[:, 0] + 3.0), (fl.EpsilonInsensitive(0.2), X[:, 0] + 3.0)):
        for l2 in (10.0, 1e-3, 1e-8):
            for intercept in (0.0, 2.0, "free"):
                problem = fl.Problem(X, labels, loss, fl.L2(l2), intercept=intercept)
                assert fl.minimize(problem, "interior-point", tol=1e-9).converged

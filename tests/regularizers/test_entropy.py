"""The entropy with large terms and small differences: lower bounds stay below the optimum."""

from __future__ import annotations

import pytest

import fenchel as fl
from tests.data import data


@pytest.mark.parametrize(("strength", "radius"), [(1e6, 1e6), (1e3, 1e3), (2.8, 0.17)])
@pytest.mark.parametrize("size", [1.0, 1e-8])
def test_lower_bounds_are_not_destroyed_by_cancellation(strength, radius, size):
    X, _ = data("real")
    problem = fl.Problem(X, size * X[:, 0], fl.Squared(), fl.Entropy(strength, radius))
    result = fl.minimize(problem, tol=1e-6)
    best = min(result.objective, fl.minimize(problem, tol=1e-10).objective)
    assert result.dual_objective <= best * (1 + 1e-9)

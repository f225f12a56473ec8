"""The interior point method: losses of linear and quadratic pieces to many digits"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import fenchel as fl
from fenchel.driver import solve
from fenchel.solvers import interior_point as module
from tests.data import data


def test_the_interior_point_method_finds_the_optimum_to_many_digits_at_every_strength():
    X, y = data("binary")
    X = X * [1.0, 1e3, 1e-3, 1.0, 1.0, 1.0]
    for loss, labels in ((fl.Hinge(), y), (fl.Quantile(0.8), X[:, 0] + 3.0), (fl.EpsilonInsensitive(0.2), X[:, 0] + 3.0)):
        for l2 in (10.0, 1e-3, 1e-8):
            for intercept in (0.0, 2.0, "free"):
                problem = fl.Problem(X, labels, loss, fl.L2(l2), intercept=intercept)
                assert fl.minimize(problem, "interior-point", tol=1e-9).converged


LINEAR = (fl.Hinge(), fl.Absolute(), fl.Quantile(0.2), fl.EpsilonInsensitive(0.3), fl.EpsilonInsensitive(0.0))
QUADRATIC = (fl.SquaredHinge(), fl.SmoothHinge(0.5), fl.Huber(0.5), fl.SquaredEpsilonInsensitive(0.3))
LOSSES = LINEAR + QUADRATIC


@pytest.mark.parametrize("loss", QUADRATIC, ids=repr)
@pytest.mark.parametrize("intercept", [0.0, "free"])
def test_quadratic_pieces_have_the_optimum_that_quasi_newton_steps_find(loss, intercept):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 5))
    y = X @ rng.standard_normal(5) + rng.standard_normal(120)
    y = np.where(y > 0.0, 1.0, -1.0) if loss.labels == "binary" else y
    problem = fl.Problem(X, y, loss, fl.L2(1e-2), intercept=intercept)
    found, expected = (fl.minimize(problem, name, tol=1e-10) for name in ("interior-point", "lbfgs"))
    assert found.converged
    np.testing.assert_allclose(found.w, expected.w, atol=1e-4)


@fl.compiled
class Distance(NamedTuple):
    """|z − y| as a user writes it, without a curvature of its pieces"""

    labels = "real"

    def value(self, z, y):
        return abs(z - y)

    def derivative(self, z, y):
        return math.copysign(1.0, z - y)

    def conjugate(self, u, y):
        return u * y if abs(u) <= 1.0 else math.inf

    def boxes(self, y):
        return [(y, np.full_like(y, -1.0), np.full_like(y, 1.0))]


def test_the_pieces_of_a_users_loss_are_linear_unless_it_says_otherwise():
    X, y = data("regression")
    results = [fl.minimize(fl.Problem(X, y, loss, fl.L2(1e-2)), "interior-point", tol=1e-9) for loss in (Distance(), fl.Absolute())]
    np.testing.assert_allclose(results[0].w, results[1].w, atol=1e-8)


@settings(deadline=None, max_examples=40)
@given(st.sampled_from(LOSSES), st.sampled_from([0.0, 2.0, "free"]), st.integers(5, 40), st.integers(1, 6), st.integers(0, 10**6))
def test_compiled_steps_and_steps_from_python_end_at_the_same_optimum(loss, intercept, m, n, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, n)) * 10.0 ** rng.integers(-3, 4, n)
    y = X[:, 0] + 10.0 ** rng.integers(-3, 4) * rng.standard_normal(m)
    y = np.where(y > np.median(y), 1.0, -1.0) if loss.labels == "binary" else y  # with both classes: the objective at 0 would be 0
    problem = fl.Problem(X, y, loss, fl.L2(10.0 ** rng.integers(-8, 2)), intercept=intercept, sample_weight=0.1 + rng.random(m))
    with pytest.MonkeyPatch.context() as patch:
        compiled = solve(problem, "interior-point", tol=1e-6)
        patch.setattr(module, "steps_are_compiled", lambda problem: False)
        from_python = solve(problem, "interior-point", tol=1e-6)
    assert compiled.converged
    assert abs(compiled.objective - from_python.objective) <= 1e-6 * problem.scale + from_python.gap
    assert from_python.gap <= 1e-5 * problem.scale


def test_steps_beyond_floating_point_accuracy_end_the_run():
    X, y = data("binary")
    result = solve(fl.Problem(X, y, fl.Hinge(), fl.L2(1e-3)), "interior-point", tol=1e-17)
    assert result.status == "stalled"
    assert result.gap <= 1e-12 * result.target / 1e-17


def test_compiled_steps_keep_to_the_limit_of_passes():
    X, y = data("binary")
    assert solve(fl.Problem(X, y, fl.Hinge(), fl.L2(1e-6)), "interior-point", tol=1e-9, max_passes=7).passes <= 7 + 3

"""Penalties that become weaker step by step, where Newton steps are short"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import fenchel as fl
from fenchel.solvers._second_order import small_problems
from fenchel.solvers._second_order.continuation import GAP, WEAKER, strongest, weakened
from tests.own_losses import OwnSquared


def separable(m=300, n=250, l2=1e-7, loss=None, **options):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, 20)) @ rng.standard_normal((20, n)) + 0.1 * rng.standard_normal((m, n))
    y = np.where(X @ rng.standard_normal(n) + rng.standard_normal(m) > 0.0, 1.0, -1.0)
    return fl.Problem(X, y, fl.SquaredHinge() if loss is None else loss, fl.L2(l2), **options)


@settings(deadline=None, max_examples=200)
@given(*(st.floats(1e-6, 1e6) for _ in range(3)), *(st.floats(0.0, 1e6) for _ in range(2)), st.floats(-1.0, 1.0))
def test_a_weaker_penalty_is_taken_only_after_a_rough_minimum(strength, ratio, loss, square, length, cosine):
    l2, product = strength / (1.0 + ratio), cosine * np.sqrt(square * length)

    def is_minimal(s):
        return (square + 2.0 * s * product + s * s * length) / (2.0 * s) <= GAP * (loss + 0.5 * s * length)

    naive = strength
    while naive > l2 and is_minimal(naive):
        naive = max(naive / WEAKER, l2)
    assert weakened(strength, l2, loss, square, product, length) == naive


@pytest.mark.parametrize("loss", [fl.SquaredHinge(), fl.SmoothHinge(1.0), fl.Logistic()], ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("intercept", [0.0, "free"])
@pytest.mark.parametrize("compiled", [True, False])
def test_few_steps_lead_to_the_minimum_of_the_problem_itself(loss, intercept, compiled, monkeypatch):
    monkeypatch.setattr(small_problems, "MOST_PRODUCTS", 10**9 if compiled else 0)
    problem = separable(loss=loss, intercept=intercept)
    result = fl.minimize(problem, "newton", tol=1e-6, max_passes=120)
    assert result.converged
    best = fl.minimize(problem, "lbfgs", tol=0.0, max_passes=3000)
    assert result.objective <= best.objective + 1e-6 * problem.scale


def test_continuation_saves_steps(monkeypatch):
    monkeypatch.setattr(small_problems, "MOST_PRODUCTS", 0)
    problem = separable()
    with_it = fl.minimize(problem, "newton", tol=1e-6, max_passes=1000)
    monkeypatch.setattr("fenchel.solvers.newton.STEP_IS_SHORT", 0.0)
    without = fl.minimize(problem, "newton", tol=1e-6, max_passes=1000)
    assert with_it.converged
    assert with_it.passes < 0.7 * without.passes


def test_the_first_penalty_is_no_weaker_than_that_of_the_problem():
    assert strongest(separable(l2=1e9)) == 1e9
    assert strongest(separable(l2=1e-9)) > 1e-9
    assert strongest(separable(loss=OwnSquared(2.0))) >= 1e-7

"""Kernels for the elastic net against the sums that serve every regularizer"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import fenchel as fl
from fenchel.problems.elastic_net import largest_entry_around, sum_conjugate, sum_conjugate_around, sum_penalty
from tests.data import labels_for

STRENGTHS = [(0.0, 0.3), (0.2, 0.0), (0.2, 0.3)]


@pytest.mark.parametrize("regularizer", [fl.L2(0.3), fl.L1(0.2), fl.L1L2(0.2, 0.3)], ids=repr)
@pytest.mark.parametrize("loss", [fl.Logistic(), fl.Hinge(), fl.Squared(), fl.Softmax()], ids=repr)
@pytest.mark.parametrize("intercept", [0.0, 2.0, "free"])
def test_objectives_and_bounds_are_those_of_the_general_sums(loss, regularizer, intercept):
    X = np.random.default_rng(0).standard_normal((40, 70))
    y = labels_for(loss.labels, X[:, 0])
    fast, general = (fl.Problem(X, y, loss, regularizer, intercept=intercept) for _ in range(2))
    assert fast.elastic_net is not None
    vars(general)["elastic_net"] = None
    w = np.random.default_rng(1).standard_normal(fast.shape)
    objective = fast.objective(w)
    assert general.objective(w) == pytest.approx(objective, rel=1e-14)
    alpha = fast.dual_point(w)
    v = fast.adjoint(alpha)
    bounds = [
        (
            p.penalty_conjugate(v.reshape(-1), objective),
            p.estimated_bound(alpha, v, objective, objective),
            p.lower_bound(alpha, v, objective),
        )
        for p in (fast, general)
    ]
    np.testing.assert_allclose(bounds[0], bounds[1], rtol=1e-9)


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(STRENGTHS), st.integers(0, 300), st.integers(1, 3), st.integers(0, 10**6))
def test_sums_in_many_accumulators_are_those_of_a_plain_loop(strengths, features, outputs, seed):
    rng = np.random.default_rng(seed)
    (l1, l2), count = strengths, features * outputs
    v, distance = rng.standard_normal(count + outputs) * 10.0 ** rng.integers(-3, 3), rng.random(features + 1) * 1e-3
    exact = sum((Fraction(0.5 * l2 * x * x + l1 * abs(x)) for x in v[:count].tolist()), Fraction(0))
    assert sum_penalty(v, l1, l2, count) == pytest.approx(float(exact), rel=1e-15)
    around = np.abs(v[:count]) + np.repeat(distance[:features], outputs)
    for sizes, found in (
        (np.abs(v[:count]), sum_conjugate(v, l1, l2, count, 5.0)),
        (around, sum_conjugate_around(v, distance, outputs, l1, l2, count, 5.0)),
    ):
        excess = np.maximum(sizes - l1, 0.0)
        expected = math.fsum(excess**2) / (2.0 * l2) if l2 else 5.0 / l1 * excess.max(initial=0.0)
        assert found == pytest.approx(expected, rel=1e-12)
    assert largest_entry_around(v, distance, outputs, count) == pytest.approx(around.max(initial=0.0), rel=1e-12)

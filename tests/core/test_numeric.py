"""Small numerical functions against their definitions, and at the ends of the floating-point range."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fenchel.core.numeric import clip, log1pexp, log_sum_exp, project_to_simplex, sigmoid, soft_threshold, xlogx

reals = st.floats(-1e6, 1e6)
quick = settings(deadline=None, max_examples=100, database=None)


def project(x):
    out = np.full(len(x), np.nan)
    project_to_simplex(np.array(x, dtype=np.float64), out)
    return out


@given(reals, reals, st.floats(0.0, 1e6))
@quick
def test_clip_returns_the_nearest_point_of_the_interval(x, low, width):
    assert clip(x, low, low + width) == float(np.clip(x, low, low + width))


@given(st.floats(-10.0, 10.0), st.floats(0.0, 10.0))
@quick
def test_soft_threshold_minimises_its_objective(x, threshold):
    u = soft_threshold(x, threshold)
    best = 0.5 * (u - x) ** 2 + threshold * abs(u)
    for other in (0.0, x, u - 1e-3, u + 1e-3, x - threshold, x + threshold):
        assert best <= 0.5 * (other - x) ** 2 + threshold * abs(other) + 1e-12


@given(st.floats(-1e300, 1e300))
@quick
def test_log1pexp_and_sigmoid_do_not_overflow_and_are_symmetric(x):
    assert log1pexp(x) == pytest.approx(np.logaddexp(0.0, x), rel=1e-14)
    assert log1pexp(x) - log1pexp(-x) == pytest.approx(x, rel=1e-14, abs=1e-15)
    assert sigmoid(x) + sigmoid(-x) == pytest.approx(1.0, rel=1e-15)


def test_sigmoid_is_the_derivative_of_log1pexp():
    for x in np.linspace(-30.0, 30.0, 61).tolist():
        assert sigmoid(x) == pytest.approx((log1pexp(x + 1e-5) - log1pexp(x - 1e-5)) / 2e-5, abs=1e-9)
    assert sigmoid(-700.0) == pytest.approx(math.exp(-700.0), rel=1e-14)  # small, but not rounded to 0


def test_xlogx_is_continuous_at_zero():
    assert xlogx(0.0) == 0.0
    assert xlogx(1e-300) == pytest.approx(0.0, abs=1e-296)
    assert xlogx(2.0) == 2.0 * math.log(2.0)


@given(st.lists(st.floats(-700.0, 700.0), min_size=1, max_size=6), st.sampled_from([0.0, 1e6, -1e6]))
@quick
def test_log_sum_exp_agrees_with_its_definition_under_large_shifts(z, shift):
    # At ±10⁶ the exponentials themselves would overflow or underflow.
    z = np.array(z) + shift
    expected = z.max() + math.log(np.exp(z - z.max()).sum())
    assert log_sum_exp(z) == pytest.approx(expected, rel=1e-14, abs=1e-14)


@given(st.lists(st.floats(-5.0, 5.0), min_size=1, max_size=6))
@quick
def test_projection_on_the_simplex_is_the_nearest_point(x):
    p = project(x)
    assert p.min() >= 0.0
    assert p.sum() == pytest.approx(1.0, abs=1e-14)
    # Optimality of the projection: <v − p, x − p> ≤ 0 for every vertex v, hence for every point of the simplex.
    assert ((np.eye(len(x)) - p) @ (x - p)).max() <= 1e-13


@pytest.mark.parametrize("size", [1e3, 1e9, 1e17, 1e300])
def test_projection_of_huge_vectors_is_still_on_the_simplex(size):
    for x in ([1.0, 0.3, -1.0], [1.0, 1.0, 0.0], [0.3, 0.7, 0.1], [-1.0, -1.0, -2.0]):
        p = project(size * np.array(x))
        assert p.sum() == pytest.approx(1.0, abs=1e-12)
        assert p.argmax() == np.argmax(x)

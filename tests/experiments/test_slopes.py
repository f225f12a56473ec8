"""Exponents of growth."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fenchel.experiments.slopes import slope

X = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])


@pytest.mark.parametrize("exponent", [-1.0, 0.0, 0.5, 2.0])
def test_an_exact_power_has_its_exponent_and_a_narrow_interval(exponent):
    found = slope(X, 7.0 * X**exponent)
    np.testing.assert_allclose(found, exponent, atol=1e-9)


def test_the_interval_contains_the_exponent_in_about_95_of_100_noisy_samples():
    rng = np.random.default_rng(0)
    found = [slope(X, X**1.5 * np.exp(0.3 * rng.standard_normal(len(X)))) for _ in range(500)]
    share = np.mean([low <= 1.5 <= high for _, low, high in found])
    assert 0.92 <= share <= 0.98


def test_what_was_not_reached_is_left_out():
    assert slope(X, np.where(X > 8.0, np.inf, X)).value == pytest.approx(1.0)
    assert math.isnan(slope(X, np.where(X > 1.0, np.inf, X)).value)
    two = slope(X[:2], X[:2])
    assert two.value == pytest.approx(1.0)
    assert (two.low, two.high) == (-math.inf, math.inf)

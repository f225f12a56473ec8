"""The length of a Newton step against the derivative along the direction, evaluated naively"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import fenchel as fl
from fenchel.losses import outputs
from fenchel.solvers._second_order.step_length import FLAT, LONGEST, length_along


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from([fl.Logistic(), fl.SquaredHinge(), fl.SmoothHinge(0.1)]),
    st.integers(2, 40),
    st.floats(-3.0, 3.0),
    st.floats(0.0, 1.0),
    st.integers(0, 10**6),
)
def test_the_derivative_there_is_a_share_of_that_at_the_start(loss, m, size, l2, seed):
    rng = np.random.default_rng(seed)
    z, Xd, y = rng.standard_normal(m), 10.0**size * rng.standard_normal(m), rng.choice([-1.0, 1.0], m)
    r, (linear, quadratic) = rng.random(m) / m, (l2 * rng.standard_normal(), l2 * rng.random())

    def derivative(t):
        return sum(a * loss.derivative(b, c) * d for a, b, c, d in zip(r, z + t * Xd, y, Xd, strict=True)) + linear + t * quadratic

    slope = derivative(0.0)
    if not slope < 0.0:
        return
    t = length_along(loss, outputs.OneOutput(), z, Xd, y, r, slope, linear, quadratic)
    assert t > 0.0
    flat = abs(derivative(t)) <= -(FLAT + 1e-9) * slope
    # A loss whose second derivative jumps may fall steeply up to a point and rise steeply after it: then t is before that point.
    assert flat or t >= LONGEST or slope <= derivative(t) <= 0.0


def test_it_is_near_the_minimum_for_several_outputs():
    rng = np.random.default_rng(0)
    for size in (0.1, 1.0, 10.0):
        z, d, y, r = rng.standard_normal((20, 3)), size * rng.standard_normal((20, 3)), rng.integers(0, 3, 20), rng.random(20)
        rows = outputs.SeveralOutputs(*(np.zeros(3) for _ in range(4)))

        def derivative(t, z=z, d=d, y=y, r=r):
            e = np.exp(z + t * d)
            return r @ ((e / e.sum(axis=1, keepdims=True) - np.eye(3)[y]) * d).sum(axis=1) + 0.01 * t

        d *= -np.sign(derivative(0.0))
        t = length_along(fl.Softmax(), rows, z, d, y, r, derivative(0.0), 0.0, 0.01)
        assert t > 0.0
        assert abs(derivative(t)) <= -(FLAT + 1e-9) * derivative(0.0)


def test_the_minimum_of_a_parabola_is_found():
    nothing = np.zeros(1)
    assert length_along(fl.Logistic(), outputs.OneOutput(), nothing, nothing, np.ones(1), nothing, -2.0, -2.0, 2.0) == pytest.approx(1.0)
    assert length_along(fl.Logistic(), outputs.OneOutput(), nothing, nothing, np.ones(1), nothing, -2.0, -2.0, 0.1) == pytest.approx(
        20.0, rel=FLAT
    )

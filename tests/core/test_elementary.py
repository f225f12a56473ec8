"""The exponentials and logarithms that compilers vectorise, against exact ones from Decimal, and at the ends of the range."""

import decimal
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fenchel.core.compiled import kernel
from fenchel.core.elementary import exponential, log_one_plus, logarithm

UNIT = 2.0**-52  # one unit in the last place, relative
quick = settings(deadline=None, max_examples=300, database=None)


def exact(function: str, x: float) -> decimal.Decimal:
    with decimal.localcontext(prec=60):
        number = decimal.Decimal(x)
        return getattr(number, function)() if function != "log1p" else (1 + number).ln()


def error(found: float, expected: decimal.Decimal) -> float:
    """In units of the last place."""
    with decimal.localcontext(prec=60):
        return float(abs(decimal.Decimal(found) - expected) / abs(expected)) / UNIT


@given(st.floats(-700.0, 700.0))
@quick
def test_an_exponential_is_accurate_to_the_last_place(x):
    assert error(exponential(x), exact("exp", x)) <= 1.0


@given(st.floats(1e-307, 1e308) | st.floats(0.5, 2.0))
@quick
def test_a_logarithm_is_accurate_to_the_last_place(x):
    if x != 1.0:
        assert error(logarithm(x), exact("ln", x)) <= 1.0


@given(st.floats(1e-290, 1e300) | st.floats(1e-20, 1.0))
@quick
def test_a_logarithm_of_one_plus_a_number_keeps_the_digits_of_a_small_number(x):
    with decimal.localcontext(prec=400):
        assert error(log_one_plus(x), (1 + decimal.Decimal(x)).ln()) <= 1.0


def test_the_ends_of_the_range_are_those_of_the_library():
    for x in (-math.inf, -1e308, -746.0, -745.0, -720.0, 0.0, 709.7, 710.0, 1e308, math.inf):
        expected = math.inf if x > 709.78 else math.exp(x)
        assert exponential(x) == pytest.approx(expected, rel=1e-15, abs=5e-324)
    assert math.isnan(exponential(math.nan))
    assert math.isnan(logarithm(math.nan))
    assert math.isnan(log_one_plus(math.nan))
    assert (logarithm(1.0), logarithm(math.inf), log_one_plus(0.0), log_one_plus(math.inf)) == (0.0, math.inf, 0.0, math.inf)
    assert logarithm(0.0) == logarithm(2.2250738585072014e-308) == pytest.approx(-708.396418532264)


@kernel
def exponentials_and_logarithms(x, exponentials, logarithms):
    for i in range(x.shape[0]):
        exponentials[i] = exponential(x[i])
        logarithms[i] = logarithm(abs(x[i]))


def test_vectorised_loops_compute_the_same_as_single_calls():
    x = np.random.default_rng(0).standard_normal(1003) * 50.0
    exponentials, logarithms = np.empty_like(x), np.empty_like(x)
    exponentials_and_logarithms(x, exponentials, logarithms)
    np.testing.assert_allclose(exponentials, np.exp(x), rtol=2.0 * UNIT)
    np.testing.assert_allclose(logarithms, np.log(np.abs(x)), rtol=2.0 * UNIT)

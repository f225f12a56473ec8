"""Means and products of columns against their definitions, in extended precision"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fenchel.linalg import moments as module
from fenchel.linalg.moments import FEW_COLUMNS, moments


def naive(X, h, a, centred):
    X, h, a = (np.asarray(part, np.longdouble) for part in (X, h, a))
    means = h @ X / h.sum() if centred else np.zeros(X.shape[1])
    A = X - means
    return means, (A.T * h) @ A, a @ A


@settings(deadline=None, max_examples=60)
@given(
    st.integers(1, 700),
    st.sampled_from([1, 2, 7, FEW_COLUMNS, FEW_COLUMNS + 1, 40]),
    st.booleans(),
    st.sampled_from([np.float64, np.float32]),
    st.sampled_from(["C", "F"]),
    st.floats(-6.0, 6.0),
    st.integers(0, 10**6),
)
def test_moments_are_as_accurate_as_centred_columns_allow(m, n, centred, dtype, order, offset, seed):
    rng = np.random.default_rng(seed)
    X = (rng.standard_normal((m, n)) * 10.0 ** rng.uniform(-2, 2, n) + np.sign(offset) * 10.0 ** abs(offset)).astype(dtype, order=order)
    h, a = rng.random(m) + 1e-3, rng.standard_normal(m)
    found = moments(X, h, a, centred, 1)
    means, products, combination = naive(X, h, a, centred)
    size = np.abs(np.asarray(X, np.float64)).max(axis=0)
    np.testing.assert_allclose(found.means, means.astype(float), rtol=0, atol=1e-13 * size.max())
    spread = np.sqrt(np.diag(products).astype(float)) + 1e-10 * size * np.sqrt(h.sum())
    assert (np.abs(found.products - products) <= 1e-8 * np.multiply.outer(spread, spread)).all()
    assert (np.abs(found.combination - combination) <= 1e-11 * np.abs(a).sum() * size).all()
    if found.largest is not None:
        np.testing.assert_array_equal(found.largest, size)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_first_row_that_is_an_outlier_costs_no_digits(order):
    rng = np.random.default_rng(0)
    X = np.asarray(rng.standard_normal((500, 3)), order=order)
    X[0] = 1e9
    h = np.ones(500)
    h[0] = 1e-30
    found = moments(X, h, h, True, 1)
    assert np.abs(found.products - naive(X, h, h, True)[1]).max() <= 1e-9 * found.products.max()


def test_columns_are_copied_only_where_digits_would_be_lost(monkeypatch):
    calls = []
    plain = module.gram
    monkeypatch.setattr(module, "gram", lambda *arguments: calls.append(1) or plain(*arguments))
    X = np.random.default_rng(0).standard_normal((100, 3)) + 5.0
    moments(X, np.ones(100), np.ones(100), True, 1)
    assert not calls
    moments(np.asfortranarray(X) + 1e6, np.ones(100), np.ones(100), True, 1)
    assert len(calls) == 2

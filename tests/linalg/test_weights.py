"""Weights kept up to date row by row equal weights computed from scratch."""

import numpy as np
import pytest
import scipy.sparse as sp

from fenchel.linalg.design import Design
from fenchel.linalg.row_kernels import rows_add, rows_adds
from fenchel.linalg.weights import Plain, read_weights, weights_of
from fenchel.regularizers import L1L2, L2, Box, Entropy, SquaredLp
from tests.naive import entropy_link, squared_lp_link

FEATURES = 40
COUPLED = [
    SquaredLp(0.5, 2.0),
    SquaredLp(0.5, 1.5),
    SquaredLp(1.0, 1.2),
    SquaredLp(1.0, 1.05),
    SquaredLp(0.5, 1.3, radius=2.0),
    Entropy(1.0),
    Entropy(0.05, radius=3.0),
]


def from_scratch(regularizer, v):
    return (entropy_link if isinstance(regularizer, Entropy) else squared_lp_link)(v, *regularizer)


def rows_of(kind, count, rng):
    X = sp.random_array((count, FEATURES), density=0.15, format="csr", rng=rng, data_sampler=lambda size: rng.standard_normal(size))
    return X if kind == "csr" else X.toarray()


def assert_weights_are_linked_to_v(weights, regularizer):
    expected = from_scratch(regularizer, weights.v)
    assert read_weights(weights) == pytest.approx(expected, rel=1e-9, abs=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("kind", ["csr", "dense"])
@pytest.mark.parametrize("regularizer", COUPLED, ids=repr)
def test_thousands_of_shifts_leave_no_drift(regularizer, kind):
    rng = np.random.default_rng(0)
    X, a = rows_of(kind, 4000, rng), rng.standard_normal(4000)
    v = np.zeros(FEATURES)
    weights, rows = weights_of(regularizer, v.copy()), Design(X).rows
    for first in range(0, 4000, 250):
        rows_add(rows, a, first, first + 250, weights)
        v += X[first : first + 250].T @ a[first : first + 250]
        assert_weights_are_linked_to_v(weights, regularizer)
        assert weights.v == pytest.approx(v, abs=1e-11 * np.abs(v).max())


@pytest.mark.parametrize("regularizer", COUPLED, ids=repr)
@pytest.mark.parametrize("factor", [0.5, 0.1, 1e-3])
def test_weights_stay_right_when_v_shrinks(regularizer, factor):
    # What is left of the sum after its large parts are taken away must not be what rounding left of them.
    rng = np.random.default_rng(1)
    v = rng.standard_normal(FEATURES)
    weights = weights_of(regularizer, v.copy())
    step = np.ascontiguousarray(-(1.0 - factor) * v)
    rows_add(Design(np.eye(FEATURES)).rows, step, 0, FEATURES, weights)
    assert_weights_are_linked_to_v(weights, regularizer)


@pytest.mark.parametrize("regularizer", COUPLED, ids=repr)
def test_weights_stay_right_when_v_grows_and_returns(regularizer):
    rng = np.random.default_rng(2)
    v = rng.standard_normal(FEATURES)
    weights, rows = weights_of(regularizer, v.copy()), Design(np.eye(FEATURES)).rows
    for size in (3.0, 10.0, 1e3, 1e9):
        away = size * rng.standard_normal(FEATURES)
        rows_add(rows, away, 0, FEATURES, weights)
        assert_weights_are_linked_to_v(weights, regularizer)
        rows_add(rows, -away, 0, FEATURES, weights)
        assert_weights_are_linked_to_v(weights, regularizer)


@pytest.mark.parametrize("regularizer", [L2(0.5), L1L2(l1=0.3, l2=0.5), Box(-1.0, 1.0, L2(0.5))], ids=repr)
def test_sums_over_weights_need_no_upkeep(regularizer):
    rng = np.random.default_rng(3)
    X, a = rows_of("csr", 200, rng), rng.standard_normal(200)
    weights = weights_of(regularizer, np.zeros(FEATURES))
    rows_add(Design(X).rows, a, 0, 200, weights)
    assert weights.v == pytest.approx(X.T @ a, abs=1e-12)
    assert read_weights(weights).tolist() == [regularizer.link(float(x), j) for j, x in enumerate(weights.v)]


@pytest.mark.parametrize("regularizer", [SquaredLp(0.5, 1.5), Entropy(0.5)], ids=repr)
def test_several_outputs_share_one_sum(regularizer):
    rng = np.random.default_rng(4)
    K = 3
    X, a = rows_of("csr", 300, rng), rng.standard_normal((300, K))
    weights = weights_of(regularizer, np.zeros(FEATURES * K))
    rows_adds(Design(X).rows, a, 0, 300, weights)
    assert weights.v == pytest.approx((X.T @ a).reshape(-1), abs=1e-12)
    assert_weights_are_linked_to_v(weights, regularizer)


def test_shift_changes_the_array_that_was_given():
    v = np.array([1.0, -2.0])
    for weights in (Plain(v), weights_of(L2(1.0), v)):
        before = v[0]
        weights.shift(0, 0.5)
        assert v[0] == before + 0.5

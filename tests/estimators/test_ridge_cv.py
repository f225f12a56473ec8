"""RidgeCV: leave-one-out errors."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model

from fenchel.estimators.ridge_cv import by_columns, by_eigenvalues, by_factors, by_rows, leave_one_out
from fenchel.linalg.design import Design


@pytest.mark.parametrize("shape", [(30, 6), (12, 25)])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_leave_one_out_errors_agree_with_refitted_models(shape, sparse, fit_intercept):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal(shape) * (rng.random(shape) < 0.7) + 1.0, rng.standard_normal((shape[0], 2))
    weight = rng.integers(0, 3, shape[0]).astype(float)
    errors = leave_one_out(Design(sp.csr_array(X) if sparse else X), Y, weight, np.array([0.3, 5.0]), fit_intercept)
    for k, alpha in enumerate((0.3, 5.0)):
        for i in range(shape[0]):
            others = np.where(np.arange(shape[0]) == i, 0.0, weight)
            model = sklearn.linear_model.Ridge(alpha, fit_intercept=fit_intercept).fit(X, Y, others)
            np.testing.assert_allclose(errors[k, i], Y[i] - model.predict(X[i : i + 1])[0], atol=1e-8)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_rows_and_columns_give_the_same_errors(fit_intercept):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((12, 30)), rng.standard_normal((12, 2))
    weight = np.where(np.arange(12) < 2, 0.0, rng.uniform(0.5, 2.0, 12))
    share = weight / weight.sum() if fit_intercept else np.zeros(12)
    found, expected = (method(Design(X), Y, weight, np.array([1e-2, 1.0, 30.0]), share) for method in (by_rows, by_columns))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


def test_factors_and_eigenvalues_give_the_same_inverses():
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((12, 30)), rng.standard_normal((12, 2))
    alphas = np.array([1e-2, 1.0, 30.0])
    for (solution, diagonal), expected in zip(by_factors(A @ A.T, alphas, B), by_eigenvalues(A @ A.T, alphas, B), strict=True):
        np.testing.assert_allclose(solution, expected[0], rtol=1e-10)
        np.testing.assert_allclose(diagonal, expected[1], rtol=1e-10)


@pytest.mark.parametrize("count", [1, 6], ids=["factors", "eigenvalues"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_weak_penalties_on_wide_data_keep_their_digits(fit_intercept, count):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((12, 50)), rng.standard_normal((12, 1))
    errors = leave_one_out(Design(X), Y, np.ones(12), np.full(count, 1e-6), fit_intercept)
    for i in range(12):
        rest = np.arange(12) != i
        model = sklearn.linear_model.Ridge(1e-6, fit_intercept=fit_intercept, solver="svd").fit(X[rest], Y[rest, 0])
        np.testing.assert_allclose(errors[:, i, 0], Y[i, 0] - model.predict(X[i : i + 1])[0], rtol=1e-9)

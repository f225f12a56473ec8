"""RidgeCV: leave-one-out errors."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model

from fenchel.estimators.ridge_cv import by_eigenvalues, by_factors, leave_one_out
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
@pytest.mark.parametrize("alphas", [[1e-2, 1.0, 30.0], [1e-13, 1.0]], ids=["usual", "tiny"])
def test_inverses_and_eigenvalues_give_the_same_errors(alphas, fit_intercept):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((12, 30)), rng.standard_normal((12, 2))
    weight = np.where(np.arange(12) < 2, 0.0, rng.uniform(0.5, 2.0, 12))
    share = weight / weight.sum() if fit_intercept else np.zeros(12)
    found, expected = (method(Design(X), Y, weight, np.array(alphas), share) for method in (by_factors, by_eigenvalues))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)

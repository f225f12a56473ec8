"""Linear estimators on columns of extreme scale, and with non-negative weights."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

from fenchel import estimators
from fenchel.estimators import LogisticRegression
from fenchel.estimators.repeated_rows import distinct_rows
from tests.data import randomly_labelled_rows


@pytest.mark.parametrize("name", ["LogisticRegression", "SGDClassifier", "Ridge", "LinearRegressor"])
def test_data_whose_squares_overflow_are_refused(name):
    X, y = randomly_labelled_rows()
    with pytest.raises(ValueError, match="The squares of X overflow: scale its columns"):
        getattr(estimators, name)().fit(1e200 * X, y)


@pytest.mark.parametrize("scale", [1e6, 1e8])
def test_newtons_method_certifies_columns_of_very_different_scales(scale):
    X, y = randomly_labelled_rows()
    for model in (LogisticRegression(C=1e4), estimators.Ridge(1e-4)):
        assert model.fit(X * [1.0, 1.0, scale, 1.0], y).converged_


@pytest.mark.parametrize("name", ["Ridge", "Lasso", "ElasticNet"])
def test_non_negative_weights_need_no_penalty(name):
    X, _ = randomly_labelled_rows()
    y = X @ [1.0, -2.0, 3.0, 0.0]
    model = getattr(estimators, name)(alpha=0.0, positive=True, fit_intercept=False, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.coef_, nnls(X, y)[0], atol=1e-3)


def test_rows_that_are_distinct_and_weigh_the_same_are_not_copied():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 3)), rng.standard_normal(30)
    assert distinct_rows(X, y, np.ones(30))[0] is X
    merged, labels, weights = distinct_rows(np.vstack([X, X[:2]]), np.append(y, y[:2]), np.ones(32))
    assert (merged.shape, sorted(weights)) == ((30, 3), [1.0] * 28 + [2.0] * 2)
    again = distinct_rows(X, y, np.where(np.arange(30) < 2, 2.0, 1.0))
    for one, other in zip((merged, labels, weights), again, strict=True):
        np.testing.assert_array_equal(one, other)

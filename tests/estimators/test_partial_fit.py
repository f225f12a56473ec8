"""partial_fit after fit, and without a penalty."""

from __future__ import annotations

import numpy as np
import pytest

from fenchel.estimators import SGDClassifier, SGDRegressor
from tests.data import randomly_labelled_rows


@pytest.mark.parametrize("classes", [[0, 1, 2], [5, 6]])
def test_partial_fit_after_fit_refuses_other_classes(classes):
    X, y = randomly_labelled_rows()
    with pytest.raises(ValueError, match="not the same"):
        SGDClassifier().fit(X, y).partial_fit(X, y, classes=classes)


def test_partial_fit_after_fit_refuses_other_numbers_of_columns_and_outputs():
    X, y = randomly_labelled_rows()
    model = SGDRegressor().fit(X, y)
    with pytest.raises(ValueError, match="X has 2 features, but SGDRegressor is expecting 4"):
        model.partial_fit(X[:, :2], y)
    with pytest.raises(ValueError, match="y has shape"):
        model.partial_fit(X, np.column_stack([y, y]))
    assert model.partial_fit(X, y).predict(X).shape == (60,)


@pytest.mark.parametrize("options", [{"penalty": None}, {"alpha": 0.0}])
def test_partial_fit_needs_no_penalty(options):
    X, _ = randomly_labelled_rows()
    y = X @ [1.0, -2.0, 3.0, 0.5]
    model = SGDRegressor(**options)
    for _ in range(50):
        model.partial_fit(X, y)
    np.testing.assert_allclose(model.coef_, [1.0, -2.0, 3.0, 0.5], atol=0.1)

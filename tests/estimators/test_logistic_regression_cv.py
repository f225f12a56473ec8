"""LogisticRegressionCV: folds with a missing class, with zero weight or without a penalty."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression as SklearnLogisticRegression
from sklearn.metrics import accuracy_score, make_scorer

from fenchel.estimators import LogisticRegressionCV
from tests.data import randomly_labelled_rows


def test_a_fold_without_a_class_never_predicts_it():
    X, y = randomly_labelled_rows(2)
    y[-2:] = 2
    folds = [(np.arange(58), np.arange(58, 60)), (np.arange(60), np.arange(60))]
    model = LogisticRegressionCV(Cs=2, cv=folds).fit(X, y)
    assert model.coefs_paths_.shape == (2, 1, 2, 3, 5)
    np.testing.assert_array_equal(model.scores_[0], 0.0)


def test_infinite_c_means_no_penalty_in_every_fold():
    X, y = randomly_labelled_rows()
    train, test = np.arange(40), np.arange(40, 60)
    paths = LogisticRegressionCV(Cs=[1e-3, np.inf], cv=[(train, test)]).fit(X, y).coefs_paths_
    reference = SklearnLogisticRegression(C=np.inf, tol=1e-10).fit(X[train], y[train])
    np.testing.assert_allclose(paths[0, 0, 1, 0, :4], reference.coef_[0], atol=0.02)


def test_a_fold_of_zero_weight_is_refused():
    X, y = randomly_labelled_rows()
    folds = [(np.arange(20), np.arange(20, 60)), (np.arange(20, 60), np.arange(20))]
    with pytest.raises(ValueError, match="fold"):
        LogisticRegressionCV(cv=folds).fit(X, y, np.repeat([0.0, 1.0], [20, 40]))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"l1_ratios": (0.0, 0.5)}], ids=str)
def test_accuracies_are_those_of_the_scorer(classes, dtype, weighted, options):
    X, y = randomly_labelled_rows(classes)
    X, weight = X.astype(dtype), 1.0 + np.arange(len(y)) % 3 if weighted else None
    fast = LogisticRegressionCV(Cs=3, cv=3, **options).fit(X, y, weight)
    assert fast.scores_.std() > 0.0
    slow = LogisticRegressionCV(Cs=3, cv=3, scoring=make_scorer(accuracy_score), **options).fit(X, y, weight)
    np.testing.assert_allclose(fast.scores_, slow.scores_, rtol=1e-12)
    assert fast.C_ == slow.C_

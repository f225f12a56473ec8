"""What estimators once got wrong, each as the law it broke."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model
import sklearn.svm
from scipy.optimize import nnls
from sklearn.linear_model import LogisticRegression as Theirs

from fenchel import estimators
from fenchel.estimators import LinearClassifier, LinearSVC, LogisticRegression, LogisticRegressionCV, SGDClassifier, SGDRegressor
from fenchel.estimators.ridge_cv import leave_one_out


def rows(classes=2):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    return X, rng.integers(0, classes, 60)


@pytest.mark.parametrize("absent", [0, 1, 2])
def test_a_class_whose_rows_have_no_weight_stays_a_class(absent):
    X, y = rows(3)
    model = LogisticRegression(tol=1e-8).fit(X, y, np.where(y == absent, 0.0, 1.0))
    p = model.predict_proba(X)
    two = LogisticRegression(tol=1e-8, C=2.0).fit(X[y != absent], y[y != absent])  # of ±u/2 the squares add up to half that of u
    assert p.shape == (60, 3)
    assert model.converged_
    assert p[:, absent].max() < 1e-6
    np.testing.assert_allclose(np.delete(p, absent, axis=1), two.predict_proba(X), atol=1e-3)


def test_a_fold_that_lacks_a_class_scores_like_a_model_without_it():
    X, y = rows(2)
    y[-2:] = 2
    folds = [(np.arange(58), np.arange(58, 60)), (np.arange(60), np.arange(60))]
    model = LogisticRegressionCV(Cs=2, cv=folds).fit(X, y)
    assert model.coefs_paths_.shape == (2, 1, 2, 3, 5)
    np.testing.assert_array_equal(model.scores_[0], 0.0)


def test_a_c_without_end_is_no_penalty_in_every_fold():
    X, y = rows()
    train, test = np.arange(40), np.arange(40, 60)
    paths = LogisticRegressionCV(Cs=[1e-3, np.inf], cv=[(train, test)]).fit(X, y).coefs_paths_
    reference = Theirs(C=np.inf, tol=1e-10).fit(X[train], y[train])
    np.testing.assert_allclose(paths[0, 0, 1, 0, :4], reference.coef_[0], atol=0.02)


@pytest.mark.parametrize("model", [LogisticRegressionCV(Cs=2, cv=2), LinearClassifier("hinge", calibration="sigmoid")])
def test_one_weight_for_all_rows_is_that_weight_for_each(model):
    X, y = rows()
    one, each = model.fit(X, y, 2.0).predict_proba(X), model.fit(X, y, np.full(60, 2.0)).predict_proba(X)
    np.testing.assert_array_equal(one, each)


def test_calibration_takes_labels_in_a_column():
    X, y = rows()
    model = LinearClassifier("hinge", calibration="sigmoid")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn asks for a plain vector
        column = model.fit(X, y[:, None]).predict_proba(X)
    np.testing.assert_array_equal(column, model.fit(X, y).predict_proba(X))


def test_crammer_and_singers_two_classes_are_scikit_learns():
    X, y = rows()
    options = {"multi_class": "crammer_singer", "C": 0.1, "tol": 1e-8, "max_iter": 100_000}
    ours, theirs = LinearSVC(**options).fit(X, y), sklearn.svm.LinearSVC(**options).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    w, margins = np.append(ours.coef_, ours.intercept_), np.where(y == 1, 1, -1) * ours.decision_function(X)
    assert ours.objective_ == pytest.approx(0.25 * w @ w + 0.1 * np.maximum(0.0, 1.0 - margins).sum())


@pytest.mark.parametrize("name", ["LogisticRegression", "SGDClassifier", "Ridge", "LinearRegressor"])
def test_numbers_whose_squares_overflow_are_refused_in_a_sentence(name):
    X, y = rows()
    with pytest.raises(ValueError, match="The squares of X overflow: scale its columns"):
        getattr(estimators, name)().fit(1e200 * X, y)


@pytest.mark.parametrize("classes", [[0, 1, 2], [5, 6]])
def test_partial_fit_after_fit_keeps_its_classes(classes):
    X, y = rows()
    with pytest.raises(ValueError, match="not the same"):
        SGDClassifier().fit(X, y).partial_fit(X, y, classes=classes)


def test_partial_fit_after_fit_keeps_its_columns_and_outputs():
    X, y = rows()
    model = SGDRegressor().fit(X, y)
    with pytest.raises(ValueError, match="X has 2 features, but SGDRegressor is expecting 4"):
        model.partial_fit(X[:, :2], y)
    with pytest.raises(ValueError, match="y has shape"):
        model.partial_fit(X, np.column_stack([y, y]))
    assert model.partial_fit(X, y).predict(X).shape == (60,)


@pytest.mark.parametrize("options", [{"penalty": None}, {"alpha": 0.0}])
def test_partial_fit_needs_no_penalty(options):
    X, _ = rows()
    y = X @ [1.0, -2.0, 3.0, 0.5]
    model = SGDRegressor(**options)
    for _ in range(50):
        model.partial_fit(X, y)
    np.testing.assert_allclose(model.coef_, [1.0, -2.0, 3.0, 0.5], atol=0.1)


@pytest.mark.parametrize("scale", [1e6, 1e8])
def test_newtons_method_certifies_columns_of_very_different_scales(scale):
    X, y = rows()
    for model in (LogisticRegression(C=1e4), estimators.Ridge(1e-4)):
        assert model.fit(X * [1.0, 1.0, scale, 1.0], y).converged_


@pytest.mark.parametrize("name", ["LinearSVC", "LinearSVR"])
def test_a_c_without_end_is_no_penalty_and_an_objective_that_is_a_number(name):
    X, y = rows()
    model = getattr(estimators, name)(C=np.inf).fit(X, y)
    assert np.isfinite([model.objective_, model.dual_objective_, model.gap_]).all()


@pytest.mark.parametrize("weights", [{0: -1.0, 1: 1.0}, {0: np.nan, 1: 1.0}, {0: 0.0, 1: 0.0}])
def test_class_weights_that_are_no_weights_are_refused(weights):
    X, y = rows()
    with pytest.raises(ValueError, match="class_weight="):
        LogisticRegression(class_weight=weights).fit(X, y)


def test_a_fold_without_weight_is_refused_by_name():
    X, y = rows()
    folds = [(np.arange(20), np.arange(20, 60)), (np.arange(20, 60), np.arange(20))]
    with pytest.raises(ValueError, match="fold"):
        LogisticRegressionCV(cv=folds).fit(X, y, np.repeat([0.0, 1.0], [20, 40]))


@pytest.mark.parametrize("name", ["Ridge", "Lasso", "ElasticNet"])
def test_weights_that_must_not_be_negative_need_no_penalty(name):
    X, _ = rows()
    y = X @ [1.0, -2.0, 3.0, 0.0]
    model = getattr(estimators, name)(alpha=0.0, positive=True, fit_intercept=False, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.coef_, nnls(X, y)[0], atol=1e-3)


@pytest.mark.parametrize("shape", [(30, 6), (12, 25)])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_rows_left_out_one_by_one_are_those_of_models_without_them(shape, sparse, fit_intercept):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal(shape) * (rng.random(shape) < 0.7) + 1.0, rng.standard_normal((shape[0], 2))
    weight = rng.integers(0, 3, shape[0]).astype(float)
    errors = leave_one_out(sp.csr_array(X) if sparse else X, Y, weight, np.array([0.3, 5.0]), fit_intercept)
    for k, alpha in enumerate((0.3, 5.0)):
        for i in range(shape[0]):
            others = np.where(np.arange(shape[0]) == i, 0.0, weight)
            model = sklearn.linear_model.Ridge(alpha, fit_intercept=fit_intercept).fit(X, Y, others)
            np.testing.assert_allclose(errors[k, i], Y[i] - model.predict(X[i : i + 1])[0], atol=1e-8)

"""Agreement of the drop-in estimators with scikit-learn's classes, both solved to high accuracy, in objective and predictions.

fenchel's objective may be lower than scikit-learn's, but not higher. Predictions are compared if fenchel's lower bound proves that
scikit-learn's weights are near the minimum: in all cases except SGD and the few pairs listed as LOOSE.
"""

from __future__ import annotations

import functools
import warnings
from typing import Any, NamedTuple

import numpy as np
import pytest
import sklearn.datasets
import sklearn.linear_model
import sklearn.svm
from sklearn.preprocessing import StandardScaler
from sklearn.utils import compute_class_weight

import fenchel as fl
from fenchel import estimators
from tests.estimators import scikit_objectives as objectives
from tests.estimators.toy_data import CLASSES, NUMBERS, standard

AGREE = 1e-4  # relative, in objective and predictions
NEAR = 1e-8  # relative suboptimality at which predictions agree to AGREE


class Pair(NamedTuple):
    """A drop-in estimator: its parameters, scikit-learn's parameters for high accuracy, and the objective."""

    name: str
    params: dict[str, Any]
    sklearn_params: dict[str, Any]
    objective: Any
    exact: bool = True  # whether scikit-learn's class gets near the minimum


TIGHT = {"tol": 1e-12, "max_iter": 5000}
LIBLINEAR = {"tol": 1e-10, "max_iter": 20_000, "random_state": 0}
CLASSIFIERS = {
    "logistic": Pair("LogisticRegression", {"C": 0.5}, {"solver": "newton-cholesky", **TIGHT}, objectives.logistic),
    "logistic wide": Pair("LogisticRegression", {"C": 2.0}, {"solver": "lbfgs", **TIGHT}, objectives.logistic),
    "logistic l1": Pair("LogisticRegression", {"C": 0.3, "l1_ratio": 1.0}, {"solver": "saga", **TIGHT}, objectives.logistic),
    "logistic elastic": Pair("LogisticRegression", {"C": 0.3, "l1_ratio": 0.4}, {"solver": "saga", **TIGHT}, objectives.logistic),
    "svc squared": Pair("LinearSVC", {"C": 0.2}, {"dual": False, **LIBLINEAR}, objectives.svc),
    "svc hinge": Pair("LinearSVC", {"C": 0.1, "loss": "hinge"}, {"dual": True, **LIBLINEAR}, objectives.svc),
    "svc l1": Pair("LinearSVC", {"C": 0.2, "penalty": "l1"}, {"dual": False, **LIBLINEAR}, objectives.svc),
    "svc scaled": Pair("LinearSVC", {"C": 0.2, "intercept_scaling": 10.0}, {"dual": False, **LIBLINEAR}, objectives.svc),
    "svc together": Pair("LinearSVC", {"C": 0.1, "multi_class": "crammer_singer"}, LIBLINEAR, objectives.svc),
    "sgd hinge": Pair("SGDClassifier", {"alpha": 0.01}, {"random_state": 0}, objectives.sgd, exact=False),
    "sgd log": Pair("SGDClassifier", {"alpha": 0.01, "loss": "log_loss"}, {"random_state": 0}, objectives.sgd, exact=False),
    "sgd huber": Pair("SGDClassifier", {"alpha": 0.01, "loss": "modified_huber"}, {"random_state": 0}, objectives.sgd, exact=False),
    "sgd elastic": Pair(
        "SGDClassifier",
        {"alpha": 0.01, "loss": "squared_hinge", "penalty": "elasticnet"},
        {"random_state": 0},
        objectives.sgd,
        exact=False,
    ),
}
REGRESSORS = {
    "ridge": Pair("Ridge", {"alpha": 2.0}, {"solver": "sparse_cg", **TIGHT}, objectives.ridge),
    "lasso": Pair("Lasso", {"alpha": 0.05}, TIGHT, objectives.elastic_net),
    "lasso positive": Pair("Lasso", {"alpha": 0.05, "positive": True}, TIGHT, objectives.elastic_net),
    "elastic net": Pair("ElasticNet", {"alpha": 0.1, "l1_ratio": 0.3}, TIGHT, objectives.elastic_net),
    "svr": Pair("LinearSVR", {"C": 0.1, "epsilon": 0.1}, {"dual": True, **LIBLINEAR}, objectives.svr),
    "svr squared": Pair(
        "LinearSVR", {"C": 0.1, "epsilon": 0.1, "loss": "squared_epsilon_insensitive"}, {"dual": False, **LIBLINEAR}, objectives.svr
    ),
    "sgd": Pair("SGDRegressor", {"alpha": 0.01}, {"random_state": 0}, objectives.sgd, exact=False),
    "sgd huber": Pair("SGDRegressor", {"alpha": 0.01, "loss": "huber"}, {"random_state": 0}, objectives.sgd, exact=False),
}
ONE_OUTPUT = ("svr", "svr squared", "sgd", "sgd huber")  # scikit-learn's classes accept a single output only


REAL_CLASSES = {"a9a": 4000, "duke": None, "ijcnn1": 4000, "diabetes": None, "usps": 500, "magic04": None}  # name: number of rows to use
REAL_NUMBERS = {"abalone": None, "bodyfat": None, "cadata": 4000}
SETTINGS = {"plain": (False, False), "intercept": (True, False), "intercept, weights": (True, True)}
# scikit-learn's class does not get near the minimum in the allowed passes: predictions are not compared.
LOOSE = {
    ("logistic wide", "usps"),
    ("logistic l1", "breast cancer"),
    ("logistic l1", "a9a"),
    ("logistic elastic", "a9a"),
    ("svc hinge", "a9a"),
    ("svc hinge", "digits"),
    ("svc hinge", "ijcnn1"),
    ("svc hinge", "magic04"),
    ("svc hinge", "usps"),
    ("svc l1", "usps"),
    ("svc together", "breast cancer"),
    ("svr", "abalone"),
    ("svr", "bodyfat"),
    ("svr", "cadata"),
    ("svr", "diabetes"),
    ("svr", "tall"),
}
TOO_SLOW = {("logistic l1", "digits"), ("logistic elastic", "digits")}  # for saga


@functools.cache
def data_set(kind: str, name: str) -> tuple[Any, np.ndarray]:
    return (CLASSES if kind == "classes" else NUMBERS)[name]()


@functools.cache
def real_data_set(name: str, rows: int | None) -> tuple[Any, np.ndarray]:
    """Some rows of a real data set, with standardised columns and numeric targets."""
    try:
        X, y = fl.datasets.load(name, download=False)
    except FileNotFoundError:
        pytest.skip(f"{name} is not available: set FENCHEL_DATA to a directory that contains it")
    some = np.random.default_rng(0).permutation(len(y))[:rows]
    X, y = X.tocsr()[some], y[some]
    dense = X.nnz > 0.5 * X.shape[0] * X.shape[1]
    X = StandardScaler(with_mean=dense).fit_transform(X.toarray() if dense else X)
    return X, y if len(np.unique(y)) <= 10 else standard(y)


def weights(m):
    """Random weights, some of them 0, with mean 1."""
    s = np.random.default_rng(7).integers(0, 5, m).astype(float)
    return s * (m / s.sum())


def check(pair: Pair, X, y, s, loose: bool, **options) -> None:
    """Check that the objective is not above scikit-learn's, that predictions agree, and that the certificate is valid."""
    ours = getattr(estimators, pair.name)(**pair.params, **options).set_params(tol=1e-10, max_iter=3000)
    if pair.name.startswith("SGD"):
        ours.set_params(solver="auto")
    home = sklearn.svm if hasattr(sklearn.svm, pair.name) else sklearn.linear_model
    theirs = getattr(home, pair.name)(**{**pair.params, **options, **pair.sklearn_params})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # either may not converge; the objectives reached are compared
        ours.fit(X, y, sample_weight=s)
        theirs.fit(X, y, sample_weight=s)
    total = s if s is not None else np.ones(len(y))
    if options.get("class_weight"):
        classes = np.unique(y)
        total = total * compute_class_weight(options["class_weight"], classes=classes, y=y, sample_weight=s)[np.searchsorted(classes, y)]
    reached, reference = pair.objective(ours, X, y, total), pair.objective(theirs, X, y, total)
    assert ours.objective_ == pytest.approx(reached, rel=1e-9)
    assert ours.dual_objective_ <= min(reached, reference) * (1.0 + 1e-10)  # up to rounding
    assert reached <= reference * (1.0 + AGREE)
    if not pair.exact or loose:
        return
    assert reference - ours.dual_objective_ <= NEAR * reference
    z, expected = objectives.scores(ours, X), objectives.scores(theirs, X)
    assert np.abs(z - expected).max() <= AGREE * np.abs(expected).max()


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) if name != "iris" else name for name in CLASSES])
@pytest.mark.parametrize("model", CLASSIFIERS)
def test_classifiers_agree_with_scikit_learn(model, name, setting):
    if (model, name) in TOO_SLOW:
        pytest.skip("scikit-learn's saga is too slow on this data set")
    X, y = data_set("classes", name)
    fit_intercept, weighted = SETTINGS[setting]
    check(CLASSIFIERS[model], X, y, weights(len(y)) if weighted else None, (model, name) in LOOSE, fit_intercept=fit_intercept)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 1.0, 1: 5.0, 2: 0.5}], ids=["balanced", "given"])
@pytest.mark.parametrize("model", ["logistic", "svc squared", "svc hinge", "svc together"])
def test_class_weights_agree_with_scikit_learn(model, class_weight):
    # With several classes scikit-learn's LinearSVC applies the weight only to the positive class: see docs/scikit-learn.md.
    several = model in ("logistic", "svc together")
    X, y = data_set("classes", "wine" if several else "breast cancer")
    given = class_weight if several or class_weight == "balanced" else {0: 1.0, 1: 5.0}
    check(CLASSIFIERS[model], X, y, weights(len(y)), False, class_weight=given)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("model", REGRESSORS)
def test_regressors_agree_with_scikit_learn(model, name, setting):
    X, y = data_set("numbers", name)
    y = y[:, 0] if y.ndim == 2 and model in ONE_OUTPUT else y
    fit_intercept, weighted = SETTINGS[setting]
    check(REGRESSORS[model], X, y, weights(len(y)) if weighted else None, (model, name) in LOOSE, fit_intercept=fit_intercept)


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL_CLASSES)
@pytest.mark.parametrize("model", ["logistic wide", "svc squared", "svc hinge", "svc l1", "sgd hinge"])
def test_classifiers_agree_with_scikit_learn_on_real_data(model, name):
    X, y = real_data_set(name, REAL_CLASSES[name])
    check(CLASSIFIERS[model], X, y, weights(len(y)), (model, name) in LOOSE)


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL_NUMBERS)
@pytest.mark.parametrize("model", REGRESSORS)
def test_regressors_agree_with_scikit_learn_on_real_data(model, name):
    X, y = real_data_set(name, REAL_NUMBERS[name])
    check(REGRESSORS[model], X, y, weights(len(y)), (model, name) in LOOSE)

"""Properties of every estimator: scikit-learn's own checks, valid certificates, input formats, and fitted attributes."""

from __future__ import annotations

import copy
import math
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import fenchel as fl
from fenchel import estimators
from fenchel.driver import solve

NAMES = [
    name for name in estimators.__all__ if name not in estimators.STRUCTURED
]  # the others: tests/estimators/test_structured_estimators.py
CV = [name for name in NAMES if name.endswith("CV")]
QUICK = {"LogisticRegression", "Ridge"}
PARAMETERS = {"LogisticRegressionCV": {"cv": 3, "Cs": 3}, "LassoCV": {"alphas": 5, "cv": 3}, "ElasticNetCV": {"alphas": 5, "cv": 3}}


def made(name, **changes):
    return getattr(estimators, name)(**{**PARAMETERS.get(name, {}), **changes})


def each(names=NAMES, quick=QUICK):
    return [pytest.param(name, marks=() if name in quick else pytest.mark.slow) for name in names]


def data(name, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 5)) * [1.0, 2.0, 0.5, 1.0, 3.0]
    score = X @ [1.0, -0.5, 0.0, 0.3, 0.0] + 0.5 * rng.standard_normal(60) + 0.4
    if not is_classifier(made(name)):
        return X, score + 10.0
    return X, np.digitize(score, [-0.6, 0.6])[: len(X)] if classes == 3 else (score > 0).astype(int)


@pytest.mark.parametrize("name", each())
def test_passes_the_checks_of_scikit_learn(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks fit noise with few passes, and a single feature
        results = check_estimator(made(name), on_skip=None)
    assert sum(result["status"] == "passed" for result in results) > 40


@pytest.mark.parametrize("name", each())
def test_the_certificate_refers_to_scikit_learns_objective(name):
    X, y = data(name)
    s = 0.5 + np.arange(len(y)) % 3
    model = made(name, **({"tol": 1e-6} if name != "RidgeCV" else {})).fit(X, y, sample_weight=s)
    assert model.converged_
    assert model.gap_ >= 0.0
    assert model.objective_ - model.dual_objective_ == pytest.approx(model.gap_, abs=1e-12 * max(1.0, abs(model.objective_)))
    value = objective(name, model, X, y, s)
    assert model.objective_ == pytest.approx(value, rel=1e-10)
    rng = np.random.default_rng(0)
    for _ in range(20):
        other = copy.copy(model)
        other.coef_ = model.coef_ + 1e-2 * rng.standard_normal(model.coef_.shape)
        other.intercept_ = model.intercept_ + 1e-2 * rng.standard_normal(np.shape(model.intercept_))
        assert objective(name, other, X, y, s) >= model.dual_objective_, "no weights are below the bound"


def objective(name, model, X, y, s):
    """scikit-learn's documented objectives, recomputed."""
    z, total = (X @ np.atleast_2d(model.coef_).T + model.intercept_).ravel(), s.sum()
    w, b = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
    signs = np.where(y == 1, 1.0, -1.0)
    chosen = getattr(model, "alpha_", None) or getattr(model, "alpha", None)
    squares = 0.5 * s @ (z - y) ** 2
    match name.removesuffix("CV"):
        case "LogisticRegression":
            C = getattr(model, "C_", None) or model.C
            return C * (s @ np.logaddexp(0.0, -signs * z)) + 0.5 * w @ w
        case "LinearSVC":
            return model.C * (s @ np.maximum(0.0, 1.0 - signs * z) ** 2) + 0.5 * (w @ w + b**2)
        case "LinearSVR":
            return model.C * (s @ np.abs(z - y)) + 0.5 * (w @ w + b**2)
        case "Ridge":
            return 2.0 * squares + chosen * (w @ w)
        case "Lasso":
            return squares / total + chosen * np.abs(w).sum()
        case "ElasticNet":
            return squares / total + chosen * (0.5 * np.abs(w).sum() + 0.25 * w @ w)
        case "SGDClassifier":
            return s @ np.maximum(0.0, 1.0 - signs * z) / total + 0.5 * model.alpha * w @ w
        case "SGDRegressor":
            return squares / total + 0.5 * model.alpha * w @ w
        case "LinearClassifier":
            return s @ np.logaddexp(0.0, -signs * z) / total + 0.5 * model.strength * w @ w
        case "LinearRegressor":
            return squares / total + 0.5 * model.strength * w @ w
    raise NotImplementedError(f"write the objective of {name}")


LAYOUTS = {
    "fortran": np.asfortranarray,
    "read-only": lambda X: _read_only(X.copy()),
    "csr_array": sp.csr_array,
    "csc_matrix": sp.csc_matrix,
    "coo": sp.coo_array,
    "int64-indices": lambda X: _with_int64_indices(sp.csr_array(X)),
    "list": lambda X: X.tolist(),
    "pandas": lambda X: pd.DataFrame(X, columns=list("abcde")),
    "polars": lambda X: pl.DataFrame(X, schema=list("abcde")),
}


def _read_only(X):
    X.flags.writeable = False
    return X


def _with_int64_indices(X):
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", each())
def test_all_input_formats_give_the_same_predictions(name, layout):
    X, y = data(name)
    plain = made(name).fit(X, y)
    given = LAYOUTS[layout](X)
    model = made(name).fit(given, y)
    np.testing.assert_allclose(model.predict(given), plain.predict(X), rtol=1e-3, atol=1e-3)
    if layout in ("pandas", "polars"):
        assert model.feature_names_in_.tolist() == list("abcde")
        with pytest.raises(ValueError, match="feature names"):
            model.predict(given[["b", "a", "c", "d", "e"]])


@pytest.mark.parametrize("name", each())
def test_single_precision_input_gives_single_precision_weights(name, tmp_path):
    X, y = data(name)
    np.save(tmp_path / "X.npy", X.astype(np.float32))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    options = {"solver": "auto"} if name.startswith("SGD") else {}  # a few passes take rows of other numbers elsewhere
    model = made(name, **options).fit(mapped, y)
    assert model.coef_.dtype == np.float32
    np.testing.assert_allclose(model.predict(mapped), made(name, **options).fit(X, y).predict(X), rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("name", each())
def test_saving_and_pickling_preserve_the_model(name, tmp_path):
    X, y = data(name, classes=3)
    y = np.array(["no", "maybe", "yes"])[y] if is_classifier(made(name)) else y
    model = made(name).fit(pd.DataFrame(X, columns=list("abcde")), y)
    fl.save(model, tmp_path / "model.fenchel")
    for back in (fl.load(tmp_path / "model.fenchel"), pickle.loads(pickle.dumps(model))):
        frame = pd.DataFrame(X, columns=list("abcde"))
        assert type(back) is type(model)
        assert back.get_params() == model.get_params()
        assert np.array_equal(back.predict(frame), model.predict(frame))
        assert (back.gap_, back.converged_, back.solver_) == (model.gap_, model.converged_, model.solver_)


@pytest.mark.parametrize("name", each())
def test_sparse_weights_predict_the_same(name):
    X, y = data(name, classes=3)
    model = made(name).fit(X, y)
    before = model.predict(X), model.predict(sp.csr_array(X))
    model.sparsify()
    assert sp.issparse(model.coef_)
    np.testing.assert_allclose(model.predict(X), before[0])
    np.testing.assert_allclose(model.predict(sp.csr_array(X)), before[1])
    np.testing.assert_allclose(model.densify().predict(X), before[0])


@pytest.mark.parametrize("name", each([name for name in NAMES if name not in CV]))
def test_works_in_pipelines_and_grid_searches(name):
    X, y = data(name)
    grid = {f"{name.lower()}__fit_intercept": [True, False]}
    found = GridSearchCV(make_pipeline(StandardScaler(), made(name)), grid, cv=3).fit(X, y)
    assert np.isfinite(found.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("name", each())
def test_sample_weights_are_routed(name):
    X, y = data(name)
    s = np.arange(len(y)) % 2 + 0.0
    with sklearn.config_context(enable_metadata_routing=True):
        model = made(name).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        scores = cross_validate(model, X, y, params={"sample_weight": s}, cv=3, return_estimator=True, error_score="raise")
    assert len(scores["estimator"]) == 3


@pytest.mark.parametrize("name", each(["LogisticRegression", "LinearSVC", "SGDClassifier", "LinearClassifier"]))
def test_balanced_class_weights_agree_with_sample_weights(name):
    X, y = data(name)
    by_name = made(name, class_weight="balanced").fit(X, y)
    by_hand = made(name).fit(X, y, sample_weight=np.where(y == 1, 0.5 * len(y) / y.sum(), 0.5 * len(y) / (len(y) - y.sum())))
    np.testing.assert_allclose(by_name.coef_, by_hand.coef_, rtol=1e-4, atol=1e-5)


def test_several_outputs_are_fitted_independently():
    X, y = data("Ridge")
    Y = np.column_stack([y, -2.0 * y, y**2])
    for name in ("Ridge", "Lasso", "LinearRegressor", "SGDRegressor"):
        model = made(name, tol=1e-10).fit(X, Y)
        assert model.coef_.shape == (3, 5)
        assert model.predict(X).shape == Y.shape
        for k in range(3):
            np.testing.assert_allclose(model.coef_[k], made(name, tol=1e-10).fit(X, Y[:, k]).coef_, atol=1e-5)
    per_output = fl.Ridge([1.0, 10.0, 100.0]).fit(X, Y)
    np.testing.assert_allclose(per_output.coef_[2], fl.Ridge(100.0).fit(X, Y[:, 2]).coef_, rtol=1e-9)


@pytest.mark.parametrize("loss", ["logistic", "hinge", pytest.param("smooth-hinge", marks=pytest.mark.slow), "squared-hinge"])
def test_multiclass_together_and_one_vs_rest(loss):
    X, y = data("LinearClassifier", classes=3)
    together = fl.LinearClassifier(loss, strength=1e-3).fit(X, y)
    one_vs_rest = fl.LinearClassifier(loss, strength=1e-3, multiclass="one-vs-rest").fit(X, y)
    assert together.coef_.shape == one_vs_rest.coef_.shape == (3, 5)
    alone = fl.LinearClassifier(loss, strength=1e-3).fit(X, y == 1)
    np.testing.assert_allclose(one_vs_rest.coef_[1], alone.coef_[0], atol=0.1)
    assert min(together.score(X, y), one_vs_rest.score(X, y)) > 0.6
    if loss == "squared-hinge":
        with pytest.raises(ValueError, match="has no multiclass form"):
            fl.LinearClassifier(loss, multiclass="together").fit(X, y)


def test_probabilities_come_from_a_logistic_loss_or_from_calibration():
    X, y = data("LinearClassifier", classes=3)
    one_vs_rest, hinge = fl.LinearClassifier(multiclass="one-vs-rest"), fl.LinearClassifier("hinge", calibration="sigmoid")
    for model in (fl.LinearClassifier(), one_vs_rest, hinge):
        p = model.fit(X, y).predict_proba(X)
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        assert p.min() >= 0.0
        assert (p.argmax(axis=1) == y).mean() > 0.6
    assert not hasattr(fl.LinearClassifier("hinge"), "predict_proba")
    with pytest.raises(AttributeError) as refused:
        fl.LinearClassifier("hinge").predict_proba(X)
    assert "give calibration='sigmoid'" in str(refused.value.__cause__)


def test_calibrated_probabilities_are_calibrated():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 3))
    p = 1.0 / (1.0 + np.exp(-2.0 * X[:, 0]))
    y = rng.random(4000) < p
    found = fl.LinearClassifier("hinge", calibration="sigmoid").fit(X, y).predict_proba(X)[:, 1]
    assert np.abs(found - p).mean() < 0.05


@pytest.mark.parametrize("name", ["LinearClassifier", "LinearRegressor", "SGDClassifier", "SGDRegressor"])
def test_partial_fit_in_chunks_learns_as_well_as_fit(name, tmp_path):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((6000, 4))
    score = X @ [1.0, -1.0, 0.5, 0.0] + 0.5
    y = (score > 0).astype(int) if is_classifier(made(name)) else score
    first = {"classes": [0, 1]} if is_classifier(made(name)) else {}
    parts, whole = made(name), made(name)
    for k in range(0, 6000, 1000):
        parts.partial_fit(X[k : k + 1000], y[k : k + 1000], **(first if k == 0 else {}))
    assert math.isnan(parts.gap_)
    assert parts.score(X, y) > 0.97
    whole.fit(X, y)
    assert whole.score(X, y) > 0.97
    after = clone(whole).fit(X, y).partial_fit(X[:100], y[:100])
    assert after.score(X, y) > 0.9, "it starts from the weights of fit"
    fl.save(parts, tmp_path / "parts.fenchel")
    assert fl.load(tmp_path / "parts.fenchel").partial_fit(X[:100], y[:100], **first).score(X, y) > 0.9
    if first:
        with pytest.raises(ValueError, match="classes must be given"):
            made(name).partial_fit(X, y)
        with pytest.raises(ValueError, match="not one of the classes"):
            made(name).partial_fit(X, y + 1, classes=[0, 1])
        with pytest.raises(ValueError, match="needs all rows at once"):
            made(name, class_weight="balanced").partial_fit(X, y, classes=[0, 1])


@pytest.mark.parametrize("name", ["LinearClassifier", "LinearRegressor", "LogisticRegression", "Lasso"])
def test_a_warm_start_needs_no_more_iterations(name):
    X, y = data(name, classes=3)
    limits = {"tol": 1e-8}
    model = made(name, warm_start=True, **limits).fit(X, y)
    cold, before = model.n_iter_, model.coef_
    model.fit(X, y)
    assert np.all(model.n_iter_ <= cold)
    np.testing.assert_allclose(model.coef_, before, atol=1e-3)


class Stop:
    """A scikit-learn callback that stops the fit after some evaluations."""

    def __init__(self, after):
        self.after, self.seen, self.fitted = after, 0, []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, X, y, metadata, fitted_estimator):
        if context.parent is None:
            return False
        self.seen += 1
        self.fitted.append(fitted_estimator.score(X, y))
        return self.seen >= self.after


@pytest.mark.parametrize("name", ["LinearClassifier", "LinearRegressor", "LogisticRegression", "SGDClassifier"])
def test_callbacks_receive_a_fitted_model_and_can_stop_the_fit(name):
    X, y = data(name, classes=3)
    everything, early = Stop(10**9), Stop(2)
    whole = made(name, tol=1e-10).set_callbacks(everything).fit(X, y)
    made(name, tol=1e-10).set_callbacks(early).fit(X, y)
    assert early.seen <= everything.seen
    assert early.seen >= min(2, everything.seen)
    assert everything.fitted[-1] == pytest.approx(whole.score(X, y), abs=0.05)


def test_the_convergence_warning_states_the_gap_the_tolerance_and_advice():
    X, y = data("SGDClassifier")
    with pytest.warns(ConvergenceWarning, match=r"gap of .* and tol=1e-10 was asked for: give .*more max_passes"):
        fl.LinearClassifier("hinge", tol=1e-10, max_passes=2, strength=1e-3).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="give more max_iter"):
        fl.LinearSVC(loss="hinge", tol=1e-12, max_iter=2).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="give a stronger penalty, as this one is weak"):
        fl.LinearClassifier("hinge", tol=1e-10, max_passes=2, strength=1e-12).fit(X, y)
    frame = pd.DataFrame(X * [1.0, 1.0, 1e6, 1.0, 1.0], columns=list("abcde"))
    with pytest.warns(ConvergenceWarning, match="scale the columns, for instance with StandardScaler, as c are over"):
        fl.LinearClassifier("hinge", tol=1e-10, max_passes=2).fit(frame, y)
    with pytest.warns(ConvergenceWarning, match="longer time_limit"):
        fl.LinearClassifier("hinge", tol=1e-14, time_limit=1e-9).fit(X, y)


def test_an_interrupted_fit_keeps_the_weights_so_far(monkeypatch):
    X, y = data("LinearClassifier")

    def interrupted(*args, **options):
        return replaced(solve(*args, **{**options, "max_passes": 1, "tol": 0.0}))

    def replaced(result):
        result.status = "interrupted"
        return result

    monkeypatch.setattr("fenchel.driver.solve", interrupted)
    model = fl.LinearClassifier("hinge")
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.predict(X).shape == y.shape


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"loss": "logistik"}, "did you mean 'logistic'"),
        ({"loss": "squared"}, "loss='squared': "),
        ({"loss": fl.Squared()}, "does not suit this estimator"),
        ({"penalty": "l3"}, "penalty='l3': did you mean"),
        ({"strength": 0}, "strength=0: give a positive number"),
        ({"penalty": "elasticnet", "l1_ratio": 2}, "l1_ratio=2: give a number from 0"),
        ({"solver": "sgd"}, "There is no solver 'sgd'"),
        ({"multiclass": "ovo"}, "multiclass='ovo'"),
        ({"calibration": "platt"}, "calibration='platt'"),
        ({"tol": -1}, "tol=-1"),
    ],
)
def test_invalid_parameters_are_refused(change, message):
    X, y = data("LinearClassifier", classes=3)
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        fl.LinearClassifier(**change).fit(X, y)


def test_penalties_by_name_and_as_objects():
    X, y = data("LinearClassifier")
    by_hand = fl.LinearClassifier(penalty=fl.L1L2(l1=0.05, l2=0.05)).fit(X, y)
    np.testing.assert_allclose(fl.LinearClassifier(penalty="elasticnet", strength=0.1).fit(X, y).coef_, by_hand.coef_)
    none = fl.LinearRegressor(penalty=None).fit(X, X @ [1.0, 2.0, 3.0, 4.0, 5.0] + 6.0)
    np.testing.assert_allclose(none.coef_, [1.0, 2.0, 3.0, 4.0, 5.0], rtol=1e-6)
    assert none.intercept_ == pytest.approx(6.0, rel=1e-6)
    lp = fl.LinearClassifier(penalty="lp", p=1.2, strength=1e-2).fit(X, y)
    assert lp.converged_
    boxed = fl.LinearClassifier(penalty=fl.Box(0.0, 1.0)).fit(X, y)
    assert boxed.coef_.min() >= 0.0


def test_importing_fenchel_does_not_import_scikit_learn():
    import subprocess
    import sys

    code = "import sys, fenchel; assert 'sklearn' not in sys.modules; fenchel.LinearSVC; assert 'sklearn' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)

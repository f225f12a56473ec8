"""Columns that occur in one row only: the same minimum, weights for all columns, and a certificate of the problem itself"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fenchel as fl
from fenchel.driver import merged_columns as module
from fenchel.driver.merged_columns import with_merged_columns
from tests.data import labels_for


@pytest.fixture(autouse=True)
def small_data_are_merged(monkeypatch):
    monkeypatch.setattr(module, "FEWEST_ENTRIES", 1)


def rows(m=60, shared=8, own=5, seed=0, index=np.int32, empty=3):
    """Sparse rows with columns of their own, in random order, and some empty ones."""
    rng = np.random.default_rng(seed)
    common = rng.standard_normal((m, shared)) * (rng.random((m, shared)) < 0.6)
    single = sp.block_diag([rng.standard_normal((1, rng.integers(0, own + 1))) for _ in range(m)])
    X = sp.hstack([common, single, sp.csr_matrix((m, empty))], format="csr")[:, rng.permutation(shared + single.shape[1] + empty)]
    X = sp.csr_array(X)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    return X


def problem(loss, X=None, **options):
    X = rows() if X is None else X
    y = labels_for(loss.labels, np.random.default_rng(1).standard_normal(X.shape[0]))
    return fl.Problem(X, y, loss, fl.L2(0.01), sample_weight=1.0 + np.arange(X.shape[0]) % 2, **options)


LOSSES = [fl.Logistic(), fl.Hinge(), fl.SquaredHinge(), fl.Squared(), fl.Softmax()]


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("intercept", [0.0, 1.5, "free"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_the_minimum_and_its_weights_are_those_of_the_problem(loss, intercept, index):
    whole = problem(loss, rows(index=index), intercept=intercept)
    merged = with_merged_columns(whole)
    assert merged.problem.n < 0.7 * whole.n
    found, plain = merged.solve(whole, start=None, tol=1e-8), fl.minimize(whole, tol=1e-8)
    assert found.converged
    assert found.objective == pytest.approx(plain.objective, abs=2e-8 * whole.scale)
    np.testing.assert_allclose(found.coef, plain.coef, atol=1e-3)
    assert found.coef.shape == plain.coef.shape
    assert whole.objective(found.w) <= found.objective + found.objective_error
    assert fl.verify(whole, found).holds


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_predictions_norms_and_dual_points_are_the_same(loss):
    whole = problem(loss, intercept="free")
    merged = with_merged_columns(whole)
    rng = np.random.default_rng(0)
    w = rng.standard_normal(merged.problem.shape)
    full = merged.weights(w)
    np.testing.assert_allclose(whole.predict(full), merged.problem.predict(w), atol=1e-12)
    assert whole.penalty(full) == pytest.approx(merged.problem.penalty(w), rel=1e-12)
    np.testing.assert_allclose(merged.start(full), w, atol=1e-12)
    other = rng.standard_normal(whole.shape)
    np.testing.assert_allclose(merged.problem.predict(merged.start(other)), whole.predict(other), atol=1e-12)
    assert merged.problem.penalty(merged.start(other)) <= whole.penalty(other)
    alpha = merged.problem.balanced(merged.problem.negative_derivatives(merged.problem.predict(w), whole.y))
    assert whole.dual_objective(alpha) == pytest.approx(merged.problem.dual_objective(alpha), rel=1e-10)


def test_allowances_for_rounding_count_the_columns_that_were_merged():
    whole = problem(fl.Logistic())
    merged = with_merged_columns(whole).problem
    assert merged.design.longest_row >= whole.design.longest_row
    bare = merged._changed()
    bare.design = fl.Problem(merged.design.storage, whole.y, whole.loss, fl.L2(0.01)).design
    w = np.ones(merged.n)
    z = merged.predict(w)
    assert merged.objective_error(w, z, merged.objective(w, z)) > bare.objective_error(w, z, bare.objective(w, z))
    alpha = np.full(whole.m, 0.25) * whole.y
    assert merged.lower_bound(alpha) < bare.lower_bound(alpha)


@pytest.mark.parametrize("scale", [1e-160, 1e160])
def test_extreme_entries_neither_overflow_nor_vanish(scale):
    X = rows()
    X.data *= scale
    merged = with_merged_columns(fl.Problem(X, np.ones(60), fl.Absolute(), fl.L2(1.0), check_finite=False))
    norms = np.sort(merged.problem.design.row_norms())
    np.testing.assert_allclose(norms, np.sort(fl.Problem(X, np.ones(60), fl.Absolute(), fl.L2(1.0)).design.row_norms()), rtol=1e-12)


def test_zeros_that_are_stored_have_weight_zero():
    X = rows()
    X.data[::3] = 0.0
    whole = problem(fl.Logistic(), X)
    found = with_merged_columns(whole).solve(whole, start=None, tol=1e-8)
    np.testing.assert_allclose(found.coef, fl.minimize(whole, tol=1e-8).coef, atol=1e-3)


def test_other_penalties_storages_and_matrices_without_such_columns_are_left_alone(monkeypatch):
    X = rows()
    y = np.ones(60)
    assert with_merged_columns(fl.Problem(X, y, fl.Squared(), fl.L2(0.1))) is not None
    for other in (X.tocsc(), X.toarray(), X.astype(np.float32), sp.csr_array(X.toarray()[:, np.asarray((X != 0).sum(axis=0)).ravel() > 1])):
        assert with_merged_columns(fl.Problem(other, y, fl.Squared(), fl.L2(0.1))) is None
    assert with_merged_columns(fl.Problem(X, y, fl.Squared(), fl.L1(0.1))) is None
    assert with_merged_columns(fl.Problem(X, y, fl.Squared(), fl.L1L2(l1=0.1, l2=0.1))) is None
    monkeypatch.setattr(module, "FEWEST_ENTRIES", 10**9)
    assert with_merged_columns(fl.Problem(X, y, fl.Squared(), fl.L2(0.1))) is None


@pytest.mark.parametrize("estimator", ["LogisticRegression", "LinearSVC", "SGDClassifier", "LinearClassifier"])
@pytest.mark.parametrize("classes", [2, 3])
def test_estimators_give_the_same_models(estimator, classes, monkeypatch):
    X = rows(200)
    y = np.random.default_rng(0).integers(0, classes, 200)
    make = getattr(fl, estimator)
    merged = make(tol=1e-7, max_iter=10_000).fit(X, y) if estimator != "LinearClassifier" else make(tol=1e-7).fit(X, y)
    monkeypatch.setattr(module, "FEWEST_ENTRIES", 10**9)
    plain = make(**merged.get_params()).fit(X, y)
    assert merged.coef_.shape == plain.coef_.shape
    assert merged.objective_ == pytest.approx(plain.objective_, rel=1e-3)
    np.testing.assert_allclose(merged.decision_function(X), plain.decision_function(X), atol=2e-2)
    if estimator != "SGDClassifier":
        assert merged.verify(X, y).holds


def test_a_warm_start_is_used():
    X = rows(200)
    y = np.random.default_rng(0).integers(0, 2, 200)
    model = fl.LogisticRegression(warm_start=True, tol=1e-6).fit(X, y)
    first = int(model.n_iter_[0])
    assert int(model.fit(X, y).n_iter_[0]) < first


def test_early_stopping_evaluates_weights_of_all_columns():
    X = rows(200)
    y = np.random.default_rng(0).integers(0, 2, 200)
    assert fl.SGDClassifier(early_stopping=True, max_iter=20).fit(X, y).coef_.shape == (1, X.shape[1])

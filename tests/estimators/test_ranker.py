"""Ranker: objective, order and names of queries, scikit-learn's conventions, and invalid input."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.estimator_checks import check_estimator

import fenchel as fl
from fenchel.estimators.ranker import Ranker
from fenchel.structured import ndcg

X, y, QID = fl.datasets.make_ranking(queries=25, documents=8, n=4, noise=0.4)
NDCG, HINGE = "ndcg", "pairwise-hinge"
both = pytest.mark.parametrize("loss", [pytest.param(NDCG, marks=pytest.mark.slow), HINGE])


def naive_pairwise(model, X, y, qid, phi):
    each = []
    for q in np.unique(qid):
        z, g = model.predict(X[qid == q]), y[qid == q]
        each.append(np.mean([phi(z[i] - z[j]) for i in range(len(g)) for j in range(len(g)) if g[i] > g[j]]))
    return np.mean(each) + 0.5 * model.l2 * model.coef_ @ model.coef_


@pytest.mark.parametrize(
    ("name", "phi"),
    [
        ("hinge", lambda z: max(0.0, 1.0 - z)),
        ("squared-hinge", lambda z: 0.5 * max(0.0, 1.0 - z) ** 2),
        ("logistic", lambda z: math.log1p(math.exp(-z))),
    ],
)
def test_pairwise_losses_are_means_over_pairs_and_queries(name, phi):
    model = Ranker(f"pairwise-{name}", l2=0.05, tol=1e-4).fit(X, y, qid=QID)
    assert model.converged_
    assert model.objective_ == pytest.approx(naive_pairwise(model, X, y, QID, phi), rel=1e-9)


@pytest.mark.slow
def test_the_ndcg_loss_agrees_with_the_structured_problem():
    model = Ranker("ndcg", k=3, l2=0.05, tol=1e-2).fit(X, y, qid=QID)
    groups = fl.structured.grouped(X, y, QID)
    problem = fl.structured.Problem(fl.structured.Ranking(3), groups.X, groups.y, fl.L2(0.05))
    assert model.converged_
    assert model.objective_ == pytest.approx(problem.objective(model.coef_), rel=1e-9)
    assert 0.0 <= model.gap_ <= 1e-2 * problem.objective_at_zero
    mean_ndcg = ndcg(y, model.predict(X), QID, 3)
    assert model.score(X, y, qid=QID) == mean_ndcg
    assert model.objective_ >= 1.0 - mean_ndcg, "the loss bounds 1 − NDCG@k from above"


@both
def test_order_and_names_of_queries_do_not_matter(loss):
    settings = {"l2": 0.1, "tol": 1e-3}
    plain = Ranker(loss, **settings).fit(X, y, qid=QID)
    shuffled = np.random.default_rng(0).permutation(len(y))
    named = np.array([f"query {q}" for q in QID])
    frame = pd.DataFrame(X, columns=list("abcd"))
    variants = [
        Ranker(loss, **settings).fit(X[shuffled], y[shuffled], qid=named[shuffled]),
        Ranker(loss, **settings).fit(frame, pd.Series(y), qid=pd.Series(named)),
        Ranker(loss, **settings).fit(sp.csc_array(X), y, qid=named.tolist()),
    ]
    for model in variants:
        assert abs(model.objective_ - plain.objective_) <= max(model.gap_, plain.gap_)
        assert model.n_queries_ == 25
    assert variants[1].feature_names_in_.tolist() == list("abcd")


@both
def test_queries_with_equal_grades_are_ignored(loss):
    more = np.vstack([X, np.ones((3, 4)), 5.0 * np.eye(4)])
    grades, qid = np.concatenate([y, [2.0, 2.0, 2.0], np.zeros(4)]), np.concatenate([QID, [90, 90, 90], [91] * 4])
    order = np.random.default_rng(1).permutation(len(grades))
    for matrix in (more[order], sp.csr_array(more[order])):
        model, plain = (Ranker(loss, tol=1e-3) for _ in range(2))
        model.fit(matrix, grades[order], qid=qid[order])
        plain.fit(X, y, qid=QID)
        assert model.n_queries_ == 25
        assert abs(model.objective_ - plain.objective_) <= max(model.gap_, plain.gap_)


def test_normalize_scales_features_within_each_query():
    scales = 10.0 ** np.arange(25)[QID][:, None] % 97.0 + 1.0  # a different scale and offset for each query
    model = Ranker(HINGE, normalize=True).fit(scales * X + QID[:, None], y, qid=QID)
    plain = Ranker(HINGE).fit(fl.structured.normalized(X, QID), y, qid=QID)
    assert abs(model.objective_ - plain.objective_) <= max(model.gap_, plain.gap_)
    np.testing.assert_allclose(model.predict(X, qid=QID), fl.structured.normalized(X, QID) @ model.coef_)
    with pytest.raises(ValueError, match="give qid"):
        model.predict(X)


@pytest.mark.slow
def test_too_few_passes_give_a_convergence_warning():
    with pytest.warns(ConvergenceWarning, match="Ranker stopped at a certified gap"):
        assert not Ranker("ndcg", l2=1e-6, tol=1e-6, max_passes=1).fit(X, y, qid=QID).converged_


@pytest.mark.slow
def test_zero_weights_give_a_warning():
    rng = np.random.default_rng(0)
    noise, grades, qid = rng.standard_normal((600, 3)), (rng.random(600) < 0.4).astype(float), np.repeat(np.arange(6), 100)
    with pytest.warns(UserWarning, match="no weights that improve on w = 0 .*pairwise-logistic"):
        model = Ranker("ndcg", k=3).fit(noise, grades, qid=qid)
    assert model.converged_


def test_without_qid_all_documents_are_one_query():
    assert Ranker(HINGE).fit(X, y).n_queries_ == 1


def test_a_clone_with_the_same_seed_gives_the_same_model():
    model = Ranker(random_state=3, tol=1e-2, n_jobs=1).fit(X, y, qid=QID)
    np.testing.assert_array_equal(clone(model).fit(X, y, qid=QID).coef_, model.coef_)


@pytest.mark.parametrize(
    ("options", "changes", "message"),
    [
        ({}, {"qid": QID[:-1]}, "qid has shape"),
        ({}, {"y": np.where(QID == 7, math.nan, y)}, "query 7: the grade of document 0 is nan"),
        ({}, {"y": y - 1.0}, "query 0: the grade of document . is -1"),
        ({}, {"y": np.ones(len(y))}, "No two documents of a query differ in grade"),
        ({}, {"y": None}, "requires y"),
        ({}, {"y": y[:-1]}, "y has shape"),
        ({}, {"X": np.where(X > 1.0, math.inf, X)}, "infinity"),
        ({"loss": "ndgc"}, {}, "did you mean 'ndcg'"),
        ({"loss": "hinge"}, {}, "did you mean 'pairwise-hinge'"),
        ({"l2": 0.0}, {}, "l2=0.0"),
        ({"l2": "strong"}, {}, "l2='strong'"),
        ({"loss": "ndcg", "k": 0}, {}, "k=0"),
        ({"tol": -1.0}, {}, "tol"),
        ({"solver": "sdac"}, {}, "sdac"),
    ],
)
def test_invalid_input_is_refused(options, changes, message):
    data = {"X": X, "y": y, "qid": QID, **changes}
    with pytest.raises(ValueError, match=message):
        Ranker(**options).fit(**data)


def test_predictions_need_a_fitted_model_and_its_features():
    with pytest.raises(NotFittedError):
        Ranker().predict(X)
    model = Ranker(HINGE, tol=1e-2).fit(X, y, qid=QID)
    np.testing.assert_allclose(model.predict(sp.csr_array(X)), X @ model.coef_)
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :2])


@pytest.mark.slow
@both
def test_passes_the_checks_of_scikit_learn(loss):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(Ranker(loss, tol=1e-2, max_passes=20), on_skip=None)
    assert sum(result["status"] == "passed" for result in results) > 35


def test_scoring_without_qid_is_refused_after_training_on_several_queries():
    X, y, qid = fl.datasets.make_ranking(queries=5, documents=5, n=3)
    model = fl.Ranker().fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="give qid"):
        model.score(X, y)


def test_many_documents_without_qid_give_a_warning():
    X, y, _ = fl.datasets.make_ranking(queries=50, documents=20, n=3)
    with pytest.warns(UserWarning, match="1,000 documents are treated as one query"):
        fl.Ranker("pairwise-logistic", tol=0.1).fit(X, y)

"""The SGD classes: a few passes and scikit-learn's stopping rule by default, a certified gap on request."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.linear_model
from sklearn.exceptions import ConvergenceWarning

import fenchel as fl
from tests.estimators import scikit_objectives as objectives
from tests.estimators.toy_data import CLASSES


@pytest.mark.parametrize("name", ["iris", *(pytest.param(name, marks=pytest.mark.slow) for name in CLASSES if name != "iris")])
def test_few_passes_reach_objectives_like_those_of_scikit_learn(name):
    X, y = CLASSES[name]()
    ours, theirs = fl.SGDClassifier().fit(X, y), sklearn.linear_model.SGDClassifier(random_state=0).fit(X, y)
    reached, reference = (objectives.sgd(model, X, y, np.ones(len(y))) for model in (ours, theirs))
    assert ours.objective_ == pytest.approx(reached, rel=1e-9)
    assert reached <= 1.25 * reference
    assert ours.n_iter_ <= 50 or ours.solver_ == "interior-point", "small problems are solved"
    best = fl.SGDClassifier(solver="auto", tol=1e-6).fit(X, y)
    assert ours.dual_objective_ <= best.objective_ <= reached
    assert ours.objective_ - best.dual_objective_ <= ours.gap_ * (1.0 + 1e-9), "the gap is proven"


def rows(m=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, 5))
    return X, X @ [1.0, -1.0, 0.5, 0.0, 0.0] + 0.3 * rng.standard_normal(m)


def test_the_fit_ends_after_passes_without_improvement():
    X, y = rows(50_000)
    X = X * [1.0, 10.0, 100.0, 1.0, 1.0]  # the dual objective tells little where columns differ much
    impatient, patient = (fl.SGDClassifier(alpha=1e-8, n_iter_no_change=k).fit(X, y > 0) for k in (1, 8))
    assert impatient.n_iter_ < patient.n_iter_
    assert impatient.converged_
    assert patient.objective_ <= impatient.objective_
    assert fl.SGDClassifier(tol=None, max_iter=7).fit(X, y > 0).n_iter_ == 7
    with pytest.warns(ConvergenceWarning, match="stopped after 2 passes, and its objective was still falling: give more max_iter"):
        assert not fl.SGDClassifier(max_iter=2).fit(X, y > 0).converged_
    with pytest.raises(fl.InputError, match="n_iter_no_change=0: give a whole number"):
        fl.SGDClassifier(n_iter_no_change=0).fit(X, y > 0)


@pytest.mark.parametrize("name", ["SGDClassifier", "SGDRegressor"])
def test_early_stopping_learns_from_the_other_rows_alone(name):
    X, y = rows()
    options = {"loss": "huber"} if name == "SGDRegressor" else {}
    y = y if name == "SGDRegressor" else np.where(y > 0, "up", "down")
    model = getattr(fl, name)(early_stopping=True, validation_fraction=0.3, **options).fit(X, y)
    assert model.score(X, y) > 0.8
    assert model.converged_
    assert not hasattr(model, "_held_out")
    with pytest.raises(fl.InputError, match=r"validation_fraction=1\.5 cannot be held out"):
        getattr(fl, name)(early_stopping=True, validation_fraction=1.5, **options).fit(X, y)


def test_penalties_that_passes_do_not_serve_and_small_least_squares_are_solved_to_a_gap():
    X, y = rows()
    sparse = fl.SGDClassifier(penalty="l1", alpha=0.05).fit(X, y > 0)
    assert sparse.gap_ <= 1e-3
    assert np.count_nonzero(sparse.coef_) < 5
    squares = fl.SGDRegressor().fit(X, y)
    assert (squares.solver_, squares.gap_ <= 1e-3) == ("newton", True)


def test_of_the_average_and_the_last_weights_the_better_are_kept():
    X, y = fl.datasets.make_text(600, n=3000, nonzeros=30)
    problem = fl.Problem(X, np.where(y > 0, 1.0, -1.0), fl.Hinge(), fl.L2(1e-4), intercept="free")
    better = []
    for passes in range(2, 7):
        model = fl.SGDClassifier(random_state=0, max_iter=passes, tol=None).fit(X, y)
        assert model.solver_ == "sdca"
        seed = np.random.RandomState(0).randint(2**31 - 1)
        last = fl.minimize(problem, "sdca", shrinking=False, tol=0.0, max_passes=passes, seed=seed)
        at_the_end = problem.objective(last.iterate.w)
        assert model.objective_ <= at_the_end * (1.0 + 1e-12)
        assert (np.diff(model.history_["passes"]) == 1.0).all()
        better.append(model.objective_ < at_the_end * (1.0 - 1e-6))
    assert any(better)


@pytest.mark.parametrize("sparse", [False, True])
def test_the_fit_ends_where_no_pass_can_lower_the_objective_by_more_than_the_tolerance(sparse):
    X, y = fl.datasets.make_text(3000, n=2000, nonzeros=20) if sparse else rows(50_000)
    model = fl.SGDClassifier(n_iter_no_change=500).fit(X, y > 0)
    assert model.n_iter_ < 50
    best = fl.SGDClassifier(solver="auto", tol=1e-5).fit(X, y > 0)
    assert model.objective_ - best.objective_ <= 1e-3
    assert model.converged_

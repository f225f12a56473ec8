"""Regularization paths: the first strength, certificates of all points, and cross-validation on held-out rows."""

from __future__ import annotations

import functools
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import lasso_path
from sklearn.model_selection import KFold

import fenchel as fl
from fenchel.paths import Penalty, strength_of_zero
from fenchel.solvers._coordinate import gram_path
from tests.data import labels_for, redundant_columns

pytest.importorskip("matplotlib").use("Agg")


some_data = functools.partial(redundant_columns, zero=4, twins=(2, 7))


@pytest.mark.parametrize("intercept", [0.0, 2.0, "free"])
@pytest.mark.parametrize("loss", [fl.Squared(), fl.Logistic(), fl.Huber(1.0)], ids=lambda loss: type(loss).__name__)
def test_the_first_strength_is_the_smallest_that_gives_zero_weights(loss, intercept):
    X, score = some_data()
    y = labels_for(loss.labels, score)
    found = fl.path(X, y, loss, n_strengths=5, tol=1e-8, intercept=intercept)
    assert found["nnz"][0] == 0
    assert found["nnz"][1] > 0
    below = fl.path(X, y, loss, strengths=[0.999 * found.strengths[0]], tol=1e-10, intercept=intercept)
    assert below.coefs.nnz + (intercept == 2.0) > 0
    assert found.strengths[-1] == pytest.approx(1e-3 * found.strengths[0])
    assert (np.diff(found.strengths) < 0).all()


@pytest.mark.parametrize("l1_ratio", [1.0, 0.4])
@pytest.mark.parametrize("intercept", [0.0, "free"])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("loss", [fl.Squared(), fl.Logistic()], ids=lambda loss: type(loss).__name__)
def test_every_point_is_certified_and_agrees_with_minimize(loss, convert, intercept, l1_ratio):
    X, score = some_data()
    y, s = labels_for(loss.labels, score), np.linspace(0.0, 2.0, len(score))
    found = fl.path(convert(X), y, loss, l1_ratio=l1_ratio, n_strengths=7, tol=1e-6, intercept=intercept, sample_weight=s)
    assert found["converged"].all()
    for k, strength in enumerate(found.strengths):
        problem = fl.Problem(convert(X), y, loss, Penalty(l1_ratio, False).times(float(strength)), intercept=intercept, sample_weight=s)
        alone = fl.minimize(problem, tol=1e-8)
        w = np.append(found.coef(k), found.intercepts[k]) if intercept else found.coef(k)
        assert problem.objective(w) == pytest.approx(found["objective"][k], abs=1e-10)
        assert found["objective"][k] - found["gap"][k] <= alone.objective + 1e-12, "objective − gap is a lower bound"
        assert found["gap"][k] <= 1e-6 * problem.objective_at_zero
        assert found["nnz"][k] == np.count_nonzero(found.coef(k))


def test_the_path_agrees_with_scikit_learn():
    X, y = some_data()
    X = np.asfortranarray(X[:, [0, 1, 2, 3, 5, 6, 8]])
    found = fl.path(X, y, fl.Squared(), n_strengths=20, tol=1e-9)
    _, expected, _ = lasso_path(X, y, alphas=found.strengths, tol=1e-12, max_iter=10**6)
    np.testing.assert_allclose(found.coefs.toarray(), expected.T, atol=1e-3)
    np.testing.assert_array_equal(found.coefs.toarray() != 0.0, expected.T != 0.0)


@pytest.mark.parametrize("loss", [fl.Squared(), fl.Logistic(), fl.Softmax()], ids=lambda loss: type(loss).__name__)
def test_validation_losses_and_errors_are_those_of_held_out_rows(loss):
    X, score = some_data()
    y = labels_for(loss.labels, score)
    folds = list(KFold(4, shuffle=True, random_state=1).split(X))
    found = fl.path(X, y, loss, n_strengths=6, ratio=0.05, cv=folds, tol=1e-6, max_passes=20_000)
    losses = np.zeros((4, 6))
    errors = np.zeros((4, 6))
    for number, (train, test) in enumerate(folds):
        for k, strength in enumerate(found.strengths):
            w = fl.minimize(fl.Problem(X[train], y[train], loss, fl.L1(strength)), tol=1e-6, max_passes=20_000).w
            held_out = (
                fl.Problem(X[test], y[test], loss, fl.L1(strength))
                if loss.labels != "class"
                else fl.Problem(X, y, loss, fl.L1(1.0)).on_rows(test)
            )
            z = X[test] @ w
            losses[number, k] = held_out.mean_loss(z)
            errors[number, k] = np.mean(z.argmax(axis=1) != y[test]) if z.ndim == 2 else np.mean(z * y[test] <= 0)
    np.testing.assert_allclose(found["validation_loss"], losses.mean(axis=0), atol=2e-3)
    np.testing.assert_allclose(found["validation_sd"], losses.std(axis=0), atol=5e-3)
    assert found.best == int(np.argmin(found["validation_loss"]))
    assert found.best_within_error <= found.best
    if loss.labels == "real":
        assert "validation_error" not in found.columns
    else:
        np.testing.assert_allclose(found["validation_error"], errors.mean(axis=0), atol=0.05)


def test_folds_given_by_number_are_shuffled_by_seed_and_stratified():
    X, score = some_data()
    y = np.where(np.arange(len(score)) < 10, 1.0, -1.0)  # sorted, with few rows of one class
    first, again, other = (fl.path(X, y, fl.Logistic(), n_strengths=4, cv=5, seed=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first["validation_loss"], again["validation_loss"])
    assert (first["validation_loss"] != other["validation_loss"]).any()
    assert first["validation_error"][0] >= 10 / 80
    assert threading.active_count() < 10


def test_given_strengths_are_sorted_from_largest_to_smallest():
    X, y = some_data()
    found = fl.path(X, y, fl.Squared(), strengths=[0.1, 0.5, 0.2])
    assert found.strengths.tolist() == [0.5, 0.2, 0.1]
    assert len(found) == 3
    assert found.coef(0).shape == (15,)


def test_a_path_has_columns_a_data_frame_and_a_plot():
    X, y = some_data()
    plain = fl.path(X, y, fl.Squared(), n_strengths=8)
    frame = plain.to_frame()
    assert list(frame.columns)[:3] == ["strength", "objective", "gap"]
    assert len(frame) == 8
    assert len(plain.plot()) == 2
    validated = fl.path(X, y, fl.Squared(), n_strengths=8, cv=3)
    axes = validated.plot()
    assert len(axes) == 3
    assert axes[0].get_xscale() == "log"
    assert axes[1].lines[0].get_ydata().tolist() == validated["nnz"].tolist()
    assert axes[2].lines[0].get_ydata().tolist() == validated["validation_loss"].tolist()
    assert "8 strengths" in repr(validated)
    assert "best" in repr(validated)
    with pytest.raises(KeyError, match="there is no column 'error'"):
        validated["error"]
    with pytest.raises(ValueError, match="without cross-validation: give cv=5"):
        _ = plain.best


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"l1_ratio": 0.0}, "above 0 and at most 1"),
        ({"l1_ratio": 1.5}, "above 0 and at most 1"),
        ({"strengths": []}, "strengths must be one or more positive numbers"),
        ({"strengths": [0.1, -1.0]}, "strengths must be one or more positive numbers"),
        ({"n_strengths": 0}, "n_strengths=0: give a whole number"),
        ({"ratio": 1.5}, "above 0 and at most 1"),
        ({"cv": 1}, "give a number of folds from 2 to the number of rows, 80"),
        ({"cv": "five"}, "give a number of folds, or pairs"),
        ({"cv": []}, "cv is empty"),
        ({"cv": [([0, 1], [])]}, "rows must be at least one whole number"),
        ({"cv": [([0, 1], [80])]}, "from 0 to 79"),
        ({"strengths": "a"}, "strengths must be one or more positive numbers"),
        ({"threads": -3, "cv": 2}, "threads=-3"),
        ({"seed": -1, "cv": 2}, "seed=-1"),
        ({"tol": -1.0}, "tol=-1.0"),
        ({"solver": "sdac"}, "did you mean 'sdca'"),
    ],
)
def test_invalid_arguments_are_refused(options, message):
    X, y = some_data()
    with pytest.raises(ValueError, match=message):
        fl.path(X, y, fl.Squared(), **options)


def test_the_reduced_problem_is_accurate_for_columns_of_very_different_scales():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3)) * np.array([1e6, 1.0, 1e-1])
    y = 10.0 * X[:, 2] + 0.01 * rng.standard_normal(200)
    for intercept, shift in ((0.0, 0.0), ("free", 1e7)):
        shifted = X + np.array([shift, 0.0, 0.0])
        found = fl.path(shifted, y, fl.Squared(), strengths=[1e-2, 1e-3, 1e-4], tol=1e-6, intercept=intercept)
        for k, strength in enumerate(found.strengths):
            problem = fl.Problem(shifted, y, fl.Squared(), fl.L1(strength), intercept=intercept)
            alone = fl.minimize(problem, tol=1e-7)  # about 1e-8 is the rounding in a column around 1e7
            assert found["objective"][k] == pytest.approx(alone.objective, abs=1e-6)


def test_an_offset_of_y_does_not_loosen_the_tolerance():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5))
    y = X[:, 0] + 1000.0 + 0.1 * rng.standard_normal(200)
    found = fl.path(X, y, fl.Squared(), n_strengths=10, intercept="free")
    assert found["nnz"][-1] > 0
    assert found.coef(9)[0] == pytest.approx(1.0, abs=0.05)


def test_data_for_which_zero_is_always_optimal_are_refused():
    with pytest.raises(ValueError, match="w = 0 is optimal at every strength"):
        fl.path(np.eye(4), np.full(4, 3.7), fl.Squared(), intercept="free")
    with pytest.raises(ValueError, match="w = 0 is optimal at every strength"):
        fl.path(np.zeros((5, 2)), np.ones(5), fl.Squared())
    assert strength_of_zero(fl.Problem(np.eye(3), np.zeros(3), fl.Squared(), fl.L1(1.0))) == 0.0


@pytest.mark.parametrize("loss", [fl.Squared(), fl.Logistic(), fl.Hinge(), fl.Softmax()], ids=lambda loss: type(loss).__name__)
def test_the_first_strength_is_as_accurate_as_the_others_wherever_it_is(loss):
    X, score = some_data()
    y = labels_for(loss.labels, score)
    largest = fl.path(X, y, loss, n_strengths=1).strengths[0]
    found = fl.path(X, y, loss, strengths=[1e-2 * largest, 0.5e-2 * largest], tol=1e-2)
    assert (found["gap"] <= 1e-2 * found["objective"]).all()


def test_points_that_miss_the_tolerance_give_one_warning():
    X, y = some_data()
    with pytest.warns(match="of 6 strengths stopped at a certified gap of .*, and tol=1e-08 was asked for: give more max_passes"):
        found = fl.path(sp.csr_array(X), y, fl.Squared(), n_strengths=6, tol=1e-8, solver="fista", max_passes=3)
    assert not found["converged"].all()


def interrupting(monkeypatch, at):
    """Raise KeyboardInterrupt in evaluation number ``at``."""
    from fenchel.driver.run import Run

    record, seen = Run._record, []

    def interrupted(self, iterate, objective):
        seen.append(iterate)
        if len(seen) == at:
            raise KeyboardInterrupt
        return record(self, iterate, objective)

    monkeypatch.setattr(Run, "_record", interrupted)
    return seen


def test_an_interrupt_keeps_the_finished_strengths_and_folds(monkeypatch):
    X, y = fl.datasets.make_text(200, n=50, nonzeros=10)
    options = {"n_strengths": 8, "cv": 4, "seed": 1, "threads": 1}
    with monkeypatch.context() as patch:
        seen = interrupting(patch, 10**9)
        whole = fl.path(X, y, fl.Logistic(), **options)
    assert not whole.interrupted
    monkeypatch.undo()
    partial = []
    for at in (2, len(seen) // 8, len(seen) // 2, len(seen) - 1):
        with monkeypatch.context() as patch:
            interrupting(patch, at)
            try:
                partial.append(fl.path(X, y, fl.Logistic(), **options))
            except KeyboardInterrupt:
                partial.append(None)
    assert all(found.interrupted for found in partial[1:])
    assert [found.folds for found in partial[1:]] == sorted(found.folds for found in partial[1:])
    assert (len(partial[1]), partial[1].folds, "validation_loss" in partial[1].columns) < (8, 1, True)
    assert (len(partial[3]), partial[3].folds) == (8, 3)
    np.testing.assert_array_equal(partial[3].fold_losses, whole.fold_losses[:3])
    np.testing.assert_array_equal(partial[3].coefs.toarray(), whole.coefs.toarray())


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupted_cross_validation_is_not_used(threads, monkeypatch):
    X, y = fl.datasets.make_text(100, n=20, nonzeros=5)
    minimise, seen = gram_path.minimise_by_gram, []

    def interrupted(*arguments):
        seen.append(len(seen))
        if len(seen) == 130:  # in the second fold
            raise KeyboardInterrupt
        minimise(*arguments)

    monkeypatch.setattr(gram_path, "minimise_by_gram", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fl.LassoCV(cv=3, n_jobs=threads).fit(X, y)
    assert len(seen) >= 130
    interrupting(monkeypatch, 10)
    with pytest.raises(KeyboardInterrupt):
        fl.LogisticRegressionCV(cv=3, n_jobs=threads).fit(X, y)

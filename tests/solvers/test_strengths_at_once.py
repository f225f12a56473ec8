"""Paths of quadratic losses: products of columns as they come into use, points for several strengths at once, and their proofs."""

import numpy as np
import pytest
import scipy.sparse as sp

import fenchel as fl
from fenchel import paths
from fenchel.solvers._coordinate import growing_model, strengths_at_once as module
from fenchel.solvers._coordinate.growing_model import GrowingModel

CONVERT = {
    "dense": np.asarray,
    "fortran": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "csr": sp.csr_array,
    "csc": sp.csc_array,
}


def some_data(m=60, n=90, seed=0):
    rng = np.random.default_rng(seed)
    X = (1.0 + rng.standard_normal((m, n)) @ (np.eye(n) + 0.3 * rng.standard_normal((n, n)))) * (rng.random((m, n)) < 0.5)
    X = X.astype(np.float32).astype(np.float64)  # the same in both precisions
    return X, X[:, :5].sum(axis=1) + rng.standard_normal(m), rng.random(m)


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("convert", CONVERT.values(), ids=CONVERT)
@pytest.mark.parametrize("intercept", [0.0, "free"])
@pytest.mark.parametrize("loss", [fl.Squared(), fl.Logistic()], ids=lambda loss: type(loss).__name__)
def test_products_of_columns_added_one_after_another_are_those_of_all(loss, intercept, convert, parallel, monkeypatch):
    monkeypatch.setattr(growing_model, "BLAS_IN_PARALLEL_FROM", 10 if parallel else 10**9)
    X, y, weights = some_data()
    y = np.sign(y) if isinstance(loss, fl.Logistic) else y
    problem = fl.Problem(convert(X), y, loss, fl.L1(0.1), intercept=intercept, sample_weight=weights).with_threads(2)
    model = GrowingModel(problem)
    for columns in ([3, 7], [1, 3, 80], [5], []):
        assert model.add(np.isin(np.arange(90), columns)) == len(set(columns) - {3}) + (columns == [3, 7])
    assert model.which.tolist() == [3, 7, 1, 80, 5]
    rng = np.random.default_rng(1)
    for z in (problem.origin_predictions, rng.standard_normal(60)):
        model.renew(z)
        h = problem.row_weights * np.array([loss.curvature(*pair) for pair in zip(z, y, strict=True)])
        centred = X[:, model.which] - model.centres
        mean = h @ centred / h.sum() if intercept else np.zeros(5)
        np.testing.assert_allclose(model.means, mean, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(model.G, (h[:, None] * (centred - mean)).T @ (centred - mean), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(model.dots(h), h @ centred, rtol=1e-9, atol=1e-12)
        for change in (rng.standard_normal(5), np.array([0.0, 2.0, 0.0, 0.0, 0.0])):
            np.testing.assert_allclose(model.combined(change), centred @ change, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("convert", CONVERT.values(), ids=CONVERT)
@pytest.mark.parametrize("intercept", [0.0, "free"])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.4])
@pytest.mark.parametrize("slack", [module.SLACK, -20.0], ids=["columns foreseen", "columns missed"])
@pytest.mark.parametrize("loss", [fl.Squared(), fl.Logistic()], ids=lambda loss: type(loss).__name__)
def test_points_at_once_are_those_found_in_turn(loss, slack, l1_ratio, intercept, convert, monkeypatch):
    X, y, weights = some_data()
    y = np.sign(y) if isinstance(loss, fl.Logistic) else y
    monkeypatch.setattr(module, "SLACK", slack)
    rejected, plain = [], module.StrengthsAtOnce.reject
    monkeypatch.setattr(module.StrengthsAtOnce, "reject", lambda self, *given: rejected.append(plain(self, *given)) or rejected[-1])
    options = {"l1_ratio": l1_ratio, "intercept": intercept, "sample_weight": weights, "n_strengths": 25, "ratio": 1e-2, "tol": 1e-7}
    at_once = fl.path(convert(X), y, loss, **options)
    assert bool(rejected) or slack > 0.0
    monkeypatch.setattr(paths, "are_found_at_once", lambda problem: False)
    in_turn = fl.path(convert(X), y, loss, **options)
    for found in (at_once, in_turn):
        assert found["converged"].all()
        assert (found["gap"] <= 1e-7 * found["objective"]).all()
    assert (np.abs(at_once["objective"] - in_turn["objective"]) <= 1e-7 * in_turn["objective"]).all()
    assert (at_once["seconds"] > 0.0).all()
    assert at_once["passes"].sum() < in_turn["passes"].sum()


@pytest.mark.parametrize("loss", [fl.Squared(), fl.Logistic()], ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("solver", ["auto", "working-set"])
def test_every_point_is_proven_relative_to_its_own_objective(solver, loss):
    X, y, _ = some_data()
    y = np.sign(y) if isinstance(loss, fl.Logistic) else y
    found = fl.path(X, y, loss, n_strengths=12, ratio=1e-3, tol=1e-4, solver=solver)
    assert found["converged"].all()
    assert (found["gap"] <= 1e-4 * found["objective"]).all()
    assert found["objective"][-1] < 0.1 * found["objective"][0]


@pytest.mark.parametrize("loss", [fl.Squared(), fl.Logistic()], ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("intercept", [0.0, "free"])
def test_a_point_that_rounding_keeps_from_its_proof_is_left_to_a_solver(intercept, loss, monkeypatch):
    X, y, _ = some_data()
    y = np.sign(y) if isinstance(loss, fl.Logistic) else y + 100.0
    plain = module.StrengthsAtOnce.points

    def spoilt(self, k, target):
        return [point._replace(alpha=0.0 * point.alpha, v=0.0 * point.v) for point in plain(self, k, target)]

    monkeypatch.setattr(module.StrengthsAtOnce, "points", spoilt)
    found = fl.path(X, y, loss, n_strengths=5, ratio=0.1, tol=1e-5, intercept=intercept)
    assert found["converged"].all()


def test_second_derivatives_are_computed_again_where_steps_gain_too_little(monkeypatch):
    X, y, _ = some_data()
    renewed, plain = [], GrowingModel.renew
    monkeypatch.setattr(GrowingModel, "renew", lambda self, z: renewed.append(1) or plain(self, z))
    found = fl.path(X, np.sign(y), fl.Logistic(), n_strengths=20, ratio=1e-3, tol=1e-8)
    assert found["converged"].all()
    assert renewed


def test_a_loss_whose_second_derivative_jumps_is_solved_in_turn():
    X, y, _ = some_data()
    assert not module.are_found_at_once(fl.Problem(X, np.sign(y), fl.SquaredHinge(), fl.L1(0.1)))
    assert module.are_found_at_once(fl.Problem(X, np.sign(y), fl.Logistic(), fl.L1(0.1)))

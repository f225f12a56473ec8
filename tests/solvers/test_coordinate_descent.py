"""Coordinate descent: the objective never rises, steps and bounds are those of the paper, and scikit-learn agrees."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression

import fenchel as fl
from fenchel.problems.row_order import row_order
from fenchel.solvers import solvers
from tests.data import labels_for, redundant_bounded_columns
from tests.references import optimum

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
SOLVERS = ["scd", "cyclic-cd", "gcd"]
ROUNDING = 1e-13
AROUND_ZERO = {"cuts": (-0.5, 0.5), "middle": 0.0}  # where labels change


MORE = [fl.Squared(), fl.SquaredHinge(), fl.Softmax(), fl.SmoothMulticlassHinge()]
LOSSES = [fl.Logistic(), *(pytest.param(loss, marks=pytest.mark.slow) for loss in MORE)]
PENALTIES = [fl.L1(0.01), fl.L1L2(l1=0.02, l2=0.1), fl.Box(-0.1, 0.3), fl.Box(0.0, np.inf, fl.L1(0.01)), fl.L2(0.1)]


@pytest.mark.parametrize("beta", ["column", "global"])
@pytest.mark.parametrize("solver", ["scd", "cyclic-cd", pytest.param("gcd", marks=pytest.mark.slow)])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_the_objective_never_rises(solver, loss, beta):
    X, score = redundant_bounded_columns()
    for penalty, convert in zip(PENALTIES, itertools.cycle([np.asarray, sp.csr_array]), strict=False):
        problem = fl.Problem(
            convert(X), labels_for(loss.labels, score, **AROUND_ZERO), loss, penalty, sample_weight=np.linspace(0.5, 2.0, len(score))
        )
        values = [problem.objective(problem.origin)]
        run = solvers()[solver].run(problem, start=None, rng=np.random.default_rng(0), accuracy=0.0, beta=beta)
        values += [problem.objective(iterate.w.copy()) for iterate in itertools.islice(run, 40)]
        assert (np.diff(values) <= ROUNDING * values[0]).all()
        assert values[-1] < values[0]


@pytest.mark.parametrize("convert", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array], ids=["C", "F", "csr", "csc"])
def test_scd_takes_the_steps_of_algorithm_2(convert):
    X, y = redundant_bounded_columns()
    l1, (m, n) = 0.02, X.shape
    problem = fl.Problem(convert(X), y, fl.Squared(), fl.L1(l1))
    found = fl.minimize(problem, "scd", tol=0.0, max_passes=3, seed=5, beta="global").iterate
    rng, w = np.random.default_rng(5), np.zeros(n)
    visited = []
    while sum(np.count_nonzero(X[:, j]) if sp.issparse(problem.design.storage) else m for j in visited) < 3 * problem.design.nnz:
        order = row_order(n, "replacement", rng)
        for j in order:
            x = w[j] - X[:, j] @ (X @ w - y) / m  # β = 1, for no |x_ij| is above 1
            w[j] = np.sign(x) * max(abs(x) - l1, 0.0)
        visited += list(order)
    np.testing.assert_allclose(found.w, w, atol=1e-12)
    assert found.accesses == sum(np.count_nonzero(X[:, j]) if sp.issparse(problem.design.storage) else m for j in visited)


@pytest.mark.slow
@pytest.mark.parametrize("loss", [fl.Logistic(), fl.Softmax()], ids=lambda loss: type(loss).__name__)
def test_gcd_takes_the_best_coordinate_of_all(loss):
    X = np.random.default_rng(4).standard_normal((50, 8))  # no columns that are the same, for they tie
    score = X[:, 0] - 2.0 * X[:, 1]
    problem = fl.Problem(X, labels_for(loss.labels, score, **AROUND_ZERO), loss, fl.L1(0.01))
    run = solvers()["gcd"].run(problem, start=None, rng=np.random.default_rng(0), accuracy=0.0)
    w = np.zeros(problem.shape)
    beta = np.maximum(loss.smoothness() * (X**2).mean(axis=0), 1e-300)
    for iterate in itertools.islice(run, 30):  # on dense data a step reads all of X, and ends the pass
        g = -problem.loss_gradient(problem.predict(w))[1].reshape(problem.n, -1)
        at = w.reshape(problem.n, -1)
        new = np.sign(at - g / beta[:, None]) * np.maximum(np.abs(at - g / beta[:, None]) - 0.01 / beta[:, None], 0.0)
        change = new - at
        decrease = -(g * change + 0.5 * beta[:, None] * change**2 + 0.01 * (np.abs(new) - np.abs(at))).sum(axis=1)
        j = int(decrease.argmax())
        at[j] = new[j]
        np.testing.assert_allclose(iterate.w, w, atol=1e-12)


@pytest.mark.parametrize("loss", [fl.Squared(), fl.Logistic()], ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("beta", ["global", "column"])
def test_expected_suboptimality_is_under_the_bound_of_theorem_1(loss, beta):
    X, score = redundant_bounded_columns(40, 15, seed=1)
    problem = fl.Problem(X, labels_for(loss.labels, score, **AROUND_ZERO), loss, fl.L1(0.01))
    best = fl.minimize(problem, "working-set", tol=1e-10)
    n, smooth = problem.n, loss.smoothness()
    potential = 0.5 * smooth * float(best.w @ best.w) + problem.objective_at_zero
    for T in (n, 3 * n, 10 * n):
        reached = [
            problem.objective(fl.minimize(problem, "scd", tol=0.0, seed=seed, beta=beta, steps=T, max_passes=10**6).iterate.w)
            for seed in range(40)
        ]
        excess = np.mean(reached) - best.dual_objective
        assert excess <= n * potential / (T + 1), "Theorem 1"
    assert excess < 0.3 * (problem.objective_at_zero - best.objective), "and steps do something"


def test_restarts_take_the_best_of_several_runs_as_in_theorem_2():
    X, y = redundant_bounded_columns()
    problem = fl.Problem(X, y, fl.Squared(), fl.L1(0.02))
    steps = 2 * problem.n
    result = fl.minimize(problem, "scd", tol=0.0, restarts=4, steps=steps, seed=3)
    assert result.status == "finished"
    assert result.iterate.accesses == 4 * steps * problem.m
    rises = np.flatnonzero(np.diff(result.history["objective"]) > 0)
    assert 2 <= len(rises) <= 3, "every run begins anew"
    assert result.objective == pytest.approx(min(result.history["objective"][1:]), rel=1e-14)
    for option in ({"restarts": 0}, {"steps": 1.5}, {"restarts": True}):
        with pytest.raises(ValueError, match="give a whole number of at least 1"):
            fl.minimize(problem, "scd", **option)


@pytest.mark.parametrize("solver", [*SOLVERS, "working-set"])
@pytest.mark.parametrize("shape", [(80, 12), (20, 60)], ids=["tall", "wide"])
@pytest.mark.parametrize("kind", ["lasso", "elastic net", "logistic"])
def test_agrees_with_scikit_learn_in_objective_and_support(solver, shape, kind):
    rng = np.random.default_rng(2)
    m = shape[0]
    X = rng.standard_normal(shape)
    score = X[:, 0] - 2.0 * X[:, 1] + 0.5 * rng.standard_normal(m)
    l1 = 0.05
    if kind == "logistic":
        y, loss, penalty = np.where(score > 0, 1.0, -1.0), fl.Logistic(), fl.L1(l1)
        model = LogisticRegression(l1_ratio=1.0, C=1.0 / (l1 * m), solver="saga", fit_intercept=False, tol=1e-12, max_iter=200_000)
    elif kind == "lasso":
        y, loss, penalty, model = score, fl.Squared(), fl.L1(l1), Lasso(alpha=l1, fit_intercept=False, tol=1e-14, max_iter=10**6)
    else:
        y, loss, penalty = score, fl.Squared(), fl.L1L2(l1=l1, l2=l1)
        model = ElasticNet(alpha=2 * l1, l1_ratio=0.5, fit_intercept=False, tol=1e-14, max_iter=10**6)
    problem = fl.Problem(X, y, loss, penalty)
    expected = model.fit(X, y).coef_.ravel()
    found = fl.minimize(problem, solver, tol=1e-9, max_passes=20_000)
    assert found.converged
    assert found.objective == pytest.approx(problem.objective(expected), abs=1e-6)
    np.testing.assert_array_equal(found.w != 0.0, expected != 0.0)


@pytest.mark.parametrize("solver", SOLVERS)
def test_box_constraints_solve_the_dual_of_a_support_vector_machine(solver):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 6))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(40) > 0, 1.0, -1.0)
    l2, (m, n) = 0.05, X.shape
    rows = np.sqrt(n / l2) / m * (X * y[:, None]).T
    dual = fl.Problem(rows, np.zeros(n), fl.Squared(), fl.Box(0.0, 1.0, fl.Linear(-1.0 / m)))
    found = fl.minimize(dual, solver, tol=1e-7, max_passes=50_000)
    assert found.converged
    assert ((found.w >= 0.0) & (found.w <= 1.0)).all()
    assert -found.objective == pytest.approx(optimum(X, y, fl.Hinge(), fl.L2(l2)), abs=1e-6)
    w = X.T @ (y * found.w) / (l2 * m)
    assert fl.Problem(X, y, fl.Hinge(), fl.L2(l2)).objective(w) == pytest.approx(-found.objective, abs=1e-3)


def test_columns_are_copied_once_and_only_when_needed(caplog):
    X, y = redundant_bounded_columns()
    with caplog.at_level("DEBUG", logger="fenchel"):
        stored_by_columns = fl.Problem(sp.csc_array(X), y, fl.Squared(), fl.L1(0.1))
        fl.minimize(stored_by_columns, "scd", max_passes=2)
        assert not [record for record in caplog.records if "coordinate methods" in record.message]
        stored_by_rows = fl.Problem(sp.csr_array(X), y, fl.Squared(), fl.L1(0.1))
        for _ in range(2):
            fl.minimize(stored_by_rows, "scd", max_passes=2)
        assert len([record for record in caplog.records if "coordinate methods" in record.message]) == 1


def test_what_coordinate_solvers_need_and_their_error_messages():
    X, y = redundant_bounded_columns()
    with pytest.raises(ValueError, match="scd needs a smooth loss, and Absolute is not differentiable"):
        fl.minimize(fl.Problem(X, y, fl.Absolute(), fl.L1(0.1)), "scd")
    with pytest.raises(ValueError, match="did you mean 'global'"):
        fl.minimize(fl.Problem(X, y, fl.Squared(), fl.L1(0.1)), "scd", beta="globl")
    with pytest.raises(ValueError, match="working-set needs L1 or L1L2, and L2 is neither"):
        fl.minimize(fl.Problem(X, y, fl.Squared(), fl.L2(0.1)), "working-set")

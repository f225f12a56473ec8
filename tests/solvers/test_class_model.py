"""The model of the softmax on working sets agrees with dense second derivatives, and its steps lead to the certified optimum."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import fenchel as fl
from fenchel.problems.result import Iterate
from fenchel.solvers._coordinate.class_model import ClassNewton
from fenchel.solvers._coordinate.column_products import ColumnProducts
from fenchel.solvers._coordinate.quadratic_model import minimise_by_columns
from fenchel.solvers._coordinate.support_minimum import buffers
from fenchel.solvers.working_set import WorkingSetSearch
from tests.data import redundant_columns

K = 4
PENALTIES = [fl.L1(0.01), fl.L1L2(l1=0.01, l2=0.02)]
names = pytest.mark.parametrize("penalty", PENALTIES, ids=["l1", "elastic net"])
intercepts = pytest.mark.parametrize("intercept", [0.0, "free"])


def problem_of(m, n, penalty, intercept, convert=np.asarray):
    X, score = redundant_columns(m, n)
    y = np.digitize(score, np.quantile(score, [0.2, 0.5, 0.8]))
    return fl.Problem(convert(X), y, fl.Softmax(), penalty, intercept=intercept, sample_weight=np.linspace(0.5, 1.5, m))


def dense_model(problem, z, floor):
    """Gradient and second derivatives of the mean loss in all weights, class by class."""
    X = redundant_columns(problem.m, problem.n - problem.free)[0]
    X = np.hstack([X, np.ones((problem.m, 1))]) if problem.free else X
    p = np.exp(z - z.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    r = problem.row_weights
    g = (X.T @ (r[:, None] * (p - np.eye(K)[problem.y]))).T.ravel()
    H = np.block(
        [[X.T @ ((r * (p[:, a] * (a == b) - p[:, a] * p[:, b] + floor * (a == b)))[:, None] * X) for b in range(K)] for a in range(K)]
    )
    return g, H


@names
@intercepts
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_the_model_is_minimised(penalty, intercept, convert):
    rng = np.random.default_rng(0)
    problem = problem_of(60, 8, penalty, intercept, convert)
    newton = ClassNewton(problem, ColumnProducts(problem.design, stored=problem.free))
    n = problem.n
    w = np.where(rng.uniform(size=(n, K)) < 0.4, rng.standard_normal((n, K)), 0.0)
    z = problem.predict(w)
    point = Iterate(w, z=z)
    of, which = np.divmod(np.sort(rng.permutation(n * K)[: 3 * n]), n)
    model = newton._model_at(point, of, which, np.zeros(1, dtype=np.int64))
    g, H = dense_model(problem, z, model.floor[0] / problem.row_weights[0])
    taken = of * n + which
    g, H = g[taken], H[np.ix_(taken, taken)]
    np.testing.assert_allclose(model.curvature, np.diag(H), rtol=1e-9, atol=1e-290)  # columns of zeros have a tiny one

    old, new = w[which, of], w[which, of]
    minimise_by_columns(model, buffers(len(new), newton.slopes.shape), new, 1e-13, 0.0, 5000, True)
    model.settle()
    change = np.zeros((n, K))
    change[which, of] = new - old
    np.testing.assert_allclose(model.u.T, problem.predict(change), atol=1e-10, err_msg="u is not kept up to date")
    np.testing.assert_allclose(model.s, (model.p * model.u).sum(axis=0), atol=1e-10, err_msg="s is not kept up to date")

    l1 = np.where(which == n - 1, 0.0, penalty.l1) if problem.free else np.full(len(new), penalty.l1)
    l2 = np.where(l1 > 0.0, getattr(penalty, "l2", 0.0), 0.0)
    slope = g + H @ (new - old) + l2 * new
    violation = np.where(new != 0.0, np.abs(slope + l1 * np.sign(new)), np.maximum(np.abs(slope) - l1, 0.0))
    assert violation.max() <= 1e-6  # with an intercept the model is nearly flat along a shift of all classes


def reference(problem, penalty):
    """The minimum by an interior point method."""
    n = problem.n - problem.free
    X = redundant_columns(problem.m, n)[0]
    W = cp.Variable((n, K))
    Z = X @ W + (np.ones((problem.m, 1)) @ cp.Variable((1, K)) if problem.free else 0.0)
    losses = [cp.log_sum_exp(Z[i]) - Z[i, int(problem.y[i])] for i in range(problem.m)]
    omega = penalty.l1 * cp.sum(cp.abs(W)) + 0.5 * getattr(penalty, "l2", 0.0) * cp.sum_squares(W)
    program = cp.Problem(cp.Minimize(problem.row_weights @ cp.hstack(losses) + omega))
    program.solve(solver=cp.CLARABEL)
    return program.value


@names
@intercepts
@pytest.mark.parametrize("shape", [(80, 6), (30, 60)], ids=["tall", "wide"])
def test_the_optimum_is_certified(penalty, intercept, shape):
    problem = problem_of(*shape, penalty, intercept)
    least = reference(problem, penalty)
    for convert in (np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array):
        found = fl.minimize(problem_of(*shape, penalty, intercept, convert), tol=1e-8)
        assert (found.solver, found.converged) == ("working-set", True)
        assert found.objective == pytest.approx(least, abs=1e-6)
        assert found.dual_objective <= least + 1e-7
        assert found.gap <= 1e-8 * problem.objective_at_zero
        assert np.sum(found.intercept) == pytest.approx(0.0, abs=1e-12)


def test_working_sets_are_of_weights_and_grow_to_all_that_matter():
    problem = problem_of(60, 400, fl.L1(0.004), "free", sp.csr_array)
    search, sizes = WorkingSetSearch(problem, None), []
    for _ in range(60):
        search.evaluate()
        if search.gap <= 1e-8:
            break
        W = search.working_set()
        of, which = np.divmod(W, problem.n)
        assert which.max() < problem.n - 1  # the intercept belongs to none
        used = np.argwhere(search.w[:-1].T != 0.0)
        assert {tuple(pair) for pair in used} <= set(zip(of.tolist(), which.tolist(), strict=True))
        sizes.append(len(W))
        search.minimise_on(W, 0.1 * search.gap)
    assert search.gap <= 1e-8
    assert max(sizes) < K * 400


@intercepts
def test_coordinate_steps_replace_a_newton_step_without_descent(intercept, monkeypatch):
    problem = problem_of(60, 20, fl.L1(0.01), intercept, sp.csr_array)
    expected = fl.minimize(problem, tol=1e-8).objective
    monkeypatch.setattr(ClassNewton, "step", lambda *arguments: False)
    found = fl.minimize(problem_of(60, 20, fl.L1(0.01), intercept, sp.csr_array), "working-set", tol=1e-5, max_passes=100_000)
    assert found.converged
    assert found.objective <= expected + found.gap


def test_a_screened_run_agrees_with_an_unscreened_one():
    results = [
        fl.minimize(problem_of(60, 200, fl.L1(0.01), "free", sp.csr_array), "working-set", tol=1e-9, screening=on) for on in (True, False)
    ]
    assert results[0].objective == pytest.approx(results[1].objective, abs=1e-8)

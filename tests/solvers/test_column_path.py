"""Weights for many strengths by coordinate descent on columns: those of certified runs, and as accurate as asked."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fenchel as fl
from fenchel.linalg.weights import Plain
from fenchel.problems.problem import Problem
from fenchel.solvers._coordinate.column_path import column_path, gap, has_column_path, scaled_columns
from tests.own_losses import OwnSquared

STRENGTHS = [(0.5, 0.0), (0.1, 0.05), (0.02, 0.0), (0.005, 0.01)]


def wide(storage, intercept, loss=None):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((30, 70)) < 0.4, rng.standard_normal((30, 70)) + 0.5, 0.0) * 10.0 ** rng.uniform(-1.0, 1.0, 70)
    y = X[:, :3].sum(axis=1) + 0.1 * rng.standard_normal(30)
    weights = rng.uniform(0.0, 2.0, 30)
    return Problem(storage(X), y, loss or fl.Squared(), fl.L1(1.0), intercept=intercept, sample_weight=weights)


@pytest.mark.parametrize(
    "storage", [np.asarray, sp.csr_array, pytest.param(sp.csc_array, marks=pytest.mark.slow)], ids=["dense", "csr", "csc"]
)
@pytest.mark.parametrize("intercept", [0.0, "free"])
def test_weights_are_those_of_certified_runs(storage, intercept):
    for loss in (fl.Squared(), OwnSquared(3.0)) if storage is np.asarray else (fl.Squared(),):
        problem = wide(storage, intercept, loss)
        assert has_column_path(problem)
        accuracy = 1e-7 * problem.objective_at_zero
        for w, (l1, l2) in zip(column_path(problem, STRENGTHS, accuracy), STRENGTHS, strict=True):
            exact = problem.replace(regularizer=fl.L1L2(l1=l1, l2=l2) if l2 else fl.L1(l1))
            best = fl.minimize(exact, tol=1e-9)
            assert best.dual_objective <= exact.objective(w) <= best.objective + 10.0 * accuracy, "the accuracy is estimated"


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("intercept", [0.0, "free"])
def test_the_gap_is_that_of_the_problem(storage, intercept):
    problem = wide(storage, intercept)
    h, y = problem.row_weights, problem.y - (problem.origin[-1] if problem.free else 0.0)
    root, X = np.sqrt(h), problem.design.storage
    means = np.asarray(h @ X) if problem.free else np.zeros(70)
    columns, _, apart = scaled_columns(X, root, means)
    w = np.where(np.arange(70) < 5, 0.1, 0.0)
    dense = X.toarray() if sp.issparse(X) else X
    shift = float(w @ apart)
    a = root * (y - (dense @ w - (0.0 if sp.issparse(X) else w @ means)))
    for l1, l2 in STRENGTHS:
        exact = problem.replace(regularizer=fl.L1L2(l1=l1, l2=l2) if l2 else fl.L1(l1))
        full = np.append(w, problem.origin[-1] - w @ means) if problem.free else w
        found = gap(columns, h.sum() * apart, l1, l2, w, Plain(a), shift, root * y, h.sum())
        residual = problem.y - problem.predict(full)
        scale = min(1.0, l1 / np.abs(problem.adjoint(residual)[:70] - l2 * w).max())
        # The dual of the elastic net as a lasso with further rows: theirs are −√l2·w.
        dual = h @ (scale * residual * y - 0.5 * (scale * residual) ** 2) - 0.5 * scale**2 * l2 * w @ w
        assert found == pytest.approx(exact.objective(full) - dual, rel=1e-9)


def test_other_problems_are_refused():
    X, y = np.eye(3), np.arange(3.0)
    assert not has_column_path(fl.Problem(X, y, fl.Huber(), fl.L1(1.0)))
    assert not has_column_path(fl.Problem(X, y, fl.Squared(), fl.L1(1.0), intercept=1.0))


def test_newton_steps_of_the_row_model_accept_an_empty_support():
    rng = np.random.default_rng(230)
    X = rng.standard_normal((33, 387)) + 50.0
    assert fl.ElasticNetCV(cv=3, alphas=10).fit(X, X[:, 0] + rng.standard_normal(33)).converged_

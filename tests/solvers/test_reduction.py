"""Tall least squares reduced to as many rows as columns: the objective is the same."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fenchel as fl
from fenchel.solvers._coordinate.reduction import Reduction, reducible
from tests.data import redundant_columns
from tests.own_losses import OwnSquared


@pytest.mark.parametrize("loss", [fl.Squared(), OwnSquared(), OwnSquared(3.0)], ids=["squared", "own", "own, three times as large"])
@pytest.mark.parametrize("intercept", [0.0, "free"])
def test_tall_least_squares_reduce_to_as_many_rows_as_columns(intercept, loss):
    X, y = redundant_columns(400, 12, zero=4, twins=(2, 7))
    s = np.random.default_rng(1).uniform(0.0, 2.0, 400)
    problem = fl.Problem(X, y, loss, fl.L1(0.1), intercept=intercept, sample_weight=s)
    assert reducible(problem, 1e-6)
    small = Reduction(problem)
    assert small.problem.m < 12, "two columns are zero or the same as another"
    for w in np.random.default_rng(2).standard_normal((5, 12)):
        z = X @ w
        best = np.append(w, problem.row_weights @ (y - z)) if intercept else w
        assert small.problem.objective(w) + small.constant == pytest.approx(problem.objective(best), rel=1e-11)
    assert not reducible(problem, 1e-12), "products are rounded"
    assert not reducible(fl.Problem(sp.csr_array(X), y, fl.Squared(), fl.L1(0.1)), 1e-6)
    assert not reducible(fl.Problem(X[:20], y[:20], fl.Squared(), fl.L1(0.1)), 1e-6)
    assert not reducible(fl.Problem(X, y, fl.Squared(), fl.L1(0.1), intercept=2.0), 1e-6)
    assert reducible(fl.Problem(np.zeros((50, 3)), y[:50], fl.Squared(), fl.L1(0.1)), 1e-6)
    assert Reduction(fl.Problem(np.zeros((50, 3)), y[:50], fl.Squared(), fl.L1(0.1))).problem.m == 1

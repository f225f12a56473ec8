"""Proximal Newton steps on small problems in one call: the same minimisers as those of the general method."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fenchel as fl
from fenchel.solvers import working_set as module
from fenchel.solvers._coordinate.small_l1_problems import has_small_l1_steps, steps_of_small_l1_problem
from fenchel.solvers.declaration import elastic_net_strengths
from tests.data import labels_for

LOSSES = [fl.Logistic(), fl.SquaredHinge(), fl.Huber(0.5), fl.Squared()]
PENALTIES = [fl.L1(0.02), fl.L1L2(l1=0.02, l2=0.05)]


def problem_of(loss, penalty, intercept, m=80, n=6, convert=np.asarray):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((m, n)) * 10.0 ** rng.uniform(-1.0, 1.0, n)
    y = labels_for(loss.labels, X[:, 0] - X[:, 1] + rng.standard_normal(m))
    return fl.Problem(convert(X), y, loss, penalty, intercept=intercept, sample_weight=rng.uniform(0.0, 2.0, m))


@pytest.mark.parametrize("intercept", [0.0, 2.0, "free"])
@pytest.mark.parametrize("penalty", PENALTIES, ids=["l1", "elastic net"])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_the_first_point_is_the_minimiser_of_the_general_method(loss, penalty, intercept, monkeypatch):
    problem = problem_of(loss, penalty, intercept)
    assert module.is_small(problem)
    found = fl.minimize(problem, "working-set", tol=1e-8)
    monkeypatch.setattr(module, "MOST_PRODUCTS", 0)
    general = fl.minimize(problem, "working-set", tol=1e-8)
    assert found.converged
    assert fl.verify(problem, found).holds
    assert len(found.history.rows) == 1
    np.testing.assert_allclose(found.objective, general.objective, atol=2e-8 * problem.scale)
    np.testing.assert_allclose(found.w, general.w, atol=1e-2 * np.abs(general.w).max())


def test_sparse_rows_give_the_same_steps():
    dense, sparse = (problem_of(fl.Logistic(), fl.L1(0.02), "free", convert=kind) for kind in (np.asarray, sp.csr_array))
    points = [steps_of_small_l1_problem(problem, 0.02, 0.0, 1e-8)[0] for problem in (dense, sparse)]
    np.testing.assert_allclose(*points, rtol=1e-9)


def test_a_strength_at_which_all_weights_are_zero_takes_no_step():
    problem = problem_of(fl.Logistic(), fl.L1(100.0), "free")
    w, steps = steps_of_small_l1_problem(problem, *elastic_net_strengths(problem.penalised), 1e-6)
    assert steps == 0
    assert not w[:-1].any()
    assert fl.minimize(problem, "working-set", tol=1e-6).converged


def test_losses_without_second_derivatives_and_large_problems_are_left_to_the_general_method():
    X, y = np.ones((3, 2)), np.array([1.0, -1.0, 1.0])
    assert not has_small_l1_steps(fl.Problem(X, y, fl.Hinge(), fl.L1(1.0)))
    assert not module.is_small(fl.Problem(np.ones((2, 3)), y[:2], fl.Logistic(), fl.L1(1.0)))  # more columns than rows
    assert not module.is_small(fl.Problem(np.ones((3000, 100)), np.ones(3000), fl.Logistic(), fl.L1(1.0)))

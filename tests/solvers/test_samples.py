"""Second-order methods on tall data begin at the minimiser of a sample of the rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fenchel as fl
from fenchel.solvers._second_order import samples
from fenchel.solvers._second_order.samples import minimum_on_sample, samples_tell

SOLVERS = {"newton": fl.L2(1e-4), "working-set": fl.L1(1e-3)}


def tall(m: int = 12_000, n: int = 30) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, n))
    return X, np.sign(X @ rng.standard_normal(n) + 2.0 * rng.standard_normal(m))


@pytest.mark.parametrize("intercept", [0.0, pytest.param("free", marks=pytest.mark.slow)])
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_result_is_certified_after_fewer_steps(solver, intercept, monkeypatch):
    problem = fl.Problem(*tall(), fl.Logistic(), SOLVERS[solver], intercept=intercept)
    assert samples_tell(problem)
    found = fl.minimize(problem, solver, tol=1e-5)
    monkeypatch.setattr(samples, "FEWEST", np.inf)
    without = fl.minimize(problem, solver, tol=1e-5)
    assert found.converged
    assert fl.verify(problem, found).holds
    assert len(found.history) < len(without.history)
    np.testing.assert_allclose(found.objective, without.objective, atol=1e-5)


def test_the_minimum_on_a_sample_is_near_that_on_all_rows():
    problem = fl.Problem(*tall(), fl.Logistic(), fl.L2(1e-4))
    rng = np.random.default_rng(1)
    newton = fl.solvers.solvers()["newton"]
    w, passes = minimum_on_sample(
        problem, rng, 1.0, lambda sample, enough: newton.run(sample, start=None, rng=rng, accuracy=enough, most_passes=100.0)
    )
    best = fl.minimize(problem, tol=1e-9).objective
    rows = problem.m / samples.GROWTH
    assert problem.objective(w) - best <= 3.0 * problem.objective_at_zero * problem.n / rows
    assert 0.0 < passes < 10.0 / samples.GROWTH * 3.0


def test_same_seed_same_result():
    problem = fl.Problem(*tall(), fl.Logistic(), fl.L2(1e-4))
    first, second = (fl.minimize(problem, "newton", tol=1e-4, seed=3).w for _ in range(2))
    assert np.array_equal(first, second)


def test_samples_need_rows_for_every_weight_and_rows_that_can_be_taken():
    X, y = tall()
    assert not samples_tell(fl.Problem(X[:1000], y[:1000], fl.Logistic(), fl.L2(1e-4)))
    assert not samples_tell(fl.Problem(X, y, fl.Squared(), fl.L2(1e-4)))
    assert samples_tell(fl.Problem(sp.csr_array(X), y, fl.Logistic(), fl.L2(1e-4)))
    assert not samples_tell(fl.Problem(sp.csc_array(X), y, fl.Logistic(), fl.L2(1e-4)))
    assert not samples_tell(fl.Problem(X, np.where(np.arange(len(y)) < 50, 1.0, -1.0), fl.Logistic(), fl.L2(1e-4)))  # a rare class
    assert not samples_tell(fl.Problem(X, y, fl.Logistic(), fl.L2(1e-4), sample_weight=np.arange(len(y)) < 50))

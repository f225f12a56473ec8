"""Accelerated SDCA: its bounds are valid and can be checked, and its state is not used for another problem."""

from __future__ import annotations

import math

import numpy as np
import pytest

import fenchel as fl
from fenchel.solvers import solvers
from fenchel.solvers.accelerated_sdca import accelerated_sdca, practical
from tests.data import breast_cancer, data


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", [1, 22, 30, 39])
def test_rounding_is_not_amplified_into_a_bound(seed):
    """The paper's stopping rules multiply the inner gap by ρ/μ: the part that is rounding error must not count."""
    rng = np.random.default_rng(seed)
    X = 100 * rng.standard_normal((50, 5))
    y = np.sign(X[:, 0] + 50 * rng.standard_normal(50))
    problem = fl.Problem(X, y, fl.Logistic(), fl.L2(1e-8))
    result = fl.minimize(problem, "accelerated-sdca", tol=1e-3, max_passes=300)
    best = fl.minimize(problem, "lbfgs", tol=1e-6, max_passes=3000).objective
    assert result.dual_objective <= best + 1e-9
    if result.converged:
        assert result.objective - best <= 1e-3 * problem.objective_at_zero


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("loss", [fl.Hinge(), fl.Logistic()])
def test_the_reported_gap_can_be_checked_on_badly_scaled_data(scaled, loss):
    X, y = breast_cancer(scaled)
    problem = fl.Problem(X, y, loss, fl.L2(1.0 / len(y)), intercept=1.0)
    for variant in ("faithful", "practical"):
        result = fl.minimize(problem, "accelerated-sdca", tol=1e-6, max_passes=1500, variant=variant)
        assert result.gap >= problem.gap(result.w, result.alpha) * (1 - 1e-9)


def test_state_is_not_used_for_another_problem():
    """ξ of one problem would prove false bounds for another."""
    weak = {"regularizer": fl.L2(1e-4), "loss": fl.SmoothHinge()}
    X, y = data("binary")
    easy, hard = fl.Problem(X, np.ones(len(y)), **weak), fl.Problem(X, y, **weak)
    done = fl.minimize(easy, "accelerated-sdca", tol=1e-8)
    best = fl.minimize(hard, "lbfgs", tol=1e-10).objective
    steps = solvers()["accelerated-sdca"]
    result = fl.minimize(hard, steps.name, tol=1e-6, start=done)
    assert result.converged
    assert result.objective <= best + 1e-6 * hard.objective_at_zero
    assert result.dual_objective <= best + 1e-12


@pytest.mark.parametrize("variant", ["faithful", "practical"])
def test_zero_tolerance_and_zero_data_are_accepted(variant):
    X, y = data("binary")
    for chosen in (X, np.zeros_like(X)):
        result = fl.minimize(fl.Problem(chosen, y, fl.Logistic(), fl.L1(0.05)), "accelerated-sdca", variant=variant, tol=0.0, max_passes=5)
        assert math.isfinite(result.gap)


@pytest.mark.parametrize("loss", [fl.Hinge(), fl.Logistic(), fl.Softmax()], ids=lambda loss: type(loss).__name__)
def test_the_progressive_loss_is_that_before_each_step(loss):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 4)), rng.integers(0, 3, 40) if loss.labels == "class" else np.where(rng.random(40) < 0.5, 1.0, -1.0)
    problem = fl.Problem(X, y, loss, fl.L2(1e-2))
    iterates = accelerated_sdca.run(problem, start=None, rng=np.random.default_rng(1), accuracy=0.0, variant="practical", progressive=True)
    first, second = (next(iterates)._replace() for _ in range(2))
    largest, smallest = problem.objective_at_zero, problem.mean_loss(problem.predict(fl.minimize(problem, tol=1e-8).w))
    assert smallest < first.mean_loss < largest * 1.5
    assert second.mean_loss < first.mean_loss
    plain = next(accelerated_sdca.run(problem, start=None, rng=np.random.default_rng(1), accuracy=0.0, variant="practical"))
    assert np.isnan(plain.mean_loss)
    one = problem.on_rows([0])
    assert next(practical(one, None, np.random.default_rng(0), progressive=True)).mean_loss == pytest.approx(one.objective_at_zero)

"""The theorems: the smallest T that satisfies a bound, the strength that balances it, and validity of the bound."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

import fenchel as fl
from fenchel import theory
from tests.data import signed_rows

positive = st.floats(1e-4, 1e3)
X, Y = signed_rows()


@given(st.floats(1e-3, 10.0), positive, positive, st.floats(0.01, 0.99))
def test_the_planned_iterations_are_the_fewest_that_satisfy_theorem_1(accuracy, strength, lipschitz, delta):
    plan = theory.plan_optimization(accuracy, strength, lipschitz, delta)

    def bound(T):
        return lipschitz**2 * (1.0 + math.log(T)) / (2.0 * strength * T * delta)

    assert bound(plan.iterations) <= accuracy
    assert plan.iterations == 1 or bound(plan.iterations - 1) > accuracy
    assert plan.bound == pytest.approx(bound(plan.iterations))


@given(st.floats(1.05, 2.0), positive, st.floats(0.01, 0.99), st.integers(10**3, 10**9), st.floats(0.01, 0.99))
def test_the_strength_minimises_the_bound_of_theorem_2(p, norm, delta, rows, share):
    T = 1.0 + rows * share
    sigma = theory.balanced_strength(T, rows, norm, 1.0, p, delta)

    def bound(sigma):
        return theory.generalization_bound(T, sigma, rows, norm, 1.0, p, delta)

    assert all(bound(sigma) <= bound(factor * sigma) for factor in (0.5, 0.99, 1.01, 2.0))
    assert bound(sigma) == pytest.approx(2.0 * sigma * norm**2 / (2.0 * (p - 1.0)))


def test_more_rows_need_fewer_iterations():
    plans = [theory.plan_generalization(0.5, rows, norm=1.0, lipschitz=1.0) for rows in (10**4, 10**5, 10**6, 10**7)]
    iterations = [plan.iterations for plan in plans]
    assert iterations == sorted(iterations, reverse=True)
    assert len(set(iterations)) == 4
    assert all(plan.bound <= 0.5 for plan in plans)


def test_an_unreachable_error_is_refused_with_the_number_of_rows_it_needs():
    with pytest.raises(ValueError, match=r"error=0.01 cannot be reached by the bound with 1,000 rows.*more than [\d,]+ rows"):
        theory.plan_generalization(0.01, 1000, norm=1.0, lipschitz=1.0)
    needed = None
    try:
        theory.plan_generalization(0.01, 1000, norm=1.0, lipschitz=1.0)
    except ValueError as error:
        needed = int(str(error).rsplit("more than ", 1)[1].split(" ")[0].replace(",", ""))
    assert theory.plan_generalization(0.01, needed + needed // 100, norm=1.0, lipschitz=1.0).iterations > 0


def test_invalid_numbers_are_refused():
    for call, message in [
        (lambda: theory.plan_optimization(0.0, 1.0, 1.0), "accuracy=0.0: give a positive number"),
        (lambda: theory.plan_optimization(0.1, -1.0, 1.0), "strength=-1.0: give a positive number"),
        (lambda: theory.plan_optimization(0.1, 1.0, 1.0, delta=1.0), "delta=1.0: the probability of failure"),
        (lambda: theory.plan_generalization(0.1, 10**9, 1.0, 1.0, p=1.0), r"p=1.0: p must lie in \(1, 2\]"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.parametrize("regularizer", [fl.L2(0.1), fl.SquaredLp(0.1, 1.5), fl.L1L2(l1=0.01, l2=0.1)], ids=str)
def test_pgs_reaches_the_accuracy_of_its_plan(regularizer):
    """A random one of w_1, …, w_T satisfies the bound of Theorem 1."""
    X, y = fl.datasets.make_text(200, n=100, nonzeros=8, seed=0)
    problem = fl.Problem(X, y, fl.Hinge(), regularizer)
    plan = fl.plan(problem, accuracy=0.2, delta=0.5)
    best = fl.minimize(problem, "sdca", tol=1e-6).objective
    run = {"tol": 0.0, "max_passes": math.ceil(plan.passes), "sampling": "replacement", "predictor": "random"}
    off = [problem.objective(fl.minimize(problem, "pgs", seed=seed, **run).iterate.w) - best for seed in range(10)]
    assert np.mean(np.array(off) <= 0.2) >= 0.5
    assert plan.iterations == pytest.approx(plan.passes * 200)


def test_a_plan_needs_a_lipschitz_loss_and_a_strongly_convex_regularizer():
    X, y = np.ones((3, 1)), np.ones(3)
    with pytest.raises(ValueError, match="Squared has no method lipschitz"):
        fl.plan(fl.Problem(X, y, fl.Squared(), fl.L2(0.1)), accuracy=0.1)
    with pytest.raises(ValueError, match="L1 is not strongly convex"):
        fl.plan(fl.Problem(X, y, fl.Hinge(), fl.L1(0.1)), accuracy=0.1)
    with pytest.raises(TypeError, match=r"plan takes a fenchel\.Problem"):
        fl.plan(3, accuracy=0.1)


def test_plans_accept_numpy_numbers_and_refuse_other_values():
    assert theory.plan_generalization(0.5, np.int64(10**6), 1.0, np.float32(1.0)).iterations > 0
    for call, message in [
        (lambda: theory.plan_optimization(0.1, 1.0, 1.0, rows=-3), "rows=-3: give a positive number"),
        (lambda: theory.plan_optimization("a", 1.0, 1.0), "accuracy='a': give a positive number"),
        (lambda: theory.plan_optimization(0.1, 1.0, 1.0, delta="x"), "delta='x': the probability"),
        (lambda: theory.plan_generalization(0.5, 10**6, 1.0, 1.0, p="a"), "p='a': p must lie"),
        (lambda: theory.plan_optimization(0.1, 1.0, 1e200), "more than 1e300 iterations"),
        (lambda: fl.plan(fl.Problem(X, 0.0 * Y, fl.Absolute(), fl.L2(1.0)), 0.1), "the objective at w = 0 is 0"),
    ]:
        with pytest.raises(ValueError, match=f"(?i){message}"):
            call()

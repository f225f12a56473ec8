"""Certificates from the products of columns: objectives as of the rows, bounds below the optimum, and tight at it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import fenchel as fl
from fenchel.paths import Penalty, solve_by_products
from fenchel.solvers._coordinate.certified_gram_path import CertifiedGramPath
from fenchel.solvers._coordinate.gram_certificate import GramCertificate
from fenchel.solvers._second_order.normal_equations import NormalEquations


def some_problem(seed, m, n, l1, l2, intercept, exponent=0.0, shift=0.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, n)) * 10.0 ** (exponent * rng.uniform(-1.0, 1.0, n)) + shift
    y = X @ rng.standard_normal(n) + rng.standard_normal(m)
    weights = rng.uniform(0.0, 2.0, m)
    penalty = fl.L1L2(l1=l1, l2=l2) if l2 else fl.L1(l1)
    return fl.Problem(X, y, fl.Squared(), penalty, intercept=intercept, sample_weight=weights)


cases = st.tuples(
    st.integers(0, 10**6),
    st.integers(6, 40),
    st.integers(1, 6),
    st.sampled_from([1e-3, 0.1, 3.0]),
    st.sampled_from([0.0, 1e-3, 1.0]),
    st.sampled_from([0.0, "free"]),
    st.sampled_from([0.0, 3.0]),
    st.sampled_from([0.0, 50.0]),
)


@settings(max_examples=60, deadline=None)
@given(cases, st.floats(-2.0, 1.0))
def test_bounds_hold_for_any_weights(case, size):
    problem = some_problem(*case)
    l1, l2 = case[3], case[4]
    certificate = GramCertificate(equations := NormalEquations(problem))
    w = 10.0**size * np.random.default_rng(1).standard_normal(case[2])
    objective, error, bound = certificate.bounds(w, certificate.gradient(w), l1, l2)
    whole = equations.with_intercept(w)
    assert objective == pytest.approx(problem.objective(whole), rel=1e-9, abs=2.0 * error)
    best = fl.minimize(problem, tol=1e-9)
    assert bound <= best.objective + best.objective_error


@settings(max_examples=60, deadline=None)
@given(cases)
def test_the_gap_is_small_at_the_optimum(case):
    problem = some_problem(*case[:6])
    path = CertifiedGramPath(problem)
    result = path.result(problem, 1e-7)
    assert result.converged
    assert result.objective == pytest.approx(problem.objective(result.w), rel=1e-12)


def exact_objective(X, y, w, l1):
    """P(w) as a fraction."""
    w = [Fraction(value) for value in w.tolist()]
    total = Fraction(0)
    for row, target in zip(X.tolist(), y.tolist(), strict=True):
        total += (sum(Fraction(x) * k for x, k in zip(row, w, strict=True)) - Fraction(target)) ** 2
    return total / (2 * len(y)) + Fraction(l1) * sum(map(abs, w))


@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_rounding_is_allowed_for(scale):
    """No computed interval lies beside the exact value, for columns that nearly cancel."""
    rng = np.random.default_rng(0)
    base = rng.standard_normal((30, 1))
    X = scale * np.concatenate([base, base + 1e-7 * rng.standard_normal((30, 1)), rng.standard_normal((30, 1))], axis=1)
    y = X @ np.array([1.0, -1.0, 1.0 / scale])
    problem = fl.Problem(X, y, fl.Squared(), fl.L1(1e-3))
    certificate = GramCertificate(NormalEquations(problem))
    for _ in range(20):
        w = rng.standard_normal(3) * 10.0 ** rng.uniform(-3.0, 3.0, 3)
        objective, error, bound = certificate.bounds(w, certificate.gradient(w), 1e-3, 0.0)
        exact = exact_objective(X, y, w, 1e-3)
        assert abs(Fraction(objective) - exact) <= Fraction(error)
        assert Fraction(bound) <= exact_objective(X, y, np.array([1.0, -1.0, 1.0 / scale]), 1e-3)


def test_a_path_ends_where_rounding_is_too_large():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3)) * np.array([1e9, 1.0, 1e-1])
    problem = fl.Problem(X, 10.0 * X[:, 2] + 0.01 * rng.standard_normal(40), fl.Squared(), fl.L1(1.0))
    grid = np.geomspace(1.0, 1e-4, 10)
    options = {"tol": 1e-6, "callback": fl.paths.StopCallback(), "threads": 1, "solver": "auto", "max_passes": 1000, "seed": 0}
    tolerances = fl.paths.Tolerances(problem, 1e-6, True)
    found = list(solve_by_products(problem, grid, Penalty(1.0, False), options, tolerances))
    assert all(result.converged for result in found)
    whole = list(fl.paths.solve_all(problem, grid, Penalty(1.0, False), options))
    assert len(whole) == len(grid) > len(found)


def test_a_constant_loss_and_columns_of_zeros_are_accepted():
    for X, y in ((np.zeros((8, 2)), np.ones(8)), (np.ones((8, 2)), np.zeros(8))):
        for intercept in (0.0, "free"):
            problem = fl.Problem(X, y, fl.Squared(), fl.L1(0.1), intercept=intercept)
            certificate = GramCertificate(NormalEquations(problem))
            w = np.zeros(2)
            objective, _, bound = certificate.bounds(w, certificate.gradient(w), 0.1, 0.0)
            assert bound <= objective == pytest.approx(problem.objective(problem.origin))

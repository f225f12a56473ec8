"""The objective, its dual and the bounds between them, against plain NumPy and against the definitions."""

from __future__ import annotations

import itertools
import logging
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st

import fenchel as fl
from fenchel.problems.intercepts import balanced_classes
from tests.data import data
from tests.references import instances, reference

LOSSES, REGULARIZERS = instances()


def problem(loss, regularizer, **options):
    X, y = data(loss.labels)
    return fl.Problem(X, y, loss, regularizer, **options)


def feasible(chosen, seed=0, size=1.0):
    """A random w in the domain of Ω."""
    w = size * np.random.default_rng(seed).standard_normal(chosen.shape)
    if chosen.regularizer.separable:
        return chosen.prox(w, 1e-12)
    radius = getattr(chosen.regularizer, "radius", np.inf)
    return w * min(1.0, 0.9 * radius / np.abs(w).sum())


@pytest.mark.parametrize("loss", LOSSES)
def test_objective_is_the_weighted_mean_loss_plus_the_penalty(loss):
    s = np.random.default_rng(1).random(40)
    chosen = problem(LOSSES[loss], fl.L1L2(l1=0.2, l2=0.3), sample_weight=s)
    w = feasible(chosen)
    X, y = data(LOSSES[loss].labels)
    z = X @ w
    mean = sum(si * LOSSES[loss].value(zi, yi) for si, zi, yi in zip(s, z, y, strict=True)) / s.sum()
    assert chosen.objective(w) == pytest.approx(mean + 0.15 * (w**2).sum() + 0.2 * np.abs(w).sum())


@pytest.mark.parametrize("regularizer", REGULARIZERS)
@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared", "absolute", "softmax", "multiclass-hinge"])
def test_the_gap_is_never_negative_and_bounds_the_distance_to_the_optimum(loss, regularizer):
    chosen = problem(LOSSES[loss], REGULARIZERS[regularizer])
    best = reference(loss, regularizer)
    for seed in range(5):
        w = feasible(chosen, seed, size=10.0 ** (seed - 2))
        alpha = chosen.dual_point(w)
        assert chosen.dual_objective(alpha) <= best + 1e-7
        assert chosen.lower_bound(alpha, objective=chosen.objective(w)) <= best + 1e-7
        assert chosen.gap(w) >= chosen.objective(w) - best - 1e-7
        assert chosen.gap(w, np.zeros_like(alpha)) >= chosen.objective(w) - best - 1e-7


@pytest.mark.parametrize("loss", ["logistic", "squared", "smooth-hinge", "softmax", "smooth-multiclass-hinge", "huber"])
@pytest.mark.parametrize("regularizer", [fl.L2(0.1), fl.SquaredLp(0.2, 1.5)], ids=["l2", "squared-lp"])
def test_gradient_is_the_derivative_of_the_objective(loss, regularizer):
    chosen = problem(LOSSES[loss], regularizer)
    w, direction = feasible(chosen, 1), feasible(chosen, 2)
    h = 1e-6
    slope = (chosen.objective(w + h * direction) - chosen.objective(w - h * direction)) / (2 * h)
    assert (chosen.gradient(w) * direction).sum() == pytest.approx(slope, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("loss", ["hinge", "multiclass-hinge"])
def test_stochastic_subgradients_average_to_the_subgradient(loss):
    s = np.random.default_rng(0).random(40)
    chosen = problem(LOSSES[loss], fl.L1L2(l1=0.1, l2=0.1), sample_weight=s)
    w = feasible(chosen)
    average = np.mean([chosen.subgradient(w, [i]) for i in range(40)], axis=0)
    np.testing.assert_allclose(average, chosen.gradient(w), atol=1e-12)
    np.testing.assert_allclose(chosen.subgradient(w, np.arange(40)), chosen.gradient(w), atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_subgradients_support_the_objective(loss):
    chosen = problem(LOSSES[loss], fl.L1(0.1))
    w = feasible(chosen, 3)
    for seed in range(5):
        other = feasible(chosen, seed + 10)
        assert chosen.objective(other) >= chosen.objective(w) + (chosen.gradient(w) * (other - w)).sum() - 1e-9


def test_constants():
    X, y = data("binary")
    chosen = problem(fl.Logistic(), fl.L2(0.1))
    norms = np.linalg.norm(X, axis=1)
    assert chosen.radius == pytest.approx(norms.max())
    assert chosen.objective_at_zero == pytest.approx(np.log(2))
    assert chosen.lipschitz == pytest.approx(norms.mean())
    hessian = X.T @ X / len(y) / 4
    assert chosen.smoothness >= np.linalg.eigvalsh(hessian).max()
    assert np.isinf(problem(fl.Hinge(), fl.L2(0.1)).smoothness)


def test_zero_outside_the_box_moves_the_reference_point():
    chosen = problem(fl.Squared(), fl.Box(1.0, 2.0))
    assert np.all(chosen.origin == 1.0)
    assert chosen.objective_at_zero == chosen.objective(np.ones(6))


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 12), st.integers(1, 6), st.integers(0, 10**6), st.floats(0.0, 1.0))
def test_any_small_data_make_a_certified_problem(m, n, seed, density):
    """More columns than rows, empty rows and columns, single rows, duplicates: all ordinary."""
    rng = np.random.default_rng(seed)
    X = sp.random(m, n, density=density, random_state=rng, format="csr")
    y = rng.choice([-1.0, 1.0], m)
    result = fl.minimize(fl.Problem(X, y, fl.Logistic(), fl.L2(0.1)), tol=1e-6)
    assert result.converged
    assert result.objective <= np.log(2) + 1e-12


def test_x_is_not_copied_and_not_changed():
    X, y = data("binary")
    before = X.copy()
    chosen = fl.Problem(X, y, fl.Logistic(), fl.L2(0.1))
    fl.minimize(chosen, tol=1e-3)
    assert np.shares_memory(chosen.design.rows.values, X)
    assert np.array_equal(X, before)


def test_a_forced_copy_is_logged_at_debug_level(caplog):
    X, y = data("binary")
    with caplog.at_level(logging.DEBUG, logger="fenchel"):
        fl.minimize(fl.Problem(sp.csc_array(X), y, fl.Logistic(), fl.L2(0.1)), "sdca")
    assert "copying" in caplog.text


@fl.compiled
class Pseudo(NamedTuple):
    """Pseudo-Huber, known by its value and derivative alone."""

    width: float = 1.0

    def value(self, z, y):
        return self.width**2 * ((1.0 + ((z - y) / self.width) ** 2) ** 0.5 - 1.0)

    def derivative(self, z, y):
        return (z - y) / (1.0 + ((z - y) / self.width) ** 2) ** 0.5


@fl.compiled
class OwnLogistic(NamedTuple):
    """A copy of the logistic loss without its dual step."""

    def value(self, z, y):
        return np.log1p(np.exp(-y * z))

    def derivative(self, z, y):
        return -y / (1.0 + np.exp(y * z))

    def conjugate(self, u, y):
        a = -u * y
        if a < 0.0 or a > 1.0:
            return np.inf
        return (a * np.log(a) if a > 0.0 else 0.0) + ((1.0 - a) * np.log(1.0 - a) if a < 1.0 else 0.0)

    def smoothness(self):
        return 0.25


@pytest.mark.parametrize("regularizer", [fl.L2(0.05), fl.L1(0.05), fl.L1L2(l1=0.05, l2=0.05)], ids=["l2", "l1", "l1-l2"])
def test_a_users_loss_is_certified_by_its_value_and_derivative(regularizer):
    X, y = data("real")
    result = fl.minimize(fl.Problem(X, y, Pseudo(2), regularizer), tol=1e-6)
    assert result.solver in ("fista", "lbfgs")
    assert result.converged


def test_a_users_loss_gets_the_step_rule_of_the_paper():
    X, y = data("binary")
    own, ours = (fl.minimize(fl.Problem(X, y, loss, fl.L2(0.05)), "sdca", tol=1e-9) for loss in (OwnLogistic(), fl.Logistic()))
    assert own.converged
    np.testing.assert_allclose(own.w, ours.w, atol=1e-4)


def test_the_error_for_a_loss_without_a_conjugate_names_the_solvers_that_take_it():
    X, y = data("real")
    with pytest.raises(
        ValueError, match="sdca needs a loss with a conjugate, and Pseudo has none: use solver='bundle' or 'fista' or 'lbfgs'"
    ):
        fl.minimize(fl.Problem(X, y, Pseudo(), fl.L2(1.0)), "sdca")


def test_weights_that_are_not_finite_have_no_certificate():
    problem = fl.Problem(*data("real"), fl.Squared(), fl.L2(0.1))
    with np.errstate(all="ignore"):
        assert np.isinf(problem.gap(np.full(6, np.nan)))
        assert np.isinf(problem.gap(np.full(6, np.inf)))
        assert np.isinf(problem.gap(np.zeros(6), np.full(40, np.nan)))


@pytest.mark.parametrize("size", [1e-320, 1e308])
def test_sample_weights_of_any_size_are_relative(size):
    X, y = data("binary")
    plain, scaled = (fl.Problem(X, y, fl.Logistic(), fl.L2(0.1), sample_weight=s) for s in (None, np.full(40, size)))
    assert scaled.objective(np.ones(6)) == pytest.approx(plain.objective(np.ones(6)))


def test_a_dual_point_of_the_wrong_shape_is_refused():
    problem = fl.Problem(*data("real"), fl.Squared(), fl.L2(0.1))
    for ask in (problem.lower_bound, problem.dual_objective, lambda alpha: problem.gap(np.zeros(6), alpha)):
        with pytest.raises(ValueError, match="alpha has shape"):
            ask(np.array([1.0]))


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 5), st.integers(1, 12), st.integers(0, 10**6))
def test_balanced_classes_are_balanced_and_stay_probabilities(K, m, seed):
    rng = np.random.default_rng(seed)
    y, row_weights = rng.integers(0, K, m), rng.random(m)
    p = rng.dirichlet(np.full(K, 0.3), m)
    alpha = np.eye(K)[y] - p
    found = balanced_classes(alpha, y, row_weights)
    q = np.eye(K)[y] - found
    assert np.abs(row_weights @ found).max() <= 1e-12
    assert q.min() >= -1e-15
    np.testing.assert_allclose(q.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(balanced_classes(found, y, row_weights), found, atol=1e-10)


def test_a_loss_with_an_unknown_kind_of_labels_is_refused():
    class Misspelt(fl.Squared):
        labels = "reel"

    with pytest.raises(fl.InputError, match=r"Misspelt\.labels is 'reel': give 'real', 'binary' or 'class'"):
        fl.Problem(np.eye(2), np.ones(2), fl.compiled(Misspelt)(), fl.L2(1.0))


@pytest.mark.parametrize("regularizer", [fl.L2(0.3), fl.L1L2(l1=0.2, l2=0.3), fl.L1(0.5)], ids=repr)
@pytest.mark.parametrize("intercept", [0.0, "free"])
def test_the_conjugate_around_v_is_that_of_the_farthest_end(regularizer, intercept):
    rng = np.random.default_rng(0)
    problem = fl.Problem(rng.standard_normal((20, 4)), rng.standard_normal(20), fl.Squared(), regularizer, intercept=intercept)
    assert problem.elastic_net is not None
    v, distance = 0.1 * rng.standard_normal(problem.n), rng.uniform(0.0, 0.1, problem.n)
    if problem.free:
        v[-1] = 0.0
    fast = problem.penalty_conjugate_around(v, distance)
    for sides in itertools.product([-1.0, 1.0], repeat=4):
        moved = v.copy()
        moved[:4] += sides * distance[:4]
        assert problem.penalty_conjugate(moved) <= fast
    vars(problem)["elastic_net"] = None
    assert fast == pytest.approx(problem.penalty_conjugate_around(v, distance), rel=1e-12)


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 12), st.integers(1, 9), st.sampled_from([1e-200, 1e-3, 1.0, 1e200]), st.booleans(), st.integers(0, 10**6))
def test_no_prediction_has_larger_terms_than_the_bound(m, n, scale, classes, seed):
    rng = np.random.default_rng(seed)
    X = sp.random_array((m, n), density=0.5, rng=rng, format="csr")
    loss, y = (fl.Softmax(), np.arange(m) % 2) if classes and m > 1 else (fl.Squared(), rng.standard_normal(m))
    problem = fl.Problem(X, y, loss, fl.L2(1.0), intercept=3.0)
    w = scale * rng.standard_normal(problem.shape)
    largest = (np.abs(X.toarray()) @ np.abs(w[:-1]) + 3.0 * np.abs(w[-1])).max()
    from_rows = problem._largest_prediction(w)
    assert not problem.design.knows_largest
    assert problem.design.largest.shape == (problem.n,)
    from_columns = problem._largest_prediction(w)
    assert largest <= from_rows * (1.0 + 1e-12)
    assert largest <= from_columns * (1.0 + 1e-12)
    assert problem._largest_prediction(np.zeros(problem.shape)) == 0.0

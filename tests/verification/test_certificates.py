"""``fl.verify`` proves true certificates, in both arithmetics, and refuses false ones."""

from __future__ import annotations

import dataclasses
import math
import warnings
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp

import fenchel as fl
from fenchel.verification.arithmetic import arithmetic
from fenchel.verification.certificates import Check, balanced_classes
from tests.data import data
from tests.references import instances

LOSSES, REGULARIZERS = instances()


def solved(problem, tol=1e-6):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return fl.minimize(problem, tol=tol, max_passes=50)


def taken(loss, regularizer, intercept, storage=np.asarray):
    X, y = data(loss.labels)
    try:
        return fl.Problem(storage(X), y, loss, regularizer, intercept=intercept)
    except fl.InputError:
        return None


@pytest.mark.parametrize("regularizer", REGULARIZERS.values(), ids=map(str, REGULARIZERS.values()))
@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_definitions_agree_with_the_compiled_ones_in_both_arithmetics(loss, regularizer):
    rng = np.random.default_rng(0)
    for intercept, storage in ((0.5, np.asarray), ("free", sp.csr_array)):
        problem = taken(loss, regularizer, intercept, storage)
        if problem is None:
            continue
        w = problem.nearest(0.1 * rng.standard_normal(problem.shape))
        w = 0.01 * w if not math.isfinite(problem.penalty(w)) else w
        alpha = problem.dual_point(w)
        objective = problem.objective(w)
        error = problem.objective_error(w, problem.predict(w), objective)
        below = problem.lower_bound(alpha, objective=objective + error)
        for exact in (False, True):
            check = Check(problem, w, arithmetic(exact))
            assert objective - error <= check.above <= objective + error
            point = check.point(alpha)
            if not exact:
                scale = check.best_scale(point)
            assert check.bound(point, scale) >= below


@pytest.mark.parametrize("exact", [False, True], ids=["extended", "exact"])
@pytest.mark.parametrize("shift", [0.0, 1e9, 1e12])
@pytest.mark.parametrize("loss", [fl.Squared(), fl.Absolute(), fl.Huber(0.5), fl.Quantile(0.3)], ids=lambda loss: type(loss).__name__)
def test_labels_far_from_zero_have_true_certificates(loss, shift, exact):
    X, y = data("real")
    problem = fl.Problem(X, y + shift, loss, fl.L2(0.05), intercept="free")
    for solver in ("auto", "sdca", "lbfgs") if hasattr(loss, "curvature") else ("auto", "sdca"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            result = fl.minimize(problem, solver, tol=1e-8, max_passes=100)
        checked = fl.verify(problem, result, exact=exact)
        assert checked.holds, (solver, checked)
        assert result.gap <= 1e-3 * problem.centred().scale


def test_constant_labels_are_fitted_exactly():
    X, _ = data("real")
    for value in (0.0, 3.7, -1e300, 5e-324):
        result = fl.minimize(fl.Problem(X, np.full(len(X), value), fl.Squared(), fl.L2(0.1), intercept="free"))
        assert (result.converged, result.objective, result.gap, result.intercept) == (True, 0.0, 0.0, value)


def test_a_tiny_multiple_of_a_dual_point_has_a_true_bound():
    """log(1 − p) is rounded by as much as the 1 in it, however small p is."""
    for strength in np.geomspace(1e-9, 1e-7, 20):
        problem = fl.Problem(np.array([[2.0]]), [-1.0], fl.Logistic(), fl.L1(strength))
        alpha = np.array([-0.2])
        check = Check(problem, np.zeros(1), arithmetic(True))
        largest = check.bound(check.point(alpha)) * (1.0 + 1e-12)  # at the largest multiple that is feasible
        assert 0.99 * largest < problem.lower_bound(alpha) <= largest


def test_a_false_claim_does_not_hold():
    problem = taken(fl.Logistic(), fl.L2(0.01), "free")
    result = solved(problem)
    assert fl.verify(problem, result).holds
    for change in ({"dual_objective": result.objective - 1e-15}, {"w": result.w + 0.1}):
        assert not fl.verify(problem, dataclasses.replace(result, **change)).holds
    worse = dataclasses.replace(result, w=np.zeros_like(result.w), alpha=np.zeros_like(result.alpha))
    assert not fl.verify(problem, worse).holds


def test_sparse_and_dense_rows_prove_the_same():
    X, y = data("binary")
    dense = fl.Problem(X, y, fl.Hinge(), fl.L2(0.05), intercept="free")
    result = solved(dense)
    for storage in (sp.csr_array(X), sp.csc_array(X), np.asfortranarray(X)):
        problem = fl.Problem(storage, y, fl.Hinge(), fl.L2(0.05), intercept="free")
        assert fl.verify(problem, result).gap == pytest.approx(fl.verify(dense, result).gap, rel=1e-6)


def test_a_user_defined_loss_is_checked_by_its_own_methods():
    @fl.compiled
    class Twice(NamedTuple):
        def value(self, z, y):
            return (z - y) ** 2

        def derivative(self, z, y):
            return 2.0 * (z - y)

        def conjugate(self, u, y):
            return u * y + 0.25 * u * u

        def smoothness(self):
            return 2.0

    X, y = data("real")
    problem = fl.Problem(X, y, Twice(), fl.L2(0.1))
    assert fl.verify(problem, solved(problem)).holds


def test_a_loss_that_contradicts_itself_ends_the_run():
    @fl.compiled
    class Wrong(NamedTuple):
        def value(self, z, y):
            return 0.5 * (z - y) ** 2

        def derivative(self, z, y):
            return z - y

        def conjugate(self, u, y):
            return u * y + 0.25 * u * u - 1.0

        def smoothness(self):
            return 1.0

    X, y = data("real")
    with pytest.warns(UserWarning, match="lower bound lies above the objective"):
        result = fl.minimize(fl.Problem(X, y, Wrong(), fl.L2(0.1)), "lbfgs")
    assert (result.status, result.converged, result.gap, result.dual_objective) == ("contradiction", False, math.inf, -math.inf)


def test_what_cannot_be_verified_is_refused():
    problem = taken(fl.Squared(), fl.L2(0.1), 0.0)
    result = solved(problem)
    with pytest.raises(TypeError, match="only rows in memory"):
        fl.verify(object(), result)
    with pytest.raises(TypeError, match=r"the result of fenchel\.minimize"):
        fl.verify(problem, result.w)
    with pytest.raises(fl.InputError, match="weights of shape"):
        fl.verify(taken(fl.Squared(), fl.L2(0.1), 1.0), result)


def test_balanced_classes_have_zero_sums_and_rows_on_the_simplex():
    rng = np.random.default_rng(1)
    y = np.array([0, 1, 2, 2, 1])
    p, r = rng.dirichlet(np.ones(3), size=5), rng.random(5)
    alpha = balanced_classes(np.eye(3)[y] - p, y, r)
    assert np.abs(r @ alpha).max() < 1e-15
    assert np.abs(alpha.sum(axis=1)).max() < 1e-15


def test_exact_fractions_stay_exact():
    for loss, regularizer in (
        (fl.Squared(), fl.L2(0.1)),
        (fl.Quantile(0.3), fl.Box(0.0, 1.0, fl.L1(0.1))),
        (fl.Softmax(), fl.L1L2(0.1, 0.2)),
    ):
        problem = taken(loss, regularizer, "free")
        w = np.full(problem.shape, 0.25)
        check = Check(problem, w, arithmetic(True))
        point = check.point(problem.dual_point(w))
        for part in (point.a, point.v, point.sizes):
            assert all(isinstance(value, Fraction) for value in part.ravel())
        assert not any(check.r @ column for column in np.atleast_2d(point.a.T))


def test_the_two_arithmetics_agree_and_bounds_never_cross():
    for loss in (fl.Squared(), fl.Logistic(), fl.Huber(0.5)):
        problem = taken(loss, fl.L2(0.1), "free")
        result = solved(problem, tol=1e-12)
        for exact in (False, True):
            checked = fl.verify(problem, result, exact=exact)
            assert 0.0 < checked.gap < 1e-12

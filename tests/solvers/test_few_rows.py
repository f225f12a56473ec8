"""Problems with far fewer rows than columns are solved in as many weights as there are rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fenchel as fl
from fenchel.solvers import interior_point, newton
from fenchel.solvers._second_order.few_rows import has_few_rows, in_terms_of_rows
from tests.data import labels_for


def wide(loss, intercept, convert=np.asarray):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((20, 150)) * (rng.random((20, 150)) < 0.5)
    y = labels_for(loss.labels, X[:, 0] + 0.5 * rng.standard_normal(20))
    return fl.Problem(convert(X), y, loss, fl.L2(0.05), intercept=intercept, sample_weight=rng.uniform(0.0, 2.0, 20))


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array, sp.csc_array], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("intercept", [0.0, 2.0, "free"])
@pytest.mark.parametrize("loss", [fl.Logistic(), fl.SquaredHinge(), fl.Squared(), fl.Hinge()], ids=lambda loss: type(loss).__name__)
def test_the_first_point_is_the_minimiser(loss, intercept, convert, monkeypatch):
    problem = wide(loss, intercept, convert)
    assert has_few_rows(problem)
    name, module = ("interior-point", interior_point) if isinstance(loss, fl.Hinge) else ("newton", newton)
    found = fl.minimize(problem, name, tol=1e-9)
    monkeypatch.setattr(module, "has_few_rows", lambda problem: False)
    general = fl.minimize(problem, name, tol=1e-9)
    assert found.converged
    assert fl.verify(problem, found).holds
    assert len(found.history) == 1
    np.testing.assert_allclose(found.w, general.w, atol=1e-4 * np.abs(general.w).max())


def test_equal_rows_and_rows_of_zeros_are_solved():
    problem = wide(fl.Logistic(), "free")
    rows = [0, 0, 0, 1, 1, 2, 3, 3]
    X = np.vstack([problem.design.storage[rows], np.zeros((3, 150))])
    repeated = fl.Problem(X, np.append(problem.y[rows], [1.0, -1.0, 1.0]), fl.Logistic(), fl.L2(0.05), intercept="free")
    assert fl.minimize(repeated, "newton", tol=1e-9).converged


@pytest.mark.parametrize("scale", [0.0, 1e200])
def test_products_that_vanish_or_overflow_leave_the_steps_to_newtons_method(scale):
    problem = fl.Problem(np.full((3, 20), scale), np.array([1.0, -1.0, 1.0]), fl.Logistic(), fl.L2(0.1))
    with np.errstate(all="ignore"):
        assert in_terms_of_rows(problem) is None


def test_other_shapes_are_refused():
    X = np.ones((300, 5000))
    assert not has_few_rows(fl.Problem(X, np.ones(300), fl.Logistic(), fl.L2(0.1)))  # too many rows for compiled steps
    assert not has_few_rows(fl.Problem(X[:20, :24], np.ones(20), fl.Logistic(), fl.L2(0.1)))

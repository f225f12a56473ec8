"""Weights for many strengths from one Gram matrix: the same as those of certified runs."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fenchel as fl
from fenchel.solvers._coordinate import column_path, dense_model, gram_path as module
from fenchel.solvers._coordinate.gram_path import gram_path, has_gram_path
from tests.data import data

STRENGTHS = [(0.5, 0.0), (0.1, 0.05), (0.01, 0.0), (0.0001, 0.01)]


SHAPES = {
    "tall": lambda X, y: (X, y),
    "shifted": lambda X, y: (X + 1e3, y),
    "sparse": lambda X, y: (sp.csr_array(np.where(np.abs(X) < 0.5, 0.0, X)), y),
}


@pytest.mark.parametrize(
    ("intercept", "shape"), [(0.0, "tall"), (0.0, "sparse"), ("free", "tall"), ("free", "sparse"), ("free", "shifted")]
)
def test_weights_are_those_of_certified_runs(intercept, shape):
    X, y = SHAPES[shape](*data("real"))
    weights = np.random.default_rng(0).uniform(0.0, 2.0, len(y))
    problem = fl.Problem(X, y, fl.Squared(), fl.L1(1.0), intercept=intercept, sample_weight=weights)
    assert has_gram_path(problem)
    found = gram_path(problem, STRENGTHS, 1e-9)
    for w, (l1, l2) in zip(found, STRENGTHS, strict=True):
        exact = problem.replace(regularizer=fl.L1L2(l1=l1, l2=l2) if l2 else fl.L1(l1))
        best = fl.minimize(exact, tol=1e-9)
        assert exact.objective(w) <= best.objective + 1e-7 * problem.objective_at_zero
        np.testing.assert_allclose(w[: X.shape[1]], best.coef, atol=1e-3)


def test_other_problems_are_refused():
    X, y = data("real")
    assert not has_gram_path(fl.Problem(X[:3], y[:3], fl.Squared(), fl.L1(1.0)))
    assert not has_gram_path(fl.Problem(X, y, fl.Huber(), fl.L1(1.0)))
    assert not has_gram_path(fl.Problem(X, y, fl.Squared(), fl.L1(1.0), intercept=1.0))


def test_a_strength_begins_at_its_solution_where_no_weight_changes_its_sign(monkeypatch):
    X, y = data("real")
    problem = fl.Problem(X, y, fl.Squared(), fl.L1(1.0), intercept="free")
    strengths = [(l1, 0.0) for l1 in (3e-4, 2e-4, 1e-4)]
    violations, minimise = [], module.minimise_by_gram

    def watched(G, l1, l2, w, g, *others):
        violations.append(dense_model.largest_violation(l1, l2, w, g))
        minimise(G, l1, l2, w, g, *others)

    monkeypatch.setattr(module, "minimise_by_gram", watched)
    found = gram_path(problem, strengths, 1e-13)
    signs = np.sign(found[:, :-1])
    assert signs.any()
    assert (signs == signs[0]).all(), "no sign changes on this path"
    assert violations[2] < 1e-3 * violations[1]
    by_columns = list(column_path.column_path(problem, strengths, 1e-13))
    np.testing.assert_allclose(by_columns, found, atol=1e-5)


@pytest.mark.parametrize("l2", [0.0, 0.1])
def test_the_order_of_a_gram_matrix_in_memory_changes_nothing(l2):
    X, y = data("real")
    found = []
    for order in "CF":
        G, w, g = np.array(X.T @ X / len(y), order=order), np.zeros(X.shape[1]), -X.T @ y / len(y)
        dense_model.minimise_by_gram(G, 0.01, l2, w, g, 1e-12, 100)
        found.append(w)
    np.testing.assert_allclose(*found, rtol=1e-9)

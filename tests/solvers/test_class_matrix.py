"""The matrix of the Newton equations of several classes against its definition, and the steps that it preconditions"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fenchel as fl
from fenchel.solvers._second_order import class_equations, class_matrix
from fenchel.solvers._second_order.class_equations import ClassCurvatures
from fenchel.solvers._second_order.class_matrix import ClassMatrix
from fenchel.solvers._second_order.newton_equations import penalties
from tests.data import linear_classes


def classes(m=60, n=4, l2=0.01, layout=np.asarray, **options):
    X, y = linear_classes(np.random.default_rng(1), m, n, noise=0.5)
    return fl.Problem(layout(X), y, fl.Softmax(), fl.L2(l2), sample_weight=1.0 + np.arange(m) % 3, **options)


def naive(problem, p):
    """The matrix, row by row."""
    X = problem.design.storage
    X = X.toarray() if sp.issparse(X) else X
    X = np.column_stack([X, np.full(problem.m, problem.intercept)]) if problem.intercept else X
    blocks = [r * np.kron(np.outer(x, x), np.diag(q) - np.outer(q, q)) for r, x, q in zip(problem.row_weights, X, p, strict=True)]
    return sum(blocks)


@pytest.mark.parametrize("kept", [True, False], ids=["products kept", "block by block"])
@pytest.mark.parametrize("intercept", [0.0, 2.0, "free"])
@pytest.mark.parametrize("layout", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("large", [1, 10**9], ids=["float32", "float64"])
def test_the_factors_are_those_of_the_matrix(kept, intercept, layout, large, monkeypatch):
    monkeypatch.setattr(class_matrix, "MOST_PRODUCTS", 10**9 if kept else 0)
    monkeypatch.setattr(class_matrix, "LARGE", large)
    problem = classes(layout=layout, intercept=intercept)
    rng = np.random.default_rng(0)
    p = ClassCurvatures(problem, rng.standard_normal((problem.m, problem.outputs)), np.float64).p
    penalty = penalties(problem.design, 0.01, problem.free)
    H = naive(problem, p) + np.diag(np.repeat(penalty, problem.outputs))
    g = H @ rng.standard_normal(H.shape[0])
    solution = ClassMatrix(problem, penalty[:, None]).inverse(p)(g.reshape(problem.shape)).reshape(-1)
    np.testing.assert_allclose(H @ solution, g, atol=1e-4 if large == 1 else 1e-9)
    assert np.linalg.eigvalsh(H).min() >= (-1e-12 if problem.free else 0.009)


def test_products_of_columns_serve_every_regularizer():
    problem = classes()
    p = np.full((problem.m, problem.outputs), 1.0 / problem.outputs)
    ClassMatrix(problem, np.full((problem.n, 1), 0.01)).inverse(p)
    kept = problem.memo["products of columns"]
    other = problem.replace(regularizer=fl.L2(0.1))
    ClassMatrix(other, np.full((problem.n, 1), 0.1)).inverse(p)
    assert other.memo["products of columns"] is kept


@pytest.mark.parametrize("l2", [1e-2, 1e-5, 1e-8])
@pytest.mark.parametrize("cost", [0.0, 3.0, 1e9])
def test_steps_converge_whenever_the_matrix_is_used(l2, cost, monkeypatch):
    problem = classes(200, 6, l2, intercept="free")
    best = fl.minimize(problem, "lbfgs", tol=1e-10, max_passes=20_000)
    monkeypatch.setattr(ClassMatrix, "cost", cost)
    used = []
    plain = class_equations.ClassEquations._use_matrix
    monkeypatch.setattr(class_equations.ClassEquations, "_use_matrix", lambda self, at: (used.append(1), plain(self, at))[1])
    found = fl.minimize(problem, "newton", tol=1e-8)
    assert found.converged
    assert found.objective <= best.objective + 2e-8 * problem.scale
    assert bool(used) == (cost < 1e9)
    np.testing.assert_allclose(found.w.sum(axis=1), 0.0, atol=1e-8)


def test_a_start_whose_classes_do_not_sum_to_zero_is_no_obstacle(monkeypatch):
    monkeypatch.setattr(ClassMatrix, "cost", 0.0)
    problem = classes(l2=0.1)
    best = fl.minimize(problem, "newton", tol=1e-10)
    found = fl.minimize(problem, "newton", tol=1e-10, start=best.w + 1.0)
    assert found.converged
    np.testing.assert_allclose(found.w, best.w, atol=1e-4)


def test_losses_of_another_form_and_large_matrices_do_without():
    assert ClassMatrix.suits(classes())
    assert not ClassMatrix.suits(classes().replace(loss=fl.SmoothMulticlassHinge(1.0)))
    assert not ClassMatrix.suits(classes(20, class_matrix.LARGEST))

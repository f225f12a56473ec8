"""Newton's method for several classes together, in float64 and float32, and the dual point of its quadratic model"""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize as scipy_minimize

import fenchel as fl
from fenchel.linalg.design import Design
from fenchel.losses import losses
from fenchel.solvers._second_order import class_equations, weighted_gram
from fenchel.solvers._second_order.class_equations import ClassCurvatures, SingleProducts, mean, times
from fenchel.solvers.newton import model_dual_point
from tests.data import labels_for, linear_classes

NEWTON_LOSSES = [loss for loss in (kind() for kind in losses().values()) if hasattr(loss, "curvature") and hasattr(loss, "conjugate")]


def classes(m=60, n=4, **options):
    X, y = linear_classes(np.random.default_rng(1), m, n, noise=0.5)
    return fl.Problem(X, y, fl.Softmax(), fl.L2(0.01), **options)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_curvatures_from_weights_equal_those_of_the_loss(dtype):
    problem = classes()
    rng = np.random.default_rng(0)
    z, d = rng.standard_normal((2, problem.m, problem.outputs))
    curvatures = ClassCurvatures(problem, z, dtype)
    product, diagonal = np.empty_like(z), np.empty(problem.m)
    times(problem.loss, z, problem.y, problem.row_weights, d, product)
    mean(problem.loss, z, problem.y, problem.row_weights, diagonal)
    tolerance = 1e-14 if dtype is np.float64 else 1e-7
    np.testing.assert_allclose(curvatures.times(d.astype(dtype)), product, rtol=0, atol=tolerance)
    np.testing.assert_allclose(curvatures.mean(), diagonal, rtol=0, atol=tolerance)


@pytest.mark.parametrize("intercept", [0.0, 3.0])
@pytest.mark.parametrize("threads", [1, 2])
def test_products_in_float32_are_those_of_the_matrix(intercept, threads, monkeypatch):
    monkeypatch.setattr("fenchel.linalg.design.PARALLEL_FROM", 10)
    rng = np.random.default_rng(0)
    design = Design(rng.standard_normal((50, 6)), intercept)
    design.threads = threads
    single, w, a = SingleProducts(design), rng.standard_normal((design.n, 3)), rng.standard_normal((50, 3))
    np.testing.assert_allclose(single.matvec(w), design.matvec(w), rtol=0, atol=1e-5)
    np.testing.assert_allclose(single.rmatvec(a.astype(np.float32)), design.rmatvec(a), rtol=0, atol=1e-4)


def test_a_step_without_enough_products_is_taken_where_the_whole_matrix_is_too_large(monkeypatch):
    monkeypatch.setattr("fenchel.solvers._second_order.class_matrix.LARGEST", 0)
    monkeypatch.setattr(class_equations, "MOST_STEPS", 2)
    result = fl.minimize(classes(m=200, n=8), "newton", tol=1e-8)
    assert result.converged


@pytest.mark.parametrize("largest", [1e-30, 1e30])
def test_entries_near_the_limits_of_float32_are_multiplied_in_float64(largest):
    assert SingleProducts.suits(Design(np.ones((3, 2))))
    assert not SingleProducts.suits(Design(np.full((3, 2), largest)))
    assert not SingleProducts.suits(Design(sp.csr_array(np.ones((3, 2)))))


@pytest.mark.slow
@pytest.mark.parametrize("intercept", [0.0, "free"])
@pytest.mark.parametrize("tol", [1e-4, 1e-10])
def test_float32_changes_the_way_and_not_the_result(intercept, tol, monkeypatch):
    problem = classes(intercept=intercept)
    in_double = fl.minimize(problem, "newton", tol=tol)
    monkeypatch.setattr(class_equations, "LARGE", 0)
    in_single = fl.minimize(problem, "newton", tol=tol)
    assert in_single.converged
    assert in_single.objective == pytest.approx(in_double.objective, abs=2 * in_double.target)
    np.testing.assert_allclose(in_single.coef.sum(axis=1), 0.0, atol=1e-12, err_msg="weights of a feature sum to 0")


# ---- the dual point of the quadratic model ----


@pytest.mark.slow
@pytest.mark.parametrize("loss", NEWTON_LOSSES, ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("intercept", [0.0, "free"])
def test_the_dual_point_of_the_model_is_feasible(loss, intercept):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    problem = fl.Problem(X, labels_for(loss.labels, X[:, 0]), loss, fl.L2(0.1), intercept=intercept)
    for size in (0.01, 1.0, 30.0):
        z, Xd = size * rng.standard_normal((2, problem.m))
        alpha, v = model_dual_point(problem, z, Xd)
        assert math.isfinite(problem.mean_conjugate(alpha))
        assert not problem.free or problem.is_balanced(alpha)
        np.testing.assert_allclose(v, problem.adjoint(alpha))


@pytest.mark.parametrize("problem", [classes(), classes(intercept="free")], ids=["penalised", "free"])
def test_the_dual_point_of_the_model_of_several_classes_is_feasible(problem):
    rng = np.random.default_rng(0)
    for size in (0.01, 1.0, 30.0):
        z, Xd = size * rng.standard_normal((2, problem.m, problem.outputs))
        alpha, _ = model_dual_point(problem, z, Xd)
        assert math.isfinite(problem.mean_conjugate(alpha))
        assert not problem.free or problem.is_balanced(alpha)


def test_the_model_proves_more_than_the_gradient_after_a_newton_step():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 10))
    problem = fl.Problem(X, np.where(X[:, 0] + rng.standard_normal(300) > 0, 1.0, -1.0), fl.Logistic(), fl.L2(1e-4))
    w = fl.minimize(problem, "newton", tol=1e-9).w + 0.1 * rng.standard_normal(10)
    z = problem.predict(w)
    h = problem.row_weights * np.array([problem.loss.curvature(*pair) for pair in zip(z, problem.y, strict=True)])
    d = -np.linalg.solve(X.T @ (h[:, None] * X) + 1e-4 * np.eye(10), problem.gradient(w))
    alpha, _ = model_dual_point(problem, z, X @ d)
    assert problem.gap(w + d, alpha) < 0.1 * problem.gap(w + d)


# ---- what the equations are made of ----


@pytest.mark.parametrize("layout", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("intercept", [0.0, 2.0])
@pytest.mark.parametrize("speed", [1e-9, 1e9], ids=["scattered", "filled in"])
def test_rows_without_weight_are_left_out_of_the_gram_matrix(layout, intercept, speed, monkeypatch):
    monkeypatch.setattr(weighted_gram, "BLAS_SPEED", speed)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4)) * (rng.random((30, 4)) < 0.5)
    full = np.column_stack([X, np.full(30, intercept)]) if intercept else X
    for used in (0, 3, 29):
        h = np.zeros(30)
        h[rng.permutation(30)[:used]] = 0.5
        G = np.tril(weighted_gram.WeightedGram(Design(layout(X), intercept))(h))
        np.testing.assert_allclose(G, np.tril(full.T @ (h[:, None] * full)), atol=1e-13)


@pytest.mark.parametrize("loss", [fl.Logistic(), fl.SquaredHinge(), fl.Softmax()], ids=lambda loss: type(loss).__name__)
def test_the_intercept_of_the_origin_minimises_the_loss_of_all_rows(loss):
    rng = np.random.default_rng(0)
    y = rng.choice(3, 50, p=[0.6, 0.3, 0.1]) if loss.labels == "class" else np.where(rng.random(50) < 0.2, 1.0, -1.0)
    problem = fl.Problem(rng.standard_normal((50, 2)), y, loss, fl.L2(0.1), intercept="free", sample_weight=rng.uniform(0.1, 3.0, 50))
    shape = problem.predict(problem.origin).shape
    best = scipy_minimize(lambda b: problem.mean_loss(np.broadcast_to(b, shape).copy()), np.zeros(shape[1:] or 1)).fun
    assert problem.objective_at_zero == pytest.approx(best, abs=1e-8)

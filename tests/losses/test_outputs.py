"""One output and several outputs give kernels the same operations."""

from __future__ import annotations

import numpy as np

import fenchel as fl
from fenchel.linalg.rows import DenseRows
from fenchel.linalg.weights import Plain
from fenchel.losses.outputs import OneOutput, SeveralOutputs, outputs_of

rng = np.random.default_rng(0)
X, W = rng.standard_normal((6, 3)), rng.standard_normal((3, 4))
ROWS = DenseRows(X)


def several():
    return SeveralOutputs(*(np.zeros(4) for _ in range(4)))


def test_predictions_are_products_with_the_weights():
    np.testing.assert_allclose(several().predict(ROWS, 2, Plain(W.ravel())), X[2] @ W)
    np.testing.assert_allclose(OneOutput().predict(ROWS, 2, Plain(W[:, 0].copy())), X[2] @ W[:, 0])


def test_adding_a_row_changes_the_weights_of_every_output():
    g, w, w1 = np.array([1.0, 0.0, -2.0, 3.0]), Plain(W.ravel().copy()), Plain(W[:, 0].copy())
    several().add(ROWS, 1, 0.5, g, w)
    np.testing.assert_allclose(w.v.reshape(3, 4), W + 0.5 * np.outer(X[1], g))
    OneOutput().add(ROWS, 1, 0.5, -2.0, w1)
    np.testing.assert_allclose(w1.v, W[:, 0] - X[1])


def test_derivatives_norms_and_products_are_those_of_the_loss():
    z, g = rng.standard_normal(4), np.empty(4)
    fl.Softmax().derivative(z, 1, g)
    outputs = several()
    found = outputs.derivative(fl.Softmax(), z, 1)
    np.testing.assert_allclose(found, g)
    assert np.isclose(outputs.norm(found), np.linalg.norm(g))
    assert np.isclose(outputs.dot(z, found), z @ g)
    one = OneOutput()
    assert one.derivative(fl.Logistic(), 0.3, 1.0) == fl.Logistic().derivative(0.3, 1.0)
    assert (one.norm(-2.0), one.dot(3.0, -2.0)) == (2.0, -6.0)


def test_dual_steps_are_taken_and_returned():
    z, alpha, new = rng.standard_normal(4), np.zeros((6, 4)), np.empty(4)
    fl.Softmax().dual_step(alpha[3], z, 2, 0.7, new)
    np.testing.assert_allclose(several().dual_step(fl.Softmax(), alpha, 3, z, 2, 0.7), new)
    np.testing.assert_allclose(alpha[3], new)
    a = np.zeros(6)
    delta = OneOutput().dual_step(fl.Hinge(), a, 3, 0.2, 1.0, 0.7)
    assert delta == a[3] == fl.Hinge().dual_step(0.0, 0.2, 1.0, 0.7)


def test_a_prediction_of_another_class_is_wrong():
    assert [several().is_wrong(np.array([0.0, 2.0, 1.0, -1.0]), y) for y in range(4)] == [True, False, True, True]
    assert [OneOutput().is_wrong(z, 1.0) for z in (-1.0, 0.0, 1.0)] == [True, True, False]


def test_the_loss_of_the_problem_decides():
    y = np.array([0, 1, 2, 0, 1, 2])
    assert isinstance(outputs_of(fl.Problem(X, y, fl.Softmax(), fl.L2(1.0))), SeveralOutputs)
    assert isinstance(outputs_of(fl.Problem(X, np.sign(X[:, 0]), fl.Hinge(), fl.L2(1.0))), OneOutput)

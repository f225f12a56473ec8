"""The multiclass model: agreement with enumeration of the classes, and with the equivalent linear problems."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp

import fenchel as fl
from fenchel.structured import Multiclass, Problem
from tests.data import linear_classes
from tests.structured import properties

RNG = np.random.default_rng(0)
X, Y = linear_classes(RNG, 40, 5, noise=0.5)
COSTS = np.array([[0.0, 1.0, 3.0], [0.5, 0.0, 1.0], [2.0, 1.0, 0.0]])
OUTPUTS = [[np.array([k]) for k in range(3)]] * len(X)


@pytest.mark.parametrize("rows", [X, sp.csr_array(X)], ids=["dense", "sparse"])
@pytest.mark.parametrize("costs", [None, COSTS], ids=["zero-one", "costs"])
def test_decoding_and_losses_agree_with_enumeration(rows, costs):
    model = Multiclass(costs).fitted(rows, Y)
    examples = model.examples(rows, Y)
    for size in (0.1, 3.0):
        w = size * np.random.default_rng(1).standard_normal(model.n)
        properties.check_decoding(examples, OUTPUTS, w)
        properties.check_margin(examples, OUTPUTS, w)
        properties.check_likelihood(examples, OUTPUTS, w)
    properties.check_truth(examples, [np.array([y]) for y in Y])
    properties.check_gradient(examples, w)


@pytest.mark.parametrize(("loss", "linear"), [("margin", fl.MulticlassHinge()), ("likelihood", fl.Softmax())], ids=["margin", "likelihood"])
def test_objective_and_gradient_agree_with_the_linear_problem(loss, linear):
    structured = fl.structured.Problem(Multiclass(), X, Y, fl.L2(0.1), loss)
    rows = fl.Problem(X, Y, linear, fl.L2(0.1))
    w = np.random.default_rng(2).standard_normal((5, 3))
    assert structured.objective(w.reshape(-1)) == pytest.approx(rows.objective(w))
    assert structured.gradient(w.reshape(-1)) == pytest.approx(rows.gradient(w).reshape(-1))
    assert structured.objective_at_zero == pytest.approx(rows.objective_at_zero)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Y": [0] * 40}, "at least two"),
        ({"Y": [0, 1, 2]}, "40 rows"),
        ({"model": Multiclass(np.ones((3, 3)))}, "diagonal"),
        ({"model": Multiclass(np.eye(2))}, "3 classes"),
        ({"model": Multiclass(classes=(0, 1))}, r"Y\[\d+\] is 2"),
    ],
)
def test_invalid_models_and_labels_are_refused(change, message):
    given = {"model": Multiclass(), "X": X, "Y": Y, **change}
    with pytest.raises(ValueError, match=message):
        fl.structured.Problem(**given, regularizer=fl.L2(1.0))


def test_a_model_can_be_restored_from_json():
    model = Multiclass(COSTS, classes=("a", "b", "c")).fitted(X, np.array(["a", "b", "c"])[Y])
    again = Multiclass.from_json(json.loads(json.dumps(model.to_json())))
    w = np.random.default_rng(1).standard_normal(model.n)
    problem = fl.structured.Problem(model, X, np.array(["a", "b", "c"])[Y], fl.L2(1.0))
    assert [again.output(None, i, np.array([1])) for i in range(1)] == ["b"]
    assert again.n == model.n
    assert np.array_equal(again.costs, COSTS)
    assert problem.decode(w, X[:3]) == problem.decode(w)[:3]


@pytest.mark.parametrize(
    "change",
    [
        {"features": float("inf")},
        {"features": -1},
        {"classes": "ab"},
        {"classes": [[1], [2]]},
        {"classes": ["a"]},
        {"costs": [[0.0]]},
        {"more": 1},
    ],
)
def test_invalid_json_values_are_refused(change):
    manipulated = {**json.loads(json.dumps(Multiclass(classes=("a", "b"), features=3).to_json())), **change}
    with pytest.raises(ValueError, match=r"multiclass|costs"):
        Multiclass.from_json(manipulated)


@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        (np.zeros((0, 3)), [], "0 classes \\(none\\)"),
        (np.eye(3)[0], ["a", "b", "a"], "dimension"),
        (np.eye(3), ["a", 1, None], "types"),
    ],
)
def test_invalid_rows_and_classes_are_refused(X, Y, message):
    with pytest.raises(ValueError, match=message):
        Problem(Multiclass(), X, np.array(Y, dtype=object), fl.L2(1.0))

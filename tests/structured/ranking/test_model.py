"""The ranking model, compared with all permutations; queries with equal grades; invalid input."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st

import fenchel as fl
from fenchel.linalg.weights import Plain
from fenchel.structured.ranking import Ranking, grouped, ndcg
from fenchel.structured.ranking.model import COEFFICIENTS
from tests.structured import properties

FEATURES = 3
depths = st.sampled_from([1, 2, 3, None])
queries = st.lists(st.integers(0, 3), min_size=1, max_size=5)


def made(grades, k=None, coefficients="grades", seed=0):
    """The examples of one query, with small integer features so that scores may tie."""
    X = np.random.default_rng(seed).integers(-2, 3, (len(grades), FEATURES)).astype(float)
    model = Ranking(k, coefficients).fitted([X], [grades])
    return X, model.examples([X], [grades])


def naive_ndcg(grades, order, k):
    def dcg(ranked):
        return sum((2.0**g - 1.0) / math.log2(2 + r) for r, g in enumerate(ranked) if k is None or r < k)

    best = dcg(sorted(grades, reverse=True))
    return dcg([grades[d] for d in order]) / best if best else 1.0


def naive_coefficients(grades, k, name):
    n, decreasing = len(grades), sorted(grades, reverse=True)
    if min(grades) == max(grades):
        return [0.0] * n
    if name == "grades":
        return [(g - decreasing[-1]) / (decreasing[0] - decreasing[-1]) for g in decreasing]
    cut = n if k is None else min(k, n)
    return [1 / math.sqrt(r + 1) if name == "root" else max(0.0, (cut - r) / cut) for r in range(n)]


def correct_rankings(grades):
    every = itertools.permutations(range(len(grades)))
    return [order for order in every if all(grades[a] >= grades[b] for a, b in itertools.pairwise(order))]


def ranks(order):
    return np.argsort(order).astype(np.int64)


@settings(max_examples=150, deadline=None)
@given(queries, depths, st.sampled_from(COEFFICIENTS), st.lists(st.floats(-3, 3), min_size=FEATURES, max_size=FEATURES), st.integers(0, 99))
def test_decoding_finds_the_best_of_all_permutations(grades, k, name, w, seed):
    X, examples = made(grades, k, name, seed)
    w, n = np.array(w), len(grades)
    c, every = naive_coefficients(grades, k, name), list(itertools.permutations(range(n)))
    truth = np.mean([np.array(c)[ranks(order)] for order in correct_rankings(grades)], axis=0)
    y, d = np.empty(n, dtype=np.int64), np.empty(n)
    for cost, scale in ((0.0, 1.0), (1.0, 1.0), (1.0, 0.3)):
        best = max(cost * (1.0 - naive_ndcg(grades, order, k)) + scale * (np.array(c)[ranks(order)] - truth) @ X @ w for order in every)
        examples.decode(0, w, scale, cost, y)
        assert sorted(y.tolist()) == list(range(n))
        examples.difference(0, y, d)
        assert examples.loss(0, y) == pytest.approx(1.0 - naive_ndcg(grades, np.argsort(y), k), abs=1e-12)
        np.testing.assert_allclose(d, np.array(c)[y] - truth, atol=1e-12)
        assert cost * examples.loss(0, y) + scale * examples.dot(0, d, w) == pytest.approx(best, abs=1e-9)
        if cost == 0.0:
            assert np.argsort(y).tolist() == np.argsort(-(X @ w), kind="stable").tolist()
        else:
            examples.decode(0, w, scale, 0.0, y)
            assert best >= examples.loss(0, y) - 1e-9, "the loss is never below 1 − NDCG of the ranking by score"


@settings(max_examples=60, deadline=None)
@given(queries, depths, st.sampled_from(COEFFICIENTS))
def test_correct_rankings_have_zero_loss_and_the_truth_is_their_mean(grades, k, name):
    _, examples = made(grades, k, name)
    differences = []
    for order in correct_rankings(grades):
        d = np.empty(len(grades))
        examples.difference(0, ranks(order), d)
        differences.append(d)
        assert examples.loss(0, ranks(order)) == 0.0
    np.testing.assert_allclose(np.mean(differences, axis=0), 0.0, atol=1e-12)
    if name == "grades":
        assert not np.any(differences), "all correct rankings have the parts of the truth"


def some_queries(seed=0, m=6):
    rng = np.random.default_rng(seed)
    X = [rng.standard_normal((rng.integers(2, 6), FEATURES)) for _ in range(m)]
    return X, [rng.integers(0, 3, len(block)).astype(float) for block in X]


@pytest.mark.slow
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_the_objective_agrees_with_brute_force_losses(kind):
    X, Y = some_queries()
    problem = fl.structured.Problem(Ranking(3, "root"), [kind(block) for block in X], Y, fl.L2(0.1))
    rng = np.random.default_rng(1)
    for w in (np.zeros(FEATURES), rng.standard_normal(FEATURES)):
        losses = []
        for block, grades in zip(X, Y, strict=True):
            c = np.array(naive_coefficients(grades, 3, "root"))
            truth = np.mean([c[ranks(order)] for order in correct_rankings(grades)], axis=0)
            every = itertools.permutations(range(len(grades)))
            losses.append(max(1.0 - naive_ndcg(grades, order, 3) + (c[ranks(order)] - truth) @ block @ w for order in every))
        assert problem.objective(w) == pytest.approx(np.mean(losses) + 0.05 * w @ w, rel=1e-10)
    result = fl.minimize(problem, tol=1e-2)
    assert result.converged
    for _ in range(20):
        assert problem.objective(result.w + 0.1 * rng.standard_normal(FEATURES)) >= result.dual_objective


@pytest.mark.slow
def test_decoding_and_losses_agree_with_enumeration():
    X, Y = some_queries(seed=3)
    every = [[np.array(y) for y in itertools.permutations(range(len(grades)))] for grades in Y]
    for model in (Ranking(), Ranking(2, "linear")):
        examples = model.fitted(X, Y).examples(X, Y)
        for size in (0.0, 0.1, 3.0):
            w = size * np.random.default_rng(1).standard_normal(FEATURES)
            properties.check_decoding(examples, every, w)
            properties.check_margin(examples, every, w)
    properties.check_truth(Ranking().fitted(X, Y).examples(X, Y), [ranks(np.argsort(-grades, kind="stable")) for grades in Y])


def test_dot_and_add_agree_with_matrix_products():
    X, Y = some_queries()
    examples = Ranking().fitted(X, Y).examples(X, Y)
    w, d = np.array([1.0, -2.0, 0.5]), np.array([0.5, -1.0, *[0.0] * (len(X[2]) - 2)])
    out = Plain(np.ones(FEATURES))
    examples.add(2, 2.0, d, out)
    np.testing.assert_allclose(out.v, 1.0 + 2.0 * X[2].T @ d)
    assert examples.dot(2, d, w) == pytest.approx(w @ X[2].T @ d)
    assert [examples.outputs(i) for i in range(len(X))] == [examples.parts(i) for i in range(len(X))] == [len(block) for block in X]


def test_queries_with_equal_grades_have_zero_loss():
    X, Y = some_queries()
    more = [np.ones((1, FEATURES)), np.eye(3), 2.0 * np.eye(3)]
    equal = [[2.0], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]
    informative = [i for i, grades in enumerate(Y) if min(grades) < max(grades)]
    without = fl.structured.Problem(Ranking(), [X[i] for i in informative], [Y[i] for i in informative], fl.L2(0.1))
    with_equal = fl.structured.Problem(Ranking(), X + more, Y + equal, fl.L2(0.1))
    w = np.array([0.3, -1.0, 0.2])
    assert with_equal.predict(w).loss * with_equal.m == pytest.approx(without.predict(w).loss * without.m)
    assert [order.tolist() for order in with_equal.decode(w)[-2:]] == [[0, 2, 1], [0, 2, 1]]


def test_the_score_is_the_mean_ndcg():
    X, Y = some_queries()
    model, w = Ranking(3).fitted(X, Y), np.array([1.0, 0.5, -1.0])
    outputs = [np.argsort(-(block @ w), kind="stable") for block in X]
    qid = np.repeat(np.arange(len(Y)), [len(grades) for grades in Y])
    assert model.score(Y, outputs) == pytest.approx(ndcg(np.concatenate(Y), np.concatenate(X) @ w, qid, 3))


@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        ([np.eye(2)], [[1.0, math.nan]], "query 0: the grade of document 1 is nan"),
        ([np.eye(2), np.eye(2)], [[0, 1], [-1, 0]], "query 1: the grade of document 0 is -1"),
        ([np.eye(2)], [[0, 2000]], "query 0: the grade of document 1 is 2000"),
        ([np.eye(2)], [["good", "bad"]], "query 0: grades must be numbers"),
        ([np.eye(2)], [[[0, 1]]], r"query 0: grades have shape \(1, 2\)"),
        ([np.eye(2)], [[0, 1, 1]], "query 0 has 2 documents but 3 grades"),
        ([np.eye(2)], [[0, 1], [0, 1]], "There are 1 queries but outputs for 2"),
        ([np.eye(2), np.zeros((0, 2))], [[0, 1], []], "query 1 has no documents: leave it out"),
        ([np.eye(2), np.eye(3)], [[0, 1], [0, 1, 2]], "query 1 has 3 features, but query 0 has 2"),
        ([np.array([[1.0], [np.inf]])], [[0, 1]], r"query 0: X\[1, 0\] is inf"),
        ([], [], "There are no queries"),
        (np.eye(2), [0, 1], "X must be a list of matrices, one for each query: .*grouped"),
    ],
)
def test_invalid_queries_are_refused_by_name(X, Y, message):
    with pytest.raises(ValueError, match=message):
        fl.structured.Problem(Ranking(), X, Y, fl.L2(0.1))


def test_errors_use_the_names_of_queries():
    groups = grouped(np.eye(3), [0, 1, math.nan], ["a", "a", "bee"])
    with pytest.raises(ValueError, match="query bee: the grade of document 0 is nan"):
        fl.structured.Problem(Ranking(), groups.X, groups.y, fl.L2(0.1))


@pytest.mark.parametrize("options", [{"k": 0}, {"k": 2.5}, {"k": True}, {"coefficients": "cubic"}, {"features": -1}, {"features": "3"}])
def test_invalid_options_are_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        Ranking(**options)


def test_documents_with_another_number_of_features_are_refused():
    with pytest.raises(ValueError, match="Documents have 2 features, but the model was fitted with 5"):
        fl.structured.Problem(Ranking(features=5), [np.eye(2)], [[0, 1]], fl.L2(0.1))


def test_models_can_be_restored_from_json_and_invalid_values_are_refused():
    for model in (Ranking(), Ranking(None, "root", 7)):
        assert Ranking.from_json(model.to_json()) == model
    for invalid in ({}, {"k": 3}, {"k": "3", "coefficients": "root", "features": 2}, {"k": 1, "coefficients": [], "features": 2}):
        with pytest.raises(ValueError, match=r"A ranking model is described by|k=|coefficients="):
            Ranking.from_json(invalid)

"""Ranking against all permutations, SciPy's assignment and scikit-learn's scores; queries that say nothing; inputs that are refused."""

from __future__ import annotations

import itertools
import math
import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import average_precision_score, ndcg_score

import fenchel as fl
from fenchel.linalg.weights import Plain
from fenchel.structured.ranking import Ranking, grouped, letor_scores, ndcg, normalized, pairwise
from fenchel.structured.ranking.assignment import assigned, best_order
from fenchel.structured.ranking.grades import gains
from fenchel.structured.ranking.model import COEFFICIENTS
from tests.structured import laws

FEATURES = 3
depths = st.sampled_from([1, 2, 3, None])
queries = st.lists(st.integers(0, 3), min_size=1, max_size=5)


def made(grades, k=None, coefficients="grades", seed=0):
    """The examples of one query, its documents of small whole numbers so that scores may tie."""
    X = np.random.default_rng(seed).integers(-2, 3, (len(grades), FEATURES)).astype(float)
    model = Ranking(k, coefficients).fitted([X], [grades])
    return X, model.examples([X], [grades])


def naive_ndcg(grades, order, k):
    def dcg(ranked):
        return sum((2.0**g - 1.0) / math.log2(2 + r) for r, g in enumerate(ranked) if k is None or r < k)

    best = dcg(sorted(grades, reverse=True))
    return dcg([grades[d] for d in order]) / best if best else 1.0


def naive_coefficients(grades, k, name):
    n, falling = len(grades), sorted(grades, reverse=True)
    if min(grades) == max(grades):
        return [0.0] * n
    if name == "grades":
        return [(g - falling[-1]) / (falling[0] - falling[-1]) for g in falling]
    cut = n if k is None else min(k, n)
    return [1 / math.sqrt(r + 1) if name == "root" else max(0.0, (cut - r) / cut) for r in range(n)]


def right_rankings(grades):
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
    truth = np.mean([np.array(c)[ranks(order)] for order in right_rankings(grades)], axis=0)
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
            assert best >= examples.loss(0, y) - 1e-9, "the loss is nowhere below 1 − NDCG of the ranking by score"


@settings(max_examples=60, deadline=None)
@given(queries, depths, st.sampled_from(COEFFICIENTS))
def test_right_rankings_cost_nothing_and_the_truth_is_their_mean(grades, k, name):
    _, examples = made(grades, k, name)
    differences = []
    for order in right_rankings(grades):
        d = np.empty(len(grades))
        examples.difference(0, ranks(order), d)
        differences.append(d)
        assert examples.loss(0, ranks(order)) == 0.0
    np.testing.assert_allclose(np.mean(differences, axis=0), 0.0, atol=1e-12)
    if name == "grades":
        assert not np.any(differences), "all right rankings are the truth itself"


@pytest.mark.parametrize("n", [1, 2, 7, 60, 200])
@pytest.mark.parametrize("cut", [None, 5])
def test_the_assignment_is_that_of_scipy(n, cut):
    rng = np.random.default_rng(n)
    for round in range(20):
        s = np.sort(rng.standard_normal(n).round(1 if round % 2 else 9))[::-1].copy()
        b = rng.integers(0, 4, n) * (rng.random(n) < rng.random()) * rng.choice([0.01, 0.3, 5.0])
        c, D = np.sort(rng.random(n).round(1 if round % 3 else 9))[::-1].copy(), 1.0 / np.log2(np.arange(2.0, n + 2.0))
        if cut is not None:
            c[cut:] = D[cut:] = 0.0
        value = np.outer(s, c) - np.outer(b, D)
        at = assigned(s, b, c, D)
        assert sorted(at.tolist()) == list(range(n))
        assert value[at, np.arange(n)].sum() == pytest.approx(value[linear_sum_assignment(-value)].sum(), abs=1e-9)


@settings(deadline=None)
@given(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0, math.inf]), max_size=40))
def test_sorting_is_stable(s):
    assert best_order(np.array(s)).tolist() == sorted(range(len(s)), key=lambda d: -s[d])


def test_scores_that_are_not_numbers_still_give_a_ranking():
    at = assigned(np.full(6, np.nan), np.array([0.0, 1, 0, 1, 1, 0]), np.linspace(1, 0, 6), np.linspace(1, 0, 6))
    assert sorted(at.tolist()) == list(range(6))


def some_queries(seed=0, m=6):
    rng = np.random.default_rng(seed)
    X = [rng.standard_normal((rng.integers(2, 6), FEATURES)) for _ in range(m)]
    return X, [rng.integers(0, 3, len(block)).astype(float) for block in X]


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_the_problem_is_the_mean_of_brute_force_losses(kind):
    X, Y = some_queries()
    problem = fl.structured.Problem(Ranking(3, "root"), [kind(block) for block in X], Y, fl.L2(0.1))
    rng = np.random.default_rng(1)
    for w in (np.zeros(FEATURES), rng.standard_normal(FEATURES)):
        losses = []
        for block, grades in zip(X, Y, strict=True):
            c = np.array(naive_coefficients(grades, 3, "root"))
            truth = np.mean([c[ranks(order)] for order in right_rankings(grades)], axis=0)
            every = itertools.permutations(range(len(grades)))
            losses.append(max(1.0 - naive_ndcg(grades, order, 3) + (c[ranks(order)] - truth) @ block @ w for order in every))
        assert problem.objective(w) == pytest.approx(np.mean(losses) + 0.05 * w @ w, rel=1e-10)
    result = fl.minimize(problem, tol=1e-2)
    assert result.converged
    for _ in range(20):
        assert problem.objective(result.w + 0.1 * rng.standard_normal(FEATURES)) >= result.dual_objective


def test_compiled_answers_equal_those_of_enumeration():
    X, Y = some_queries(seed=3)
    every = [[np.array(y) for y in itertools.permutations(range(len(grades)))] for grades in Y]
    for model in (Ranking(), Ranking(2, "linear")):
        examples = model.fitted(X, Y).examples(X, Y)
        for size in (0.0, 0.1, 3.0):
            w = size * np.random.default_rng(1).standard_normal(FEATURES)
            laws.check_decoding(examples, every, w)
            laws.check_margin(examples, every, w)
    laws.check_truth(Ranking().fitted(X, Y).examples(X, Y), [ranks(np.argsort(-grades, kind="stable")) for grades in Y])


def test_products_with_the_documents():
    X, Y = some_queries()
    examples = Ranking().fitted(X, Y).examples(X, Y)
    w, d = np.array([1.0, -2.0, 0.5]), np.array([0.5, -1.0, *[0.0] * (len(X[2]) - 2)])
    out = Plain(np.ones(FEATURES))
    examples.add(2, 2.0, d, out)
    np.testing.assert_allclose(out.v, 1.0 + 2.0 * X[2].T @ d)
    assert examples.dot(2, d, w) == pytest.approx(w @ X[2].T @ d)
    assert [examples.outputs(i) for i in range(len(X))] == [examples.parts(i) for i in range(len(X))] == [len(block) for block in X]


def test_queries_that_say_nothing_add_nothing():
    X, Y = some_queries()
    more = [np.ones((1, FEATURES)), np.eye(3), 2.0 * np.eye(3)]
    silent = [[2.0], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]
    told = [i for i, grades in enumerate(Y) if min(grades) < max(grades)]
    heard = fl.structured.Problem(Ranking(), [X[i] for i in told], [Y[i] for i in told], fl.L2(0.1))
    all_of_them = fl.structured.Problem(Ranking(), X + more, Y + silent, fl.L2(0.1))
    w = np.array([0.3, -1.0, 0.2])
    assert all_of_them.predict(w).loss * all_of_them.m == pytest.approx(heard.predict(w).loss * heard.m)
    assert [order.tolist() for order in all_of_them.decode(w)[-2:]] == [[0, 2, 1], [0, 2, 1]]


# ---- scores ----


def naive_letor(grades, k=None):
    """The evaluation script of LETOR 4.0 for one query's grades in the order of their ranks, step by step."""

    def curve(ranked):
        total, found = 0.0, []
        for place, g in enumerate(ranked):
            total += (2.0**g - 1.0) * (1.0 if place < 2 else math.log(2.0) / math.log(place + 1.0))
            found.append(total)
        return found

    reached, best = curve(grades), curve(sorted(grades, reverse=True))
    at = [a / b if b else 0.0 for a, b in zip(reached, best, strict=True)]
    hits, precision = 0, 0.0
    for place, g in enumerate(grades):
        if g >= 1:
            hits += 1
            precision += hits / (place + 1)
    return {"map": precision / hits if hits else 0.0, "mean_ndcg": sum(at) / len(at)} | {
        f"ndcg@{k}": at[k - 1] if k <= len(at) else 0.0 for k in range(1, 11)
    }


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=14), min_size=1, max_size=5), st.integers(0, 99))
def test_letor_scores_are_those_of_its_script(grades, seed):
    rng = np.random.default_rng(seed)
    scores = [rng.integers(0, 4, len(g)).astype(float) for g in grades]
    ranked = [[g[d] for d in sorted(range(len(g)), key=lambda d: -s[d])] for g, s in zip(grades, scores, strict=True)]
    parts = [naive_letor(g) for g in ranked]
    qid = np.repeat(np.arange(len(grades)), [len(g) for g in grades])
    found = letor_scores(np.concatenate(grades), np.concatenate(scores), qid)
    assert list(found) == list(parts[0])
    for name, value in found.items():
        assert value == pytest.approx(np.mean([part[name] for part in parts]), abs=1e-12), name


def test_scores_agree_with_scikit_learn():
    rng = np.random.default_rng(0)
    y, scores, qid = rng.integers(0, 3, 60), rng.standard_normal(60), np.repeat([4, 1, 9], 20)
    for k in (1, 5, None):
        each = [ndcg_score([2.0 ** y[qid == q] - 1.0], [scores[qid == q]], k=k) for q in (1, 4, 9)]
        assert ndcg(y, scores, qid, k) == pytest.approx(np.mean(each))
    each = [average_precision_score(y[qid == q] >= 1, scores[qid == q]) for q in (1, 4, 9)]
    assert letor_scores(y, scores, qid)["map"] == pytest.approx(np.mean(each))


def test_ndcg_leaves_out_queries_without_relevant_documents():
    y, scores = np.array([0, 1, 0, 0]), np.array([1.0, 0.0, 2.0, 3.0])
    assert ndcg(y, scores, [1, 1, 2, 2]) == ndcg(y[:2], scores[:2])
    with pytest.raises(ValueError, match="No query has a relevant document"):
        ndcg([0, 0], [1.0, 2.0])


def test_tiny_grades_rank_like_others():
    for grade in (1e-17, 1e-300, 1e-9):
        y, scores = [grade, 0.0, 2.0 * grade], [3.0, 2.0, 1.0]
        assert ndcg(y, scores) == pytest.approx(2.0 / (2.0 + 1.0 / np.log2(3.0)), rel=1e-8)
    whole = np.arange(54.0)
    assert gains(whole).tolist() == [2**g - 1 for g in range(54)]
    between = np.linspace(0.0, 2.0, 1001)
    assert np.all(np.diff(gains(between)) > 0.0)
    np.testing.assert_allclose(gains(between), 2.0**between - 1.0, rtol=1e-12)


def test_the_score_of_rankings_is_their_ndcg():
    X, Y = some_queries()
    model, w = Ranking(3).fitted(X, Y), np.array([1.0, 0.5, -1.0])
    outputs = [np.argsort(-(block @ w), kind="stable") for block in X]
    qid = np.repeat(np.arange(len(Y)), [len(grades) for grades in Y])
    assert model.score(Y, outputs) == pytest.approx(ndcg(np.concatenate(Y), np.concatenate(X) @ w, qid, 3))


# ---- documents, pairs, scales ----


def test_rows_of_a_query_need_not_be_neighbours():
    rng = np.random.default_rng(0)
    X, y, qid = rng.standard_normal((30, 2)), rng.integers(0, 3, 30), rng.choice(["q1", "q2", "q3"], 30)
    for matrix in (X, sp.csc_array(X)):
        groups = grouped(matrix, y, qid)
        for name, block, grades in zip(groups.X.names, groups.X, groups.y, strict=True):
            np.testing.assert_array_equal(block.toarray() if sp.issparse(block) else block, X[qid == name])
            np.testing.assert_array_equal(grades, y[qid == name])
        np.testing.assert_array_equal(np.concatenate(groups.y), y[groups.rows])
    side_by_side = grouped(X, y, np.repeat([7, 3, 5], 10))
    assert side_by_side.X.names.tolist() == [7, 3, 5]
    assert np.shares_memory(side_by_side.X[1], X)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_pairs_make_the_mean_pairwise_hinge(kind):
    rng = np.random.default_rng(0)
    X, y, qid = rng.standard_normal((20, 3)), rng.integers(0, 3, 20), rng.integers(0, 4, 20)
    pairs = pairwise(kind(X), y, qid)
    w, each = rng.standard_normal(3), []
    for q in np.unique(qid):
        rows = np.flatnonzero(qid == q)
        hinges = [max(0.0, 1.0 - (X[i] - X[j]) @ w) for i in rows for j in rows if y[i] > y[j]]
        each += [np.mean(hinges)] if hinges else []
    problem = fl.Problem(pairs.X, pairs.y, fl.Hinge(), fl.L2(0.1), sample_weight=pairs.weight)
    assert problem.objective(w) == pytest.approx(np.mean(each) + 0.05 * w @ w)
    assert abs(pairs.y.sum()) <= 1


@settings(deadline=None)
@given(st.lists(st.integers(2, 12), min_size=1, max_size=4), st.integers(1, 60), st.integers(0, 99))
def test_pairs_are_drawn_within_bounds(sizes, most, seed):
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    y = rng.integers(0, 3, len(qid))
    y[np.unique(qid, return_index=True)[1]] = 5
    X = 2.0 ** np.arange(len(qid))[:, None]  # differences tell which pair it is
    real = {(X[i, 0] - X[j, 0], qid[i]) for i in range(len(y)) for j in range(len(y)) if qid[i] == qid[j] and y[i] > y[j]}
    if len(sizes) > most:
        with pytest.raises(ValueError, match="at least one pair for each"):
            pairwise(X, y, qid, most=most)
        return
    if len(real) > most:
        with pytest.warns(UserWarning, match="are more than most"):
            pairs = pairwise(X, y, qid, most=most, seed=seed)
    else:
        pairs = pairwise(X, y, qid, most=most, seed=seed)
    assert len(pairs.y) <= most
    assert len(pairs.y) == len(real) or len(pairs.y) > most - len(sizes)
    assert set((pairs.X[:, 0] * pairs.y).tolist()) <= {difference for difference, _ in real}
    assert len(set((pairs.X[:, 0] * pairs.y).tolist())) == len(pairs.y), "no pair twice"
    assert pairs.weight.sum() == pytest.approx(len(sizes))


def test_normalized_within_each_query():
    rng = np.random.default_rng(0)
    X, qid = rng.standard_normal((40, 3)) * [1.0, 1e6, 0.0], rng.integers(0, 5, 40)
    found = normalized(sp.csr_array(X), qid)
    for q in range(5):
        block = X[qid == q]
        span = block.max(axis=0) - block.min(axis=0)
        np.testing.assert_allclose(found[qid == q], (block - block.min(axis=0)) / np.where(span > 0, span, 1.0), atol=1e-12)


# ---- what is refused, and files ----


@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        ([np.eye(2)], [[1.0, math.nan]], "query 0: the grade of document 1 is nan"),
        ([np.eye(2), np.eye(2)], [[0, 1], [-1, 0]], "query 1: the grade of document 0 is -1"),
        ([np.eye(2)], [[0, 2000]], "query 0: the grade of document 1 is 2000"),
        ([np.eye(2)], [["good", "bad"]], "query 0: grades must be numbers"),
        ([np.eye(2)], [[[0, 1]]], r"query 0: grades have shape \(1, 2\)"),
        ([np.eye(2)], [[0, 1, 1]], "query 0 has 2 documents and 3 grades"),
        ([np.eye(2)], [[0, 1], [0, 1]], "There are 1 queries and outputs for 2"),
        ([np.eye(2), np.zeros((0, 2))], [[0, 1], []], "query 1 has no documents: leave it out"),
        ([np.eye(2), np.eye(3)], [[0, 1], [0, 1, 2]], "query 1 has 3 features, and query 0 has 2"),
        ([np.array([[1.0], [np.inf]])], [[0, 1]], r"query 0: X\[1, 0\] is inf"),
        ([], [], "There are no queries"),
        (np.eye(2), [0, 1], "X must be a list of matrices, one for each query: .*grouped"),
    ],
)
def test_bad_queries_are_refused_by_name(X, Y, message):
    with pytest.raises(ValueError, match=message):
        fl.structured.Problem(Ranking(), X, Y, fl.L2(0.1))


def test_grades_of_a_named_query_are_refused_by_that_name():
    groups = grouped(np.eye(3), [0, 1, math.nan], ["a", "a", "bee"])
    with pytest.raises(ValueError, match="query bee: the grade of document 0 is nan"):
        fl.structured.Problem(Ranking(), groups.X, groups.y, fl.L2(0.1))


@pytest.mark.parametrize(
    ("y", "qid", "message"),
    [
        ([0, 1], [1, 1, 1], "y has shape"),
        ([0, 1, 2], [1, 1], "qid has shape"),
        (["a", "b", "c"], [1, 1, 1], "y must hold numbers"),
        ([0, 1, 2], [1.0, math.nan, 1.0], r"qid\[1\] is missing"),
        ([0, 1, 2], ["a", None, "b"], r"qid\[1\] is missing"),
        ([1, 1, 1], [1, 1, 1], "No two documents of a query differ"),
    ],
)
def test_bad_columns_are_refused(y, qid, message):
    with pytest.raises(ValueError, match=message):
        pairwise(np.eye(3), y, qid)


@pytest.mark.parametrize("options", [{"k": 0}, {"k": 2.5}, {"k": True}, {"coefficients": "cubic"}, {"features": -1}, {"features": "3"}])
def test_bad_options_are_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        Ranking(**options)


def test_a_model_of_other_features_is_refused():
    with pytest.raises(ValueError, match="Documents have 2 features, and the model was made for 5"):
        fl.structured.Problem(Ranking(features=5), [np.eye(2)], [[0, 1]], fl.L2(0.1))


def test_models_as_json_and_back():
    for model in (Ranking(), Ranking(None, "root", 7)):
        assert Ranking.from_json(model.to_json()) == model
    for hostile in ({}, {"k": 3}, {"k": "3", "coefficients": "root", "features": 2}, {"k": 1, "coefficients": [], "features": 2}):
        with pytest.raises(ValueError, match=r"A ranking model has|k=|coefficients="):
            Ranking.from_json(hostile)


@pytest.mark.skipif("FENCHEL_DATA" not in os.environ, reason="FENCHEL_DATA is not set")
def test_letors_own_files_are_read():
    path = Path(os.environ["FENCHEL_DATA"]) / "structured" / "ltr_mq2008_S1.txt.xz"
    if not path.exists():
        pytest.skip("MQ2008 is not there")
    X, y, qid = fl.datasets.read_svmlight(path, qid=True)
    groups = grouped(X, y, qid)
    assert (len(groups.X), X.shape, set(y.tolist())) == (157, (2933, 46), {0.0, 1.0, 2.0})
    scaled = normalized(X, qid)
    spread = np.concatenate([np.ptp(block.toarray(), axis=0) for block in groups.X])
    np.testing.assert_allclose(scaled[:8], X.toarray()[:8], atol=1e-5)
    assert set(np.unique(spread.round(3))) == {0.0, 1.0}, "LETOR scales every feature within each query"

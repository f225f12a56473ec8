"""The chain model, compared with the enumeration of all tag sequences."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st

import fenchel as fl
from fenchel.core.compiled import kernel
from fenchel.linalg.weights import Plain
from fenchel.structured import token_accuracy
from fenchel.structured.chain import Chain, sentences


@kernel
def best_of(examples, i, w, scale, cost, y, d):
    examples.decode(i, w, scale, cost, y)
    examples.difference(i, y, d)
    return cost * examples.loss(i, y) + scale * examples.dot(i, d, w)


@kernel
def likelihood_of(examples, i, w, scale, d, gradient):
    value = examples.expected(i, w, scale, d)
    examples.add(i, 1.0, d, gradient)
    return value


def score(model, X, i, tags, w):
    """<w, ψ(x_i, y)> of a sentence, from the names of the weights."""
    names = model.named(w)
    rows = X[i].toarray() if sp.issparse(X[i]) else X[i]
    total = 0.0
    for t, tag in enumerate(tags):
        if model.attributes is None:
            pairs = [((a, tag), value) for a, value in enumerate(rows[t])]
        else:
            token = X[i][t] if isinstance(X[i][t], dict) else dict.fromkeys(X[i][t], 1.0)
            pairs = [((name, tag), value) for name, value in token.items()]
        total += sum(names["emissions"].get(pair, 0.0) * value for pair, value in pairs)
        total += names["transitions"].get((tags[t - 1], tag), 0.0) if t > 0 else names["starts"].get(tag, 0.0)
    return total + (names["stops"].get(tags[-1], 0.0) if tags else 0.0)


OPTIONS = [
    {"features": "all", "transitions": True, "ends": True},
    {"features": "observed", "transitions": "observed", "ends": False},
    {"features": "all", "transitions": False, "ends": False},
    {"features": "observed", "transitions": True, "ends": True},
]


def data(rng, strings, lengths=(1, 3, 0, 4), tags="abc"):
    words = [f"w{k}" for k in range(5)]
    X = []
    for length in lengths:
        if strings:
            X.append([{word: float(rng.normal()) for word in rng.choice(words, 2, replace=False)} for _ in range(length)])
        else:
            X.append(rng.normal(size=(length, 4)) * (rng.random((length, 4)) < 0.7))
    Y = [rng.choice(list(tags), length).tolist() for length in lengths]
    Y[-1][: len(tags)] = list(tags)[: lengths[-1]]
    return X, Y


def enumerated(model, X, Y, i, w):
    """All outputs, their Δ, and the differences of their scores to that of the truth."""
    outputs = list(itertools.product(model.tags, repeat=len(Y[i])))
    losses = np.array([sum(a != b for a, b in zip(y, Y[i], strict=True)) for y in outputs], dtype=float)
    return outputs, losses, np.array([score(model, X, i, y, w) for y in outputs]) - score(model, X, i, Y[i], w)


@pytest.mark.slow  # it compiles its own kernels, which are not cached
@pytest.mark.parametrize("options", OPTIONS)
@given(
    seed=st.integers(0, 10**6), strings=st.booleans(), spread=st.sampled_from([0.0, 1.0, 30.0, 1000.0]), scale=st.sampled_from([1, -0.7])
)
@settings(max_examples=25, deadline=None)
def test_decoding_and_losses_agree_with_enumeration(options, seed, strings, spread, scale):
    scale = float(scale)
    rng = np.random.default_rng(seed)
    X, Y = data(rng, strings, tags="abc" if seed % 2 else "abcd")
    model = Chain(**options).fitted(X, Y)
    examples = model.examples(X, Y)
    w = spread * rng.normal(size=model.n)
    for i in range(len(X)):
        outputs, losses, scores = enumerated(model, X, Y, i, scale * w)
        y, d = np.empty(len(Y[i]), dtype=np.int64), np.full(examples.parts(i), np.nan)
        for cost in (0.0, 1.0):
            value = best_of(examples, i, w, scale, cost, y, d)
            chosen = outputs.index(tuple(model.output(examples, i, y)))
            best = (cost * losses + scores).max()
            assert value == pytest.approx(best, rel=1e-12, abs=1e-12 * (1 + spread))
            assert cost * losses[chosen] + scores[chosen] == pytest.approx(best, rel=1e-12, abs=1e-12 * (1 + spread))
        top = scores.max()
        p = np.exp(scores - top)
        log_z = top + math.log(p.sum())
        gradient = np.zeros(model.n)
        d[:] = np.nan
        assert likelihood_of(examples, i, w, scale, d, Plain(gradient)) == pytest.approx(log_z, rel=1e-11, abs=1e-11 * (1 + spread))
        expected = sum(q * parts(model, y) for q, y in zip(p / p.sum(), outputs, strict=True)) - parts(model, Y[i])
        np.testing.assert_allclose(d, expected, atol=1e-10 * (1 + spread))
        basis = np.eye(model.n)
        direction = basis[rng.integers(model.n)]
        features = np.array([score(model, X, i, y, direction) for y in outputs]) - score(model, X, i, Y[i], direction)
        assert gradient @ direction == pytest.approx(features @ p / p.sum(), abs=1e-9 * (1 + spread))


def parts(model, y):
    """Indicators of tags, and counts of neighbouring tags if there are transitions."""
    K, numbers = len(model.tags), [model.tags.index(tag) for tag in y]
    nodes, edges = np.zeros((len(y), K)), np.zeros((K, K))
    for t, k in enumerate(numbers):
        nodes[t, k] = 1.0
        if t > 0:
            edges[numbers[t - 1], k] += 1.0
    return np.concatenate([nodes.ravel(), edges.ravel() if model.transitions else []])


@pytest.mark.slow
def test_marginals_are_derivatives_of_the_log_partition():
    rng = np.random.default_rng(3)
    X, Y = data(rng, strings=False, lengths=(6,), tags="abcdefg")
    model = Chain().fitted(X, Y)
    examples = model.examples(X, Y)
    w, d, gradient = rng.normal(size=model.n), np.empty(examples.parts(0)), np.zeros(model.n)
    likelihood_of(examples, 0, w, 1.0, d, Plain(gradient))
    for j in range(model.n):
        step = np.zeros(model.n)
        step[j] = 1e-5
        above, below = (likelihood_of(examples, 0, w + s * step, 1.0, d, Plain(np.zeros(model.n))) for s in (1, -1))
        assert gradient[j] == pytest.approx((above - below) / 2e-5, abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("width", [199.0, 201.0, 1000.0])
def test_marginals_of_long_sentences_under_extreme_transitions_sum_to_one(width):
    rng = np.random.default_rng(0)
    X, Y = data(rng, strings=False, lengths=(300,), tags="abcde")
    model = Chain(ends=False).fitted(X, Y)
    examples = model.examples(X, Y)
    w = np.concatenate([300.0 * rng.normal(size=20), width * rng.random(25)])
    w[-25:][[3, 7]] = 0.0, width
    d, L, K = np.empty(examples.parts(0)), 300, 5
    assert np.isfinite(likelihood_of(examples, 0, w, 1.0, d, Plain(np.zeros(model.n))))
    d += parts(model, Y[0])
    nodes, edges = d[: L * K].reshape(L, K), d[L * K :].reshape(K, K)
    np.testing.assert_allclose(nodes.sum(axis=1), 1.0, atol=1e-9)
    np.testing.assert_allclose(edges.sum(axis=0), nodes[1:].sum(axis=0), atol=1e-7)
    np.testing.assert_allclose(edges.sum(axis=1), nodes[:-1].sum(axis=0), atol=1e-7)


def test_loss_and_difference_of_the_truth_are_zero():
    X, Y = data(np.random.default_rng(1), strings=True)
    model = Chain().fitted(X, Y)
    examples = model.examples(X, Y)
    for i, tags in enumerate(Y):
        y, d = np.array([model.tags.index(tag) for tag in tags], dtype=np.int64), np.full(examples.parts(i), np.nan)
        examples.difference(i, y, d)
        assert examples.loss(i, y) == 0.0
        assert not d.any()


@pytest.mark.slow
def test_dense_sparse_and_named_attributes_give_the_same_tags():
    rng = np.random.default_rng(2)
    X, Y = data(rng, strings=False)
    named = [[{f"{a}": value for a, value in enumerate(row) if value} for row in x] for x in X]
    attributes = tuple(f"{a}" for a in range(4))
    dense, text = Chain(features="all").fitted(X, Y), Chain(features="all").fitted(named, Y)
    w = rng.normal(size=dense.n)
    order = [attributes.index(name) for name in text.attributes]
    w_text = np.concatenate([w[:12].reshape(4, 3)[order].ravel(), w[12:]])
    y = [np.empty(len(tags), dtype=np.int64) for tags in Y]
    for model, inputs, weights in ((dense, X, w), (dense, [sp.csr_matrix(x) for x in X], w), (text, named, w_text)):
        examples = model.examples(inputs)
        for i, expected in enumerate(y):
            decoded, d = np.empty_like(expected), np.empty(examples.parts(i))
            best_of(examples, i, weights, 1.0, 0.0, decoded, d)
            if model is dense and not sp.issparse(inputs[0]):
                expected[:] = decoded
            np.testing.assert_array_equal(decoded, expected)


def test_observed_pairs_are_those_that_occur_in_the_data():
    model = Chain(transitions="observed", ends=False).fitted([[["x", "y"], {"x": 2.0, "z": 0.0}], [["y"]]], [["A", "B"], ["B"]])
    names = model.named(np.zeros(model.n))
    assert set(names["emissions"]) == {("x", "A"), ("y", "A"), ("x", "B"), ("y", "B")}
    assert set(names["transitions"]) == {("A", "B")}


def test_unknown_attributes_are_ignored_and_sets_are_sorted():
    model = Chain().fitted([[{"b", "a", "c"}, ["a"]]], [["A", "B"]])
    assert model.attributes == ("a", "b", "c")
    examples = model.examples([[["new"], {"a": True, "newer": 3}], []])
    assert examples.columns.tolist() == [0]
    assert examples.rows.tolist() == [0, 0, 1]
    assert examples.sentences.tolist() == [0, 2, 2]


def test_splitting_one_matrix_into_sentences():
    with pytest.raises(ValueError, match="are not contiguous"):
        sentences(np.eye(3), [0, 1, 0], [0, 1, 0])
    with pytest.raises(ValueError, match="one tag and one number per token"):
        sentences(np.eye(3), [0, 1], [0, 1, 0])
    assert sentences(np.zeros((0, 2)), [], []) == ([], [])


@pytest.mark.parametrize(
    ("X", "Y", "words"),
    [
        ([[["a"]], [["b"], ["c"]]], [["A"], ["B"]], "sentence 1 has 2 tokens but 1 tags"),
        ([[["a"]]], [["A"], ["B"]], "1 sentences but tags for 2"),
        ([[["a"], ["b"]]], [["A", 0.5]], r"sentence 0, token 1: the tag is 0.5"),
        ([[["a"], ["b"]]], [["A", "A"]], "at least 2"),
        ([], [], "0 distinct tags \\(none\\)"),
        ([[["a"], "b"]], [["A", "B"]], "sentence 0, token 1 is 'b'"),
        ([[["a"], [7]]], [["A", "B"]], "sentence 0, token 1: attribute 7 is not a string"),
        ([[["a"], {"b": math.nan}]], [["A", "B"]], "sentence 0, token 1: attribute 'b' is nan"),
        ([[["a"], {"b": None}]], [["A", "B"]], "sentence 0, token 1: attribute 'b' is None"),
        ([[["a"], {3: 1.0}]], [["A", "B"]], "sentence 0, token 1: attribute 3 is not a string"),
        ([[["a"]], np.eye(2)], [["A"], ["B", "B"]], "sentence 1 is a matrix"),
        ([np.eye(2), [["a"]]], [["A", "B"], ["B"]], "sentence 1 is a list"),
        ([np.eye(2), np.eye(3)], [["A", "B"], ["B", "B", "B"]], "sentence 1 has 3 features"),
        ([np.ones(2)], [["A", "B"]], r"sentence 0 has shape \(2,\)"),
        ([np.array([["a"], ["b"]])], [["A", "B"]], "sentence 0 holds <U1"),
        ([np.eye(2), np.array([[1.0, 0.0], [0.0, np.inf]])], [["A", "B"], ["A", "B"]], "sentence 1, token 1: feature 1 is inf"),
        (["ab"], [["A", "B"]], "sentence 0 is a str"),
        (np.eye(2), [["A", "B"]], "X is a single matrix"),
        ("ab", [["A", "B"]], "X must be a list of sentences"),
        ([[["a"], ["b"]]], "AB", "Y must be a list"),
        ([[["a"], ["b"]]], [3], "the tags of sentence 0 are 3"),
        ([[["a"], ["b"]]], [np.array([1.0, math.nan])], "sentence 0, token 0: the tag is 1.0"),
        ([[["a"], ["b"]]], [np.array(["A", None])], "sentence 0, token 1: the tag is None"),
        ([[["a"], ["b"]]], [np.array([0, 0.5], dtype=object)], r"sentence 0, token 1: the tag is 0.5"),
        ([[["a"], {"b": 10**400}]], [["A", "B"]], "sentence 0, token 1: attribute 'b' is a whole number too large"),
        ([[["a"], {"b": -(10**5000)}]], [["A", "B"]], "sentence 0, token 1: attribute 'b' is a whole number too large"),
        ([[["a"], {"b": np.complex128(1.0)}]], [["A", "B"]], "sentence 0, token 1: attribute 'b' is .*: give a number"),
    ],
)
def test_invalid_sentences_and_tags_are_refused(X, Y, words):
    with pytest.raises((ValueError, TypeError), match=words):
        Chain().fitted(X, Y).examples(X, Y)


def test_unknown_tags_are_refused_with_their_position():
    model = Chain().fitted([[["a"], ["b"]]], [["A", "B"]])
    with pytest.raises(ValueError, match="sentence 1, token 0: the tag 'C' is not one"):
        model.examples([[], [["a"]]], [[], ["C"]])


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("strings", [True, False])
def test_given_tags_are_used_and_the_rest_is_fitted(options, strings):
    X, Y = data(np.random.default_rng(1), strings)
    found = Chain(**options).fitted(X, Y)
    given = Chain(**options, tags=found.tags).fitted(X, Y)
    assert given.to_json() == found.to_json()
    assert given.fitted(X[:1], Y[:1]) is given
    more = Chain(**options, tags=["z", *found.tags]).fitted(X, Y)
    assert more.tags == ("z", *found.tags)
    assert more.n >= found.n
    with pytest.raises(ValueError, match=r"the tag '.' is not one of the model's 2"):
        Chain(**options, tags=("z", "y")).fitted(X, Y)


def test_given_tags_are_validated():
    X, Y = [[["a"], ["b"]]], [["A", "B"]]
    for tags in (("A", "A", "B"), ("A",)):
        with pytest.raises(ValueError, match="tags has"):
            Chain(tags=tags).fitted(X, Y)
    with pytest.raises(TypeError, match=r"the tag is 0.5"):
        Chain(tags=(0.5, "A")).fitted(X, Y)


def test_a_model_fitted_without_attributes_is_not_fitted_again():
    model = Chain().fitted([[[], []]], [["A", "B"]])
    assert model.fitted([[["new"]]], [["A"]]) is model


@pytest.mark.slow
@pytest.mark.parametrize("strings", [True, False])
def test_marginals_have_one_row_per_token_and_may_be_empty(strings):
    X, Y = data(np.random.default_rng(2), strings)
    model = Chain().fitted(X, Y)
    assert model.marginals([], np.zeros(model.n)) == []
    assert [found.shape for found in model.marginals(X, np.zeros(model.n))] == [(len(tags), len(model.tags)) for tags in Y]


def test_transitions_between_too_many_tags_are_refused_in_training_and_loading():
    tags = list(range(2001))
    with pytest.raises(ValueError, match=r"There are 2,001 tags.*transitions=False"):
        Chain().fitted([[["a"]] * len(tags)], [tags])
    values = Chain(transitions=False).fitted([[["a"]] * len(tags)], [tags]).to_json()
    assert len(Chain.from_json(values).tags) == 2001
    for change in ({"transitions": True}, {"transitions": "observed", "neighbours": []}):
        with pytest.raises(ValueError, match="too many tags"):
            Chain.from_json({**values, **change})
    assert Chain.from_json({**values, "tags": tags[:2000], "observed": [], "transitions": True}).transitions


def test_invalid_options_are_refused():
    with pytest.raises(ValueError, match="transitions='some'"):
        Chain(transitions="some")
    with pytest.raises(ValueError, match="features"):
        Chain(features="some")
    with pytest.raises(ValueError, match="not fitted"):
        Chain().examples([[["a"]]])


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("strings", [True, False])
def test_models_can_be_restored_from_json(options, strings):
    X, Y = data(np.random.default_rng(0), strings)
    model = Chain(**options).fitted(X, Y)
    again = Chain.from_json(model.to_json())
    assert again.to_json() == model.to_json()
    for a, b in zip(again.examples(X, Y), model.examples(X, Y), strict=True):
        assert type(a) is type(b)
        np.testing.assert_array_equal(a, b) if isinstance(a, np.ndarray) else None


@pytest.mark.parametrize(
    "change",
    [
        {"width": -1},
        {"width": 2.0},
        {"tags": ["A", "A"]},
        {"tags": "AB"},
        {"attributes": ["a"]},
        {"attributes": ["a", "a"]},
        {"observed": [0, 99]},
        {"observed": [1, 0]},
        {"observed": [0.5]},
        {"observed": [-1]},
        {"neighbours": [4]},
        {"ends": 1},
        {"transitions": 1.5},
        {"transitions": "all"},
        {"features": "none"},
        {"more": 1},
    ],
)
def test_invalid_json_values_are_refused(change):
    values = Chain().fitted([[["a"], ["b"]]], [["A", "B"]]).to_json()
    with pytest.raises(ValueError, match=r"not the description of a chain|transitions=|features"):
        Chain.from_json({**values, **change})


def test_transitions_improve_accuracy_if_neighbouring_tags_are_correlated():
    X, y, sentence = fl.datasets.make_sequences(200, tags=3, words=30, stay=0.95, purity=0.5, seed=1)
    X, Y = fl.structured.sentences(X, y, sentence)
    scores = []
    for transitions in (False, True):
        problem = fl.structured.Problem(fl.structured.Chain(transitions=transitions), X[:150], Y[:150], fl.L2(0.01), loss="likelihood")
        result = fl.minimize(problem, "lbfgs", tol=1e-4)
        scores.append(token_accuracy(Y[150:], problem.decode(result.w, X[150:])))
    assert scores[1] > scores[0] + 0.05


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["margin", "likelihood"])
def test_sentences_of_one_token_are_equivalent_to_a_multiclass_problem(loss):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 4)), rng.choice(list("abc"), 20)
    chain = fl.structured.Problem(fl.structured.Chain(ends=False), [x[None] for x in X], y.tolist(), fl.L2(0.1), loss=loss)
    rows = fl.structured.Problem(fl.structured.Multiclass(), X, y, fl.L2(0.1), loss=loss)
    w = rng.normal(size=chain.n)
    assert chain.objective(w) == pytest.approx(rows.objective(w[:12]) + chain.penalty(w) - rows.penalty(w[:12]), rel=1e-12)
    np.testing.assert_allclose(chain.predict(w).subgradient[:12], rows.predict(w[:12]).subgradient, atol=1e-12)

"""Generated data have the properties they are documented to have: known optima, known rates, valid structures."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st
from scipy.optimize import linprog

import fenchel as fl

make = fl.datasets
MAKERS = {
    "make_text": lambda seed: make.make_text(50, n=100, nonzeros=10, seed=seed),
    "make_gaussians": lambda seed: make.make_gaussians(50, seed=seed),
    "make_wide": lambda seed: make.make_wide(20, n=100, seed=seed),
    "make_sequences": lambda seed: make.make_sequences(10, seed=seed),
    "make_ranking": lambda seed: make.make_ranking(5, seed=seed),
    "make_rna": lambda seed: make.make_rna(5, seed=seed),
    "with_noise_features sparse": lambda seed: (make.with_noise_features(np.eye(10), seed=seed),),
    "with_noise_features dense": lambda seed: (make.with_noise_features(np.eye(10), kind="dense", seed=seed),),
}


def as_lists(part):
    return part.toarray().tolist() if sp.issparse(part) else list(np.asarray(part).tolist())


@pytest.mark.parametrize("name", MAKERS)
def test_data_depend_on_the_seed_only(name):
    first, again, other = (list(map(as_lists, MAKERS[name](seed))) for seed in (0, 0, 1))
    assert first == again
    assert first != other


def near(share: float, expected: float, trials: int) -> bool:
    """Whether a share is within five standard deviations of its expectation, which fails in one of two million runs."""
    return abs(share - expected) <= 5.0 * math.sqrt(max(expected * (1.0 - expected), 1e-12) / trials)


@pytest.mark.parametrize("n", [10, 20, 40])
def test_the_best_plane_has_the_bayes_error(n):
    X, y, w = make.make_gaussians(100_000, n=n, separation=2.0, seed=n)
    assert np.linalg.norm(w) == pytest.approx(1.0)
    error = float(np.mean(np.sign(X @ w) != y))
    assert near(error, 0.5 * math.erfc(1.0 / math.sqrt(2.0)), len(y))
    tilted = w + 0.5 * np.linalg.qr(np.column_stack([w, np.ones(n)]))[0][:, 1]
    assert float(np.mean(np.sign(X @ tilted) != y)) > error


@pytest.mark.parametrize("loss", [fl.Logistic(), fl.Squared()])
def test_the_best_plane_minimises_the_expected_loss(loss):
    errors = []
    for m in (2_000, 200_000):
        X, y, w = make.make_gaussians(m, n=10, condition=4.0, seed=3)
        found = fl.minimize(fl.Problem(X, y, loss, fl.L2(1e-9)), "lbfgs", tol=1e-8).w
        errors.append(np.linalg.norm(found / np.linalg.norm(found) - w))
    assert errors[1] < 0.03
    assert errors[1] < errors[0] / 3.0  # sampling errors decrease as 1/√m, here tenfold


def test_gaussian_classes_share_one_covariance_with_the_given_condition_number():
    X, y, _ = make.make_gaussians(100_000, n=4, condition=100.0)
    first, second = (np.cov(X[y == label].T) for label in (-1.0, 1.0))
    np.testing.assert_allclose(first, second, atol=0.03)
    assert np.linalg.cond(first) == pytest.approx(100.0, rel=0.1)


def test_wide_data_follow_their_linear_model():
    X, y, w = make.make_wide(2000, n=500, informative=7, nonzeros=25, noise=0.0)
    np.testing.assert_allclose(y, X @ w)
    assert np.count_nonzero(w) == 7
    assert np.abs(w[w != 0]).min() >= 1.0
    assert (np.diff(X.indptr) == 25).all()
    assert X.has_canonical_format
    _, noisy, _ = make.make_wide(2000, n=500, informative=7, nonzeros=25, noise=0.5)
    assert np.std(noisy - y) == pytest.approx(0.5 * np.std(y), rel=0.15)


def test_the_lasso_finds_the_weights_of_wide_data():
    X, y, w = make.make_wide(400, n=2000, informative=10, nonzeros=200, noise=0.01)
    found = fl.minimize(fl.Problem(X, y, fl.Squared(), fl.L1(1e-2)), tol=1e-8).w
    assert set(np.argsort(-np.abs(found))[:10]) == set(np.flatnonzero(w))


@pytest.mark.parametrize(("kind", "values", "density"), [("sparse", {0.0, 1.0}, 0.05), ("dense", {-1.0, 1.0}, 1.0)])
@pytest.mark.parametrize("own", [np.eye(200), sp.csr_array(np.eye(200))])
def test_noise_features_have_the_distributions_of_the_paper(kind, values, density, own):
    X = make.with_noise_features(own, 1000, kind=kind)
    assert sp.issparse(X) == (kind == "sparse")
    X = X.toarray() if sp.issparse(X) else X
    np.testing.assert_array_equal(X[:, :200], np.eye(200))
    noise = X[:, 200:]
    assert set(np.unique(noise)) == values
    assert near(np.count_nonzero(noise) / noise.size, density, noise.size)
    assert near(np.mean(noise == 1.0), 0.05 if kind == "sparse" else 0.5, noise.size)


def test_sequences_follow_their_hidden_markov_model():
    tags, words, stay, purity = 4, 40, 0.7, 0.6
    X, y, sentence = make.make_sequences(4000, tags, words, 10, stay, purity)
    within = np.diff(sentence) == 0
    assert near(float(np.mean(np.diff(y)[within] == 0)), stay, within.sum())
    moved = np.bincount((np.diff(y)[within] % tags)[np.diff(y)[within] != 0], minlength=tags)[1:]
    assert all(near(count / moved.sum(), 1 / (tags - 1), moved.sum()) for count in moved)
    starts = np.concatenate([[True], ~within])
    np.testing.assert_array_equal(X[:, [words]].toarray().ravel(), starts)
    assert all(near(np.mean(y[starts] == tag), 1 / tags, starts.sum()) for tag in range(tags))
    word = X[:, :words].toarray().argmax(axis=1)
    assert (X[:, :words].sum(axis=1) == 1.0).all()
    assert near(float(np.mean(word // (words // tags) == y)), purity + (1 - purity) / tags, len(y))
    lengths = np.bincount(sentence)
    assert lengths.min() >= 1
    assert lengths.mean() == pytest.approx(10, abs=5 * 3 / math.sqrt(4000))


def test_only_ranking_data_without_noise_are_ordered_by_a_linear_score():
    for noise, feasible in ((0.0, True), (1.0, False)):
        X, y, qid = make.make_ranking(20, 10, n=5, noise=noise)
        better, worse = np.nonzero((qid[:, None] == qid) & (y[:, None] > y))
        margins = X[better] - X[worse]
        found = linprog(np.zeros(5), A_ub=-margins, b_ub=-np.ones(len(margins)), bounds=(None, None))
        assert found.success == feasible


def test_the_features_of_a_query_shift_together():
    X, _, qid = make.make_ranking(2000, 10, n=3)
    means = np.array([X[qid == query].mean(axis=0) for query in range(2000)])
    assert np.var(means) == pytest.approx(1.0 + 1.0 / 10, rel=0.1)


@pytest.mark.parametrize(("documents", "grades", "counts"), [(10, 3, [7, 2, 1]), (20, 2, [18, 2]), (2, 5, None)])
def test_grades_have_the_documented_frequencies(documents, grades, counts):
    _, y, qid = make.make_ranking(7, documents, grades=grades)
    for query in range(7):
        found = np.bincount(y[qid == query].astype(int), minlength=grades)
        assert len(found) == grades
        assert counts is None or found.tolist() == counts
    assert y.max() == grades - 1


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 120), st.floats(0.0, 1.0), st.integers(0, 1000))
def test_rna_structures_are_nested_and_complementary_with_room_for_hairpins(length, paired, seed):
    sequences, structures = make.make_rna(4, length, paired, seed)
    for sequence, structure in zip(sequences, structures, strict=True):
        assert len(sequence) == len(structure)
        assert abs(len(sequence) - length) <= length / 4
        assert set(sequence) <= set("ACGU")
        partner, opened = {}, []
        for place, mark in enumerate(structure):
            if mark == "(":
                opened.append(place)
            elif mark == ")":
                partner[opened.pop()] = place
        assert not opened
        for left, right in partner.items():
            assert right - left > 3
            assert {sequence[left], sequence[right]} in ({"A", "U"}, {"C", "G"}, {"G", "U"})
            run = 1
            for step in (1, -1):
                k = step
                while partner.get(left + k) == right - k:
                    run, k = run + 1, k + step
            assert run >= 3
        assert 2 * len(partner) <= paired * len(sequence)


def test_rna_pairs_about_the_requested_share_of_bases():
    _, structures = make.make_rna(200, length=100, paired=0.5)
    assert 0.35 < np.mean([mark != "." for mark in "".join(structures)]) <= 0.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make.make_gaussians(0), "m=0"),
        (lambda: make.make_gaussians(10, separation=0.0), "separation=0.0"),
        (lambda: make.make_gaussians(10, condition=0.5), "condition=0.5"),
        (lambda: make.make_wide(10, n=5, informative=6), "informative=6"),
        (lambda: make.make_wide(10, n=5, informative=2, nonzeros=6), "nonzeros=6"),
        (lambda: make.make_wide(noise=-1.0), "noise=-1.0"),
        (lambda: make.make_sequences(tags=1), "tags=1"),
        (lambda: make.make_sequences(words=2), "words=2"),
        (lambda: make.make_sequences(stay=1.5), "stay=1.5"),
        (lambda: make.make_sequences(purity=float("nan")), "purity=nan"),
        (lambda: make.make_ranking(documents=1), "documents=1"),
        (lambda: make.make_ranking(grades=1), "grades=1"),
        (lambda: make.make_rna(length=1.5), "length=1.5"),
        (lambda: make.make_rna(paired=2.0), "paired=2.0"),
        (lambda: make.with_noise_features(np.eye(2), 0), "features=0"),
        (lambda: make.with_noise_features(np.eye(2), kind="loud"), "kind='loud'"),
    ],
)
def test_bad_arguments_are_refused_in_one_sentence(call, message):
    with pytest.raises(ValueError, match=rf"{message}: .*\.$"):
        call()

"""What once went wrong in structured prediction, each with the input that showed it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import fenchel as fl
from fenchel.cli import app
from fenchel.driver import solve
from fenchel.driver.choice import choose
from fenchel.structured import Chain, Multiclass, Problem, Ranking, RnaFold
from fenchel.structured.ranking import Documents
from tests.cli.test_train import runner

TOKENS, TAGS = [["the", "dog"], ["a", "cat"]] * 2, [["D", "N"], ["D", "N"]] * 2


@pytest.fixture(scope="module")
def tagger():
    return fl.Tagger(l2=1e-2).fit(TOKENS, TAGS)


def test_scores_that_are_no_numbers_read_no_foreign_memory():
    problem = Problem(Multiclass(), np.eye(3), ["a", "b", "a"], fl.L2(0.1))
    assert not np.isfinite(problem.objective(np.full(6, np.nan)))
    assert problem.decode(np.full(6, np.nan)) == ["a", "a", "a"]


@pytest.mark.parametrize("solver", ["bundle", "proximal-bundle"])
def test_losses_out_of_range_end_a_bundle_method(solver):
    X = np.array([[1.0, 1.0], [1.0, -1.0], [1e-3, 2.0]]) * 1e160
    result = solve(Problem(Multiclass(), X, ["a", "b", "a"], fl.L2(0.01)), solver, max_passes=20)
    assert result.status in ("stalled", "diverged", "converged")
    assert np.isfinite(result.w).all()


def test_weights_of_another_length_are_refused(tagger):
    other = fl.Tagger(l2=1e-2).fit(TOKENS, TAGS)
    other.coef_ = other.coef_[:1]
    for ask in (other.predict, other.predict_marginals):
        with pytest.raises(ValueError, match="the model has"):
            ask(TOKENS)


@pytest.mark.parametrize("start", [[0, 10**7], [1, 2], [0, 2, 1, 2], []])
def test_blocks_of_documents_are_blocks_of_rows(start):
    with pytest.raises(ValueError, match="rise from 0"):
        Documents(np.eye(2), np.array(start, dtype=np.int64))


def test_rounding_below_zero_is_no_negative_loss():
    rng = np.random.default_rng(3)
    X = [rng.standard_normal((4, 8)) for _ in range(4)]
    W = rng.standard_normal((8, 3))
    model = fl.StructuredSVM(Chain(), l2=1e-6, tol=1e-4).fit(X, [(x @ W).argmax(axis=1).tolist() for x in X])
    assert model.objective_ >= model.dual_objective_ >= 0.0


def test_a_bound_is_never_below_the_smallest_penalty():
    problem = Problem(Chain(), [[["a"], ["b"]]] * 2, [["X", "Y"]] * 2, fl.L2(1e-9), "likelihood")
    result = solve(problem, "lbfgs", max_passes=1, tol=1e-9)
    assert (result.history["dual_objective"] >= 0.0).all()


def test_only_linear_models_are_exported(tagger, tmp_path):
    with pytest.raises(ValueError, match="only linear models"):
        fl.export(tagger, tmp_path / "m.onnx")
    X, y, qid = fl.datasets.make_ranking(queries=5, documents=5, n=3)
    with pytest.raises(ValueError, match="scales features itself"):
        fl.export(fl.Ranker(normalize=True).fit(X, y, qid=qid), tmp_path / "m.onnx")


@pytest.mark.parametrize(
    "forge",
    [
        lambda m: delattr(m, "model_"),
        lambda m: delattr(m, "columns_"),
        lambda m: setattr(m, "columns_", []),
        lambda m: setattr(m, "columns_", [1]),
        lambda m: setattr(m, "model_", Multiclass(classes=("a", "b"), features=1)),
        lambda m: setattr(m, "coef_", m.coef_.astype(np.float16)),
        lambda m: setattr(m, "coef_", m.coef_[:-1]),
        lambda m: setattr(m, "coef_", None),
    ],
)
def test_files_that_no_fit_has_left_are_refused(forge, tagger, tmp_path, monkeypatch):
    from fenchel.persistence import model_reader, model_writer

    copy = fl.Tagger(l2=1e-2).fit(TOKENS, TAGS)
    forge(copy)
    monkeypatch.setattr(model_writer, "check_model", lambda *_: None)
    fl.save(copy, tmp_path / "m.fenchel")
    assert model_reader.check_model is not model_writer.check_model
    with pytest.raises(fl.ModelFileError):
        fl.load(tmp_path / "m.fenchel")


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
def test_multiclass_models_of_strangers_are_checked(change):
    told = {**json.loads(json.dumps(Multiclass(classes=("a", "b"), features=3).to_json())), **change}
    with pytest.raises(ValueError, match=r"multiclass|costs"):
        Multiclass.from_json(told)


def test_commands_for_rows_name_the_command_for_structures(tagger, tmp_path):
    fl.save(tagger, tmp_path / "m.fenchel")
    (tmp_path / "a.svm").write_text("1 1:0.5\n0 1:0.1\n")
    for command in ("predict", "evaluate"):
        result = runner.invoke(app, [command, str(tmp_path / "m.fenchel"), str(tmp_path / "a.svm")])
        assert result.exit_code == 2
        assert "use fenchel tag" in result.stderr
    result = runner.invoke(app, ["rank", "predict", str(tmp_path / "m.fenchel"), str(tmp_path / "a.svm")])
    assert result.exit_code == 2
    assert "use fenchel tag" in result.stderr


def test_a_ranker_of_many_queries_is_not_scored_on_one():
    X, y, qid = fl.datasets.make_ranking(queries=5, documents=5, n=3)
    model = fl.Ranker().fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="give qid"):
        model.score(X, y)


def test_mixtures_that_would_not_fit_in_memory_are_not_kept():
    problem = Problem(Chain(), [[["a"], ["b"]]] * 2, [["X", "Y"]] * 2, fl.L2(1e-3))
    problem.n = 10**6
    assert choose(problem)[0] == "block-frank-wolfe"
    problem.part_sizes = np.array([10**9])
    assert choose(problem)[0] == "optimistic"


@pytest.mark.parametrize("make", [lambda: fl.Tagger(), lambda: fl.StructuredSVM(Chain()), lambda: fl.Ranker()])
def test_scores_before_a_fit_say_so(make):
    with pytest.raises(NotFittedError):
        make().score(TOKENS, TAGS)


@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        (np.zeros((0, 3)), [], "none at all"),
        (np.eye(3)[0], ["a", "b", "a"], "dimension"),
        (np.eye(3), ["a", 1, None], "types"),
    ],
)
def test_rows_and_classes_that_cannot_be_are_told(X, Y, message):
    with pytest.raises(ValueError, match=message):
        Problem(Multiclass(), X, np.array(Y, dtype=object), fl.L2(1.0))


def test_sentences_are_asked_for():
    with pytest.raises(TypeError, match="list of sentences"):
        fl.Tagger().fit(None, TAGS)
    assert RnaFold().n > 300
    assert Ranking().k == 10


@pytest.mark.parametrize("sentences", [["the dog"], [["the"], "dog"]])
def test_a_string_is_no_list_of_tokens(sentences, tagger):
    with pytest.raises(TypeError, match="split it into tokens"):
        tagger.predict(sentences)


def test_words_taken_for_tags_are_doubted():
    words = [[f"word{10 * i + k}" for k in range(10)] for i in range(12)]
    with pytest.warns(UserWarning, match="120 different tags for 120 tokens"):
        fl.Tagger(l2=1.0, tol=0.5).fit([["X"] * 10] * 12, words)


def test_documents_without_queries_are_told():
    X, y, _ = fl.datasets.make_ranking(queries=50, documents=20, n=3)
    with pytest.warns(UserWarning, match="1,000 documents are taken for those of one query"):
        fl.Ranker("pairwise-logistic", tol=0.1).fit(X, y)


def test_scores_of_margins_are_no_probabilities():
    tagger = fl.Tagger(loss="margin", l2=0.1, tol=0.1).fit(TOKENS, TAGS)
    with pytest.raises(ValueError, match="no probabilities"):
        tagger.predict_marginals(TOKENS)
    folder = fl.RnaFolder("margin", tol=0.5).fit(["GGGAAACCC"], ["(((...)))"])
    with pytest.raises(ValueError, match="no probabilities"):
        folder.pair_probabilities("GGGAAACCC")
    with pytest.raises(ValueError, match="gamma"):
        fl.RnaFolder(gamma=-1.0).fit(["GGGAAACCC"], ["(((...)))"])

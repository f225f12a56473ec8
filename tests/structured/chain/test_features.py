"""Window features, columns of text and chunk scores, each against a twin that is slow and plain."""

from __future__ import annotations

import gzip
import io
import lzma

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fenchel as fl
from fenchel.datasets import read_conll, write_conll
from fenchel.structured import chunk_scores, token_accuracy, token_features
from fenchel.structured.chain.features import CHUNKING
from fenchel.structured.chain.tagging_scores import chunks

words = st.lists(st.text("abAB1-", min_size=1, max_size=4), max_size=6)


def plain_features(sentence, pos):
    """The tutorial's attributes, offset by offset."""
    tokens = []
    for t in range(len(sentence)):
        token = []
        for template in CHUNKING:
            pieces = []
            for piece in template.split("|"):
                column, offset = {"w": sentence, "pos": pos}[piece[: piece.index("[")]], int(piece[piece.index("[") + 1 : -1])
                pieces.append(column[t + offset] if 0 <= t + offset < len(sentence) else None)
            if None not in pieces:
                token.append(f"{template}={'|'.join(pieces)}")
        token += ["BOS"] * (t == 0) + ["EOS"] * (t == len(sentence) - 1)
        tokens.append(token)
    return tokens


@given(st.lists(words, max_size=4))
def test_features_are_those_of_the_tutorial(sentences):
    pos = [[word[:1] for word in sentence] for sentence in sentences]
    made = token_features(w=sentences, pos=pos)
    assert made == [plain_features(sentence, tags) for sentence, tags in zip(sentences, pos, strict=True)]


def test_features_of_words_alone_and_of_their_forms():
    assert token_features(w=[["a"]]) == [[["w[0]=a", "BOS", "EOS"]]]
    made = token_features(["w[0].lower", "w[0].shape", "w[0].prefix2", "w[+1].suffix3"], w=[["McDonald", "US"]])
    assert made[0][0][:4] == ["w[0].lower=mcdonald", "w[0].shape=XxXxx", "w[0].prefix2=Mc", "w[+1].suffix3=US"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: token_features(), "needs a column"),
        (lambda: token_features(["v[0]"], w=[["a"]]), "no column 'v'"),
        (lambda: token_features(["w[0"], w=[["a"]]), "'w\\[0' is not of the form"),
        (lambda: token_features(["w[0].size"], w=[["a"]]), "size is unknown"),
        (lambda: token_features(["w[0].lower3"], w=[["a"]]), "lower3 is unknown"),
        (lambda: token_features("w[0]", w=[["a"]]), "give a list of templates"),
        (lambda: token_features(word=[["a"]]), "give a list of templates"),
        (lambda: token_features(w=[["a"]], pos=[["A", "B"]]), "sentence 0 has 1 tokens of w and 2 of pos"),
        (lambda: token_features(w=[["a"]], pos=[]), "1 sentences of w and 0 of pos"),
        (lambda: chunk_scores([["O"]], [["O", "O"]]), "sentence 0 has 1 tokens and 2 tags"),
        (lambda: chunk_scores([["O"]], []), "1 sentences and tags for 0"),
    ],
)
def test_refused(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def conlleval(tags):
    """Chunks by the rules of the script, as its two functions list them."""
    found, begin = [], None
    parsed = [("O", "")] + [(tag[:1], tag[2:]) for tag in tags] + [("O", "")]
    for t in range(1, len(parsed)):
        (before, kind_before), (mark, kind) = parsed[t - 1], parsed[t]
        ends = (before, mark) in {("B", "B"), ("B", "O"), ("I", "B"), ("I", "O"), ("B", "S"), ("I", "S")} or before in "ES"
        ends = ends or (before != "O" and kind_before != kind)
        begins = mark in "BS" or (before, mark) in {("O", "I"), ("O", "E"), ("E", "E"), ("E", "I"), ("S", "E"), ("S", "I")}
        begins = begins or (mark != "O" and kind_before != kind)
        if ends and begin is not None:
            found.append((kind_before, begin, t - 2))
            begin = None
        if begins:
            begin = t - 1
    return found


marks = st.lists(st.sampled_from(["O", *(f"{mark}-{kind}" for mark in "BIES" for kind in ("NP", "VP"))]), max_size=8)


@given(marks)
def test_chunks_are_those_of_conlleval(tags):
    assert list(chunks(tags)) == conlleval(tags)


@given(st.lists(st.tuples(marks, marks), max_size=4))
def test_scores_are_shares_of_chunks(pairs):
    pairs = [(a[: len(b)], b[: len(a)]) for a, b in pairs]
    truth, said = [a for a, _ in pairs], [b for _, b in pairs]
    right = sum(len(set(conlleval(a)) & set(conlleval(b))) for a, b in pairs)
    scores = chunk_scores(truth, said)
    assert scores["precision"] * sum(len(conlleval(b)) for b in said) == pytest.approx(right)
    assert scores["recall"] * sum(len(conlleval(a)) for a in truth) == pytest.approx(right)
    assert 0.0 <= scores["f1"] <= 1.0
    assert scores["accuracy"] == token_accuracy(truth, said)


def test_tags_never_met_count_as_errors():
    assert token_accuracy([["A", "NEW"], [3]], [["A", "A"], [4]]) == pytest.approx(1 / 3)
    assert token_accuracy([], []) == 0.0


@given(
    st.lists(
        st.lists(
            st.tuples(st.text("ab|é#\u00a0\u2028\x85\x0b\x1c", min_size=1), st.text("BIO-\u3000", min_size=1)), min_size=1, max_size=4
        ),
        min_size=1,
        max_size=4,
    )
)
def test_columns_come_back(tmp_path_factory, sentences):
    path = tmp_path_factory.mktemp("conll") / "text.gz"
    columns = [[[token[k] for token in sentence] for sentence in sentences] for k in (0, 1)]
    write_conll(path, *columns)
    assert read_conll(path) == tuple(columns)
    assert read_conll(path, columns=[-1]) == (columns[1],)


def test_columns_of_files_as_they_are():
    text = "\ufeff-DOCSTART- -X- O\r\n\r\nThe\tDT  O\r\n\r\n\r\n\r\ndog NN O"
    assert read_conll(io.BytesIO(text.encode())) == ([["The"], ["dog"]], [["DT"], ["NN"]], [["O"], ["O"]])


def test_only_spaces_and_tabs_part_columns():
    text = "10\u00a0000 \t CD\r\n\u2009 X \r\n"
    assert read_conll(io.BytesIO(text.encode())) == ([["10\u00a0000", "\u2009"]], [["CD", "X"]])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a b\n\nc\n", "line 3: 1 columns, and 2 above"),
        (b"a b\n\xff b\n", "line 2: byte 1 is not UTF-8"),
        (b"\n\n", "no tokens"),
        (b"a" * 70_000, "line 1: the line is longer"),
        (gzip.compress(b"a b\n" * 100_000)[:-20], "damaged or cut short"),
        (lzma.compress(b"a b\n" * 1000)[:60], "damaged or cut short"),
    ],
)
def test_bad_columns_are_refused_with_their_place(tmp_path, content, message):
    (tmp_path / "text").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_conll(tmp_path / "text")


def test_options_and_cells_of_columns_are_checked(tmp_path):
    with pytest.raises(ValueError, match="has 2 columns"):
        read_conll(io.BytesIO(b"a b\n"), columns=[2])
    for cell in ("b c", "b\tc", "b\r", "b\nc", ""):
        with pytest.raises(ValueError, match="sentence 0, token 1"):
            write_conll(tmp_path / "text", [["a", cell]])
    with pytest.raises(FileNotFoundError, match="no file"):
        read_conll(tmp_path / "none")


def test_a_tagger_learns_which_tags_stay():
    X, y, sentence = fl.datasets.make_sequences(200, tags=3, words=30, stay=0.95, purity=0.5, seed=1)
    X, Y = fl.structured.sentences(X, y, sentence)
    scores = []
    for transitions in (False, True):
        problem = fl.structured.Problem(fl.structured.Chain(transitions=transitions), X[:150], Y[:150], fl.L2(0.01), loss="likelihood")
        result = fl.minimize(problem, "lbfgs", tol=1e-4)
        scores.append(token_accuracy(Y[150:], problem.decode(result.w, X[150:])))
    assert scores[1] > scores[0] + 0.05


@pytest.mark.parametrize("loss", ["margin", "likelihood"])
def test_sentences_of_one_token_are_a_multiclass_problem(loss):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 4)), rng.choice(list("abc"), 20)
    chain = fl.structured.Problem(fl.structured.Chain(ends=False), [x[None] for x in X], y.tolist(), fl.L2(0.1), loss=loss)
    rows = fl.structured.Problem(fl.structured.Multiclass(), X, y, fl.L2(0.1), loss=loss)
    w = rng.normal(size=chain.n)
    assert chain.objective(w) == pytest.approx(rows.objective(w[:12]) + chain.penalty(w) - rows.penalty(w[:12]), rel=1e-12)
    np.testing.assert_allclose(chain.predict(w).slope[:12], rows.predict(w[:12]).slope, atol=1e-12)

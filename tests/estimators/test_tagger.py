"""Tagger: invalid sentences, weights and tags, and suspicious tags."""

from __future__ import annotations

import pytest

import fenchel as fl
from fenchel.structured import Ranking, RnaFold
from fenchel.structured.chain import tags, tokens
from tests.data import TAGS, TOKENS


def test_weights_of_the_wrong_length_are_refused(tagger):
    other = fl.Tagger(l2=1e-2).fit(TOKENS, TAGS)
    other.coef_ = other.coef_[:1]
    for ask in (other.predict, other.predict_marginals):
        with pytest.raises(ValueError, match="the model needs"):
            ask(TOKENS)


def test_fit_reads_every_sentence_and_its_tags_once(monkeypatch):
    read = []
    for module, name in ((tokens, "_checked_tokens"), (tags, "_checked")):

        def counted(sentence, i, original=getattr(module, name), name=name):
            read.append((name, i))
            return original(sentence, i)

        monkeypatch.setattr(module, name, counted)
    fl.Tagger(l2=1e-2, tol=0.5).fit(TOKENS, TAGS)
    assert sorted(read) == sorted((name, i) for name in ("_checked_tokens", "_checked") for i in range(len(TOKENS)))


def test_x_must_be_a_list_of_sentences():
    with pytest.raises(TypeError, match="list of sentences"):
        fl.Tagger().fit(None, TAGS)
    assert RnaFold().n > 300
    assert Ranking().k == 10


@pytest.mark.parametrize("sentences", [["the dog"], [["the"], "dog"]])
def test_strings_as_sentences_are_refused(sentences, tagger):
    with pytest.raises(TypeError, match="split it into tokens"):
        tagger.predict(sentences)


def test_suspiciously_many_distinct_tags_give_a_warning():
    words = [[f"word{10 * i + k}" for k in range(10)] for i in range(12)]
    with pytest.warns(UserWarning, match="120 different tags for 120 tokens"):
        fl.Tagger(l2=1.0, tol=0.5).fit([["X"] * 10] * 12, words)

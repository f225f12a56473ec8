"""Tagger: sentences and tags that it refuses or doubts."""

from __future__ import annotations

import pytest

import fenchel as fl
from fenchel.structured import Ranking, RnaFold
from tests.data import TAGS, TOKENS


def test_weights_of_another_length_are_refused(tagger):
    other = fl.Tagger(l2=1e-2).fit(TOKENS, TAGS)
    other.coef_ = other.coef_[:1]
    for ask in (other.predict, other.predict_marginals):
        with pytest.raises(ValueError, match="the model has"):
            ask(TOKENS)


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

"""Attributes of tokens, compared with a naive implementation."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from fenchel.structured import chunk_scores, token_features
from fenchel.structured.chain.features import CHUNKING

words = st.lists(st.text("abAB1-", min_size=1, max_size=4), max_size=6)


def naive_features(sentence, pos):
    """The attributes of CRFsuite's tutorial, computed offset by offset."""
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
def test_default_attributes_agree_with_crfsuites_tutorial(sentences):
    pos = [[word[:1] for word in sentence] for sentence in sentences]
    made = token_features(w=sentences, pos=pos)
    assert made == [naive_features(sentence, tags) for sentence, tags in zip(sentences, pos, strict=True)]


def test_attributes_of_words_only_and_of_word_forms():
    assert token_features(w=[["a"]]) == [[["w[0]=a", "BOS", "EOS"]]]
    made = token_features(["w[0].lower", "w[0].shape", "w[0].prefix2", "w[+1].suffix3"], w=[["McDonald", "US"]])
    assert made[0][0][:4] == ["w[0].lower=mcdonald", "w[0].shape=XxXxx", "w[0].prefix2=Mc", "w[+1].suffix3=US"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: token_features(), "needs at least one column"),
        (lambda: token_features(["v[0]"], w=[["a"]]), "no column 'v'"),
        (lambda: token_features(["w[0"], w=[["a"]]), "'w\\[0' is not of the form"),
        (lambda: token_features(["w[0].size"], w=[["a"]]), "size is unknown"),
        (lambda: token_features(["w[0].lower3"], w=[["a"]]), "lower3 is unknown"),
        (lambda: token_features("w[0]", w=[["a"]]), "give a list of templates"),
        (lambda: token_features(word=[["a"]]), "give a list of templates"),
        (lambda: token_features(w=[["a"]], pos=[["A", "B"]]), "sentence 0 has 1 tokens of w and 2 of pos"),
        (lambda: token_features(w=[["a"]], pos=[]), "1 sentences of w and 0 of pos"),
        (lambda: chunk_scores([["O"]], [["O", "O"]]), "sentence 0 has 1 tokens but 2 tags"),
        (lambda: chunk_scores([["O"]], []), "1 sentences but tags for 0"),
    ],
)
def test_invalid_input_is_refused(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()

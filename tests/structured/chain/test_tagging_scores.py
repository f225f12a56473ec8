"""Chunks and their scores, compared with the rules of the conlleval script."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from fenchel.structured import chunk_scores, token_accuracy
from fenchel.structured.chain.tagging_scores import chunks


def conlleval(tags):
    """Chunks by the rules of the two functions of the script."""
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
def test_chunks_agree_with_conlleval(tags):
    assert list(chunks(tags)) == conlleval(tags)


@given(st.lists(st.tuples(marks, marks), max_size=4))
def test_precision_and_recall_are_shares_of_correct_chunks(pairs):
    pairs = [(a[: len(b)], b[: len(a)]) for a, b in pairs]
    truth, predicted = [a for a, _ in pairs], [b for _, b in pairs]
    correct = sum(len(set(conlleval(a)) & set(conlleval(b))) for a, b in pairs)
    scores = chunk_scores(truth, predicted)
    assert scores["precision"] * sum(len(conlleval(b)) for b in predicted) == pytest.approx(correct)
    assert scores["recall"] * sum(len(conlleval(a)) for a in truth) == pytest.approx(correct)
    assert 0.0 <= scores["f1"] <= 1.0
    assert scores["accuracy"] == token_accuracy(truth, predicted)


def test_unknown_tags_count_as_errors():
    assert token_accuracy([["A", "NEW"], [3]], [["A", "A"], [4]]) == pytest.approx(1 / 3)
    assert token_accuracy([], []) == 0.0

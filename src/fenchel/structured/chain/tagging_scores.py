"""Scores of predicted tags: token accuracy, and precision and recall of the chunks they mark

Chunks are defined as by conlleval, the script of the CoNLL shared tasks (Tjong Kim Sang & Buchholz, *Introduction to the CoNLL-2000
shared task: chunking*, 2000). It reads IOB1, IOB2 and BIOES, and applies the same rules to inconsistent sequences of tags.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from fenchel.structured.chain.tags import check_sizes, checked_tags

OUTSIDE = ("O", "")


def token_accuracy(Y_true: Any, Y_pred: Any) -> float:
    """The share of tokens whose tag is predicted correctly; tags that were not in the training data count as errors.

    >>> token_accuracy([["A", "B"], ["B"]], [["A", "A"], ["B"]])
    0.6666666666666666
    """
    pairs = [pair for truth, predicted in _aligned(Y_true, Y_pred) for pair in zip(truth, predicted, strict=True)]
    return sum(a == b for a, b in pairs) / len(pairs) if pairs else 0.0


def chunk_scores(Y_true: Any, Y_pred: Any) -> dict[str, float]:
    """Accuracy of tags, and precision, recall and F1 of whole chunks, between 0 and 1.

    >>> chunk_scores([["B-NP", "I-NP", "O", "B-VP"]], [["B-NP", "I-NP", "O", "B-NP"]])
    {'accuracy': 0.75, 'precision': 0.5, 'recall': 0.5, 'f1': 0.5}
    """
    true = predicted = correct = 0
    for truth, prediction in _aligned(Y_true, Y_pred):
        expected, found = set(chunks(truth)), set(chunks(prediction))
        true, predicted, correct = true + len(expected), predicted + len(found), correct + len(expected & found)
    precision, recall = correct / predicted if predicted else 0.0, correct / true if true else 0.0
    f1 = 2.0 * correct / (true + predicted) if true + predicted else 0.0
    return {"accuracy": token_accuracy(Y_true, Y_pred), "precision": precision, "recall": recall, "f1": f1}


def _aligned(Y_true: Any, Y_pred: Any) -> Iterator[tuple[list[Any], list[Any]]]:
    truth, predicted = checked_tags(Y_true), checked_tags(Y_pred)
    check_sizes(predicted, [len(tags) for tags in truth])
    return zip(truth, predicted, strict=True)


def chunks(tags: list[str]) -> Iterator[tuple[str, int, int]]:
    """Kind, first and last token of every chunk.

    >>> list(chunks(["B-NP", "I-NP", "B-NP", "O", "I-VP"]))
    [('NP', 0, 1), ('NP', 2, 2), ('VP', 4, 4)]
    """
    begin, before, kind_before = 0, "O", ""
    for t, tag in enumerate(itertools.chain(tags, ["O"])):
        mark, _, kind = str(tag).partition("-")
        if before not in OUTSIDE and _ends(before, mark, kind_before != kind):
            yield kind_before, begin, t - 1
        if mark not in OUTSIDE and _begins(before, mark, kind_before != kind):
            begin = t
        before, kind_before = mark, kind


def _ends(before: str, mark: str, other_kind: bool) -> bool:
    return other_kind or before in ("E", "S") or mark in ("B", "S", *OUTSIDE)


def _begins(before: str, mark: str, other_kind: bool) -> bool:
    return other_kind or mark in ("B", "S") or before in ("E", "S", *OUTSIDE)

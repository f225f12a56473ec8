"""What predicted tags are worth: the share of tokens that are right, and precision and recall of the chunks they mark

Chunks are read as conlleval reads them, the script of the CoNLL shared tasks (Tjong Kim Sang & Buchholz, *Introduction to the CoNLL-2000
shared task: chunking*, 2000): IOB2 as well as IOB1 and BIOES, and tags that fit no scheme begin or end a chunk where a
scheme would have it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from fenchel.structured.chain.tags import check_sizes, checked_tags

OUTSIDE = ("O", "")


def token_accuracy(Y_true: Any, Y_pred: Any) -> float:
    """The share of tokens whose tag is right; tags that the model never met are wrong, whatever it says.

    >>> token_accuracy([["A", "B"], ["B"]], [["A", "A"], ["B"]])
    0.6666666666666666
    """
    pairs = [pair for truth, said in _aligned(Y_true, Y_pred) for pair in zip(truth, said, strict=True)]
    return sum(a == b for a, b in pairs) / len(pairs) if pairs else 0.0


def chunk_scores(Y_true: Any, Y_pred: Any) -> dict[str, float]:
    """Accuracy of tags, and precision, recall and F1 of whole chunks, as shares of one.

    >>> chunk_scores([["B-NP", "I-NP", "O", "B-VP"]], [["B-NP", "I-NP", "O", "B-NP"]])
    {'accuracy': 0.75, 'precision': 0.5, 'recall': 0.5, 'f1': 0.5}
    """
    true = said = both = 0
    for truth, guess in _aligned(Y_true, Y_pred):
        right, found = set(chunks(truth)), set(chunks(guess))
        true, said, both = true + len(right), said + len(found), both + len(right & found)
    precision, recall = both / said if said else 0.0, both / true if true else 0.0
    f1 = 2.0 * both / (true + said) if true + said else 0.0
    return {"accuracy": token_accuracy(Y_true, Y_pred), "precision": precision, "recall": recall, "f1": f1}


def _aligned(Y_true: Any, Y_pred: Any) -> Iterator[tuple[list[Any], list[Any]]]:
    truth, said = checked_tags(Y_true), checked_tags(Y_pred)
    check_sizes(said, [len(tags) for tags in truth])
    return zip(truth, said, strict=True)


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

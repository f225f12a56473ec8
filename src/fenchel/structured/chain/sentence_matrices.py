"""Splitting one matrix of tokens into sentences."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from fenchel.core.errors import InputError


def sentences(X: Any, y: Any, sentence: Any) -> tuple[list[Any], list[list[Any]]]:
    """The matrix and the tags of each sentence, from those of all tokens and the sentence number of each token.

    The tokens of a sentence must be contiguous, as in :func:`fenchel.datasets.make_sequences`.

    >>> X, Y = sentences(np.eye(3), np.array([1, 0, 1]), np.array([7, 7, 9]))
    >>> [x.shape for x in X], Y
    ([(2, 3), (1, 3)], [[1, 0], [1]])
    """
    numbers, tags = np.asarray(sentence), np.asarray(y)
    if numbers.ndim != 1 or not len(numbers) == len(tags) == X.shape[0]:
        raise InputError(
            f"X has {X.shape[0]} tokens, y {len(tags)} tags and sentence {numbers.size} numbers: give one tag and one number per token."
        )
    edges = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(numbers)]
    bounds = list(itertools.pairwise(edges)) if len(numbers) else []
    if len(np.unique(numbers)) != len(bounds):
        raise InputError("The tokens of a sentence are not contiguous: sort X, y and sentence by sentence first.")
    return [X[a:b] for a, b in bounds], [tags[a:b].tolist() for a, b in bounds]

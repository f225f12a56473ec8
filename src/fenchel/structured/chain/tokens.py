"""Conversion of sentences to one CSR matrix of tokens × attributes

A sentence is a SciPy or NumPy matrix with a row per token, or a list of tokens. Such a token is a list, tuple or set of
strings, or a dict: ``{"length": 3.0, "title": True, "word": "the"}`` has the attributes ``length`` of value 3, ``title`` of value 1 and
``word:the`` of value 1, as in python-crfsuite.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fenchel.core.errors import InputError, InputTypeError
from fenchel.core.validation import is_number


class Tokens(NamedTuple):
    """The matrix of tokens × attributes as CSR arrays, and the first token of each sentence."""

    values: np.ndarray
    columns: np.ndarray
    rows: np.ndarray
    sentences: np.ndarray


def checked_sentences(X: Any) -> Sequence[Any]:
    """X, if it can be a list of sentences."""
    if isinstance(X, str | bytes | dict) or not hasattr(X, "__len__") or not hasattr(X, "__getitem__"):
        raise InputTypeError(f"X must be a list of sentences, not {type(X).__name__}.")
    if sp.issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2):
        raise InputTypeError(
            "X is a single matrix but must be a list with one matrix per sentence: split it with fenchel.structured.sentences."
        )
    return X


def are_matrices(X: Sequence[Any]) -> bool:
    """Whether the sentences are matrices rather than lists of tokens."""
    return len(X) > 0 and (sp.issparse(X[0]) or isinstance(X[0], np.ndarray))


def matrix_width(X: Sequence[Any]) -> int:
    """The number of features of the sentences' matrices."""
    return int(_checked_matrix(X[0], 0, None).shape[1])


def from_matrices(X: Sequence[Any], width: int) -> Tokens:
    """The tokens of sentences that are matrices with ``width`` features."""
    parts = [_checked_matrix(x, i, width) for i, x in enumerate(X)]
    sentences = _edges([part.shape[0] for part in parts])
    stacked = sp.csr_array(sp.vstack(parts, format="csr")) if parts else sp.csr_array((0, width))
    wrong = np.flatnonzero(~np.isfinite(stacked.data))
    if len(wrong):
        token = int(np.searchsorted(stacked.indptr, wrong[0], side="right")) - 1
        place = _place(sentences, token)
        raise InputError(f"{place}: feature {stacked.indices[wrong[0]]} is {stacked.data[wrong[0]]}: every value must be finite.")
    values = np.ascontiguousarray(stacked.data, dtype=np.float64)
    return Tokens(values, stacked.indices.astype(np.uint32), stacked.indptr.astype(np.int64), sentences)


def _checked_matrix(x: Any, i: int, width: int | None) -> Any:
    if not (sp.issparse(x) or isinstance(x, np.ndarray)):
        raise InputTypeError(f"sentence {i} is a {type(x).__name__}, while others are matrices: use one format for all sentences.")
    if x.ndim != 2:
        raise InputError(f"sentence {i} has shape {x.shape}: give a matrix with a row per token.")
    if x.dtype.kind not in "fiub":
        raise InputTypeError(f"sentence {i} holds {x.dtype}: give a matrix of numbers, or lists of strings.")
    if width is not None and x.shape[1] != width:
        raise InputError(f"sentence {i} has {x.shape[1]} features, but the model has {width}: give all sentences the same features.")
    return sp.csr_array(x, dtype=np.float64)


def _place(sentences: np.ndarray, token: int) -> str:
    i = int(np.searchsorted(sentences, token, side="right")) - 1
    return f"sentence {i}, token {token - sentences[i]}"


def _edges(lengths: Iterable[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.fromiter(lengths, dtype=np.int64))]).astype(np.int64)


def with_attribute_names(X: Sequence[Any]) -> tuple[tuple[str, ...], Tokens]:
    """All attributes of sentences that are lists of tokens, in order of first occurrence, and the tokens, in a single pass.

    >>> names, tokens = with_attribute_names([[["w=a", "cap"], {"w": "b", "cap": True}]])
    >>> names, tokens.columns.tolist()
    (('w=a', 'cap', 'w:b'), [0, 1, 2, 1])
    """
    index: defaultdict[str, int] = defaultdict(itertools.count().__next__)
    tokens = _from_lists(X, lambda names: map(index.__getitem__, names))
    return tuple(index), tokens


def from_attributes(X: Sequence[Any], index: dict[str, int]) -> Tokens:
    """The tokens of sentences that are lists of tokens; attributes that are not in the index are ignored."""
    return _from_lists(X, lambda names: map(index.get, names, itertools.repeat(-1)))


def _from_lists(X: Sequence[Any], columns_of: Callable[[Iterable[str]], Iterable[int]]) -> Tokens:
    """The tokens, where ``columns_of`` maps attributes to columns, −1 for attributes to ignore."""
    columns: list[np.ndarray] = []
    values: list[np.ndarray] = []
    sizes: list[int] = []
    for i, sentence in enumerate(X):
        tokens = _checked_tokens(sentence, i)
        sizes.extend(map(len, tokens))
        columns.append(np.fromiter(columns_of(itertools.chain.from_iterable(tokens)), dtype=np.int64))
        values.append(_values_of(tokens, len(columns[-1])))
    sentences, rows = _edges(map(len, X)), _edges(sizes)
    column, value = np.concatenate([np.zeros(0, dtype=np.int64), *columns]), np.concatenate([np.zeros(0), *values])
    known = column >= 0
    kept = np.concatenate([[0], np.cumsum(known)])
    return Tokens(value[known], column[known].astype(np.uint32), kept[rows], sentences)


def _values_of(tokens: Sequence[Any], size: int) -> np.ndarray:
    if not any(isinstance(token, dict) for token in tokens):
        return np.ones(size)
    each = (token.values() if isinstance(token, dict) else itertools.repeat(1.0, len(token)) for token in tokens)
    return np.fromiter(itertools.chain.from_iterable(each), dtype=np.float64, count=size)


def _checked_tokens(sentence: Any, i: int) -> Sequence[Any]:
    """Each token as a list of attribute names, or as a dict from names to numbers."""
    if sp.issparse(sentence) or isinstance(sentence, np.ndarray):
        raise InputTypeError(f"sentence {i} is a matrix, while others are lists of tokens: use one format for all sentences.")
    if not isinstance(sentence, list | tuple):
        raise InputTypeError(
            f"sentence {i} is a {type(sentence).__name__}: give a list of tokens, each a list or dict of attributes, or a matrix."
        )
    plain = set(map(type, sentence)) <= {list, tuple} and set(map(type, itertools.chain.from_iterable(sentence))) <= {str}
    return sentence if plain else [_checked_token(token, i, t) for t, token in enumerate(sentence)]


def _checked_token(token: Any, i: int, t: int) -> Any:
    if isinstance(token, dict):
        return dict(_pair(name, value, i, t) for name, value in token.items())
    if isinstance(token, set | frozenset):
        token = sorted(token, key=str)  # for an order that is the same in every process
    if not isinstance(token, list | tuple):
        raise InputTypeError(f"sentence {i}, token {t} is {token!r}: give its attributes as a list of strings or as a dict.")
    for name in token:
        if not isinstance(name, str):
            raise InputTypeError(f"sentence {i}, token {t}: attribute {name!r} is not a string.")
    return [str(name) for name in token]  # converts NumPy strings


def _pair(name: Any, value: Any, i: int, t: int) -> tuple[str, float]:
    if not isinstance(name, str):
        raise InputTypeError(f"sentence {i}, token {t}: attribute {name!r} is not a string.")
    if isinstance(value, str):
        return f"{name}:{value}", 1.0
    if not (is_number(value) or isinstance(value, np.bool_)) or isinstance(value, np.complexfloating):
        raise InputTypeError(f"sentence {i}, token {t}: attribute {name!r} is {value!r}: give a number, True, False or a string.")
    try:
        number = float(value)
    except OverflowError:
        raise InputError(f"sentence {i}, token {t}: attribute {name!r} is a whole number too large for a float: scale it down.") from None
    if not math.isfinite(number):
        raise InputError(f"sentence {i}, token {t}: attribute {name!r} is {value}: every value must be finite.")
    return str(name), number

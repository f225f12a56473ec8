"""``Tagger``: tagging the tokens of text, with attributes generated from templates."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from fenchel.core.array_types import RandomState
from fenchel.core.errors import Argument, InputError, InputTypeError, users_line
from fenchel.core.validation import checked_choice
from fenchel.estimators.structured_estimators import StructuredEstimator, mixed_penalty
from fenchel.structured.chain import Chain, token_features
from fenchel.structured.chain.tags import checked_tags
from fenchel.structured.structured_model import LIKELIHOOD, MARGIN

MANY_TOKENS, MANY_TAGS = 100, 0.3  # from this many tokens on, more distinct tags than this share of them cause a warning
Sentences: TypeAlias = Sequence[Sequence[str | Sequence[str]]]  #: of tokens, which are words or tuples of a word and further columns
NAMES = ("w", "pos")  # the names of the first columns; the others are c2, c3, ...


class Tagger(StructuredEstimator):
    """Tag the tokens of text by their context: chunks, parts of speech, named entities.

    A sentence is a list of tokens, and a token is a string or a tuple of strings: the word, its part of speech, and further columns.
    Templates such as ``w[-1]|w[0]`` (see :func:`fenchel.structured.token_features`) turn them into attributes, and a
    :class:`fenchel.structured.Chain` learns weights for pairs of attributes and tags and for pairs of neighbouring tags.

    Args:
        templates: the templates of the attributes; columns are called ``w``, ``pos``, ``c2``, ``c3``, ... The default is the words and
            parts of speech in a window of five tokens, with their pairs and triples.
        loss: "likelihood" (a conditional random field) or "margin" (a structured support vector machine).
        l2, l1: the strengths of the penalty; they need not be adapted to the number of sentences. l1 needs loss "likelihood".
        transitions: whether to have a weight for each pair of neighbouring tags; without them every token is tagged independently.
        solver, tol, max_passes, time_limit, random_state, n_jobs, verbose: as in :class:`StructuredSVM`.

    >>> sentences = [["the", "dog", "barks"], ["a", "cat", "sleeps"]]
    >>> tags = [["DET", "NOUN", "VERB"], ["DET", "NOUN", "VERB"]]
    >>> Tagger().fit(sentences, tags).predict([["the", "cat", "barks"]])
    [['DET', 'NOUN', 'VERB']]
    """

    model_: Chain
    columns_: list[str]
    kind: ClassVar[type] = Chain

    def __init__(
        self,
        templates: Sequence[str] | None = None,
        *,
        loss: str = LIKELIHOOD,
        l2: float = 1e-4,
        l1: float = 0.0,
        transitions: bool = True,
        solver: str = "auto",
        tol: float = 1e-4,
        max_passes: float = 1000,
        time_limit: float | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.templates = templates
        self.loss = loss
        self.l2 = l2
        self.l1 = l1
        self.transitions = transitions
        self.solver = solver
        self.tol = tol
        self.max_passes = max_passes
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Sentences, Y: Sequence[Sequence[str | int]], sample_weight: ArrayLike | None = None) -> Self:
        """Fit the tagger to sentences X and the tags Y of their tokens."""
        checked_choice("loss", self.loss, (LIKELIHOOD, MARGIN))
        columns = columns_of(X)
        self.columns_ = list(columns)
        Y = checked_tags(Y)
        warn_of_many_tags(Y)
        return self._learn(Chain(transitions=self.transitions), self._attributes(columns), Y, self.loss, sample_weight)

    def _regularizer(self) -> Any:
        return mixed_penalty(self.l2, self.l1)

    def _attributes(self, columns: dict[str, list[list[str]]]) -> list[list[list[str]]]:
        return token_features(self.templates, **columns)

    def _inputs(self, X: Any) -> Any:
        columns = columns_of(X, len(self.columns_))
        return self._attributes(dict(zip(self.columns_, columns.values(), strict=True)))

    def predict_marginals(self, X: Any) -> list[np.ndarray]:
        """For every sentence the probability of each tag of ``model_.tags`` at each token; needs ``loss="likelihood"``."""
        check_is_fitted(self)
        if self.loss != LIKELIHOOD:
            raise InputError(
                Argument("loss", self.loss),
                " learns scores that are not probabilities: give ",
                Argument("loss", "likelihood"),
                " for marginals.",
            )
        return self.model_.marginals(self._inputs(X), self.coef_)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        columns = getattr(self, "columns_", None)
        if not (isinstance(columns, list) and columns and columns == column_names(len(columns))):
            raise InputError("columns_ is not a list of column names")
        checked_choice("loss", self.loss, (LIKELIHOOD, MARGIN))
        self._attributes({name: [["a"]] for name in columns})  # raises an InputError for templates that cannot be used
        if self.model_.attributes is None:
            raise InputError("model_ is a Chain for matrices, not for text")


def columns_of(X: Any, width: int = 0) -> dict[str, list[list[str]]]:
    """The tokens of sentences, column by column; there are ``width`` columns, or as many as the first token has.

    >>> columns_of([[("A", "DT"), ("dog", "NN")]])
    {'w': [['A', 'dog']], 'pos': [['DT', 'NN']]}
    """
    if X is None or isinstance(X, str):
        raise InputTypeError("X must be a list of sentences, each a list of tokens.")
    whole = next((i for i, sentence in enumerate(X) if isinstance(sentence, str)), None)
    if whole is not None:
        raise InputTypeError(f"sentence {whole} is a string: split it into tokens, for instance with str.split.")
    sentences = [[tuple(token) if isinstance(token, (tuple, list)) else (token,) for token in sentence] for sentence in X]
    width = width or next((len(token) for sentence in sentences for token in sentence), 1)
    for i, sentence in enumerate(sentences):
        for t, token in enumerate(sentence):
            if len(token) != width or not all(isinstance(value, str) for value in token):
                raise InputError(f"sentence {i}, token {t}: {token!r} is not a token of {width} strings like the others.")
    return {name: [[token[k] for token in sentence] for sentence in sentences] for k, name in enumerate(column_names(width))}


def column_names(width: int) -> list[str]:
    """The names of the columns of tokens of ``width`` strings.

    >>> column_names(3)
    ['w', 'pos', 'c2']
    """
    return [NAMES[k] if k < len(NAMES) else f"c{k}" for k in range(width)]


def warn_of_many_tags(Y: list[list[Any]]) -> None:
    """Warn if there are suspiciously many distinct tags: words or numbers may have been given as tags."""
    tags = [tag for sentence in Y for tag in sentence]
    distinct = len(set(tags))
    if len(tags) >= MANY_TOKENS and distinct > MANY_TAGS * len(tags):
        warnings.warn(
            f"There are {distinct:,} different tags for {len(tags):,} tokens: "
            "check that these are tags, which are the last column of a file.",
            stacklevel=users_line(),
        )

"""Sequence tagging with weights for (attribute, tag) pairs and for pairs of neighbouring tags

    score(x, y) = Σ_t Σ_a x[t, a]·w[a, y_t] + Σ_t w[y_{t−1}, y_t] + w_start[y_1] + w_stop[y_L]

With the likelihood this is a linear-chain conditional random field (Lafferty, McCallum & Pereira, ICML 2001), with the margin a
hidden Markov support vector machine (Altun, Tsochantaridis & Hofmann, ICML 2003). Δ is the number of wrong tags in a sentence.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from fenchel.core.errors import Argument, InputError
from fenchel.core.validation import checked_choice
from fenchel.structured.chain import stored
from fenchel.structured.chain.emissions import Emissions
from fenchel.structured.chain.examples import ChainExamples, tag_probabilities
from fenchel.structured.chain.tagging_scores import token_accuracy
from fenchel.structured.chain.tags import (
    MOST_TRANSITIONS,
    Tag,
    allows_transitions,
    check_sizes,
    checked_tag_list,
    checked_tags,
    distinct_tags,
    tag_indices,
)
from fenchel.structured.chain.tokens import (
    Tokens,
    are_matrices,
    checked_sentences,
    from_attributes,
    from_matrices,
    matrix_width,
    with_attribute_names,
)
from fenchel.structured.structured_model import LIKELIHOOD, MARGIN, StructuredModel, checked_model_weights

PAIRS = ("auto", "all", "observed")


@dataclass(frozen=True, eq=False)
class Chain(StructuredModel):
    """A tag for every token of a sentence.

    X is a list of sentences. A sentence is a SciPy or NumPy matrix with a row per token, or a list of tokens; a token
    is a list of attributes (strings), or a dict of attributes and their values. Y has the tags of each sentence, strings or whole numbers.
    Attributes that did not occur in training are ignored in predictions. A sentence may be empty.

    Args:
        features: which (attribute, tag) pairs have a weight: "all"; those "observed" in training, which makes models of text several times
            smaller; or "auto", which means "observed" for strings and "all" for matrices.
        transitions: weights for all pairs of neighbouring tags (True), for "observed" pairs, or for none (False): then every token is
            tagged independently.
        ends: whether the tags of first and last tokens have weights.
        tags: all tags, if the training sentences may not contain them all; by default those that occur. At most 2000 with
            transitions, whose scores are a table of tags × tags, and 32,768 without.

    >>> X = [[["w=the"], ["w=dog", "low"]], [["w=dog", "low"], ["w=barks"]]]
    >>> Y = [["DET", "NOUN"], ["NOUN", "VERB"]]
    >>> model = Chain().fitted(X, Y)
    >>> model.tags, model.attributes, model.n  # 5 (attribute, tag) pairs, 3·3 transitions, 3 first and 3 last tags
    (('DET', 'NOUN', 'VERB'), ('w=the', 'w=dog', 'low', 'w=barks'), 19)
    """

    features: str = "auto"
    transitions: bool | str = True
    ends: bool = True
    tags: tuple[Tag, ...] = ()
    attributes: tuple[str, ...] | None = field(default=None, repr=False)  # None for matrices
    width: int = 0  # the number of attributes
    observed: np.ndarray | None = field(default=None, repr=False)  # sorted attribute·K + tag of the pairs with a weight; None for all
    neighbours: np.ndarray | None = field(default=None, repr=False)  # sorted tag·K + next tag, likewise

    losses: ClassVar[tuple[str, ...]] = (MARGIN, LIKELIHOOD)

    def __post_init__(self) -> None:
        checked_choice("features", self.features, PAIRS)
        if self.transitions not in (True, False, "observed"):
            raise InputError(Argument("transitions", self.transitions), ": give True, False or 'observed'.")

    def fitted(self, X: Any, Y: Any) -> Chain:
        """The model with the tags, attributes and observed pairs of these sentences filled in."""
        return self.prepared(X, Y)[0]

    def prepared(self, X: Any, Y: Any) -> tuple[Chain, ChainExamples]:
        """The fitted model and its examples; both need the tokens as index arrays, which are computed once."""
        if self.tags and (self.width > 0 or self.attributes == ()):  # fitted; attributes is empty if no token had any
            return self, self.examples(X, Y)
        X, Y = checked_sentences(X), checked_tags(Y)
        tags = self._checked_tags(Y)
        matrices = are_matrices(X)
        if matrices:
            names, width = None, matrix_width(X)
            tokens = from_matrices(X, width)
        else:
            names, tokens = with_attribute_names(X)
            width = len(names)
        known = replace(self, tags=tags, attributes=names, width=width)
        truth = known._truth(Y, tokens)
        every_pair = self.features == "all" or (self.features == "auto" and matrices)
        observed = None if every_pair else _observed(tokens, truth, len(tags))
        neighbours = _neighbours(tokens, truth, len(tags)) if self.transitions == "observed" else None
        model = replace(known, observed=observed, neighbours=neighbours)
        return model, model._examples(tokens, truth)

    def _checked_tags(self, Y: list[list[Any]]) -> tuple[Tag, ...]:
        tags = checked_tag_list(self.tags) if self.tags else distinct_tags(Y)
        if self.transitions and not allows_transitions(len(tags)):
            raise InputError(
                f"There are {len(tags):,} tags, and transitions are limited to {MOST_TRANSITIONS:,} pairs of tags: set ",
                Argument("transitions", False),
                ".",
            )
        if self.tags:
            tag_indices(Y, tags)  # raises an InputError for other tags
        return tags

    @property
    def n(self) -> int:
        """The number of weights: of (attribute, tag) pairs, transitions, first tags and last tags."""
        return self._weight_counts[1]

    @property
    def _weight_counts(self) -> tuple[int, int]:
        """The number of emission weights, and of all weights."""
        K = len(self.tags)
        emissions = self.width * K if self.observed is None else len(self.observed)
        transitions = 0 if not self.transitions else K * K if self.neighbours is None else len(self.neighbours)
        return emissions, emissions + transitions + 2 * K * bool(self.ends)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: a for a, name in enumerate(self.attributes or ())}

    def examples(self, X: Any, Y: Any = None) -> ChainExamples:
        """The sentences in the form that kernels use."""
        tokens = self._tokens(checked_sentences(X))
        truth = np.zeros(int(tokens.sentences[-1]), dtype=np.int64) if Y is None else self._truth(checked_tags(Y), tokens)
        return self._examples(tokens, truth)

    def _examples(self, tokens: Tokens, truth: np.ndarray) -> ChainExamples:
        K, (emissions, n) = len(self.tags), self._weight_counts
        ends = np.arange(n - 2 * K * bool(self.ends), n)
        half = len(ends) // 2
        return ChainExamples(self._emissions, *tokens, truth, self._edges(emissions), ends[:half], ends[half:])

    @property
    def _emissions(self) -> Emissions:
        K = len(self.tags)
        if self.observed is None:
            return Emissions(np.zeros(0, dtype=np.uint32), np.arange(K, dtype=np.uint16))
        first = np.searchsorted(self.observed, np.arange(self.width + 1) * K)
        return Emissions(first.astype(np.uint32), (self.observed % K).astype(np.uint16))

    def _edges(self, begin: int) -> np.ndarray:
        """The indices of the transition weights, which follow the emission weights."""
        K = len(self.tags)
        if not self.transitions:
            return np.zeros((K, 0), dtype=np.int64)
        edges = np.full(K * K, -1)
        neighbours = np.arange(K * K) if self.neighbours is None else self.neighbours
        edges[neighbours] = begin + np.arange(len(neighbours))
        return edges.reshape(K, K)

    def _tokens(self, X: Any) -> Tokens:
        if not self.tags:
            raise InputError("This Chain is not fitted: call fitted(X, Y) first.")
        if self.attributes is None:
            return from_matrices(X, self.width)
        return from_attributes(X, self._index)

    def _truth(self, Y: list[list[Any]], tokens: Tokens) -> np.ndarray:
        check_sizes(Y, np.diff(tokens.sentences).tolist())
        return tag_indices(Y, self.tags)

    def output(self, examples: Any, i: int, y: np.ndarray) -> list[Tag]:
        """The tags of a sentence."""
        return [self.tags[k] for k in y.tolist()]

    def score(self, truths: Any, outputs: Any) -> float:
        """The share of correct tags."""
        return token_accuracy(truths, outputs)

    def marginals(self, X: Any, w: np.ndarray) -> list[np.ndarray]:
        """For every sentence the probability of each tag at each token, one row per token, under weights learnt by likelihood."""
        examples = self.examples(X)
        found = np.empty((int(examples.sentences[-1]), len(self.tags)))
        tag_probabilities(examples, checked_model_weights(w, self.n), found)
        return [found[begin:end] for begin, end in itertools.pairwise(examples.sentences.tolist())]

    def named(self, w: np.ndarray) -> dict[str, dict[Any, float]]:
        """The weights by name: "emissions" by (attribute, tag), "transitions" by (tag, next tag), "starts" and "stops" by tag.

        >>> model = Chain(ends=False).fitted([[["a"], ["b"]]], [["X", "Y"]])
        >>> model.named(np.arange(6.0))["emissions"]
        {('a', 'X'): 0.0, ('b', 'Y'): 1.0}
        """
        return stored.named(self, np.asarray(w, dtype=np.float64))

    def to_json(self) -> dict[str, Any]:
        """The model as JSON values, from which ``from_json`` restores it."""
        return stored.to_json(self)

    @classmethod
    def from_json(cls, data: Any) -> Chain:
        """The inverse of ``to_json``; invalid values raise an InputError."""
        return cls(**stored.checked_json(data))


def _observed(tokens: Tokens, truth: np.ndarray, K: int) -> np.ndarray:
    tag_of_value = np.repeat(truth, np.diff(tokens.rows))
    seen = tokens.columns.astype(np.int64) * K + tag_of_value
    return np.unique(seen[tokens.values != 0.0])


def _neighbours(tokens: Tokens, truth: np.ndarray, K: int) -> np.ndarray:
    inside = np.ones(max(len(truth) - 1, 0), dtype=bool)
    begins = tokens.sentences[1:-1]
    inside[begins[(begins > 0) & (begins < len(truth))] - 1] = False
    return np.unique((truth[:-1] * K + truth[1:])[inside])

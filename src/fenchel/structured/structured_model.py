"""The interface of structured models: outputs y with parts, a loss between outputs, and decoding

A model scores an output y of an input x by <w, ψ(x, y)>, and ψ is linear in the *parts* of y, a short vector for each
example: ψ(x_i, y) = A_i·parts(y). Examples of parts are the indicators of a row's class, the indicators of a sentence's tags and the counts
of tag transitions, the coefficients of documents in a ranking, and the counts of features in a folded structure. Solvers store mixtures of
outputs as mixtures of parts, which are few, and not as weight vectors, which may have millions of entries.

A model consists of two classes. The first, in Python, is a frozen dataclass of options and fitted values (:class:`StructuredModel`). The
second, under ``@compiled``, holds the examples and is called by the solvers inside kernels:

    count()                          the number of examples
    outputs(i), parts(i)             the length of the integer array that describes an output; the number of its parts
    work(i)                          the approximate cost of a decoding in any unit, by which examples are distributed to threads
    decode(i, w, scale, cost, y)     y ← argmax_y cost·Δ(y, y_i) + scale·<w, ψ(x_i, y)>, for cost 0 or 1
    loss(i, y)                       Δ(y, y_i): 0 for the truth y_i, non-negative
    difference(i, y, d)              d ← parts(y) − parts(y_i)
    expected(i, w, scale, d)         d ← E[parts(y)] − parts(y_i) under p(y) ∝ exp(scale·<w, ψ(x_i, y)>); log Z − scale·<w, ψ(x_i, y_i)>
    dot(i, d, w)                     <w, A_i·d>
    add(i, c, d, out)                out.shift(j, c·(A_i·d)_j) for every weight j with a non-zero entry

``expected`` is needed only for the likelihood. The shortest example of a model is :mod:`fenchel.structured.multiclass`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from fenchel.core.errors import InputError

MARGIN, LIKELIHOOD = "margin", "likelihood"


class StructuredModel:
    """The part of a structured model that is written in Python: a frozen dataclass with these methods."""

    losses: ClassVar[tuple[str, ...]] = (MARGIN,)  #: the losses that the model supports

    def fitted(self, X: Any, Y: Any) -> Any:
        """The model with the values that depend on the data filled in: tags, classes, features."""
        raise NotImplementedError

    @property
    def n(self) -> int:
        """The number of weights of a fitted model."""
        raise NotImplementedError

    def examples(self, X: Any, Y: Any = None) -> Any:
        """The examples in the form that kernels use; without Y for predictions."""
        raise NotImplementedError

    def prepared(self, X: Any, Y: Any) -> tuple[Any, Any]:
        """The fitted model and the examples; models that can share work between the two override it."""
        model = self.fitted(X, Y)
        return model, model.examples(X, Y)

    def output(self, examples: Any, i: int, y: np.ndarray) -> Any:
        """A decoded y in the user's format."""
        raise NotImplementedError

    def score(self, truths: Sequence[Any], outputs: Sequence[Any]) -> float:
        """The agreement of outputs with the truth, at most 1: the share of correct outputs, unless a model overrides it."""
        check_lengths(outputs, truths, "outputs")
        return sum(np.array_equal(output, truth) for output, truth in zip(outputs, truths, strict=True)) / max(1, len(outputs))

    def to_json(self) -> dict[str, Any]:
        """The model as JSON values, from which ``from_json`` restores it."""
        raise NotImplementedError


def checked_model_weights(w: Any, n: int) -> np.ndarray:
    """n weights as a float64 array; with fewer weights a kernel would read beyond the array."""
    weights = np.ascontiguousarray(w, dtype=np.float64)
    if weights.shape != (n,) or not np.isfinite(weights).all():
        raise InputError(f"The weights have shape {weights.shape}: the model needs {n:,} finite weights.")
    return weights


def check_lengths(X: Sequence[Any], Y: Sequence[Any], what: str) -> None:
    """Raise an InputError unless there is one output for each input."""
    if len(X) != len(Y):
        raise InputError(f"There are {len(X):,} {what} but outputs for {len(Y):,}: give one output for each.")

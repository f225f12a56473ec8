"""What a structured model is: outputs y with parts, a loss between outputs, and the best output under given weights

A model scores an output y of an input x by <w, ψ(x, y)>, and ψ is linear in the *parts* of y, a short vector of its own for every
example: ψ(x_i, y) = A_i·parts(y). Which class a row has, which tags a sentence's tokens have and how often one follows another, at
which rank a document is, how often a kind of loop occurs: those are parts. Solvers keep mixtures of outputs as mixtures of
parts, which are few, and never as weights, which may be millions.

A model is two classes. The first, in Python, is a frozen dataclass of options and of what the data decides (:class:`StructuredModel`). The
second, under ``@compiled``, holds the examples and answers the solvers' questions inside kernels, without the interpreter:

    count()                          how many examples there are
    outputs(i), parts(i)             the length of the array of whole numbers that describes an output; how many parts it has
    work(i)                          about how long a decoding takes, in any unit: threads share the examples by it
    decode(i, w, scale, cost, y)     y ← argmax_y cost·Δ(y, y_i) + scale·<w, ψ(x_i, y)>, for cost 0 or 1
    loss(i, y)                       Δ(y, y_i): 0 for the truth y_i, never negative
    difference(i, y, d)              d ← parts(y) − parts(y_i)
    expected(i, w, scale, d)         d ← E[parts(y)] − parts(y_i) under p(y) ∝ exp(scale·<w, ψ(x_i, y)>); log Z − scale·<w, ψ(x_i, y_i)>
    dot(i, d, w)                     <w, A_i·d>
    add(i, c, d, out)                out.shift(j, c·(A_i·d)_j) for every weight j that is concerned

``expected`` is asked for by the likelihood alone. The next model is one more file: see :mod:`fenchel.structured.multiclass`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from fenchel.core.errors import InputError

MARGIN, LIKELIHOOD = "margin", "likelihood"


class StructuredModel:
    """The part of a structured model that is written in Python: a frozen dataclass with these methods."""

    losses: ClassVar[tuple[str, ...]] = (MARGIN,)  #: which losses it has a compiled answer for

    def fitted(self, X: Any, Y: Any) -> Any:
        """The same model with what data like these decide: tags, classes, features."""
        raise NotImplementedError

    @property
    def n(self) -> int:
        """How many weights there are, once the model is fitted."""
        raise NotImplementedError

    def examples(self, X: Any, Y: Any = None) -> Any:
        """The examples as kernels take them; without Y, to predict."""
        raise NotImplementedError

    def prepared(self, X: Any, Y: Any) -> tuple[Any, Any]:
        """The fitted model and the examples; for models to which one is half of the other."""
        model = self.fitted(X, Y)
        return model, model.examples(X, Y)

    def output(self, examples: Any, i: int, y: np.ndarray) -> Any:
        """What a decoded y means to a user."""
        raise NotImplementedError

    def score(self, truths: Sequence[Any], outputs: Sequence[Any]) -> float:
        """How well outputs agree with the truth, 1 at best: the share that is right, unless a model has a better measure."""
        check_lengths(outputs, truths, "outputs")
        return sum(np.array_equal(output, truth) for output, truth in zip(outputs, truths, strict=True)) / max(1, len(outputs))

    def to_json(self) -> dict[str, Any]:
        """Plain values that ``from_json`` makes the same model of."""
        raise NotImplementedError


def checked_model_weights(w: Any, n: int) -> np.ndarray:
    """n weights as kernels take them: a kernel reads whatever memory lies beyond fewer."""
    weights = np.ascontiguousarray(w, dtype=np.float64)
    if weights.shape != (n,) or not np.isfinite(weights).all():
        raise InputError(f"The weights have shape {weights.shape}, and the model has {n:,} of them, all finite.")
    return weights


def check_lengths(X: Sequence[Any], Y: Sequence[Any], what: str) -> None:
    """Refuse inputs and outputs that are not as many."""
    if len(X) != len(Y):
        raise InputError(f"There are {len(X):,} {what} and outputs for {len(Y):,}: give one output for each.")

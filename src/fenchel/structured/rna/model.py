"""The structured model of RNA secondary structures: nested pairs, scored loop by loop."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fenchel.core.errors import Argument, InputError, InputTypeError
from fenchel.core.threads import available_threads
from fenchel.core.validation import is_number
from fenchel.datasets.rna_notation import dot_bracket, partners_of
from fenchel.structured.oracle import each_output
from fenchel.structured.rna.examples import FoldExamples, count_truths
from fenchel.structured.rna.features import LONGEST_LOOP, UNKNOWN, names, terms
from fenchel.structured.rna.mea import fold_accurately, pair_probabilities
from fenchel.structured.rna.pair_accuracy import accuracy
from fenchel.structured.rna.sequences import encoded, foldable
from fenchel.structured.structured_model import LIKELIHOOD, MARGIN, StructuredModel, check_lengths, checked_model_weights


@dataclass(frozen=True)
class RnaFold(StructuredModel):
    """Fold RNA: sequences to nested secondary structures, with the features of CONTRAfold.

    Structures for training are dot-bracket strings, lists of pairs or arrays of partners. Pairs that the model cannot
    represent (see :func:`~fenchel.structured.rna.sequences.foldable`) are removed, so that the truth is one of the outputs.

    Args:
        hairpin: the minimal number of bases in a hairpin.
        missed: the cost of a true pair that is not predicted, for the margin loss.
        false: the cost of a predicted pair that is not in the truth, for the margin loss.

    >>> import fenchel as fl
    >>> X, Y = ["GGGGAAAACCCC", "GGCGAAAGCC"], ["((((....))))", "(((....)))"]
    >>> problem = fl.structured.Problem(fl.structured.RnaFold(), X, Y, fl.L2(0.01), loss="likelihood")
    >>> w = fl.minimize(problem, tol=1e-2).w
    >>> problem.decode(w), problem.model.fold(["GGGAAAACCC"], w)
    (['((((....))))', '(((....)))'], ['(((....)))'])
    """

    hairpin: int = 3
    missed: float = 1.0
    false: float = 1.0

    losses: ClassVar[tuple[str, ...]] = (MARGIN, LIKELIHOOD)

    def __post_init__(self) -> None:
        if type(self.hairpin) is not int or not 0 <= self.hairpin <= LONGEST_LOOP:
            raise InputError(Argument("hairpin", self.hairpin), f": give a whole number from 0 to {LONGEST_LOOP}.")
        for name in ("missed", "false"):
            value = getattr(self, name)
            if not (is_number(value) and 0.0 <= value < math.inf):
                raise InputError(Argument(name, value), ": give a non-negative number.")

    @property
    def n(self) -> int:
        """The number of weights."""
        return len(names())

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the weights, as in CONTRAfold."""
        return names()

    def fitted(self, X: Any, Y: Any) -> RnaFold:
        """The model itself, which does not depend on the data."""
        return self

    def examples(self, X: Any, Y: Any = None) -> FoldExamples:
        """The sequences, and structures if given, in the form that kernels use."""
        if isinstance(X, str):
            raise InputTypeError("X is a single string: give a list of sequences.")
        codes = [encoded(sequence, f"sequence {i}") for i, sequence in enumerate(X)]
        if not codes:
            raise InputError("X has no sequences: give at least one.")
        if Y is not None:
            check_lengths(codes, [Y] if isinstance(Y, str) else Y, "sequences")
        structures = [np.full(len(code), -1) for code in codes] if Y is None else self._truths(codes, Y)
        starts = np.concatenate([[0], np.cumsum([len(code) + 2 for code in codes])])
        bases = np.concatenate([np.pad(code, 1, constant_values=UNKNOWN) for code in codes])
        partners = np.concatenate([np.pad(truth, 1, constant_values=-1) for truth in structures])
        B = terms()
        matrix = (B.data, B.indices.astype(np.int64), B.indptr.astype(np.int64))
        truths = np.empty((len(codes), self.n))
        count_truths(bases, starts, partners, *matrix, truths)
        return FoldExamples(bases, starts, partners, truths, *matrix, self.hairpin, float(self.missed), float(self.false))

    def _truths(self, codes: list[np.ndarray], Y: Any) -> list[np.ndarray]:
        given = [partners_of(structure, len(codes[i]), f"structure {i}") for i, structure in enumerate(Y)]
        return [foldable(code, partners, self.hairpin) for code, partners in zip(codes, given, strict=True)]

    def output(self, examples: FoldExamples, i: int, y: np.ndarray) -> str:
        """A decoded structure as a dot-bracket string."""
        return dot_bracket(y.tolist())

    def fold(self, X: Any, w: np.ndarray, gamma: float = 6.0, threads: int | None = None) -> list[str]:
        """The structures of maximum expected accuracy under weights learnt by likelihood; the larger ``gamma``, the more pairs."""
        examples, w, gamma = self.examples(X), checked_model_weights(w, self.n), checked_gamma(gamma)
        ys = each_output(
            examples, threads or available_threads(), lambda order, starts, ys: fold_accurately(examples, order, w, gamma, starts, ys)
        )
        return [self.output(examples, i, y) for i, y in enumerate(ys)]

    def pair_probabilities(self, sequence: str, w: np.ndarray) -> np.ndarray:
        """The symmetric matrix of the pair probabilities under weights w.

        >>> RnaFold().pair_probabilities("GAAAC", np.zeros(336))[0].tolist()
        [0.0, 0.0, 0.0, 0.0, 0.5]
        """
        return pair_probabilities(self.examples([sequence]), 0, checked_model_weights(w, self.n))

    def marginals(self, X: Any, w: np.ndarray) -> list[np.ndarray]:
        """The same for several sequences."""
        return [self.pair_probabilities(sequence, w) for sequence in X]

    def score(self, truths: Any, predictions: Any) -> float:
        """F1 over all pairs: the harmonic mean of sensitivity and positive predictive value."""
        return accuracy(truths, predictions).f1

    def to_json(self) -> dict[str, Any]:
        """The model as JSON values."""
        return {"hairpin": self.hairpin, "missed": float(self.missed), "false": float(self.false)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> RnaFold:
        """The inverse of ``to_json``; invalid values raise an InputError."""
        if not isinstance(data, dict) or set(data) != {"hairpin", "missed", "false"}:
            raise InputError("A folding model is described by exactly hairpin, missed and false.")
        return cls(**data)


def checked_gamma(gamma: Any) -> float:
    """The weight of pairs relative to unpaired bases, if it is positive."""
    if not (is_number(gamma) and 0.0 < gamma < math.inf):
        raise InputError(Argument("gamma", gamma), ": give a positive number.")
    return float(gamma)

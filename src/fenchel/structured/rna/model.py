"""RNA secondary structure: nested pairs, scored loop by loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fenchel.structured.rna.examples import FoldExamples, count_truths
from fenchel.structured.rna.features import UNKNOWN, names, terms
from fenchel.structured.rna.structures import dot_bracket, encoded, foldable, partners_of


@dataclass(frozen=True)
class RnaFold:
    """Fold RNA: sequences to nested secondary structures, with the features of CONTRAfold.

    Structures for training are dot-bracket strings, lists of pairs or arrays of partners. Pairs that the model cannot have (see
    :func:`~fenchel.structured.rna.structures.foldable`) are left out of them, so that the truth is one of the outputs.

    Args:
        hairpin: how many bases a hairpin has at least.
        missed: what a pair of the truth that is not predicted costs, where the loss is a margin.
        false: what a predicted pair that is not in the truth costs there.

    >>> import numpy as np
    >>> model = RnaFold()
    >>> model.n, model.feature_names[0]
    (336, 'base_pair_AU')
    """

    hairpin: int = 3
    missed: float = 1.0
    false: float = 1.0

    losses: ClassVar = ("margin", "likelihood")

    def __post_init__(self) -> None:
        if not isinstance(self.hairpin, int) or not 0 <= self.hairpin <= 30:
            raise ValueError(f"hairpin={self.hairpin!r}: give a whole number from 0 to 30.")
        for name in ("missed", "false"):
            value = getattr(self, name)
            if not isinstance(value, (int, float)) or not 0.0 <= value < float("inf"):
                raise ValueError(f"{name}={value!r}: give a number that is not negative.")

    @property
    def n(self) -> int:
        """How many weights there are."""
        return len(names())

    @property
    def feature_names(self) -> tuple[str, ...]:
        """What each weight is for, as CONTRAfold names them."""
        return names()

    def fitted(self, X: Any, Y: Any) -> RnaFold:
        """The model itself: nothing about it depends on the data."""
        return self

    def examples(self, X: Any, Y: Any = None) -> FoldExamples:
        """Sequences, and structures if there are any, in the form that kernels take."""
        if isinstance(X, str):
            raise TypeError("X is a single string: give a list of sequences.")
        codes = [encoded(sequence, f"sequence {i}") for i, sequence in enumerate(X)]
        if not codes:
            raise ValueError("X has no sequences: give at least one.")
        if Y is not None and (isinstance(Y, str) or len(Y) != len(codes)):
            raise ValueError(f"Y must be a list of {len(codes)} structures, one for each sequence.")
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

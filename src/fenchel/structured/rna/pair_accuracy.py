"""The agreement of predicted structures with true ones, by pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.errors import InputError
from fenchel.core.validation import checked_choice
from fenchel.datasets.rna_notation import partners_of, structure_length


class Accuracy(NamedTuple):
    """The agreement of predicted pairs with true ones."""

    sensitivity: float  #: the share of the true pairs that were predicted
    ppv: float  #: the share of the predicted pairs that are true

    @property
    def f1(self) -> float:
        """The harmonic mean of both."""
        total = self.sensitivity + self.ppv
        return 2.0 * self.sensitivity * self.ppv / total if total else 0.0


def accuracy(truths: Sequence[Any], predictions: Sequence[Any], average: str = "pairs") -> Accuracy:
    """Sensitivity and positive predictive value of pairs, over all pairs, or with ``average="sequences"`` the means over sequences.

    Every true pair counts, even one that no model can predict. A share of zero pairs is 1.

    >>> found = accuracy(["((..))"], ["(....)"])
    >>> found.sensitivity, found.ppv, round(found.f1, 3)
    (0.5, 1.0, 0.667)
    """
    if len(truths) != len(predictions):
        raise InputError(f"There are {len(truths)} true structures but {len(predictions)} predicted ones: give one prediction for each.")
    checked_choice("average", average, ("pairs", "sequences"))
    counts = np.array([_agreement(true, predicted, i) for i, (true, predicted) in enumerate(zip(truths, predictions, strict=True))])
    if average == "pairs":
        counts = counts.sum(axis=0, keepdims=True)
    right, true, predicted = counts.reshape(-1, 3).T
    return Accuracy(_share(right, true), _share(right, predicted))


def _agreement(true: Any, predicted: Any, i: int) -> tuple[int, int, int]:
    """The numbers of pairs in both, in the truth, and in the prediction."""
    places = f"true structure {i}", f"predicted structure {i}"
    length = _length(true, predicted, places)
    a, b = partners_of(true, length, places[0]), partners_of(predicted, length, places[1])
    opening = np.arange(length)
    return int(np.sum((a == b) & (a > opening))), int(np.sum(a > opening)), int(np.sum(b > opening))


def _length(true: Any, predicted: Any, places: tuple[str, str]) -> int:
    """The length of the sequence, from a dot-bracket string or else from an array of partners."""
    both = sorted(zip((true, predicted), places, strict=True), key=lambda given: not isinstance(given[0], str))
    length = next((found for given, place in both if (found := structure_length(given, place)) is not None), None)
    if length is None:
        raise InputError(f"{places[0]} and {places[1]} are lists of pairs: give one as a dot-bracket string or an array of partners.")
    return length


def _share(part: np.ndarray, whole: np.ndarray) -> float:
    return float(np.mean(np.where(whole > 0, part / np.maximum(whole, 1), 1.0)))

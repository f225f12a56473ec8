"""Accuracy of structures in all input formats."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from fenchel.estimators.rna_folder import RnaFolder
from fenchel.structured.rna import accuracy


def test_accuracy_over_all_pairs_and_averaged_over_sequences():
    truths, predictions = ["((...))", "......."], ["(.....)", "(.....)"]
    assert accuracy(truths, predictions) == (0.5, 0.5)
    assert accuracy(truths, predictions, "sequences") == (0.75, 0.5)


@pytest.mark.slow
def test_accuracy_accepts_structures_in_all_formats():
    partners = [6, 5, -1, -1, -1, 1, 0]
    formats = ["((...))", [(0, 6), (1, 5)], np.array([[5, 1], [6, 0]]), partners, np.array(partners)]
    for true, predicted in itertools.product(formats, formats):
        if any(isinstance(given, str) or np.ndim(given) == 1 for given in (true, predicted)):
            assert accuracy([true], [predicted]) == (1.0, 1.0)
        else:
            with pytest.raises(ValueError, match="true structure 0 and predicted structure 0 are lists of pairs"):
                accuracy([true], [predicted])
    assert accuracy([[]], ["((...))"]) == (1.0, 0.0)
    with pytest.raises(ValueError, match="true structure 0 has length 1, and its sequence length 7"):
        accuracy([[5]], ["((...))"])
    folder = RnaFolder(max_passes=3, tol=1e-1).fit(["GGGGAAAACCCC"], ["((((....))))"])
    pairs, text = [(0, 11), (1, 10)], "((........))"
    assert folder.score(["GGGGAAAACCCC"], [pairs]) == folder.score(["GGGGAAAACCCC"], [text])

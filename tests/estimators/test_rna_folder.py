"""RnaFolder on generated structures."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from fenchel.datasets import make_rna
from fenchel.estimators.rna_folder import RnaFolder
from fenchel.structured.rna import RnaFold, accuracy


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["likelihood", "margin"])
def test_the_estimator_predicts_generated_structures_better_than_zero_weights(loss):
    sequences, structures = make_rna(30, length=40, seed=3)
    folder = RnaFolder(loss, l2=0.1, tol=0.02).fit(sequences[:20], structures[:20])
    assert folder.converged_
    assert len(folder.coef_) == len(folder.model_.feature_names) == 336
    baseline = accuracy(structures[20:], RnaFold().fold(sequences[20:], np.zeros(336))).f1
    assert folder.score(sequences[20:], structures[20:]) > baseline + 0.1
    assert clone(folder).get_params() == folder.get_params()

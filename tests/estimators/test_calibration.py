"""Calibrated probabilities: formats of sample weights and labels."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from fenchel.estimators import LinearClassifier, LogisticRegressionCV
from tests.data import randomly_labelled_rows


@pytest.mark.parametrize("model", [LogisticRegressionCV(Cs=2, cv=2), LinearClassifier("hinge", calibration="sigmoid")])
def test_a_scalar_sample_weight_applies_to_every_row(model):
    X, y = randomly_labelled_rows()
    one, each = model.fit(X, y, 2.0).predict_proba(X), model.fit(X, y, np.full(60, 2.0)).predict_proba(X)
    np.testing.assert_array_equal(one, each)


def test_calibration_accepts_labels_as_a_column():
    X, y = randomly_labelled_rows()
    model = LinearClassifier("hinge", calibration="sigmoid")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns that it expects a vector
        column = model.fit(X, y[:, None]).predict_proba(X)
    np.testing.assert_array_equal(column, model.fit(X, y).predict_proba(X))

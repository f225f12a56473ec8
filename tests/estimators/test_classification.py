"""Class weights of classifiers."""

from __future__ import annotations

import numpy as np
import pytest

from fenchel.estimators import LogisticRegression
from tests.data import randomly_labelled_rows


@pytest.mark.parametrize("weights", [{0: -1.0, 1: 1.0}, {0: np.nan, 1: 1.0}, {0: 0.0, 1: 0.0}])
def test_invalid_class_weights_are_refused(weights):
    X, y = randomly_labelled_rows()
    with pytest.raises(ValueError, match="class_weight="):
        LogisticRegression(class_weight=weights).fit(X, y)

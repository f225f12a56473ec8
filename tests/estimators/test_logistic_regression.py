"""LogisticRegression: classes of zero weight."""

from __future__ import annotations

import numpy as np
import pytest

from fenchel.estimators import LogisticRegression
from tests.data import randomly_labelled_rows


@pytest.mark.parametrize("absent", [0, 1, 2])
def test_a_class_of_zero_weight_is_kept_with_probability_near_zero(absent):
    X, y = randomly_labelled_rows(3)
    model = LogisticRegression(tol=1e-8).fit(X, y, np.where(y == absent, 0.0, 1.0))
    p = model.predict_proba(X)
    two = LogisticRegression(tol=1e-8, C=2.0).fit(X[y != absent], y[y != absent])  # ‖u/2‖² + ‖−u/2‖² = ‖u‖²/2
    assert p.shape == (60, 3)
    assert model.converged_
    assert p[:, absent].max() < 1e-6
    np.testing.assert_allclose(np.delete(p, absent, axis=1), two.predict_proba(X), atol=1e-3)

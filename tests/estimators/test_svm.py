"""LinearSVC and LinearSVR: Crammer and Singer's loss with two classes, and infinite C."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.svm

from fenchel import estimators
from fenchel.estimators import LinearSVC
from tests.data import randomly_labelled_rows


def test_crammer_singer_with_two_classes_agrees_with_scikit_learn():
    X, y = randomly_labelled_rows()
    options = {"multi_class": "crammer_singer", "C": 0.1, "tol": 1e-8, "max_iter": 100_000}
    ours, theirs = LinearSVC(**options).fit(X, y), sklearn.svm.LinearSVC(**options).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    w, margins = np.append(ours.coef_, ours.intercept_), np.where(y == 1, 1, -1) * ours.decision_function(X)
    assert ours.objective_ == pytest.approx(0.25 * w @ w + 0.1 * np.maximum(0.0, 1.0 - margins).sum())


@pytest.mark.parametrize("name", ["LinearSVC", "LinearSVR"])
def test_infinite_c_gives_a_finite_objective(name):
    X, y = randomly_labelled_rows()
    model = getattr(estimators, name)(C=np.inf).fit(X, y)
    assert np.isfinite([model.objective_, model.dual_objective_, model.gap_]).all()

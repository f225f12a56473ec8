"""Probabilities from scores: p(y = k | x) = 1/(1 + e^−(a·score + b)), with a and b learnt on held-out rows

J. Platt, *Probabilistic outputs for support vector machines*, 1999: the targets are (N₊ + 1)/(N₊ + 2) and 1/(N₋ + 2) instead of 1 and 0,
as if each class had one more row. A target t is equivalent to a row of label +1 and weight t plus one of label −1 and weight 1 − t, so the
fit is a logistic regression on one feature with an unpenalised intercept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import column_or_1d

from fenchel.core.errors import InputError
from fenchel.core.validation import checked_choice
from fenchel.driver import solve
from fenchel.estimators.classification import normalised_one_vs_rest
from fenchel.losses import Logistic
from fenchel.problems.problem import FREE, Problem
from fenchel.regularizers import L2

FOLDS = 5  # of the cross-validation that produces the scores
NEGLIGIBLE = 1e-9  # ridge strength relative to the mean square of the scores: small enough to have no effect


def fit_calibration(model: Any, X: Any, y: Any, sample_weight: Any) -> np.ndarray:
    """Slope and offset for each class, from out-of-fold scores: five folds, or fewer if a class has fewer rows."""
    checked_choice("calibration", model.calibration, ("sigmoid",))
    y = column_or_1d(y)
    folds = min(FOLDS, int(np.unique(y, return_counts=True)[1].min()))
    if folds < 2:
        raise InputError("calibration needs at least two rows of every class: set calibration=None, or give more rows.")
    scores = np.zeros((len(y), 1 if len(model.classes_) == 2 else len(model.classes_)))
    weight = np.ones(len(y)) if sample_weight is None else np.broadcast_to(np.asarray(sample_weight, dtype=float), len(y))
    for train, test in StratifiedKFold(folds, shuffle=True, random_state=model._seed()).split(np.zeros(len(y)), y):
        part = clone(model).set_params(calibration=None)
        part.fit(_safe_indexing(X, train), y[train], weight[train])
        scores[test] = part.decision_function(_safe_indexing(X, test)).reshape(len(test), -1)
    classes = model.classes_[1:] if scores.shape[1] == 1 else model.classes_
    return np.array([sigmoid_fit(scores[:, k], y == label, weight) for k, label in enumerate(classes)])


def calibrated_probabilities(calibration: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The probabilities of the classes, one row for each row of scores.

    >>> calibrated_probabilities(np.array([[1.0, 0.0]]), np.array([0.0])).tolist()
    [[0.5, 0.5]]
    """
    p = expit(scores.reshape(len(scores), -1) * calibration[:, 0] + calibration[:, 1])
    return np.column_stack([1.0 - p, p]) if p.shape[1] == 1 else normalised_one_vs_rest(p)


def sigmoid_fit(scores: np.ndarray, positive: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """Slope and offset of the sigmoid fitted to one class.

    >>> slope, offset = sigmoid_fit(np.array([-2.0, -1.0, 1.0, 2.0]), np.array([False, False, True, True]), np.ones(4))
    >>> slope > 0, abs(offset) < 1e-6
    (True, True)
    """
    up, down = weight @ positive, weight @ ~positive
    t = np.where(positive, (up + 1.0) / (up + 2.0), 1.0 / (down + 2.0))
    X = np.concatenate([scores, scores])[:, None]
    y = np.repeat([1.0, -1.0], len(scores))
    s = np.concatenate([weight * t, weight * (1.0 - t)])
    ridge = L2(max(NEGLIGIBLE * float(np.mean(scores**2)), 1e-300))
    found = solve(Problem(X, y, Logistic(), ridge, sample_weight=s, intercept=FREE), "newton", tol=1e-10)
    return float(found.coef[0]), float(found.intercept)

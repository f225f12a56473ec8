"""Classification with two or more classes and labels of any type, as one multiclass problem or one problem per class (one-vs-rest)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.special import expit, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from fenchel.core.array_types import MatrixLike
from fenchel.core.errors import Argument, InputError
from fenchel.estimators.checked_input import checked_pair, classes_of
from fenchel.estimators.linear_estimator import Formulation, LinearEstimator, with_callbacks


class Classifier(ClassifierMixin, LinearEstimator):
    """The common base of all linear classifiers."""

    classes_: np.ndarray

    def _is_joint(self, classes: int) -> bool:
        """Whether several classes are learnt jointly, as one problem with a multiclass loss."""
        raise NotImplementedError

    def _formulation(self, weight: float, together: bool) -> Any:
        """The objective for rows of this total weight, with a multiclass loss if ``together``, else with a binary one."""
        raise NotImplementedError

    def _check_loaded(self) -> None:
        super()._check_loaded()
        classes: Any = getattr(self, "classes_", None)
        if not isinstance(classes, np.ndarray) or classes.ndim != 1:
            raise InputError("classes_ is not an array of classes")
        check_classification_targets(self.classes_)
        if len(set(self.classes_.tolist())) < len(self.classes_):
            raise InputError("classes_ names a class twice")
        self._is_joint(len(self.classes_))  # raises an InputError for unusable parameters

    @with_callbacks
    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model to rows X with labels y.

        Args:
            X: an array, sparse matrix or data frame.
            y: one label per row: numbers, strings or booleans.
            sample_weight: a weight for each row; 0 leaves the row out, 2 counts it twice.
        """
        self._learn(*self._formulated(X, y, sample_weight))
        return self

    def _formulated(self, X: Any, y: Any, sample_weight: Any, reset: bool = True) -> tuple[Any, Any, np.ndarray, np.ndarray, Formulation]:
        X, y = checked_pair(self, X, y, numeric=False, reset=reset)
        if not reset and not np.array_equal(np.unique(y), self.classes_):
            raise InputError("y has other classes than the rows that the model was fitted to: give those rows, all of them.")
        codes = self._encoded(y)
        weight = self._class_weighted(self._weights_of(X, sample_weight), y, sample_weight)
        return X, y, codes, weight, self._formulation(float(weight.sum()), self._is_joint(len(self.classes_)))

    def _encoded(self, y: Any) -> np.ndarray:
        """Set ``classes_`` and return the labels as 0, 1, …, K − 1."""
        self.classes_, codes = classes_of(y)
        if len(self.classes_) < 2:
            raise InputError(f"{type(self).__name__} needs samples of at least 2 classes, but y has only one class: {self.classes_[0]}.")
        return codes

    def _class_weighted(self, weight: np.ndarray, y: Any, sample_weight: Any) -> np.ndarray:
        """The weights of the rows multiplied by those of their classes."""
        wanted = getattr(self, "class_weight", None)
        if wanted is None:
            return weight
        given = {"sample_weight": weight} if sample_weight is not None else {}
        by_class = compute_class_weight(wanted, classes=self.classes_, y=y, **given)
        weight = weight * by_class[np.searchsorted(self.classes_, y)]
        if not (np.isfinite(by_class).all() and by_class.min() >= 0.0 and weight.any()):
            raise InputError(
                Argument("class_weight", wanted), ": give each class a finite non-negative weight, and at least one class a positive one."
            )
        return weight

    def _targets(self, codes: np.ndarray) -> list[np.ndarray]:
        """The labels of each problem: all classes, two classes, or each class against the rest."""
        K = len(self.classes_)
        if K > 2 and self._is_joint(K):
            return [codes]
        return [np.where(codes == k, 1.0, -1.0) for k in ([1] if K == 2 else range(K))]

    def _attributes(self, weights: list[tuple[np.ndarray, Any]], dtype: Any) -> dict[str, np.ndarray]:
        if weights[0][0].ndim == 2:
            ((coef, intercept),) = weights
            return {"coef_": coef.T.astype(dtype), "intercept_": np.broadcast_to(intercept, coef.shape[1]).astype(dtype)}
        return {
            "coef_": np.array([coef for coef, _ in weights], dtype=dtype),
            "intercept_": np.array([float(intercept) for _, intercept in weights], dtype=dtype),
        }

    def _current_weights(self, count: int) -> list[Any]:
        if not hasattr(self, "coef_"):
            return [None] * count
        coef = self.coef_.toarray() if sp.issparse(self.coef_) else self.coef_
        full = np.column_stack([coef, self.intercept_]) if self.fit_intercept else np.asarray(coef)
        full = full.astype(np.float64)
        return [np.ascontiguousarray(full.T)] if count == 1 and len(full) > 1 else list(full) + [None] * (count - len(full))

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """The score <w, x> + b of each row: one number per row for two classes, otherwise one column per class."""
        scores = self._scores(X)
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X: MatrixLike) -> np.ndarray:
        """The class with the highest score, for every row."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0.0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    def _probabilities(self, X: Any, together: bool) -> np.ndarray:
        """Probabilities from scores of the softmax loss (``together``), or of one-vs-rest logistic losses, normalised to sum to 1."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            of_second = expit(scores)
            return np.column_stack([1.0 - of_second, of_second])
        if together:
            return softmax(scores, axis=1)
        return normalised_one_vs_rest(expit(scores))


def normalised_one_vs_rest(p: np.ndarray) -> np.ndarray:
    """One-vs-rest probabilities normalised to sum to 1 in each row; uniform where they are all 0.

    >>> normalised_one_vs_rest(np.array([[0.2, 0.2, 0.4], [0.0, 0.0, 0.0]])).round(2).tolist()
    [[0.25, 0.25, 0.5], [0.33, 0.33, 0.33]]
    """
    total = p.sum(axis=1, keepdims=True)
    return np.where(total > 0.0, p / np.where(total > 0.0, total, 1.0), 1.0 / p.shape[1])

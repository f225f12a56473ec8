"""Regression with one or several outputs, each a separate problem on the same matrix."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import MultiOutputMixin, RegressorMixin

from fenchel.core.array_types import MatrixLike
from fenchel.core.errors import InputError
from fenchel.estimators.checked_input import checked_pair
from fenchel.estimators.linear_estimator import Formulation, LinearEstimator, with_callbacks


class Regressor(MultiOutputMixin, RegressorMixin, LinearEstimator):
    """The common base of all linear regressors."""

    weight_dimensions = (1, 2)
    array_intercept = False  # whether ``intercept_`` is an array even for a single output

    def _formulation(self, weight: float) -> Formulation:
        """The objective for rows of this total weight."""
        raise NotImplementedError

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if self.coef_.ndim == 2 and np.size(self.intercept_) != self.coef_.shape[0]:
            raise InputError("intercept_ has not one number for each output")

    @with_callbacks
    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model to rows X with targets y.

        Args:
            X: an array, sparse matrix or data frame.
            y: one number per row, or one column per output.
            sample_weight: a weight for each row; 0 leaves the row out, 2 counts it twice.
        """
        self._learn(*self._formulated(X, y, sample_weight))
        return self

    def _formulated(self, X: Any, y: Any, sample_weight: Any, reset: bool = True) -> tuple[Any, Any, np.ndarray, np.ndarray, Formulation]:
        X, y = checked_pair(self, X, y, numeric=True, reset=reset)
        y = self._with_outputs_recorded(y)
        weight = self._weights_of(X, sample_weight)
        return X, y, y, weight, self._formulation(float(weight.sum()))

    def _with_outputs_recorded(self, y: Any) -> np.ndarray:
        """y as a dense array; the number of outputs is stored for predictions."""
        y = np.asarray(y.toarray() if sp.issparse(y) else y)
        self._outputs = y.shape[1] if y.ndim == 2 else 0
        return y

    def _targets(self, codes: np.ndarray) -> list[np.ndarray]:
        return list(codes.T) if codes.ndim == 2 else [codes]

    def _attributes(self, weights: list[tuple[np.ndarray, Any]], dtype: Any) -> dict[str, Any]:
        coef = np.array([coef for coef, _ in weights]).astype(dtype)
        intercept = np.array([float(intercept) for _, intercept in weights]).astype(dtype)
        as_array = self.array_intercept or self._outputs
        return {"coef_": coef if self._outputs > 1 else coef[0], "intercept_": intercept if as_array else intercept[0]}

    def _current_weights(self, count: int) -> list[Any]:
        if not hasattr(self, "coef_"):
            return [None] * count
        coef = np.atleast_2d(self.coef_.toarray() if sp.issparse(self.coef_) else self.coef_).astype(np.float64)
        full = np.column_stack([coef, np.atleast_1d(self.intercept_)]) if self.fit_intercept else coef
        return list(full) + [None] * (count - len(full))

    def predict(self, X: MatrixLike) -> np.ndarray:
        """The prediction for every row, with one column per output if there are several."""
        scores = self._scores(X)
        return scores if np.ndim(self.coef_) == 1 or self._several_outputs() else scores.ravel()

    def densify(self) -> Self:
        """Store ``coef_`` as a dense array again."""
        was_sparse = sp.issparse(getattr(self, "coef_", None))
        super().densify()
        if was_sparse and not self._several_outputs():
            self.coef_ = self.coef_.ravel()
        return self

    def _several_outputs(self) -> bool:
        return len(np.atleast_1d(self.intercept_)) > 1

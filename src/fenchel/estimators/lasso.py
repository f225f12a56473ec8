"""``ElasticNet`` and ``Lasso`` of scikit-learn: min 1/(2Σs)·Σ_i s_i (z_i − y_i)² + α(r‖w‖₁ + (1 − r)/2·‖w‖²), the intercept not penalised

This is fenchel's own scaling: half the mean squared error, with strength α.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from fenchel.core.array_types import MatrixLike, RandomState
from fenchel.estimators.drop_in import SklearnParameters
from fenchel.estimators.linear_estimator import Formulation
from fenchel.estimators.penalties import checked_strength, elastic
from fenchel.estimators.regression import Regressor
from fenchel.losses import Squared
from fenchel.problems.problem import FREE


class ElasticNet(SklearnParameters, Regressor):
    """scikit-learn's ``ElasticNet``, with its parameters and objective, and a certificate.

    Args:
        alpha: the strength.
        l1_ratio: the share of the l1 norm, from 0 (ridge) to 1 (lasso).
        positive: whether weights are constrained to be non-negative.
        tol: the certified gap to stop at, relative to the objective at w = 0.
        max_iter: the maximal number of passes over the data.
        fit_intercept, warm_start, random_state: as in :class:`LinearRegressor`.
        precompute, copy_X, selection: no effect.

    >>> import numpy as np
    >>> from fenchel.estimators import ElasticNet
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 0.5]])
    >>> ElasticNet(alpha=0.1).fit(X, [1.0, 2.0, 3.0]).coef_.round(2).tolist()
    [0.86, 0.0]
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        precompute: bool | ArrayLike = False,
        max_iter: int = 1000,
        copy_X: bool = True,
        tol: float = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: RandomState = None,
        selection: str = "cyclic",
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.copy_X = copy_X
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection

    def _formulation(self, weight: float) -> Formulation:
        regularizer = elastic(checked_strength("alpha", self.alpha, zero=True), self.l1_ratio)
        return Formulation(Squared(), regularizer, FREE if self.fit_intercept else 0.0, positive=self.positive)

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None, check_input: bool = True) -> Self:
        """Fit the model to rows X with targets y.

        Args:
            X: an array, sparse matrix or data frame.
            y: one number per row, or one column per output.
            sample_weight: a weight for each row; 0 leaves the row out, 2 counts it twice.
            check_input: no effect; the input is always checked.
        """
        return super().fit(X, y, sample_weight)

    def _keep(self, found: Any, form: Formulation, dtype: Any) -> None:
        super()._keep(found, form, dtype)
        gaps = [result.gap for result in found]
        self.dual_gap_ = np.array(gaps) if len(gaps) > 1 else gaps[0]  # scikit-learn's name for the gap

    @property
    def sparse_coef_(self) -> sp.csr_array:
        """``coef_`` as a sparse matrix with one row per output."""
        return sp.csr_array(np.atleast_2d(self.coef_))


class Lasso(ElasticNet):
    """scikit-learn's ``Lasso``, with its parameters and objective, and a certificate.

    Args:
        alpha: the strength.
        positive, tol, max_iter, fit_intercept, warm_start, random_state, precompute, copy_X, selection: as in
            :class:`ElasticNet`.

    >>> import numpy as np, fenchel as fl
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 0.5]])
    >>> fl.Lasso(alpha=0.1).fit(X, [1.0, 2.0, 3.0]).coef_.round(2).tolist()
    [0.85, 0.0]
    """

    l1_ratio: Any = 1.0

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        precompute: bool | ArrayLike = False,
        copy_X: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: RandomState = None,
        selection: str = "cyclic",
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection

"""``RidgeCV`` as in scikit-learn: the α with the best score in cross-validation, by default leave-one-out

Leave-one-out needs no refitting: the residual of row i under the model learnt without it is r_i/(1 − h_i) for every α, where h is the
diagonal of the matrix that maps y to the predictions, and all come from one eigendecomposition of the centred, weighted XᵀX; where rows
are fewer than columns, from inverses of XXᵀ + αI.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.linalg import lapack
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.model_selection import check_cv
from sklearn.utils.validation import _check_method_params

from fenchel.core.array_types import MatrixLike
from fenchel.core.errors import Argument, InputError
from fenchel.core.numeric import EPSILON
from fenchel.core.threads import one_thread
from fenchel.estimators.checked_input import checked_pair
from fenchel.estimators.linear_estimator import OVERFLOW, CrossValidation, Formulation, with_callbacks
from fenchel.estimators.penalties import checked_strength
from fenchel.estimators.ridge import Ridge
from fenchel.estimators.routing import Routing
from fenchel.linalg.design import Design
from fenchel.problems.problem import Problem
from fenchel.solvers._coordinate.gram_matrix import LARGEST_GRAM

FEW_STRENGTHS = 4  # for which as many inverses take less time than eigenvalues: each 0.4 of it for 1,000 rows, 0.12 for 4,000
WELL_CONDITIONED = (
    1e-8  # relative to the mean of the diagonal: smaller strengths are left to eigenvalues, whose rounding they do not amplify
)
ONE_THREAD = 1000  # rows or columns up to which one thread of BLAS computes the inverses: several would wait for each other
NOISE = 1e-14  # relative to the largest eigenvalue: smaller eigenvalues are rounding errors


class FixedPredictions(RegressorMixin, BaseEstimator):
    """A model that returns given predictions, for scorers."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def predict(self, X: MatrixLike) -> np.ndarray:
        """The stored predictions, whatever X is."""
        return self.values


class RidgeCV(Routing, Ridge):
    """scikit-learn's ``RidgeCV``, with its parameters, and a certificate.

    Args:
        alphas: the strengths to choose from.
        scoring: the name of a scorer, or a function, that selects the best; None means the mean squared error in leave-one-out, and R²
            with ``cv``.
        cv: a number of folds, a splitter, or pairs of training and test rows; None means leave-one-out.
        store_cv_results: whether to store ``cv_results_``, squared errors (predictions with ``scoring``) by row, output and strength.
        alpha_per_target: whether to choose a separate strength for each output.
        fit_intercept: whether to add an unpenalised intercept.
        gcv_mode: no effect.

    Attributes after ``fit``, in addition to those of :class:`Ridge`: ``alpha_`` and ``best_score_``.

    >>> import numpy as np, fenchel as fl
    >>> X = np.vander(np.linspace(-1, 1, 30), 8)
    >>> fl.RidgeCV(alphas=(0.01, 1.0, 100.0)).fit(X, X[:, 6]).alpha_
    0.01
    """

    scored_methods, default_scorer = ("fit",), "r2"
    positive = False
    max_iter = None
    tol = 1e-4
    solver = "auto"

    def __init__(
        self,
        alphas: ArrayLike = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: str | Callable[..., float] | None = None,
        cv: CrossValidation = None,
        gcv_mode: str | None = None,
        store_cv_results: bool = False,
        alpha_per_target: bool = False,
    ) -> None:
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.gcv_mode = gcv_mode
        self.store_cv_results = store_cv_results
        self.alpha_per_target = alpha_per_target

    _products: np.ndarray | None = None  # XXᵀ, where leave-one-out has computed it for the fit to all rows

    @property
    def alpha(self) -> float | np.ndarray:  # type: ignore[override]  # a parameter of Ridge
        """The chosen strength."""
        return self.alpha_

    @with_callbacks
    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None, **params: Any) -> Self:
        """Choose the strength by cross-validation, then fit to all rows X with targets y; ``params`` go to the splitter and the scorer."""
        splitter_params, scorer_params = self._routed("fit", sample_weight, params)
        X, y = checked_pair(self, X, y, numeric=True)
        y = self._with_outputs_recorded(y)
        weight = self._weights_of(X, sample_weight)
        alphas = np.atleast_1d(np.asarray(self.alphas, dtype=float))
        for alpha in alphas.tolist():
            checked_strength("alphas", alpha, zero=self.cv is not None)
        for name in ("alpha_per_target", "store_cv_results"):
            if self.cv is not None and getattr(self, name):
                raise InputError(
                    f"cv!=None and {name}=True are incompatible: it is only available in leave-one-out, with ", Argument("cv", None), "."
                )
        if self.cv is None:
            design = Design(X, check_finite=False)
            self.alpha_, self.best_score_ = self._leave_one_out(design, y, weight, alphas, scorer_params)
            # The fit to all rows needs them where rows are few, and all have a weight.
            self._products = vars(design).get("products_of_rows") if weight.all() and design.m <= LARGEST_GRAM else None
            del design  # with products of many rows
        else:
            splits = list(check_cv(self.cv).split(X, y, **splitter_params))
            self.alpha_, self.best_score_ = self._by_folds(X, y, weight, alphas, splits, scorer_params)
        try:
            self._learn(X, y, y, weight, self._formulation(float(weight.sum())))
        finally:
            if "_products" in vars(self):
                del self._products
        return self

    def _problem(self, X: Any, y: np.ndarray, form: Formulation, sample_weight: Any) -> Problem:
        problem = super()._problem(X, y, form, sample_weight)
        if self._products is not None:
            problem.design.products_of_rows = self._products
        return problem

    @np.errstate(all="ignore")  # overflow gives a strength no finite error, so that another is chosen
    def _by_folds(
        self, X: Any, y: np.ndarray, weight: np.ndarray, alphas: np.ndarray, splits: list[Any], scorer_params: dict[str, Any]
    ) -> tuple[Any, Any]:
        scorer = self._get_scorer()

        def score(alpha: float, train: Any, test: Any) -> float:
            model = Ridge(alpha, fit_intercept=self.fit_intercept).fit(X[train], y[train], weight[train])
            return float(scorer(model, X[test], y[test], **_check_method_params(X, scorer_params, indices=test)))

        means = np.array([np.mean([score(alpha, *split) for split in splits]) for alpha in alphas.tolist()])
        return float(alphas[means.argmax()]), float(means.max())

    @np.errstate(all="ignore")
    def _leave_one_out(
        self, design: Design, y: np.ndarray, weight: np.ndarray, alphas: np.ndarray, scorer_params: dict[str, Any]
    ) -> tuple[Any, Any]:
        Y = y.reshape(len(y), -1)
        errors = leave_one_out(design, Y, weight, alphas, self.fit_intercept)  # strengths × rows × outputs
        if self.scoring is None:
            weighted = errors**2 * weight[:, None]
            scores, kept = -weighted.mean(axis=1), weighted
        else:
            kept = Y - errors
            scores = self._scored(Y, kept, scorer_params)
        if self.store_cv_results:
            self.cv_results_ = np.moveaxis(kept, 0, -1) if self._outputs else kept[:, :, 0].T
        if self.alpha_per_target and self._outputs:
            return alphas[scores.argmax(axis=0)], scores.max(axis=0)
        means = scores.mean(axis=1)
        return float(alphas[means.argmax()]), float(means.max())

    def _scored(self, Y: np.ndarray, predicted: np.ndarray, scorer_params: dict[str, Any]) -> np.ndarray:
        """Scores by strength and output; a single column if outputs are scored together."""
        scorer = self._get_scorer()
        together = Y.shape[1] > 1 and not self.alpha_per_target
        columns: list[Any] = [slice(None)] if together else list(range(Y.shape[1]))
        return np.array([[scorer(FixedPredictions(z[:, k]), None, Y[:, k], **scorer_params) for k in columns] for z in predicted])

    @property
    def cv_values_(self) -> Any:
        """The former name of ``cv_results_``."""
        return self.cv_results_


def leave_one_out(design: Design, Y: np.ndarray, weight: np.ndarray, alphas: np.ndarray, fit_intercept: bool) -> np.ndarray:
    """y_i minus its prediction by the model learnt without row i, for every strength, row and output.

    >>> X, Y = np.array([[0.0], [1.0], [3.0]]), np.array([[1.0], [2.0], [5.0]])
    >>> without = np.linalg.solve(X[1:].T @ X[1:] + 0.5, X[1:].T @ Y[1:])
    >>> bool(np.isclose(leave_one_out(Design(X), Y, np.ones(3), np.array([0.5]), False)[0, 0, 0], (Y[0] - X[0] @ without)[0]))
    True
    """
    share = weight / weight.sum() if fit_intercept else np.zeros(len(weight))
    method = by_rows if design.m < design.n else by_columns
    with one_thread if min(design.m, design.n) < ONE_THREAD else contextlib.nullcontext():
        return method(design, Y, weight, alphas, share)


def by_columns(design: Design, Y: np.ndarray, weight: np.ndarray, alphas: np.ndarray, share: np.ndarray) -> np.ndarray:
    """The same from the eigenvalues of the weighted XᵀX; ``share`` are the weights of rows in the mean that the intercept removes."""
    T, values = in_eigenbasis(design, weight, share)
    mean = share @ Y
    projected = T.T @ (weight[:, None] * (Y - mean))
    errors = []
    for alpha in alphas:
        residual = Y - mean - T @ (projected / (values + alpha)[:, None])
        leverage = weight * (T**2 @ (1.0 / (values + alpha))) + share  # 0 for a row of zero weight
        left = np.maximum(1.0 - leverage, EPSILON)  # 0 if the row is fitted exactly, where the formula is undefined
        errors.append(residual / left[:, None])
    return np.array(errors)


def by_rows(design: Design, Y: np.ndarray, weight: np.ndarray, alphas: np.ndarray, share: np.ndarray) -> np.ndarray:
    """The same for fewer rows than columns, where 1 − h_i would lose its digits.

    With K = s·XXᵀ·s of centred rows, s the roots of the weights, the error of row i is ((K + αI)⁻¹·s·y)_i divided by s_i and by the part of
    ((K + αI)⁻¹)_ii that is orthogonal to the constant, whose eigenvalue, 0, is replaced by one like the others.
    """
    K, root = products_of_centred_rows(design, share), np.sqrt(weight)
    weighted = finite(root[:, None] * K * root)
    typical = float(weighted.diagonal().mean())
    centred, constant = Y - share @ Y, np.sqrt(share)
    weighted += typical * np.outer(constant, constant)
    errors, unused = [], root == 0.0
    for alpha, (coefficients, whole) in zip(alphas, inverses(weighted, alphas, root[:, None] * centred), strict=True):
        left = np.maximum(whole - share / (typical + alpha), EPSILON * whole)  # 0 if the row is fitted exactly
        error = coefficients / np.where(unused, 1.0, root * left)[:, None]
        if unused.any():  # rows of zero weight, which no model learns from
            error[unused] = (centred - K @ (root[:, None] * coefficients))[unused]
        errors.append(error)
    return np.array(errors)


def inverses(K: np.ndarray, alphas: np.ndarray, B: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """(K + αI)⁻¹·B and the diagonal of (K + αI)⁻¹ for every α, by Cholesky factors or by eigenvalues, whichever is faster."""
    may_be_factored = len(alphas) <= FEW_STRENGTHS and alphas.min() >= WELL_CONDITIONED * float(K.diagonal().mean())
    return (by_factors(K, alphas, B) if may_be_factored else None) or by_eigenvalues(K, alphas, B)


def by_factors(K: np.ndarray, alphas: np.ndarray, B: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]] | None:
    """The inverses from a Cholesky factor for every α; None where a matrix is not positive definite in floating point."""
    found = []
    for alpha in alphas:
        shifted = K.copy()
        shifted[np.diag_indices_from(shifted)] += alpha
        factor, info = lapack.dpotrf(shifted.T, lower=0, overwrite_a=1)  # the transpose is in the order that LAPACK overwrites
        if info != 0:
            return None
        solution = lapack.dpotrs(factor, B, lower=0)[0]
        found.append((solution, lapack.dpotri(factor, lower=0, overwrite_c=1)[0].diagonal()))
    return found


def by_eigenvalues(K: np.ndarray, alphas: np.ndarray, B: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """The inverses from one eigendecomposition."""
    values, U = np.linalg.eigh(K)
    values[values <= NOISE * values[-1]] = 0.0
    projected, squares = U.T @ B, U**2
    return [(U @ (projected / (values + alpha)[:, None]), squares @ (1.0 / (values + alpha))) for alpha in alphas]


def products_of_centred_rows(design: Design, share: np.ndarray) -> np.ndarray:
    """XXᵀ for rows less their mean."""
    K = design.products_of_rows
    across = K @ share  # of every row with the mean
    return np.asarray(K - across[:, None] - across + share @ across)


def in_eigenbasis(design: Design, weight: np.ndarray, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The centred rows in the eigenbasis of the weighted XᵀX, and its eigenvalues."""
    X = design.storage.astype(np.float64, copy=False)
    centre = np.asarray(share @ X).ravel()
    scaled = X.multiply(weight[:, None]).tocsr() if sp.issparse(X) else weight[:, None] * X
    sums = np.asarray(weight @ X).ravel()
    G = as_dense(X.T @ scaled) - np.outer(centre, sums) - np.outer(sums, centre) + weight.sum() * np.outer(centre, centre)
    values, V = np.linalg.eigh(finite(G))
    return as_dense(X @ V) - centre @ V, values.clip(min=0.0)


def finite(matrix: np.ndarray) -> np.ndarray:
    """The matrix; an error if products of columns of X have overflowed."""
    if not np.isfinite(matrix).all():
        raise InputError(OVERFLOW)
    return matrix


def as_dense(product: Any) -> np.ndarray:
    """The product as a dense array."""
    return np.asarray(product.toarray() if sp.issparse(product) else product)

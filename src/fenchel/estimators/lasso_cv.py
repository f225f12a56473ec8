"""``LassoCV`` and ``ElasticNetCV`` as in scikit-learn: the strength with the smallest squared error on held-out rows

Every fold is one path of warm-started solutions, as in :func:`fenchel.path`, from one Gram matrix where columns are few. The fit on all
rows is certified.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils.validation import column_or_1d

from fenchel.core.array_types import MatrixLike, RandomState
from fenchel.core.errors import InputError
from fenchel.core.threads import one_thread
from fenchel.estimators.checked_input import checked_pair
from fenchel.estimators.lasso import ElasticNet
from fenchel.estimators.linear_estimator import CrossValidation, Formulation, with_callbacks
from fenchel.estimators.repeated_rows import distinct_in_folds
from fenchel.estimators.routing import Routing
from fenchel.losses import Squared
from fenchel.paths import Validated, validate
from fenchel.problems.problem import FREE


class ElasticNetCV(Routing, ElasticNet):
    """scikit-learn's ``ElasticNetCV``, with its parameters, and a certificate.

    Args:
        l1_ratio: the share of the l1 norm, above 0 and at most 1, or several values to choose from.
        eps: the ratio of the smallest strength to the largest, which is the smallest one that gives w = 0.
        alphas: the number of strengths to try, or the strengths themselves.
        cv: a number of folds, a splitter, or pairs of training and test rows; None means 5 folds.
        n_jobs: the number of threads; None and -1 mean all.
        positive, tol, max_iter, fit_intercept, verbose, random_state: as in :class:`ElasticNet`.
        precompute, copy_X, selection: no effect.

    Attributes after ``fit``, in addition to those of :class:`ElasticNet`: the chosen ``alpha_`` and ``l1_ratio_``, the strengths tried
    ``alphas_``, and ``mse_path_``, the mean squared error of every fold at every strength (and l1_ratio, if there are several).

    >>> import numpy as np
    >>> from fenchel.estimators import ElasticNetCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 5)); y = X[:, 0] + 0.1 * rng.standard_normal(100)
    >>> ElasticNetCV(cv=3).fit(X, y).coef_[0].round(1)
    np.float64(1.0)
    """

    def __init__(
        self,
        *,
        l1_ratio: float | Sequence[float] = 0.5,
        eps: float = 1e-3,
        alphas: int | ArrayLike = 100,
        fit_intercept: bool = True,
        precompute: bool | str | ArrayLike = "auto",
        max_iter: int = 1000,
        tol: float = 1e-4,
        cv: CrossValidation = None,
        copy_X: bool = True,
        verbose: int = 0,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: RandomState = None,
        selection: str = "cyclic",
    ) -> None:
        self.l1_ratio = l1_ratio  # type: ignore[assignment]  # one or several here
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.copy_X = copy_X
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection

    @with_callbacks
    @one_thread
    def fit(  # type: ignore[override]  # scikit-learn's has no check_input here
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None, **params: Any
    ) -> Self:
        """Choose the strength by cross-validation, then fit to all rows X with targets y; ``params`` are passed to the splitter."""
        splitter_params, _ = self._routed("fit", sample_weight, params)
        rows, targets = checked_pair(self, X, y, numeric=True)
        if targets.ndim > 1 and targets.shape[1] > 1:
            columns = targets.shape[1]
            raise InputError(f"{type(self).__name__} supports a single output, and y has {columns} columns: fit one model per column.")
        targets = self._with_outputs_recorded(column_or_1d(targets, warn=True))
        weight = self._weights_of(rows, sample_weight)
        folded = distinct_in_folds(rows, targets, weight, list(check_cv(self.cv).split(rows, targets, **splitter_params)))
        paths = [self._path(*folded, float(ratio)) for ratio in np.atleast_1d(self.l1_ratio)]
        best = min(paths, key=lambda found: found.fold_losses.mean(axis=0).min())
        self.alpha_, self.l1_ratio_ = float(best.strengths[best.fold_losses.mean(axis=0).argmin()]), best.l1_ratio
        alphas = np.array([found.strengths for found in paths])
        self.alphas_ = alphas if len(paths) > 1 and isinstance(self.alphas, (int, np.integer)) else alphas[0]
        self.mse_path_ = np.squeeze(np.array([2.0 * found.fold_losses.T for found in paths]))
        self._learn(rows, targets, targets, weight, self._formulation(float(weight.sum())))
        return self

    def _path(self, X: Any, y: np.ndarray, weight: np.ndarray, splits: list[Any], l1_ratio: float) -> Validated:
        count = int(self.alphas) if isinstance(self.alphas, (int, np.integer)) and not isinstance(self.alphas, bool) else None
        strengths: dict[str, Any] = {"strengths": self.alphas} if count is None else {"n_strengths": count, "ratio": self.eps}
        if count is not None and (not y.any() or (self.fit_intercept and np.ptp(y) == 0.0)):  # w = 0 is optimal at every strength
            strengths = {"strengths": np.full(count, np.finfo(float).resolution)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the final fit emits its own warning
            found = validate(
                X,
                y,
                Squared(),
                l1_ratio=l1_ratio,
                cv=splits,
                intercept=FREE if self.fit_intercept else 0.0,
                sample_weight=weight,
                positive=self.positive,
                tol=self.tol,
                max_passes=self._limits()["max_passes"],
                seed=self._seed(),
                threads=self._threads(),
                **strengths,
            )
        if found.interrupted:
            raise KeyboardInterrupt
        return found

    def _formulation(self, weight: float) -> Formulation:
        final = ElasticNet(alpha=self.alpha_, l1_ratio=self.l1_ratio_, positive=self.positive, fit_intercept=self.fit_intercept)
        return final._formulation(weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags


class LassoCV(ElasticNetCV):
    """scikit-learn's ``LassoCV``, with its parameters, and a certificate.

    Args:
        eps, alphas, cv, n_jobs, positive, tol, max_iter, fit_intercept, verbose, random_state, precompute, copy_X, selection: as in
            :class:`ElasticNetCV`.

    >>> import numpy as np, fenchel as fl
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 5)); y = X[:, 0] + 0.1 * rng.standard_normal(100)
    >>> fl.LassoCV(cv=3).fit(X, y).coef_[0].round(1)
    np.float64(1.0)
    """

    l1_ratio: Any = 1.0

    def __init__(
        self,
        *,
        eps: float = 1e-3,
        alphas: int | ArrayLike = 100,
        fit_intercept: bool = True,
        precompute: bool | str | ArrayLike = "auto",
        max_iter: int = 1000,
        tol: float = 1e-4,
        copy_X: bool = True,
        cv: CrossValidation = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: RandomState = None,
        selection: str = "cyclic",
    ) -> None:
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.copy_X = copy_X
        self.cv = cv
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection

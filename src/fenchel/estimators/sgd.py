"""``SGDClassifier`` and ``SGDRegressor`` as in scikit-learn: min (1/Σs)·Σ_i s_i φ(z_i, y_i) + α·penalty

By default ``fit`` makes a few passes of stochastic dual coordinate ascent and stops by scikit-learn's rule; ``partial_fit``
makes a single pass of an online method. Problems that a second-order method solves in the time of these passes are solved instead. With
``solver="auto"``, or the name of a solver, ``fit`` minimises the objective to a certified gap of ``tol``. The methods choose their own step
sizes: parameters for learning rates have no effect.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit
from sklearn.utils.metaestimators import available_if

from fenchel.core.array_types import MatrixLike, RandomState
from fenchel.core.errors import Argument, InputError, users_line
from fenchel.core.validation import checked_choice, checked_whole
from fenchel.estimators.classification import Classifier, normalised_one_vs_rest
from fenchel.estimators.drop_in import SklearnParameters
from fenchel.estimators.linear_estimator import ClassWeight, Formulation, LinearEstimator
from fenchel.estimators.partial_fit import OnlineClassifier, OnlineRegressor
from fenchel.estimators.penalties import RATIO_OF, checked_strength, elastic
from fenchel.estimators.regression import Regressor
from fenchel.losses import EpsilonInsensitive, Hinge, Huber, Logistic, SmoothHinge, Squared, SquaredEpsilonInsensitive, SquaredHinge
from fenchel.problems.problem import FREE, Problem
from fenchel.problems.result import Result
from fenchel.solvers._second_order.few_rows import has_few_rows
from fenchel.solvers._second_order.newton_equations import has_small_equations
from fenchel.solvers._second_order.small_problems import steps_are_compiled
from fenchel.solvers.declaration import is_quadratic, is_ridge, second_derivatives, smooth_loss
from fenchel.solvers.interior_point import maximum_over_boxes

ONLINE = "online"
# The solver whose passes ``fit`` makes. Plain dual ascent suits rows that share few coordinates: for hinge loss it takes 7 passes in place
# of 12 on bigrams of the BBC's texts, and after 4 passes over news20 its objective is 0.012 in place of 0.042.
PASSES: dict[str, Any] = {"solver": "accelerated-sdca", "variant": "practical", "progressive": True}
PASSES_OVER_SPARSE: dict[str, Any] = {"solver": "sdca", "progressive": True}

# Most multiplications m·n² of a step of an interior point method for which it takes less time than passes, for few rows and for more. On 12
# data sets of 200 to 5,404 rows and 5 to 150 columns it takes 0.3 to 0.9 times as long below, and 1.3 to 2.1 times above. Newton's method
# takes 0.3 to 0.9 times as long wherever its steps are compiled, except on fewer than 300 rows of 200 columns.
MOST_IF_FEW, MOST_PRODUCTS, FEW = 800_000, 500_000, 1000
SECOND_ORDER_STEPS = 100  # passes that must be allowed for second-order methods, which make fewer


def has_cheap_minimum(problem: Problem) -> bool:
    """Whether a second-order method proves its minimum in the time of the passes that an online method makes."""
    if second_derivatives(problem) is None and smooth_loss(problem) is None:
        return steps_are_compiled(problem) or has_few_rows(problem)
    if maximum_over_boxes(problem) is not None:
        return False
    if has_few_rows(problem):  # steps in terms of the rows cost more than passes over sparse rows
        return problem.m**3 <= MOST_PRODUCTS or not sp.issparse(problem.design.storage)
    return problem.m * problem.n**2 <= (MOST_IF_FEW if problem.m <= FEW else MOST_PRODUCTS)


def regression_losses(epsilon: float) -> dict[str, tuple[Any, float]]:
    """fenchel's losses by scikit-learn's names, each with the ratio of scikit-learn's loss to it."""
    return {
        "squared_error": (Squared(), 1.0),
        "huber": (Huber(epsilon) if epsilon > 0.0 else None, 1.0),
        "epsilon_insensitive": (EpsilonInsensitive(epsilon), 1.0),
        "squared_epsilon_insensitive": (SquaredEpsilonInsensitive(epsilon), 2.0),
    }


CLASSIFICATION_LOSSES: dict[str, tuple[Any, float]] = {
    "hinge": (Hinge(), 1.0),
    "log_loss": (Logistic(), 1.0),
    "squared_hinge": (SquaredHinge(), 2.0),
    "modified_huber": (SmoothHinge(2.0), 4.0),  # (1 − yz)² for yz ≥ −1 and linear below: four times the smoothed hinge with γ = 2
}


def given_starts(coef: Any, intercept: Any, count: int, features: int, fit_intercept: bool) -> list[np.ndarray]:
    """The starting weights of each problem, the intercept last, from ``coef_init`` and ``intercept_init``; 0 for None.

    >>> given_starts([1.0, 2.0], None, 1, 2, True)[0].tolist()
    [1.0, 2.0, 0.0]
    """
    parts = {"coef_init": (coef, (count, features)), "intercept_init": (intercept, (count, 1))}
    for name, (given, shape) in parts.items():
        if given is not None and np.size(given) != shape[0] * shape[1]:
            raise InputError(f"Provided {name} does not match dataset: it has shape {np.shape(given)}, but shape {shape} is needed.")
    w, b = (np.zeros(shape) if given is None else np.reshape(given, shape).astype(np.float64) for given, shape in parts.values())
    return list(np.column_stack([w, b]) if fit_intercept else w)


class _Sgd(SklearnParameters):
    """The common base of ``SGDClassifier`` and ``SGDRegressor``."""

    transient = (*LinearEstimator.transient, "_held_out")
    solver: Any
    early_stopping: Any
    validation_fraction: Any
    n_iter_no_change: Any
    n_iter_: Any
    penalty: Any
    alpha: Any
    l1_ratio: Any
    fit_intercept: Any
    _given: tuple[Any, Any] = (None, None)

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        coef_init: ArrayLike | None = None,
        intercept_init: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit the model to rows X with labels or targets y.

        Args:
            X: an array, sparse matrix or data frame.
            y: one label or number per row.
            coef_init, intercept_init: starting weights; they can reduce the number of passes and do not change the minimum.
            sample_weight: a weight for each row; 0 leaves the row out, 2 counts it twice.
        """
        self._given = (coef_init, intercept_init)
        try:
            return super().fit(X, y, sample_weight=sample_weight)  # type: ignore[misc]
        finally:
            del self._given

    def _starts(self, count: int) -> list[Any]:
        if all(part is None for part in self._given):
            return super()._starts(count)  # type: ignore[misc]
        return given_starts(*self._given, count, self.n_features_in_, self.fit_intercept)  # type: ignore[attr-defined]

    def _limits_for(self, problem: Problem) -> dict[str, Any]:
        limits = self._limits()
        if limits["solver"] != ONLINE:
            return limits
        if not self._makes_passes(problem):
            return {**limits, "solver": "auto"}
        patience = checked_whole("n_iter_no_change", self.n_iter_no_change) if self.tol is not None else math.inf
        passes = PASSES if problem.design.overlapping else PASSES_OVER_SPARSE
        # Where the number of passes is what the user asks for, each visits all rows.
        shrinking = self.tol is not None and self.max_iter >= SECOND_ORDER_STEPS
        return {**limits, **passes, "shrinking": shrinking, "patience": patience}

    def _makes_passes(self, problem: Problem) -> bool:
        """Whether ``fit`` makes passes of the online method: not where it refuses the penalty, or a certified minimum costs no more."""
        if self.solver != ONLINE or not is_ridge(problem.penalised):
            return False
        if is_quadratic(problem) and has_small_equations(problem.design):
            return False
        rule_of_passes = self.early_stopping or self.tol is None or self.max_iter < SECOND_ORDER_STEPS
        return bool(rule_of_passes or not has_cheap_minimum(problem))

    def _learn(self, X: Any, y: Any, codes: np.ndarray, weight: np.ndarray, form: Formulation) -> list[Result]:
        if not self.early_stopping or self.solver != ONLINE:
            return super()._learn(X, y, codes, weight, form)  # type: ignore[misc]
        learnt, held_out = self._split(codes)
        if not weight[held_out].any():
            raise InputError("The sample weights for the validation set are all zero: hold out others with another random_state.")
        self._held_out = X[held_out], codes[held_out], weight[held_out] / weight[held_out].sum()
        try:
            return super()._learn(X[learnt], y[learnt], codes[learnt], weight[learnt], form)  # type: ignore[misc]
        finally:
            del self._held_out

    def _split(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The rows to learn from, and those that decide when to stop; of each class the same share."""
        kind = StratifiedShuffleSplit if is_classifier(self) else ShuffleSplit
        try:
            return next(kind(1, test_size=self.validation_fraction, random_state=self._seed()).split(codes, codes))  # type: ignore[attr-defined]
        except ValueError as error:
            raise InputError(Argument("validation_fraction", self.validation_fraction), f" cannot be held out: {error}") from error

    def _watched(self, problem: Problem, k: int) -> Callable[[np.ndarray], float] | None:
        """With early stopping, the function that takes weights of target k to their error on the rows held out."""
        if not hasattr(self, "_held_out"):
            return None
        X, codes, weight = self._held_out
        y = self._targets(codes)[k]  # type: ignore[attr-defined]
        spread = float(np.var(problem.y)) or 1.0

        def error(w: np.ndarray) -> float:
            coef, intercept = problem.split(w)
            z = X @ coef + intercept
            return float(weight @ (np.sign(z) != y if is_classifier(self) else (z - y) ** 2 / spread))

        return error

    def _keep(self, found: list[Result], form: Formulation, dtype: Any) -> None:
        super()._keep(found, form, dtype)  # type: ignore[misc]
        self.converged_ = all(result.converged or result.status == "finished" for result in found)

    def _warn_not_certified(self, problem: Problem, found: list[Result]) -> None:
        if not self._makes_passes(problem):
            super()._warn_not_certified(problem, found)  # type: ignore[misc]
        elif self.tol is not None and any(result.status == "max_passes" for result in found):
            message = f"{type(self).__name__} stopped after {self.n_iter_} passes, and its objective was still falling: give more max_iter."
            warnings.warn(message, ConvergenceWarning, stacklevel=users_line())

    def _sgd_formulation(self, loss: Any, times: float) -> Formulation:
        """mean of ``times``·loss + α·penalty as ``times`` the mean loss with strength α/``times``."""
        if self.penalty is not None:
            checked_choice("penalty", self.penalty, ("l2", "l1", "elasticnet"))
        strength = 0.0 if self.penalty is None else checked_strength("alpha", self.alpha, zero=True)
        regularizer = elastic(strength / times, RATIO_OF.get(self.penalty, self.l1_ratio))
        return Formulation(loss, regularizer, FREE if self.fit_intercept else 0.0, times)


def _has_probabilities(model: Any) -> bool:
    if model.loss not in ("log_loss", "modified_huber"):
        raise AttributeError(f"probability estimates are not available for loss={model.loss!r}: use 'log_loss' or 'modified_huber'.")
    return True


class SGDClassifier(_Sgd, OnlineClassifier, Classifier):  # type: ignore[misc]  # scikit-learn's order of the arguments of fit
    """scikit-learn's ``SGDClassifier``, with its parameters and objective, and a certificate.

    Args:
        loss: "hinge", "log_loss", "modified_huber", "squared_hinge", or a loss of :class:`SGDRegressor` on the labels −1 and 1.
        penalty: "l2", "l1", "elasticnet" or None.
        alpha: the strength.
        l1_ratio: for "elasticnet", the share of the l1 norm.
        tol, n_iter_no_change: ``fit`` stops after so many passes in a row whose mean loss is not below the lowest so far by more than
            ``tol``, or once the dual objective tells that no pass can lower the objective by more; None means exactly ``max_iter`` passes.
        early_stopping, validation_fraction: whether to hold out this share of the rows and stop by the error on them instead.
        max_iter: the maximal number of passes over the data.
        solver: "online"; or "auto", or one of fenchel's solvers, to minimise to a certified gap of ``tol`` times the objective at w = 0.
        epsilon: the parameter of the regression losses.
        fit_intercept, class_weight, warm_start, random_state, n_jobs, verbose: as in :class:`LinearClassifier`.
        shuffle, learning_rate, eta0, power_t, average: no effect.

    ``gap_`` is proven in any case; ``converged_`` says whether the stopping rule ended the fit. Small problems, which a second-order method
    solves in the time of a few passes, are minimised to a certified gap of ``tol``, and so are penalties with an l1 norm, because passes of
    an online method leave few weights at zero.

    >>> import fenchel as fl
    >>> X, y = fl.datasets.make_text(500, n=200, nonzeros=10)
    >>> few, certified = fl.SGDClassifier().fit(X, y), fl.SGDClassifier(solver="auto").fit(X, y)
    >>> few.n_iter_ < 60, few.score(X, y) > 0.9, certified.gap_ < 1e-3
    (True, True, True)
    """

    def __init__(
        self,
        loss: str = "hinge",
        *,
        penalty: Any = "l2",
        alpha: float = 1e-4,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        epsilon: float = 0.1,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        learning_rate: str = "optimal",
        eta0: float = 0.01,
        power_t: float = 0.5,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: ClassWeight = None,
        warm_start: bool = False,
        average: bool | int = False,
        solver: str = ONLINE,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.epsilon = epsilon
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.average = average
        self.solver = solver

    def _is_joint(self, classes: int) -> bool:
        return False

    def _formulation(self, weight: float, together: bool) -> Formulation:
        if self.loss == "perceptron":
            raise InputError(
                Argument("loss", "perceptron"),
                " is minimal at w = 0, so there is nothing to learn: use ",
                Argument("loss", "hinge"),
                ".",
            )
        known = {**CLASSIFICATION_LOSSES, **regression_losses(self.epsilon)}
        return self._sgd_formulation(*known[checked_choice("loss", self.loss, known)])

    @available_if(_has_probabilities)
    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """The probabilities of the classes, one row for each row of X."""
        if self.loss == "log_loss":
            return self._probabilities(X, together=False)
        scores = self.decision_function(X)
        p = (scores.clip(-1.0, 1.0) + 1.0) / 2.0  # T. Zhang, Statistical behavior and consistency of classification methods, 2004
        return np.column_stack([1.0 - p, p]) if p.ndim == 1 else normalised_one_vs_rest(p)

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: MatrixLike) -> np.ndarray:
        """The logarithms of :meth:`predict_proba`."""
        return np.log(self.predict_proba(X))


class SGDRegressor(_Sgd, OnlineRegressor, Regressor):  # type: ignore[misc]  # scikit-learn's order of the arguments of fit
    """scikit-learn's ``SGDRegressor``, with its parameters and objective, and a certificate.

    Args:
        loss: "squared_error", "huber", "epsilon_insensitive" or "squared_epsilon_insensitive".
        epsilon: the threshold of the last three losses, in the units of y.
        penalty, alpha, l1_ratio, tol, n_iter_no_change, early_stopping, validation_fraction, max_iter, solver, fit_intercept, warm_start,
            random_state, verbose: as in :class:`SGDClassifier`; least squares with few rows or columns are solved to a certified gap.
        shuffle, learning_rate, eta0, power_t, average: no effect.

    >>> import numpy as np, fenchel as fl
    >>> X = np.linspace(-1, 1, 50)[:, None]
    >>> fl.SGDRegressor(alpha=1e-6).fit(X, 3 * X[:, 0] + 1).predict([[0.5]]).round(2).tolist()
    [2.5]
    """

    array_intercept = True

    def __init__(
        self,
        loss: str = "squared_error",
        *,
        penalty: Any = "l2",
        alpha: float = 1e-4,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        epsilon: float = 0.1,
        random_state: RandomState = None,
        learning_rate: str = "invscaling",
        eta0: float = 0.01,
        power_t: float = 0.25,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        warm_start: bool = False,
        average: bool | int = False,
        solver: str = ONLINE,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.epsilon = epsilon
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.average = average
        self.solver = solver

    def _formulation(self, weight: float) -> Formulation:
        known = regression_losses(self.epsilon)
        return self._sgd_formulation(*known[checked_choice("loss", self.loss, known)])

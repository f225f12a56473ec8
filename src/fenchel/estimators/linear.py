"""``LinearClassifier`` and ``LinearRegressor``: every loss and penalty of fenchel as scikit-learn estimators."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from fenchel.core.array_types import MatrixLike, RandomState
from fenchel.core.errors import Argument, InputError
from fenchel.core.validation import checked_choice
from fenchel.estimators import calibration as platt
from fenchel.estimators.classification import Classifier
from fenchel.estimators.linear_estimator import ClassWeight, Formulation
from fenchel.estimators.partial_fit import OnlineClassifier, OnlineRegressor
from fenchel.estimators.penalties import loss_named, penalty_named
from fenchel.estimators.regression import Regressor
from fenchel.losses import Hinge, Logistic, MulticlassHinge, SmoothHinge, SmoothMulticlassHinge, Softmax
from fenchel.problems.problem import FREE

MULTICLASS_OF = {"logistic": "softmax", "hinge": "multiclass-hinge", "smooth-hinge": "smooth-multiclass-hinge"}
BINARY_OF = {multiclass: binary for binary, multiclass in MULTICLASS_OF.items()}
MULTICLASS = ("auto", "together", "one-vs-rest")


def _has_probabilities(model: Any) -> bool:
    if model.calibration is None and not isinstance(model._loss(2), Logistic):
        raise AttributeError(f"{type(model).__name__}(loss={model.loss!r}) has no probabilities: give calibration='sigmoid' to add them.")
    return True


class LinearClassifier(OnlineClassifier, Classifier):
    """Linear classification: minimises mean loss + penalty to a certified gap.

    Args:
        loss: "logistic", "hinge", "smooth-hinge", "squared-hinge", or a loss object such as ``fl.SmoothHinge(0.5)`` or a user-defined one.
        penalty: "l2", "l1", "elasticnet", "lp", None, or a regularizer such as ``fl.Box(0.0, 1.0)`` with its own strength.
        strength: the factor of the penalty; since the loss is a mean, it need not be adapted to the number of rows.
        l1_ratio: for "elasticnet", the share of the l1 norm.
        p: for "lp", the order of the norm, in (1, 2].
        solver: "auto", or the name of a solver; ``fenchel.solvers.solvers()`` lists them.
        tol: the certified gap to stop at, relative to the objective at w = 0.
        max_passes: the maximal number of passes over the data.
        time_limit: the maximal number of seconds.
        fit_intercept: whether to add an unpenalised intercept; with "lp" and with online solvers it is the weight of a constant
            feature of value 1, penalised like any other.
        class_weight: "balanced", or a weight for each class.
        warm_start: whether to start from the weights of the last ``fit``.
        random_state: a seed for the solver's random choices; None means 0.
        n_jobs: the number of threads; None and -1 mean all.
        verbose: whether to show a progress bar.
        multiclass: "together" for one problem with all classes (softmax, the multiclass hinge and its smooth form), "one-vs-rest", or
            "auto": "together" for smooth losses with a multiclass form, "one-vs-rest" for the others.
        calibration: "sigmoid" adds ``predict_proba`` for losses without probabilities, fitted by five-fold cross-validation.

    After ``fit``: ``coef_``, ``intercept_``, ``classes_`` and the certificate: ``objective_``, ``dual_objective_``, ``gap_``,
    ``converged_``, ``n_iter_``, ``solver_``, ``history_``.

    >>> import fenchel as fl
    >>> X, y = fl.datasets.make_text(500, n=200, nonzeros=10)
    >>> model = fl.LinearClassifier(loss="hinge", strength=1e-3).fit(X, y)
    >>> model.converged_, model.gap_ <= 1e-4
    (True, True)
    """

    def __init__(
        self,
        loss: Any = "logistic",
        *,
        penalty: Any = "l2",
        strength: float = 1e-4,
        l1_ratio: float = 0.5,
        p: float = 1.5,
        solver: str = "auto",
        tol: float = 1e-4,
        max_passes: float = 1000,
        time_limit: float | None = None,
        fit_intercept: bool = True,
        class_weight: ClassWeight = None,
        warm_start: bool = False,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        multiclass: str = "auto",
        calibration: str | None = None,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.strength = strength
        self.l1_ratio = l1_ratio
        self.p = p
        self.solver = solver
        self.tol = tol
        self.max_passes = max_passes
        self.time_limit = time_limit
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.multiclass = multiclass
        self.calibration = calibration

    def _is_joint(self, classes: int) -> bool:
        choice = checked_choice("multiclass", self.multiclass, MULTICLASS)
        multiclass = multiclass_loss(self.loss)
        if choice == "together" and multiclass is None:
            raise InputError(Argument("loss", self.loss), " has no multiclass form: give ", Argument("multiclass", "one-vs-rest"), ".")
        if classes == 2 or multiclass is None or choice == "one-vs-rest":
            return False
        return choice == "together" or is_multiclass(self.loss) or math.isfinite(multiclass.smoothness())

    def _loss(self, classes: int) -> Any:
        return multiclass_loss(self.loss) if self._is_joint(classes) else binary_loss(self.loss)

    def _formulation(self, weight: float, together: bool) -> Formulation:
        loss = multiclass_loss(self.loss) if together else binary_loss(self.loss)
        regularizer = penalty_named(self.penalty, self.strength, self.l1_ratio, self.p)
        return Formulation(loss, regularizer, FREE if self.fit_intercept else 0.0)

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model to rows X with labels y, and the probabilities if ``calibration`` is given.

        Args:
            X: an array, sparse matrix or data frame.
            y: one label per row: numbers, strings or booleans.
            sample_weight: a weight for each row; 0 leaves the row out, 2 counts it twice.
        """
        super().fit(X, y, sample_weight)
        if self.calibration is not None:
            self.calibration_ = platt.fit_calibration(self, X, y, sample_weight)
        return self

    def _check_loaded(self) -> None:
        super()._check_loaded()
        self._loss(len(self.classes_))
        if self.calibration is None:
            return
        checked_choice("calibration", self.calibration, ("sigmoid",))
        found = getattr(self, "calibration_", None)
        if not (isinstance(found, np.ndarray) and found.dtype == np.float64 and found.shape == (self.coef_.shape[0], 2)):
            raise InputError("calibration_ has not two numbers for each row of coef_")
        if not np.isfinite(found).all():
            raise InputError("calibration_ is not finite")

    @available_if(_has_probabilities)
    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """The probabilities of the classes, one row for each row of X."""
        check_is_fitted(self)
        if self.calibration is not None:
            return platt.calibrated_probabilities(self.calibration_, self.decision_function(X))
        return self._probabilities(X, self._is_joint(len(self.classes_)))

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: MatrixLike) -> np.ndarray:
        """The logarithms of :meth:`predict_proba`."""
        return np.log(self.predict_proba(X))


def binary_loss(loss: Any) -> Any:
    """The loss for two classes; a multiclass loss is replaced by its binary counterpart."""
    if isinstance(loss, str):
        return loss_named(BINARY_OF.get(loss.replace("_", "-"), loss), ("binary",))
    if isinstance(loss, SmoothMulticlassHinge):
        return SmoothHinge(loss.gamma)
    counterparts = {Softmax: Logistic(), MulticlassHinge: Hinge()}
    return counterparts[type(loss)] if type(loss) in counterparts else loss_named(loss, ("binary",))


def is_multiclass(loss: Any) -> bool:
    """Whether the given loss is itself a multiclass loss."""
    return loss.replace("_", "-") in BINARY_OF if isinstance(loss, str) else getattr(loss, "labels", None) == "class"


def multiclass_loss(loss: Any) -> Any:
    """The multiclass form of the loss, None if it has none."""
    if isinstance(loss, str):
        name = loss.replace("_", "-")
        return loss_named(MULTICLASS_OF.get(name, name), ("class",)) if name in MULTICLASS_OF or name in BINARY_OF else None
    if isinstance(loss, Logistic):
        return Softmax()
    if isinstance(loss, SmoothHinge):
        return SmoothMulticlassHinge(loss.gamma)
    return loss if is_multiclass(loss) else None


class LinearRegressor(OnlineRegressor, Regressor):
    """Linear regression with one or several outputs: minimises mean loss + penalty to a certified gap.

    Args:
        loss: "squared", "absolute", "huber", "quantile", "epsilon-insensitive", or a loss object such as ``fl.Quantile(0.9)``
            or a user-defined one.
        penalty, strength, l1_ratio, p, solver, tol, max_passes, time_limit, fit_intercept, warm_start, random_state, n_jobs,
            verbose: as in :class:`LinearClassifier`.

    After ``fit``: ``coef_``, ``intercept_`` and the certificate, as in :class:`LinearClassifier`.

    >>> import numpy as np, fenchel as fl
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 3)); y = X @ [1.0, -2.0, 0.0] + 5.0
    >>> model = fl.LinearRegressor("huber", strength=1e-6).fit(X, y)
    >>> model.coef_[:2].round(2).tolist(), float(model.intercept_.round(2))
    ([1.0, -2.0], 5.0)
    """

    def __init__(
        self,
        loss: Any = "squared",
        *,
        penalty: Any = "l2",
        strength: float = 1e-4,
        l1_ratio: float = 0.5,
        p: float = 1.5,
        solver: str = "auto",
        tol: float = 1e-4,
        max_passes: float = 1000,
        time_limit: float | None = None,
        fit_intercept: bool = True,
        warm_start: bool = False,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.strength = strength
        self.l1_ratio = l1_ratio
        self.p = p
        self.solver = solver
        self.tol = tol
        self.max_passes = max_passes
        self.time_limit = time_limit
        self.fit_intercept = fit_intercept
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _formulation(self, weight: float) -> Formulation:
        regularizer = penalty_named(self.penalty, self.strength, self.l1_ratio, self.p)
        return Formulation(loss_named(self.loss, ("real",)), regularizer, FREE if self.fit_intercept else 0.0)

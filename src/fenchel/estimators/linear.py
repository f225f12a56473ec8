"""``LinearClassifier`` and ``LinearRegressor``: every loss and every penalty of the house as scikit-learn estimators."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from fenchel.core.errors import Argument, InputError
from fenchel.core.validation import checked_choice
from fenchel.estimators import calibration as platt
from fenchel.estimators.classification import Classifier
from fenchel.estimators.linear_estimator import Formulation
from fenchel.estimators.partial_fit import OnlineClassifier, OnlineRegressor
from fenchel.estimators.penalties import loss_named, penalty_named
from fenchel.estimators.regression import Regressor
from fenchel.losses import Hinge, Logistic, MulticlassHinge, SmoothHinge, SmoothMulticlassHinge, Softmax
from fenchel.problems.problem import FREE

TOGETHER = {"logistic": "softmax", "hinge": "multiclass-hinge", "smooth-hinge": "smooth-multiclass-hinge"}
APART = {together: one for one, together in TOGETHER.items()}
MULTICLASS = ("auto", "together", "one-vs-rest")


def _has_probabilities(model: Any) -> bool:
    if model.calibration is None and not isinstance(model._loss(2), Logistic):
        raise AttributeError(f"{type(model).__name__}(loss={model.loss!r}) has no probabilities: give calibration='sigmoid' to learn them.")
    return True


class LinearClassifier(OnlineClassifier, Classifier):
    """Linear classification: mean loss + penalty, minimised to a certified gap.

    Args:
        loss: "logistic", "hinge", "smooth-hinge", "squared-hinge", or a loss object such as ``fl.SmoothHinge(0.5)`` or your own.
        penalty: "l2", "l1", "elasticnet", "lp", None, or a regularizer such as ``fl.Box(0.0, 1.0)`` with its own strength.
        strength: what the penalty is multiplied with; it does not depend on how many rows there are.
        l1_ratio: of "elasticnet", the share of the l1 norm.
        p: of "lp", the norm, in (1, 2].
        solver: "auto", or the name of a solver; ``fenchel.solvers.solvers()`` has them all.
        tol: the certified gap to stop at, relative to the objective at w = 0.
        max_passes: how many passes over the data at most.
        time_limit: how many seconds at most.
        fit_intercept: add an intercept, which is not penalised; but with "lp", and solvers that learn row by row, it is the
            weight of a constant feature of value 1, penalised like any other.
        class_weight: "balanced", or a weight for each class.
        warm_start: begin where the last ``fit`` ended.
        random_state: a seed for the solver's random choices; None is 0.
        n_jobs: how many threads; None and -1 are all.
        verbose: show a progress bar.
        multiclass: "together" for one problem with all classes (softmax, the multiclass hinge and its smooth form), "one-vs-rest", or
            "auto": together for smooth losses that can, one against the rest for the others.
        calibration: "sigmoid" has ``predict_proba`` learnt for losses that have no probabilities, on rows held out in five folds.

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
        class_weight: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
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

    def _one_for_all(self, classes: int) -> bool:
        choice = checked_choice("multiclass", self.multiclass, MULTICLASS)
        of_all = loss_of_all(self.loss)
        if choice == "together" and of_all is None:
            raise InputError(
                Argument("loss", self.loss), " has no form for all classes together: give ", Argument("multiclass", "one-vs-rest"), "."
            )
        if classes == 2 or of_all is None or choice == "one-vs-rest":
            return False
        return choice == "together" or asks_for_all(self.loss) or math.isfinite(of_all.smoothness())

    def _loss(self, classes: int) -> Any:
        return loss_of_all(self.loss) if self._one_for_all(classes) else loss_of_two(self.loss)

    def _formulation(self, weight: float, together: bool) -> Formulation:
        loss = loss_of_all(self.loss) if together else loss_of_two(self.loss)
        regularizer = penalty_named(self.penalty, self.strength, self.l1_ratio, self.p)
        return Formulation(loss, regularizer, FREE if self.fit_intercept else 0.0)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learn from rows X with labels y, and probabilities from rows held out if ``calibration`` asks for them.

        Args:
            X: an array, sparse matrix or data frame.
            y: one label per row: numbers, strings or booleans.
            sample_weight: a weight for each row; 0 is as if the row were not there, 2 as if it were there twice.
        """
        super().fit(X, y, sample_weight)
        if self.calibration is not None:
            self.calibration_ = platt.learnt(self, X, y, sample_weight)
        return self

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of every class, one row of them for each row of X."""
        check_is_fitted(self)
        if self.calibration is not None:
            return platt.calibrated_probabilities(self.calibration_, self.decision_function(X))
        return self._probabilities(X, self._one_for_all(len(self.classes_)))

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithms of :meth:`predict_proba`."""
        return np.log(self.predict_proba(X))


def loss_of_two(loss: Any) -> Any:
    """The loss for two classes; that of all classes together gives its counterpart."""
    if isinstance(loss, str):
        return loss_named(APART.get(loss.replace("_", "-"), loss), ("binary",))
    if isinstance(loss, SmoothMulticlassHinge):
        return SmoothHinge(loss.gamma)
    counterparts = {Softmax: Logistic(), MulticlassHinge: Hinge()}
    return counterparts[type(loss)] if type(loss) in counterparts else loss_named(loss, ("binary",))


def asks_for_all(loss: Any) -> bool:
    """Whether it is a loss for all classes together by its own name."""
    return loss.replace("_", "-") in APART if isinstance(loss, str) else getattr(loss, "labels", None) == "class"


def loss_of_all(loss: Any) -> Any:
    """The loss for all classes together, None if there is none."""
    if isinstance(loss, str):
        name = loss.replace("_", "-")
        return loss_named(TOGETHER.get(name, name), ("class",)) if name in TOGETHER or name in APART else None
    if isinstance(loss, Logistic):
        return Softmax()
    if isinstance(loss, SmoothHinge):
        return SmoothMulticlassHinge(loss.gamma)
    return loss if asks_for_all(loss) else None


class LinearRegressor(OnlineRegressor, Regressor):
    """Linear regression: mean loss + penalty, minimised to a certified gap, one output or several.

    Args:
        loss: "squared", "absolute", "huber", "quantile", "epsilon-insensitive", or a loss object such as ``fl.Quantile(0.9)`` or
            your own.
        penalty, strength, l1_ratio, p, solver, tol, max_passes, time_limit, fit_intercept, warm_start, random_state, n_jobs,
            verbose: as in :class:`LinearClassifier`.

    After ``fit``: ``coef_``, ``intercept_`` and the certificate, as there.

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
        random_state: Any = None,
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

"""``partial_fit``: incremental learning with the online solvers; every row is used for one step and not stored.

The intercept is the weight of a constant feature of value 1, penalised like any other. There is no certificate, because the rows are
not stored: ``objective_`` is the mean loss of each row just before its step, plus the penalty, ``dual_objective_`` a lower
bound for the rows seen, and ``gap_`` nan.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from fenchel.core.array_types import MatrixLike
from fenchel.core.errors import Argument, InputError
from fenchel.driver import solve
from fenchel.driver.choice import choose
from fenchel.estimators.checked_input import checked_pair
from fenchel.estimators.linear_estimator import Formulation, LinearEstimator
from fenchel.problems.stream import Stream
from fenchel.regularizers import L2
from fenchel.solvers import solvers

DEFAULT_SOLVER = "optimistic"  # its first steps do not diverge under a weak penalty
UNPENALISED = 1e-12  # ridge strength that replaces no penalty, because the online solvers need one


class _Online(LinearEstimator):
    classes_: np.ndarray

    def _check_parameters(self) -> None:
        if getattr(self, "early_stopping", False):
            raise InputError("early_stopping should be False with partial_fit: it makes one pass, whatever follows.")

    def _learn_online(self, X: Any, targets: list[np.ndarray], weight: np.ndarray, form: Formulation, classes: int | None) -> None:
        """One pass over these rows for each target, starting from the weights of the last call."""
        before: list[Any] = getattr(self, "_online_results", None) or self._current_weights(len(targets))
        name = self._limits()["solver"]
        constant = 1.0 if self.fit_intercept else 0.0
        regularizer = L2(UNPENALISED) if form.regularizer is None else form.regularizer
        found = []
        for k, y in enumerate(targets):
            stream = Stream([(X, y, weight)], form.loss, regularizer, classes=classes, intercept=constant)
            chosen = name if name in solvers() and solvers()[name].online else online_solver(stream)
            found.append(solve(stream, chosen, start=before[k], seed=self._seed() + k, threads=self._threads()))
        self._online_results = found
        self._keep(found, form, X.dtype)


def online_solver(stream: Any) -> str:
    """``DEFAULT_SOLVER`` if it accepts the stream, else the automatic choice."""
    return DEFAULT_SOLVER if solvers()[DEFAULT_SOLVER].refusal(stream) is None else choose(stream)[0]


class OnlineClassifier(_Online):
    """``partial_fit`` for classifiers."""

    def partial_fit(self, X: MatrixLike, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Update the model with more rows, one step each.

        Args:
            X, y, sample_weight: as in :meth:`fit`; weights should be 1 on average.
            classes: all possible labels, required in the first call.
        """
        self._check_parameters()
        first = not hasattr(self, "coef_")
        if first and classes is None:
            raise InputError("classes must be given in the first call of partial_fit: all labels that y can ever contain.")
        rows, labels = checked_pair(self, X, y, numeric=False, reset=first)
        if classes is not None:
            given = np.unique(classes)
            if not first and not np.array_equal(given, self.classes_):
                raise InputError(
                    Argument("classes", classes), f" is not the same as on the last call of partial_fit or fit: {self.classes_!r}."
                )
            self.classes_ = given
        self._check_online()
        codes = np.searchsorted(self.classes_, labels)
        unknown = np.flatnonzero((codes == len(self.classes_)) | (self.classes_[np.minimum(codes, len(self.classes_) - 1)] != labels))
        if len(unknown):
            raise InputError(
                f"y[{unknown[0]}] is {labels[unknown[0]]}, which is not one of the classes {', '.join(map(str, self.classes_))}."
            )
        K = len(self.classes_)
        weight = self._class_weighted(self._weights_of(rows, sample_weight), labels, sample_weight)
        together = self._is_joint(K)
        form = self._formulation(float(len(labels)), together)
        self._learn_online(rows, self._targets(codes), weight, form, K if together else None)
        return self

    def _check_online(self) -> None:
        if len(self.classes_) < 2:
            raise InputError(f"{type(self).__name__} needs at least 2 classes, but classes has only one class: {self.classes_[0]}.")
        if getattr(self, "class_weight", None) == "balanced":
            raise InputError(Argument("class_weight", "balanced"), " needs all rows at once: give the weights themselves, as a dictionary.")


class OnlineRegressor(_Online):
    """``partial_fit`` for regressors."""

    def partial_fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Update the model with more rows, one step each; weights should be 1 on average."""
        self._check_parameters()
        first = not hasattr(self, "coef_")
        rows, targets = checked_pair(self, X, y, numeric=True, reset=first)
        if not first and np.size(self.intercept_) != (targets.shape[1] if targets.ndim == 2 else 1):
            raise InputError(f"y has shape {targets.shape}, unlike on the last call of partial_fit or fit: give as many outputs.")
        targets = self._with_outputs_recorded(targets)
        weight = self._weights_of(rows, sample_weight)
        self._learn_online(rows, self._targets(targets), weight, self._formulation(float(len(targets))), None)
        return self

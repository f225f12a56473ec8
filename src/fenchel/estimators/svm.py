"""``LinearSVC`` and ``LinearSVR`` as in scikit-learn: min ½‖(w, b/c)‖² + C·Σ_i s_i φ(z_i, y_i), z = <w, x> + b

As in scikit-learn, the intercept is the weight of a constant feature c (``intercept_scaling``) and is penalised. scikit-learn's squared
losses have no factor ½, so that its C corresponds to 2C with fenchel's losses.
"""

from __future__ import annotations

import math
from typing import Any

from fenchel.core.array_types import RandomState
from fenchel.core.validation import checked_choice
from fenchel.estimators.classification import Classifier
from fenchel.estimators.drop_in import SklearnParameters
from fenchel.estimators.linear_estimator import ClassWeight, Formulation
from fenchel.estimators.penalties import RATIO_OF, checked_strength, elastic
from fenchel.estimators.regression import Regressor
from fenchel.losses import EpsilonInsensitive, Hinge, MulticlassHinge, SquaredEpsilonInsensitive, SquaredHinge


def svm_formulation(loss: Any, doubled: bool, C: float, weight: float, l1_ratio: float, constant: float) -> Formulation:
    """C·Σ loss + penalty as a mean loss with strength 1/(C·Σs), halved (``doubled``) for losses that are half of scikit-learn's."""
    times = weight * (2.0 if doubled else 1.0)
    if math.isinf(checked_strength("C", C)):
        return Formulation(loss, None, constant, times)
    return Formulation(loss, elastic(1.0 / (C * times), l1_ratio), constant, C * times)


class LinearSVC(SklearnParameters, Classifier):
    """scikit-learn's ``LinearSVC``, with its parameters and objective, and a certificate.

    Args:
        penalty: "l2" or "l1".
        loss: "squared_hinge" or "hinge".
        C: the inverse of the strength.
        multi_class: "ovr" for one-vs-rest, or "crammer_singer" for the multiclass hinge loss, which ignores ``penalty`` and
            ``loss``.
        intercept_scaling: the value of the constant feature; the larger it is, the less the intercept is penalised.
        tol: the certified gap to stop at, relative to the objective at w = 0.
        max_iter: the maximal number of passes over the data.
        fit_intercept, class_weight, verbose, random_state: as in :class:`LinearClassifier`.
        dual: no effect.

    ``objective_``, ``dual_objective_`` and ``gap_`` refer to scikit-learn's objective, penalty + C·Σ loss, summed over the
    classes for "ovr".

    >>> import fenchel as fl
    >>> X, y = fl.datasets.make_text(500, n=200, nonzeros=10)
    >>> fl.LinearSVC(loss="hinge").fit(X, y).converged_
    True
    """

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: bool | str = "auto",
        tol: float = 1e-4,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: ClassWeight = None,
        verbose: int = 0,
        random_state: RandomState = None,
        max_iter: int = 1000,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter

    def _is_joint(self, classes: int) -> bool:
        return checked_choice("multi_class", self.multi_class, ("ovr", "crammer_singer")) == "crammer_singer" and classes > 2

    def _formulation(self, weight: float, together: bool) -> Formulation:
        squared = checked_choice("loss", self.loss, ("squared_hinge", "hinge")) == "squared_hinge"
        l1_ratio = RATIO_OF[checked_choice("penalty", self.penalty, RATIO_OF)]
        constant = checked_strength("intercept_scaling", self.intercept_scaling) if self.fit_intercept else 0.0
        if self.multi_class == "crammer_singer":
            form = svm_formulation(MulticlassHinge() if together else Hinge(), False, self.C, weight, 0.0, constant)
            # For two classes w is the difference of the class vectors ±w/2, and twice ½‖w/2‖² is half of ½‖w‖².
            return form if together else form._replace(regularizer=form.regularizer.times(0.5))
        return svm_formulation(SquaredHinge() if squared else Hinge(), squared, self.C, weight, l1_ratio, constant)


class LinearSVR(SklearnParameters, Regressor):
    """scikit-learn's ``LinearSVR``, with its parameters and objective, and a certificate.

    Args:
        epsilon: the largest residual without loss.
        C: the inverse of the strength.
        loss: "epsilon_insensitive" or "squared_epsilon_insensitive".
        intercept_scaling, tol, max_iter, fit_intercept, verbose, random_state: as in :class:`LinearSVC`.
        dual: no effect.

    >>> import numpy as np, fenchel as fl
    >>> X = np.linspace(-1, 1, 50)[:, None]
    >>> fl.LinearSVR(C=100.0).fit(X, 3 * X[:, 0] + 1).predict([[0.5]]).round(2).tolist()
    [2.5]
    """

    array_intercept = True

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        tol: float = 1e-4,
        C: float = 1.0,
        loss: str = "epsilon_insensitive",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        dual: bool | str = "auto",
        verbose: int = 0,
        random_state: RandomState = None,
        max_iter: int = 1000,
    ) -> None:
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter

    def _formulation(self, weight: float) -> Formulation:
        squared = checked_choice("loss", self.loss, ("epsilon_insensitive", "squared_epsilon_insensitive")).startswith("squared")
        loss = SquaredEpsilonInsensitive(self.epsilon) if squared else EpsilonInsensitive(self.epsilon)
        constant = checked_strength("intercept_scaling", self.intercept_scaling) if self.fit_intercept else 0.0
        return svm_formulation(loss, squared, self.C, weight, 0.0, constant)

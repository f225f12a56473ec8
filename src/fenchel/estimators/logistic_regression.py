"""``LogisticRegression`` as in scikit-learn: min C·Σ_i s_i φ(z_i, y_i) + r‖w‖₁ + (1 − r)/2·‖w‖², the intercept not penalised

φ is the logistic loss for two classes, the softmax loss for more. Dividing by C·Σs gives a mean loss plus a penalty of strength 1/(C·Σs).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fenchel.core.array_types import MatrixLike, RandomState
from fenchel.core.validation import checked_choice
from fenchel.estimators.classification import Classifier
from fenchel.estimators.drop_in import SklearnParameters
from fenchel.estimators.linear_estimator import ClassWeight, Formulation
from fenchel.estimators.penalties import RATIO_OF, checked_strength, elastic
from fenchel.losses import Logistic, Softmax
from fenchel.problems.problem import FREE

PASSES = 10  # passes over the data per unit of ``max_iter``


class LogisticRegression(SklearnParameters, Classifier):
    """scikit-learn's ``LogisticRegression``, with its parameters and objective, and a certificate.

    Args:
        penalty: deprecated in scikit-learn in favour of ``l1_ratio`` and ``C``; "l1", "l2", "elasticnet" and None are accepted.
        C: the inverse of the strength; infinity means no penalty.
        l1_ratio: 0 for ridge, 1 for lasso, in between for the elastic net.
        tol: the certified gap to stop at, relative to the objective at w = 0.
        max_iter: a tenth of the maximal number of passes over the data, since one scikit-learn iteration makes several.
        solver: scikit-learn's names mean "auto"; fenchel's solvers can be chosen by name.
        fit_intercept, class_weight, random_state, verbose, warm_start, n_jobs: as in :class:`LinearClassifier`.
        dual, intercept_scaling: no effect.

    ``objective_``, ``dual_objective_`` and ``gap_`` refer to scikit-learn's objective, C·Σ loss + penalty.

    >>> import fenchel as fl
    >>> X, y = fl.datasets.make_text(500, n=200, nonzeros=10)
    >>> model = fl.LogisticRegression(C=10.0).fit(X, y)
    >>> model.converged_, model.predict_proba(X[:2]).shape
    (True, (2, 2))
    """

    def __init__(
        self,
        penalty: Any = "deprecated",
        *,
        C: float = 1.0,
        l1_ratio: float = 0.0,
        dual: bool = False,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: ClassWeight = None,
        random_state: RandomState = None,
        solver: str = "auto",
        max_iter: int = 100,
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def _limits(self) -> dict[str, Any]:
        limits = super()._limits()
        return {**limits, "max_passes": PASSES * limits["max_passes"]}

    def _is_joint(self, classes: int) -> bool:
        return classes > 2

    def _formulation(self, weight: float, together: bool) -> Formulation:
        return logistic_formulation(self.C, l1_ratio_of(self.penalty, self.l1_ratio), weight, together, self.fit_intercept, self.penalty)

    def _keep(self, found: Any, form: Formulation, dtype: Any) -> None:
        super()._keep(found, form, dtype)
        self.n_iter_ = np.array([self.n_iter_], dtype=np.int32)

    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """The probabilities of the classes, one row for each row of X."""
        return self._probabilities(X, together=True)

    def predict_log_proba(self, X: MatrixLike) -> np.ndarray:
        """The logarithms of :meth:`predict_proba`."""
        return np.log(self.predict_proba(X))


def l1_ratio_of(penalty: Any, l1_ratio: Any) -> float:
    """The l1_ratio implied by the parameters penalty and l1_ratio."""
    if penalty not in ("deprecated", None):
        checked_choice("penalty", penalty, ("l1", "l2", "elasticnet"))
    return RATIO_OF.get(penalty, 0.0 if l1_ratio is None else l1_ratio)


def logistic_formulation(C: float, l1_ratio: float, weight: float, together: bool, fit_intercept: bool, penalty: Any = "") -> Formulation:
    """C·Σ loss + penalty as a mean loss with strength 1/(C·Σs), scaled back by C·Σs."""
    C = 1.0 if penalty is None else checked_strength("C", C)
    unpenalised = penalty is None or np.isinf(C)
    regularizer = None if unpenalised else elastic(1.0 / (C * weight), l1_ratio)
    factor = weight * (1.0 if unpenalised else C)
    return Formulation(Softmax() if together else Logistic(), regularizer, FREE if fit_intercept else 0.0, factor)

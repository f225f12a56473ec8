"""``Ridge`` as in scikit-learn: min Σ_i s_i (z_i − y_i)² + α‖w‖², the intercept not penalised

Half of it divided by Σs is half the mean squared error with an l2 penalty of strength α/Σs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fenchel.core.array_types import RandomState
from fenchel.core.errors import InputError
from fenchel.estimators.drop_in import SklearnParameters
from fenchel.estimators.linear_estimator import Formulation
from fenchel.estimators.penalties import checked_strength, elastic
from fenchel.estimators.regression import Regressor
from fenchel.losses import Squared
from fenchel.problems.problem import FREE, Problem
from fenchel.solvers._second_order.newton_equations import has_small_equations

EXACT = 1e-10  # the tolerance where Newton's method solves the problem in one step


class Ridge(SklearnParameters, Regressor):
    """scikit-learn's ``Ridge``, with its parameters and objective, and a certificate.

    Args:
        alpha: the strength, one for all outputs or one per output.
        positive: whether weights are constrained to be non-negative.
        tol: the certified gap to stop at, relative to the objective at w = 0; problems of up to a few thousand rows or columns are
            always solved to 1e-10.
        max_iter: the maximal number of passes over the data; None means 1000.
        solver: scikit-learn's names mean "auto"; fenchel's solvers can be chosen by name.
        fit_intercept, random_state: as in :class:`LinearRegressor`.
        copy_X: no effect; X is never changed.

    ``objective_``, ``dual_objective_`` and ``gap_`` refer to scikit-learn's objective, summed over the outputs.

    >>> import numpy as np, fenchel as fl
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> fl.Ridge(alpha=2.0).fit(X, [1.0, 2.0, 3.0]).coef_.round(6).tolist()
    [0.5]
    """

    def __init__(
        self,
        alpha: float | ArrayLike = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-4,
        solver: str = "auto",
        positive: bool = False,
        random_state: RandomState = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state

    def _limits_for(self, problem: Problem) -> dict[str, Any]:
        """Newton's method takes one step whatever the tolerance, so the solution can be as exact as scikit-learn's direct solvers'."""
        limits = self._limits()
        if limits["solver"] == "auto" and has_small_equations(problem.design) and not self.positive:
            limits["tol"] = min(limits["tol"], EXACT)
        return limits

    def _formulation(self, weight: float) -> Formulation:
        alphas = np.atleast_1d(self.alpha)
        if len(alphas) not in (1, max(1, self._outputs)):
            raise InputError(f"alpha has {len(alphas)} strengths for {max(1, self._outputs)} outputs: give one, or one per output.")
        each = [elastic(checked_strength("alpha", alpha, zero=True) / weight, 0.0) for alpha in alphas.tolist()]
        several = tuple(each) if len(each) > 1 else ()
        return Formulation(Squared(), each[0], FREE if self.fit_intercept else 0.0, 2.0 * weight, several, self.positive)

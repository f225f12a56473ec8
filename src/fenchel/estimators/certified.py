"""The base of all estimators: it stores the certificate and warns if the gap is not within the tolerance.

It also translates ``random_state`` and ``n_jobs`` to seeds and threads. On this base,
:class:`~fenchel.estimators.linear_estimator.LinearEstimator` solves one problem for each target, :class:`OneProblem` a single one.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from fenchel import driver
from fenchel.core.errors import Argument, InputError
from fenchel.core.threads import available_threads
from fenchel.core.validation import is_number
from fenchel.problems.result import History, Result

LARGEST_SEED = 2**31 - 1


class Certified(BaseEstimator):
    """An estimator with a certificate of optimality.

    Attributes:
        objective_, dual_objective_: the objective at the weights, and a proven lower bound on its minimum.
        gap_: their difference, an upper bound on how far ``objective_`` is above the minimum.
        converged_: whether the gap is within the tolerance.
        n_iter_: the number of passes over the data.
        solver_, history_: the solver used, and the history of its run (a list of histories for several problems).
    """

    objective_: float
    dual_objective_: float
    gap_: float
    converged_: bool
    n_iter_: Any
    solver_: str
    history_: History | list[History]

    def _seed(self) -> int:
        """The seed given by ``random_state``; 0 for None."""
        state = getattr(self, "random_state", None)
        return 0 if state is None else int(check_random_state(state).randint(LARGEST_SEED))

    def _threads(self) -> int | None:
        """The number of threads given by ``n_jobs``; None, meaning all, for None and -1."""
        jobs = getattr(self, "n_jobs", None)
        return None if jobs is None or jobs == -1 else max(1, jobs if jobs > 0 else available_threads() + 1 + jobs)

    def _keep_certificate(self, found: list[Result], tol: float, factor: float = 1.0) -> None:
        """Store the certificate of all results together; the estimator's objective is ``factor`` times the sum of theirs."""
        self.objective_ = factor * sum(result.objective for result in found)
        self.dual_objective_ = factor * sum(result.dual_objective for result in found)
        self.gap_ = factor * sum(result.gap for result in found)
        # The solver may have run with a smaller tolerance than the user's.
        self.converged_ = all(result.converged or result.gap <= result.target * tol / (result.tol or 1.0) for result in found)
        self.n_iter_ = math.ceil(max(result.passes for result in found))
        self.solver_ = found[0].solver
        self.history_ = found[0].history if len(found) == 1 else [result.history for result in found]

    def _warn_not_certified(self, problem: Any, found: list[Result]) -> None:
        """If the tolerance was not reached, warn with the gap, the tolerance and advice."""
        worst = max(found, key=lambda result: result.gap)
        if self.converged_ or worst.tol == 0.0 or all(result.converged or result.status == "callback" for result in found):
            return
        name = "max_iter" if hasattr(self, "max_iter") else "max_passes"
        limit = Argument(name, getattr(self, name))
        driver.warn_not_certified((type(self).__name__,), problem, worst, limit, getattr(self, "feature_names_in_", None))


class OneProblem(Certified):
    """An estimator that solves one problem and has the parameters read by ``_solve``.

    After ``fit``: ``coef_``, all weights as one vector, and the certificate: ``objective_``, ``dual_objective_``, ``gap_``,
    ``converged_``, ``n_iter_``, ``solver_``, ``history_``.
    """

    coef_: np.ndarray
    l2_: float  #: the strength used; for estimators with a default by loss
    default_strengths: ClassVar[dict[str, float]] = {}  #: the strength used for l2=None, by loss

    def _strength(self) -> float:
        """l2, or the loss's default; stored as ``l2_``."""
        strength = self.default_strengths[self.loss] if self.l2 is None else self.l2
        if not (is_number(strength) and 0.0 < strength < math.inf):
            raise InputError(Argument("l2", self.l2), ": give a positive number.")
        self.l2_ = float(strength)
        return self.l2_

    def _check_loaded(self) -> None:
        """Raise an InputError for attributes that no ``fit`` could have produced: files may come from untrusted sources."""
        coef = getattr(self, "coef_", None)
        if not (isinstance(coef, np.ndarray) and coef.ndim == 1 and coef.dtype in (np.float64, np.float32)):
            raise InputError("coef_ is not a vector of weights")

    def _solve(self, problem: Any) -> Result:
        """Minimise, store the result, and warn if the gap exceeds the tolerance; an interrupt keeps the weights reached so far."""
        limits = {"tol": self.tol, "max_passes": self.max_passes, "time_limit": self.time_limit}
        result = driver.solve(problem, self.solver, seed=self._seed(), threads=self._threads(), progress=bool(self.verbose), **limits)
        self.coef_ = result.w
        self._keep_certificate([result], self.tol)
        if result.status == "interrupted":
            raise KeyboardInterrupt
        self._warn_not_certified(problem, [result])
        return result

"""What estimators share that have a problem solved: seeds and threads in scikit-learn's terms, the certificate, the warning."""

from __future__ import annotations

import math
import sys
import warnings
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from fenchel.checks import is_number
from fenchel.driver import solve
from fenchel.matrices import available_threads
from fenchel.result import Result

MOST_SEEDS = 2**31 - 1
HINTS = {"time_limit": "give a longer time_limit", "stalled": "floating point allows no more here, so give a larger tol"}


class Running:
    """``random_state`` and ``n_jobs`` as the driver takes them."""

    def _seed(self) -> int:
        state = getattr(self, "random_state", None)
        return 0 if state is None else int(check_random_state(state).randint(MOST_SEEDS))

    def _threads(self) -> int | None:
        """How many threads ``n_jobs`` asks for; all for None and -1."""
        jobs = getattr(self, "n_jobs", None)
        return None if jobs is None or jobs == -1 else max(1, jobs if jobs > 0 else available_threads() + 1 + jobs)


class OneProblem(Running, BaseEstimator):
    """An estimator that solves one problem; its parameters are those that ``_solve`` reads.

    After ``fit``: ``coef_``, all weights in one row, and the certificate: ``objective_``, ``dual_objective_``, ``gap_``,
    ``converged_``, ``n_iter_``, ``solver_``, ``history_``.
    """

    usual: ClassVar[dict[str, float]] = {}  #: for each loss the strength that l2=None stands for

    def _strength(self) -> float:
        """l2, or the usual one of the loss; kept as ``l2_``."""
        strength = self.usual[self.loss] if self.l2 is None else self.l2
        if not (is_number(strength) and 0.0 < strength < math.inf):
            raise ValueError(f"l2={self.l2!r}: give a positive number.")
        self.l2_ = float(strength)
        return self.l2_

    def _check_loaded(self) -> None:
        """Refuse, with a ValueError, what no fit has left behind: files come from strangers."""
        coef = getattr(self, "coef_", None)
        if not (isinstance(coef, np.ndarray) and coef.ndim == 1 and coef.dtype in (np.float64, np.float32)):
            raise ValueError("coef_ is no row of weights")

    def _solve(self, problem: Any) -> Result:
        """Minimise, keep what was found, and warn if it is not within the tolerance; an interrupt leaves it as far as it came."""
        limits = {"tol": self.tol, "max_passes": self.max_passes, "time_limit": self.time_limit}
        result = solve(problem, self.solver, seed=self._seed(), threads=self._threads(), progress=bool(self.verbose), **limits)
        self.coef_ = result.w
        self.objective_, self.dual_objective_, self.gap_ = result.objective, result.dual_objective, result.gap
        self.converged_, self.n_iter_ = result.converged, math.ceil(result.passes)
        self.solver_, self.history_ = result.solver, result.history
        if result.status == "interrupted":
            raise KeyboardInterrupt
        if not result.converged and self.tol > 0.0:
            hint = HINTS.get(result.status, f"give more max_passes (now {self.max_passes!r}), or a larger tol")
            warnings.warn(
                f"{type(self).__name__} stopped at a certified gap of {result.gap / problem.scale:.2g} of the objective at w = 0, "
                f"and tol={self.tol:g} was asked for: {hint}.",
                ConvergenceWarning,
                stacklevel=users_line(),
            )
        return result


def users_line() -> int:
    """How many calls up the user's own line is, for a warning to point at: past fenchel's and scikit-learn's."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("fenchel", "sklearn"):
        frame, level = frame.f_back, level + 1
    return level

"""How the estimators with scikit-learn's names interpret its parameters.

``tol`` is the certified gap relative to the objective at w = 0, and ``max_iter`` counts passes over the data. The name of one of
scikit-learn's solvers means "auto", because all of them minimise the same objective; fenchel's solvers can be chosen by name. Parameters
that only configure scikit-learn's solvers (``dual``, ``precompute``, ``selection``, ``copy_X``, …) are accepted and have no effect.
"""

from __future__ import annotations

from typing import Any

from fenchel.core.errors import Argument, InputError
from fenchel.core.validation import is_number

SKLEARN_SOLVERS = ("auto", "lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga", "svd", "cholesky", "lsqr", "sparse_cg")


class SklearnParameters:
    """Stopping criteria from ``tol``, ``max_iter`` and, if the estimator has one, ``solver``."""

    tol: Any
    max_iter: Any

    def _limits(self) -> dict[str, Any]:
        solver = getattr(self, "solver", "auto")
        passes = 1000 if self.max_iter is None else self.max_iter
        if not (is_number(passes) and passes >= 0):
            raise InputError(Argument("max_iter", self.max_iter), ": give a non-negative number of passes.")
        tol = 0.0 if self.tol is None else self.tol
        return {"solver": "auto" if solver in SKLEARN_SOLVERS else solver, "tol": tol, "max_passes": passes, "time_limit": None}

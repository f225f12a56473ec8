"""What estimators with scikit-learn's own names share: its parameters, read as the house reads them.

``tol`` is the certified gap relative to the objective at w = 0, ``max_iter`` counts passes over the data. A ``solver`` of
scikit-learn's is read as "auto", for every one of them gives the same answer; the house's own go by their names. Parameters
that only steer scikit-learn's solvers (``dual``, ``precompute``, ``selection``, ``copy_X``, …) are taken and have no effect.
"""

from __future__ import annotations

from typing import Any

from fenchel.core.errors import Argument, InputError
from fenchel.core.validation import is_number

THEIRS = ("auto", "lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga", "svd", "cholesky", "lsqr", "sparse_cg")


class SklearnParameters:
    """Limits from ``tol``, ``max_iter`` and, if there is one, ``solver``."""

    tol: Any
    max_iter: Any

    def _limits(self) -> dict[str, Any]:
        solver = getattr(self, "solver", "auto")
        passes = 1000 if self.max_iter is None else self.max_iter
        if not (is_number(passes) and passes >= 0):
            raise InputError(Argument("max_iter", self.max_iter), ": give a number of passes that is not negative.")
        tol = 0.0 if self.tol is None else self.tol
        return {"solver": "auto" if solver in THEIRS else solver, "tol": tol, "max_passes": passes, "time_limit": None}

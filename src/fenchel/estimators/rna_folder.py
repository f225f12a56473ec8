"""RNA secondary structure with scikit-learn's interface: sequences in, dot-bracket strings out."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from fenchel.driver import solve
from fenchel.estimators.base import users_line
from fenchel.estimators.penalties import checked_strength
from fenchel.registry import checked_choice
from fenchel.regularizers import L2
from fenchel.structured.problem import Problem
from fenchel.structured.rna import RnaFold, accuracy


class RnaFolder(BaseEstimator):
    """Learn to fold RNA from sequences with known structures, by conditional likelihood (as CONTRAfold does) or by margin.

    Args:
        loss: "likelihood", which gives probabilities of pairs, or "margin".
        l2: what half the squared length of the weights is multiplied with; the mean loss of a sequence grows with its length.
        decode: "mea" for the structure of the greatest expected accuracy, "best" for that of the highest score, "auto" for the first
            after likelihood and the second after a margin.
        gamma: of "mea", what a pair counts against unpaired bases: the larger, the more pairs.
        missed, false: of "margin", what a true pair that is missed and a pair that is not true cost.
        hairpin: how many bases a hairpin has at least.
        solver: "auto", or the name of a solver.
        tol: the certified gap to stop at, relative to the objective at w = 0.
        max_passes: how often every sequence is folded at most.
        time_limit: how many seconds at most.
        seed: for the solver's random choices.
        threads: how many threads; None for all.

    After ``fit``: ``coef_`` (one weight for each of ``feature_names_out_``), ``model_``, and the certificate ``objective_``,
    ``dual_objective_``, ``gap_``, ``converged_``, ``n_iter_``, ``solver_``, ``history_``.

    >>> import fenchel as fl
    >>> sequences, structures = fl.datasets.make_rna(20, length=30)
    >>> folder = RnaFolder(l2=0.1, tol=1e-2).fit(sequences, structures)
    >>> len(folder.predict(sequences[:2])), folder.pair_probabilities(sequences[0]).ndim, folder.score(sequences, structures) > 0.5
    (2, 2, True)
    """

    def __init__(
        self,
        loss: str = "likelihood",
        *,
        l2: float = 0.03,
        decode: str = "auto",
        gamma: float = 6.0,
        missed: float = 1.0,
        false: float = 1.0,
        hairpin: int = 3,
        solver: str = "auto",
        tol: float = 1e-3,
        max_passes: float = 300,
        time_limit: float | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.loss = loss
        self.l2 = l2
        self.decode = decode
        self.gamma = gamma
        self.missed = missed
        self.false = false
        self.hairpin = hairpin
        self.solver = solver
        self.tol = tol
        self.max_passes = max_passes
        self.time_limit = time_limit
        self.seed = seed
        self.threads = threads

    def fit(self, X: Any, y: Any) -> RnaFolder:
        """Learn from sequences and their structures: dot-bracket strings, lists of pairs or arrays of partners."""
        checked_choice("decode", self.decode, ("auto", "mea", "best"))
        checked_strength("l2", self.l2)
        model = RnaFold(self.hairpin, self.missed, self.false)
        problem = Problem(model, X, y, L2(self.l2), self.loss)
        limits: dict[str, Any] = {"tol": self.tol, "max_passes": self.max_passes, "time_limit": self.time_limit}
        found = solve(problem, self.solver, **limits, seed=self.seed, threads=self.threads)
        self.model_, self.coef_ = problem.model, found.w
        self.feature_names_out_ = np.array(model.feature_names)
        self.objective_, self.dual_objective_, self.gap_ = found.objective, found.dual_objective, found.gap
        self.converged_, self.n_iter_ = found.converged, math.ceil(found.passes)
        self.solver_, self.history_ = found.solver, found.history
        if not found.converged and self.tol > 0.0:
            warnings.warn(
                f"RnaFolder stopped at a certified gap of {found.gap / problem.scale:.2g} of the objective at w = 0, and tol={self.tol:g} "
                f"was asked for: raise max_passes (now {self.max_passes}), or tol.",
                ConvergenceWarning,
                stacklevel=users_line(),
            )
        return self

    def predict(self, X: Any) -> list[str]:
        """Structures as dot-bracket strings, one for each sequence."""
        check_is_fitted(self)
        accurate = self.decode == "mea" or (self.decode == "auto" and self.loss == "likelihood")
        if accurate:
            return self.model_.fold(X, self.coef_, self.gamma, self.threads)
        return self.model_.best(X, self.coef_, self.threads)

    def pair_probabilities(self, sequence: str) -> np.ndarray:
        """The symmetric matrix of the probabilities that two bases of the sequence pair; after likelihood."""
        check_is_fitted(self)
        return self.model_.pair_probabilities(sequence, self.coef_)

    def score(self, X: Any, y: Any) -> float:
        """F1: the harmonic mean of sensitivity and positive predictive value over all pairs."""
        return accuracy(y, self.predict(X)).f1

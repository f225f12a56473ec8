"""``RnaFolder``: RNA secondary structure, sequences in and dot-bracket strings out."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fenchel.core.errors import Argument, InputError
from fenchel.core.validation import checked_choice
from fenchel.estimators.structured_estimators import StructuredEstimator
from fenchel.structured.rna import RnaFold
from fenchel.structured.rna.model import checked_gamma
from fenchel.structured.structured_model import LIKELIHOOD, MARGIN

DECODERS = ("auto", "mea", "best")


class RnaFolder(StructuredEstimator):
    """Learn to fold RNA from sequences with known structures, by conditional likelihood (as CONTRAfold does) or by margin.

    Args:
        loss: "likelihood", which gives probabilities of pairs, or "margin".
        l2: the strength of the penalty; it does not depend on how many sequences there are. None takes 0.03 for a likelihood and 0.001
            for a margin, which wants far less of it; ``l2_`` says which.
        decode: "mea" for the structure of the greatest expected accuracy, "best" for that of the highest score; "auto" is the first
            after likelihood and the second after a margin, whose scores are no logarithms of probabilities.
        gamma: of "mea", what a pair counts against unpaired bases: the larger, the more pairs.
        missed, false: of "margin", what a true pair that is missed costs, and a predicted one that is not true. There are many more
            pairs to predict falsely than to miss, hence the difference.
        hairpin: how many bases a hairpin has at least.
        solver, tol, max_passes, time_limit, random_state, n_jobs, verbose: as for :class:`StructuredSVM`.

    After ``fit``: ``coef_``, whose names are ``model_.feature_names``, ``model_`` and the certificate, as for :class:`StructuredSVM`.

    >>> import fenchel as fl
    >>> sequences, structures = fl.datasets.make_rna(20, length=30)
    >>> folder = RnaFolder(l2=0.1, tol=1e-2).fit(sequences, structures)
    >>> len(folder.predict(sequences[:2])), folder.pair_probabilities(sequences[0]).ndim, folder.score(sequences, structures) > 0.5
    (2, 2, True)
    """

    kind: ClassVar[type] = RnaFold
    default_strengths: ClassVar[dict[str, float]] = {LIKELIHOOD: 0.03, MARGIN: 0.001}

    def __init__(
        self,
        loss: str = LIKELIHOOD,
        *,
        l2: float | None = None,
        decode: str = "auto",
        gamma: float = 6.0,
        missed: float = 3.0,
        false: float = 1.0,
        hairpin: int = 3,
        solver: str = "auto",
        tol: float = 1e-2,
        max_passes: float = 1000,
        time_limit: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
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
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, Y: Any, sample_weight: Any = None) -> RnaFolder:
        """Learn from sequences X and their structures Y: dot-bracket strings, lists of pairs or arrays of partners."""
        checked_choice("decode", self.decode, DECODERS)
        checked_choice("loss", self.loss, self.default_strengths)
        checked_gamma(self.gamma)
        return self._learn(RnaFold(self.hairpin, self.missed, self.false), X, Y, self.loss, sample_weight)

    def predict(self, X: Any) -> list[str]:
        """Structures as dot-bracket strings, one for each sequence."""
        check_is_fitted(self)
        checked_choice("decode", self.decode, DECODERS)
        if self.decode == "best" or (self.decode == "auto" and self.loss != LIKELIHOOD):
            return super().predict(X)
        return self.model_.fold(X, self.coef_, self.gamma, self._threads())

    def pair_probabilities(self, sequence: str) -> np.ndarray:
        """The symmetric matrix of the probabilities that two bases of the sequence pair, after ``loss="likelihood"``."""
        check_is_fitted(self)
        if self.loss != LIKELIHOOD:
            raise InputError(
                Argument("loss", self.loss),
                " learns scores that are no probabilities: give ",
                Argument("loss", "likelihood"),
                " for those of pairs.",
            )
        return self.model_.pair_probabilities(sequence, self.coef_)

"""``RnaFolder``: prediction of RNA secondary structures, from sequences to dot-bracket strings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from fenchel.core.array_types import RandomState
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
        l2: the strength of the penalty; it need not be adapted to the number of sequences. None means 0.03 for "likelihood" and
            0.001 for "margin"; ``l2_`` is the value used.
        decode: "mea" for the structure of maximum expected accuracy, "best" for the one with the highest score; "auto" means "mea" for
            "likelihood" and "best" for "margin", whose scores are not log-probabilities.
        gamma: for "mea", the weight of pairs relative to unpaired bases: the larger, the more pairs are predicted.
        missed, false: for "margin", the costs of a missed true pair and of a false predicted pair. They differ because there are many
            more pairs to predict falsely than to miss.
        hairpin: the minimal number of bases in a hairpin.
        solver, tol, max_passes, time_limit, random_state, n_jobs, verbose: as in :class:`StructuredSVM`.

    After ``fit``: ``coef_``, whose names are ``model_.feature_names``, ``model_`` and the certificate, as in :class:`StructuredSVM`.

    >>> import fenchel as fl
    >>> sequences, structures = fl.datasets.make_rna(20, length=30)
    >>> folder = RnaFolder(l2=0.1, tol=1e-2).fit(sequences, structures)
    >>> len(folder.predict(sequences[:2])), folder.pair_probabilities(sequences[0]).ndim, folder.score(sequences, structures) > 0.5
    (2, 2, True)
    """

    model_: RnaFold
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
        random_state: RandomState = None,
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

    def _check_loaded(self) -> None:
        super()._check_loaded()
        self._check_parameters()

    def _check_parameters(self) -> None:
        checked_choice("decode", self.decode, DECODERS)
        checked_choice("loss", self.loss, self.default_strengths)
        checked_gamma(self.gamma)

    def fit(self, X: Sequence[str], Y: Sequence[Any], sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model to sequences X and structures Y: dot-bracket strings, lists of pairs or arrays of partners."""
        self._check_parameters()
        return self._learn(RnaFold(self.hairpin, self.missed, self.false), X, Y, self.loss, sample_weight)

    def predict(self, X: Any) -> list[str]:
        """The predicted structures as dot-bracket strings, one per sequence."""
        check_is_fitted(self)
        checked_choice("decode", self.decode, DECODERS)
        if self.decode == "best" or (self.decode == "auto" and self.loss != LIKELIHOOD):
            return super().predict(X)
        return self.model_.fold(X, self.coef_, self.gamma, self._threads())

    def pair_probabilities(self, sequence: str) -> np.ndarray:
        """The symmetric matrix of pairing probabilities of the bases of a sequence; needs ``loss="likelihood"``."""
        check_is_fitted(self)
        if self.loss != LIKELIHOOD:
            raise InputError(
                Argument("loss", self.loss),
                " learns scores that are not probabilities: give ",
                Argument("loss", "likelihood"),
                " for pair probabilities.",
            )
        return self.model_.pair_probabilities(sequence, self.coef_)

"""``Ranker``: learning to rank the documents of queries by a linear score, with a certificate."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from fenchel.core.array_types import MatrixLike, RandomState
from fenchel.core.errors import Argument, InputError, InputWarning, users_line
from fenchel.core.validation import checked_choice
from fenchel.estimators.certified import OneProblem
from fenchel.estimators.checked_input import checked_rows
from fenchel.estimators.penalties import loss_named
from fenchel.estimators.repeated_rows import dense_if_cheaper
from fenchel.problems.problem import Problem
from fenchel.regularizers import L2
from fenchel.structured import Problem as StructuredProblem
from fenchel.structured.ranking import Ranking, ndcg, normalized, pairwise
from fenchel.structured.ranking.documents import grouped, informative_queries
from fenchel.structured.ranking.grades import checked_depth

NDCG, PAIRWISE = "ndcg", "pairwise-"
MANY = 1000  # this many documents are unlikely to belong to one query, and cause a warning
DEFAULT_STRENGTHS = {
    NDCG: 0.1,
    "pairwise-hinge": 1e-3,
    "pairwise-logistic": 1e-2,
    "pairwise-smooth-hinge": 1e-3,
    "pairwise-squared-hinge": 1e-2,
}


class Ranker(OneProblem):
    """Learning to rank: minimises the mean loss over queries + l2/2·‖w‖² to a certified gap.

    Args:
        loss: the mean over a query's pairs of documents of different grades of "pairwise-logistic", "pairwise-hinge"
            (RankSVM), "pairwise-squared-hinge", "pairwise-smooth-hinge"; or "ndcg", the large-margin bound on 1 − NDCG@k of
            :class:`fenchel.structured.Ranking`.
        k: the number of ranks that count, in the loss "ndcg" and in ``score``; None for all.
        l2: the strength of the penalty; it need not be adapted to the number of queries. None means 0.1 for "ndcg", 0.001 for
            "pairwise-hinge" and "pairwise-smooth-hinge", and 0.01 for the others; ``l2_`` is the value used.
        solver: "auto", or the name of a solver; ``fenchel.solvers.solvers()`` lists them.
        tol: the certified gap to stop at, relative to the objective at w = 0.
        max_passes: the maximal number of passes over the queries, or pairs.
        time_limit: the maximal number of seconds.
        normalize: whether to scale every feature to [0, 1] within each query first, as :func:`fenchel.structured.normalized` does.
        random_state: a seed for the solver's random choices, and for sampling pairs if there are too many; None means 0.
        n_jobs: the number of threads; None and -1 mean all.
        verbose: whether to show a progress bar.

    The loss "ndcg" is useful if a linear score can nearly reproduce the right order: on long lists of noisy grades every w ≠ 0 has a
    larger margin violation than the loss of 1 at w = 0, so that w = 0 is the result (with a warning). The pairwise losses still learn then.

    Features should have the same scale in all queries, as LETOR's do. Queries whose documents all have the same grade contain no
    information about the order and are ignored.

    After ``fit``: ``coef_``, the certificate (``objective_``, ``dual_objective_``, ``gap_``, ``converged_``, ``n_iter_``, ``solver_``,
    ``history_``), and ``n_queries_``, the number of queries used for training.

    >>> import fenchel as fl
    >>> X, y, qid = fl.datasets.make_ranking(queries=30, documents=10, n=5)
    >>> model = Ranker(tol=1e-2).fit(X, y, qid=qid)
    >>> model.converged_, model.score(X, y, qid=qid) > 0.9
    (True, True)
    """

    n_queries_: int
    default_strengths = DEFAULT_STRENGTHS

    def __init__(
        self,
        loss: str = "pairwise-logistic",
        *,
        k: int | None = 10,
        l2: float | None = None,
        normalize: bool = False,
        solver: str = "auto",
        tol: float = 1e-3,
        max_passes: float = 1000,
        time_limit: float | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.k = k
        self.l2 = l2
        self.normalize = normalize
        self.solver = solver
        self.tol = tol
        self.max_passes = max_passes
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: MatrixLike, y: ArrayLike, qid: ArrayLike | None = None) -> Self:
        """Fit the ranker to documents X with grades y.

        Args:
            X: an array, sparse matrix or data frame, one row for each document.
            y: the grade of each document: 0 for not relevant, the higher the better.
            qid: the query of each document: numbers or strings, in any order; None if all belong to one query.
        """
        checked_choice("loss", self.loss, DEFAULT_STRENGTHS)
        if y is None:
            raise InputError("Ranker requires y to be passed, but the target y is None: give the grade of each document.")
        X = dense_if_cheaper(checked_rows(self, X, reset=True))
        if qid is None and X.shape[0] >= MANY:
            warnings.warn(f"Without qid all {X.shape[0]:,} documents are treated as one query.", stacklevel=users_line())
        qid = np.zeros(X.shape[0], dtype=np.int64) if qid is None else qid
        X = normalized(X, qid) if self.normalize else X
        X, y, qid, self.n_queries_ = informative_queries(X, column_or_1d(y, warn=True), qid)
        problem = self._problem(X, y, qid)
        self._solve(problem)
        if self.converged_ and self.objective_ > (1.0 - self.tol) * problem.scale:
            self._warn_of_zero_weights()
        return self

    def _warn_of_zero_weights(self) -> None:
        """Warn that w = 0 is optimal up to the tolerance."""
        other = ("try ", Argument("loss", "pairwise-logistic"), ", or a smaller ") if self.loss == NDCG else ("give a smaller ",)
        start = "Ranker found no weights that improve on w = 0 by more than "
        message = InputWarning(start, Argument("tol", self.tol), " of the loss: ", *other, Argument("l2"), ".")
        warnings.warn(message, stacklevel=users_line())

    def _problem(self, X: Any, y: np.ndarray, qid: np.ndarray) -> Any:
        """The problem to solve."""
        penalty = L2(self._strength())
        if self.loss == NDCG:
            groups = grouped(X, y, qid)
            return StructuredProblem(Ranking(self.k), groups.X, groups.y, penalty)
        pairs = pairwise(X, y, qid, seed=self._seed())
        loss = loss_named(self.loss.removeprefix(PAIRWISE), ("binary",))
        return Problem(pairs.X, pairs.y, loss, penalty, sample_weight=pairs.weight)

    def predict(self, X: MatrixLike, qid: ArrayLike | None = None) -> np.ndarray:
        """The score of every document; the documents of a query are ranked by it, the highest first.

        Args:
            X: one row for each document.
            qid: the query of each document, needed only with ``normalize``.
        """
        check_is_fitted(self)
        X = checked_rows(self, X)
        if self.normalize and qid is None:
            raise InputError(
                "With ", Argument("normalize", True), " features are scaled within each query: give qid, the query of each document."
            )
        return np.asarray((normalized(X, qid) if self.normalize else X) @ self.coef_)

    def score(self, X: MatrixLike, y: ArrayLike, qid: ArrayLike | None = None) -> float:
        """The mean NDCG@k over all queries with a relevant document."""
        check_is_fitted(self)
        if qid is None and self.n_queries_ > 1:
            raise InputError(f"The ranker was trained on {self.n_queries_:,} queries: give qid, the query of each document, to score it.")
        return ndcg(y, self.predict(X, qid), qid, self.k)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if getattr(self, "n_features_in_", None) != len(self.coef_):
            raise InputError("n_features_in_ and coef_ do not match")
        if not hasattr(self, "n_queries_"):
            raise InputError("n_queries_ is missing")
        checked_depth(self.k)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

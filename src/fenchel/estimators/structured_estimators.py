"""``StructuredSVM`` and ``ConditionalRandomField``: any structured model, trained by margin or by likelihood."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from fenchel.core.array_types import RandomState
from fenchel.core.errors import InputError
from fenchel.core.threads import available_threads
from fenchel.estimators.certified import OneProblem
from fenchel.regularizers import L1, L1L2, L2
from fenchel.structured.chain import Chain
from fenchel.structured.oracle import decode_all
from fenchel.structured.problem import Problem
from fenchel.structured.structured_model import LIKELIHOOD, MARGIN, StructuredModel, checked_model_weights


class StructuredEstimator(OneProblem):
    """The common base of structured estimators: ``model_`` is the fitted model, in addition to the weights and the certificate."""

    model_: Any  #: a StructuredModel
    kind: ClassVar[type] = StructuredModel  #: the class of ``model_``

    def _learn(self, model: Any, X: Any, Y: Any, loss: str, sample_weight: ArrayLike | None) -> Self:
        """Build the problem of the model for X and Y, and solve it."""
        problem = Problem(model, X, Y, self._regularizer(), loss, sample_weight=sample_weight)
        self.model_ = problem.model
        self._solve(problem)
        return self

    def _regularizer(self) -> Any:
        return L2(self._strength())

    def _inputs(self, X: Any) -> Any:
        """X in the form that the model accepts."""
        return X

    def predict(self, X: Any) -> list[Any]:
        """The output with the highest score for every input."""
        check_is_fitted(self)
        examples = self.model_.examples(self._inputs(X))
        ys = decode_all(examples, checked_model_weights(self.coef_, self.model_.n), self._threads() or available_threads())
        return [self.model_.output(examples, i, y) for i, y in enumerate(ys)]

    def score(self, X: Any, Y: Any) -> float:
        """The agreement of the predictions with Y, as measured by the model: for a ``Chain`` the share of correct tags."""
        outputs = self.predict(X)
        return float(self.model_.score(Y, outputs))

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if not isinstance(getattr(self, "model_", None), self.kind):
            raise InputError(f"model_ is not a {self.kind.__name__}")


class ModelEstimator(StructuredEstimator):
    """An estimator whose structured model is a parameter."""

    loss_of_model = MARGIN

    def fit(self, X: Any, Y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model to inputs X with outputs Y, both in the format of the model.

        Args:
            X: inputs: for a ``Chain`` sentences, for ``RnaFold`` sequences, for ``Ranking`` the documents of queries.
            Y: one output per input.
            sample_weight: a weight for each input.
        """
        return self._learn(Chain() if self.model is None else self.model, X, Y, self.loss_of_model, sample_weight)


def mixed_penalty(l2: float, l1: float) -> Any:
    """l1·‖w‖₁ + l2/2·‖w‖²"""
    if l1 and not l2:
        return L1(l1)
    return L1L2(l1=l1, l2=l2) if l1 else L2(l2)


class StructuredSVM(ModelEstimator):
    """Large-margin learning of structured outputs: minimises the mean margin violation + l2/2·‖w‖² to a certified gap.

    Args:
        model: the structured model: ``fl.structured.Chain()`` by default, ``Multiclass()``, ``Ranking()``, ``RnaFold()``, or a
            user-defined one.
        l2: the strength of the penalty; it need not be adapted to the number of examples.
        solver: "auto", "proximal-bundle", "bundle", "block-frank-wolfe", or a subgradient method such as "optimistic".
        tol: the certified gap to stop at, relative to the objective at w = 0.
        max_passes: the maximal number of times that all examples are decoded.
        time_limit: the maximal number of seconds.
        random_state: a seed for the solver's random choices; None means 0.
        n_jobs: the number of decoding threads; None and -1 mean all.
        verbose: whether to show a progress bar.

    After ``fit``: ``coef_``, ``model_`` (the model with its tags or classes) and the certificate: ``objective_``, ``dual_objective_``,
    ``gap_``, ``converged_``, ``n_iter_``, ``solver_``, ``history_``.

    >>> import fenchel as fl
    >>> X, y, sentence = fl.datasets.make_sequences(20, tags=3, words=30)
    >>> marks = np.flatnonzero(np.diff(sentence)) + 1
    >>> sentences, tags = [X[a:b] for a, b in zip([0, *marks], [*marks, len(y)])], np.split(y, marks)
    >>> model = fl.StructuredSVM(fl.structured.Chain(), l2=0.1, tol=0.01).fit(sentences, tags)
    >>> model.converged_, len(model.predict(sentences)) == 20
    (True, True)
    """

    def __init__(
        self,
        model: StructuredModel | None = None,
        *,
        l2: float = 0.01,
        solver: str = "auto",
        tol: float = 1e-2,
        max_passes: float = 1000,
        time_limit: float | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.model = model
        self.l2 = l2
        self.solver = solver
        self.tol = tol
        self.max_passes = max_passes
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class ConditionalRandomField(ModelEstimator):
    """Maximum likelihood for structured outputs: minimises the mean −log p(y|x) + l1·‖w‖₁ + l2/2·‖w‖² to a certified gap.

    Args:
        model: the structured model: ``fl.structured.Chain()`` by default, ``Multiclass()``, ``RnaFold()``, or a user-defined one with a
            likelihood.
        l2, l1: the strengths of the penalty; they need not be adapted to the number of examples m. CRFsuite's ``c2`` is l2·m/2.
        solver: "auto" (L-BFGS, or FISTA with l1), or the name of a solver.
        tol: the certified gap to stop at, relative to the objective at w = 0.
        max_passes: the maximal number of passes over the examples.
        time_limit: the maximal number of seconds.
        random_state: a seed for the solver's random choices; None means 0.
        n_jobs: the number of threads; None and -1 mean all.
        verbose: whether to show a progress bar.

    After ``fit``: the same attributes as for :class:`StructuredSVM`.

    >>> import fenchel as fl
    >>> X, Y = np.eye(3), ["a", "b", "a"]
    >>> fl.ConditionalRandomField(fl.structured.Multiclass(), l2=0.1).fit(X, Y).predict(X)
    ['a', 'b', 'a']
    """

    loss_of_model = LIKELIHOOD

    def __init__(
        self,
        model: StructuredModel | None = None,
        *,
        l2: float = 1e-4,
        l1: float = 0.0,
        solver: str = "auto",
        tol: float = 1e-4,
        max_passes: float = 1000,
        time_limit: float | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.model = model
        self.l2 = l2
        self.l1 = l1
        self.solver = solver
        self.tol = tol
        self.max_passes = max_passes
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _regularizer(self) -> Any:
        return mixed_penalty(self.l2, self.l1)

    def predict_marginals(self, X: Any) -> list[np.ndarray]:
        """For every input the probabilities of its parts, as defined by the model: for a ``Chain``, of the tags of every token."""
        check_is_fitted(self)
        if not hasattr(self.model_, "marginals"):
            raise AttributeError(
                f"predict_marginals needs a model with marginals, such as Chain, and {type(self.model_).__name__} has none."
            )
        return self.model_.marginals(X, self.coef_)

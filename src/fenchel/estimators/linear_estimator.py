"""The base of all linear estimators: it builds and solves the problems, stores the certificate, and calls callbacks.

A subclass only defines what it minimises, as a :class:`Formulation` of its parameters. Several problems on one matrix (one per class
in one-vs-rest, one per output) share its columns, and run in parallel threads.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeAlias, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.callback import CallbackSupportMixin, with_callbacks as untyped_with_callbacks
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from fenchel import driver, verification
from fenchel.core.array_types import MatrixLike
from fenchel.core.errors import InputError
from fenchel.core.threads import Stop, available_threads, one_thread, run_tasks
from fenchel.datasets import Encoding
from fenchel.estimators.certified import Certified
from fenchel.estimators.checked_input import checked_rows
from fenchel.estimators.repeated_rows import dense_if_cheaper, distinct_rows, rows_with_weight
from fenchel.linalg.design import threads_for_problems
from fenchel.problems.problem import FREE, Problem
from fenchel.problems.result import Iterate, Result
from fenchel.regularizers import L2, Box
from fenchel.solvers import solvers

F = TypeVar("F", bound=Callable[..., Any])
ClassWeight: TypeAlias = Literal["balanced"] | Mapping[Any, float] | None  #: scikit-learn's ``class_weight``
CrossValidation: TypeAlias = int | BaseCrossValidator | Iterable[tuple[ArrayLike, ArrayLike]] | None  #: scikit-learn's ``cv``

OVERFLOW = "The squares of X overflow: scale its columns, for instance with StandardScaler or MinMaxScaler."
NEGLIGIBLE = 1e-12  # ridge strength relative to the mean of ‖x‖² that replaces no penalty, because a certificate needs one


def with_callbacks(fit: F) -> F:
    """scikit-learn's decorator for ``fit`` methods that support callbacks, with a type."""
    return untyped_with_callbacks(fit)


class Formulation(NamedTuple):
    """min mean loss + regularizer; the estimator's documented objective is ``factor`` times that."""

    loss: Any
    regularizer: Any  #: None for no penalty at all
    intercept: float | str  #: as in :class:`fenchel.Problem`
    factor: float = 1.0
    each: tuple[Any, ...] = ()  #: a regularizer for each target, if they differ
    positive: bool = False  #: whether weights are constrained to be non-negative


class LinearEstimator(CallbackSupportMixin, Certified):
    """The base of linear classifiers and regressors. After ``fit``: ``coef_``, ``intercept_`` and the certificate of :class:`Certified`."""

    transient = ("_online_results", "_outputs")  # needed by ``fit`` and ``partial_fit`` but not for predictions: not saved

    weight_dimensions: ClassVar[tuple[int, ...]] = (2,)  #: the possible numbers of dimensions of ``coef_``
    coef_: Any  #: an array, or a sparse matrix after ``sparsify``
    intercept_: float | np.ndarray

    def _check_loaded(self) -> None:
        """Raise an InputError for attributes that no ``fit`` could have produced: files may come from untrusted sources."""
        coef: Any = getattr(self, "coef_", None)
        is_array = sp.issparse(coef) or isinstance(coef, np.ndarray)
        if not is_array or coef.ndim not in self.weight_dimensions or coef.dtype not in (np.float64, np.float32) or 0 in coef.shape:
            raise InputError("coef_ is not an array of weights")
        for name in ("intercept_", "n_features_in_"):
            if getattr(self, name, None) is None:
                raise InputError(f"{name} is missing")
        encoding, base = getattr(self, "encoding_", None), getattr(self, "index_base_", None)
        if encoding is not None and not (isinstance(encoding, Encoding) and len(encoding.feature_names) == coef.shape[-1]):
            raise InputError("encoding_ is not an encoding with a feature for each weight")
        if base is not None and not (type(base) is int and base in (0, 1)):
            raise InputError("index_base_ is neither 0 nor 1")
        if not (isinstance(self.n_features_in_, int | np.integer) and self.n_features_in_ == coef.shape[-1]):
            raise InputError("n_features_in_ is not the number of weights")

    def _limits(self) -> dict[str, Any]:
        """solver, tol, max_passes and time_limit, from the estimator's parameters."""
        return {"solver": self.solver, "tol": self.tol, "max_passes": self.max_passes, "time_limit": self.time_limit}

    def _limits_for(self, problem: Problem) -> dict[str, Any]:
        """The same for one problem."""
        return self._limits()

    def _watched(self, problem: Problem, k: int) -> Callable[[np.ndarray], float] | None:
        """What decides when the fit of target k ends, as a function of its weights, where it is not the objective."""
        return None

    def _targets(self, codes: np.ndarray) -> list[np.ndarray]:
        """The labels of each problem."""
        raise NotImplementedError

    def _attributes(self, weights: list[tuple[np.ndarray, Any]], dtype: Any) -> dict[str, np.ndarray]:
        """``coef_`` and ``intercept_`` from the weights and the intercept of each problem."""
        raise NotImplementedError

    def _current_weights(self, count: int) -> list[Any]:
        """The current weights of each of ``count`` problems; None where there are none."""
        raise NotImplementedError

    @one_thread
    def _learn(self, X: Any, y: Any, codes: np.ndarray, weight: np.ndarray, form: Formulation) -> list[Result]:
        """Solve one problem for each target given by ``codes``, and store the results."""
        self._online_results: list[Result] | None = None  # ``partial_fit`` starts from the new weights
        problem, targets = self._posed(X, codes, weight, form)
        found: list[Result] = []
        if getattr(self, "_skl_callbacks", ()):
            self._solve_with_callbacks(problem, targets, found, form, {"X": X, "y": y, "metadata": {"sample_weight": weight}})
        else:
            self._solve_all(problem, targets, found, None, form)
            self._keep(found, form, X.dtype)
        if any(result.status == "interrupted" for result in found):
            raise KeyboardInterrupt
        self._warn_not_certified(problem, found)
        return found

    def _solve_with_callbacks(
        self, problem: Problem, targets: list[np.ndarray], found: list[Result], form: Formulation, given: dict[str, Any]
    ) -> None:
        """Solve and store, with scikit-learn's callbacks called at every evaluation."""
        info, dtype = {"estimator": self, **given}, given["X"].dtype
        context = self._init_callback_context(max_subtasks=None)
        context.call_on_fit_task_begin(**info)

        def watch(part: Problem) -> Callable[[driver.Evaluation], bool]:
            def report(evaluation: driver.Evaluation) -> bool:
                now = [(result.coef, result.intercept) for result in found] + [part.split(evaluation.w)]
                now += [(np.zeros_like(now[0][0]), 0.0)] * (len(targets) - len(now))
                metadata = {**info["metadata"], "evaluation": evaluation, "target": self._limits()["tol"] * part.scale}
                step = context.subcontext(task_name="evaluation")
                step.call_on_fit_task_begin(**info)
                return step.call_on_fit_task_end(
                    **{**info, "metadata": metadata}, reconstruction_attributes=lambda: self._attributes(now, dtype)
                )

            return report

        self._solve_all(problem, targets, found, watch, form)
        self._keep(found, form, dtype)
        context.call_on_fit_task_end(**info, reconstruction_attributes={})

    def _formulated(self, X: Any, y: Any, sample_weight: Any, reset: bool = True) -> tuple[Any, Any, np.ndarray, np.ndarray, Formulation]:
        """Rows, labels, the labels as numbers, the weights of the rows, and the objective; ``reset`` for a new fit."""
        raise NotImplementedError

    @one_thread
    def verify(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None, *, exact: bool = False
    ) -> verification.Verification:
        """Check the certificate of the fitted weights on the rows they were fitted to, as :func:`fenchel.verify` does.

        Dual points are found by solving again, and what they prove is computed without any code of the solvers. ``claimed`` is ``gap_``.
        Weights stored as float32 are rounded, which can add more to the objective than the gap allows for.

        Args:
            X, y, sample_weight: the rows given to ``fit``.
            exact: whether to compute with exact fractions, for small data, in place of extended precision.

        >>> import fenchel as fl
        >>> X = np.random.default_rng(0).standard_normal((60, 3))
        >>> fl.LogisticRegression().fit(X, X[:, 0] > 0).verify(X, X[:, 0] > 0).holds
        True
        """
        check_is_fitted(self)
        X, _, codes, weight, form = self._formulated(X, y, sample_weight, reset=False)
        problem, targets = self._posed(X, codes, weight, form)
        wanted = 0.5 * self.gap_ / (form.factor * len(targets))
        objective = bound = 0.0
        for k, w in enumerate(self._current_weights(len(targets))):
            part = self._part(problem, targets, form, k)
            if part.intercept:
                w = np.concatenate([w[:-1], w[-1:] / part.intercept])
            again = driver.solve(part, start=w, tol=wanted / part.scale if math.isfinite(wanted) and part.scale > 0.0 else 1e-3)
            found = [] if again.alpha is None else [again.alpha]
            checked = verification.verify_point(part, w, [*found, part.dual_point(w)], math.inf, exact=exact)
            objective, bound = objective + checked.objective, bound + checked.dual_objective
        return verification.Verification(form.factor * objective, form.factor * bound, float(self.gap_), checked.arithmetic)

    def _posed(self, X: Any, codes: np.ndarray, weight: np.ndarray, form: Formulation) -> tuple[Problem, list[np.ndarray]]:
        """The problem of the first target and the labels of every target; equal rows are merged if the solver depends on their order."""
        X, codes, weight = rows_with_weight(dense_if_cheaper(X), codes, weight)
        targets = self._targets(codes)
        problem = self._problem(X, targets[0], form, weight)
        name = self._limits_for(problem)["solver"]
        chosen = solvers().get(driver.choose(problem)[0] if name == "auto" else name)
        if chosen is None or not chosen.by_rows:
            return problem, targets
        rows, codes, weights = distinct_rows(X, codes, weight)
        if rows is X:
            return problem, targets
        targets = self._targets(codes)
        return self._problem(rows, targets[0], form, weights), targets

    def _part(self, problem: Problem, targets: list[np.ndarray], form: Formulation, k: int) -> Problem:
        """The problem of target k."""
        part = problem if k == 0 else problem.with_labels(targets[k])
        return part.replace(regularizer=self._certifiable(part, form.each[k], form.positive)) if form.each else part

    def _problem(self, X: Any, y: np.ndarray, form: Formulation, sample_weight: Any) -> Problem:
        """The problem, with an unpenalised intercept if the regularizer and the solver allow it, else a penalised one."""
        penalty = L2(1.0) if form.regularizer is None else form.regularizer
        intercept = form.intercept if penalty.separable or form.intercept != FREE else 1.0
        classes = len(getattr(self, "classes_", ())) or None  # the rows of a class may have zero weight, or all be in another fold
        # scikit-learn has checked X: values that are not finite were refused with its own message.
        problem = Problem(X, y, form.loss, penalty, sample_weight=sample_weight, intercept=intercept, classes=classes, check_finite=False)
        certifiable = self._certifiable(problem, form.regularizer, form.positive)
        problem = problem if certifiable is form.regularizer else problem.replace(regularizer=certifiable)
        return problem if self._allows_intercept(problem) else problem.with_intercept(1.0)

    def _certifiable(self, problem: Problem, regularizer: Any, positive: bool) -> Any:
        """The regularizer, or a negligible ridge for None, inside a box if weights must be non-negative; an error if squares overflow."""
        with np.errstate(over="ignore"):
            longest = problem.design.bound_on_length if problem.design.knows_largest else problem.radius
            length = longest * longest  # no row is longer
            if regularizer is None or not math.isfinite(length):
                length = float(problem.design.with_intercept(0.0).row_norms() ** 2 @ problem.row_weights)
        if not math.isfinite(length):
            raise InputError(OVERFLOW)
        penalty = L2(max(NEGLIGIBLE * length, np.finfo(float).tiny * 1e16)) if regularizer is None else regularizer
        return Box(0.0, np.inf, penalty) if positive else penalty

    def _allows_intercept(self, problem: Problem) -> bool:
        """Whether the solver asked for supports the intercept of the problem, which may be unpenalised."""
        chosen = solvers().get(self._limits()["solver"])
        return not problem.free or chosen is None or chosen.refusal(problem) is None

    def _solve_all(self, problem: Problem, targets: list[np.ndarray], found: list[Result], watch: Any, form: Formulation) -> None:
        """Solve the first problem with all threads, then the others, in parallel if they are large; an interrupt keeps the weights
        reached so far."""
        limits = self._limits_for(problem)
        ends = math.inf if limits["time_limit"] is None else time.perf_counter() + limits["time_limit"]
        stop = Stop()
        threads = self._threads() or available_threads()
        starts = self._starts(len(targets))
        seed = self._seed()
        if len(targets) > 1:
            problem.design.largest  # noqa: B018  # computed once for the proofs of all targets
        merged = driver.with_merged_columns(problem) if watch is None and self._watched(problem, 0) is None else None

        def one(k: int, threads: int) -> Result:
            part = self._part(problem, targets, form, k)
            left = None if math.isinf(ends) else max(ends - time.perf_counter(), 1e-3)
            report = watch(part) if watch is not None else (lambda evaluation: False)
            callback = lambda evaluation: stop.is_set() or report(evaluation)  # noqa: E731
            options = {**limits, "time_limit": left, "seed": seed + k, "threads": threads, "callback": callback}
            if "patience" in limits:
                options["watched"] = self._watched(part, k)
            options["start"] = starts[k] if starts[k] is not None and starts[k].shape == part.shape else None
            options["progress"] = bool(getattr(self, "verbose", 0))
            result = driver.solve(part, **options) if merged is None else merged.solve(part, **options)
            if result.status == "interrupted":
                stop.set()  # the remaining problems stop at their first evaluation: the model needs weights for all of them
            result.iterate = Iterate(result.w)  # what a run would continue from is as large as the weights, for every class
            return result

        found.append(one(0, threads))
        at_once = threads_for_problems(problem.design.storage, threads) if watch is None else 1
        if at_once == 1:
            for k in range(1, len(targets)):
                found.append(one(k, threads))
            return
        others = run_tasks([partial(one, k, 1) for k in range(1, len(targets))], at_once, stop)
        found += [replace(result, status="interrupted") for result in others] if stop.is_set() else others

    def _starts(self, count: int) -> list[Any]:
        """The starting point of each of ``count`` problems; None for w = 0."""
        return self._current_weights(count) if getattr(self, "warm_start", False) else [None] * count

    def _keep(self, found: list[Result], form: Formulation, dtype: Any) -> None:
        for name, value in self._attributes([(result.coef, result.intercept) for result in found], dtype).items():
            setattr(self, name, value)
        self._keep_certificate(found, self._limits()["tol"], form.factor)

    def _weights_of(self, X: Any, sample_weight: Any) -> np.ndarray:
        if sample_weight is None:
            return np.ones(X.shape[0])
        return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)

    def _scores(self, X: Any) -> np.ndarray:
        """X·coef + intercept, one column per problem."""
        check_is_fitted(self)
        if hasattr(self, "encoding_") and hasattr(X, "__arrow_c_stream__"):
            X = self.encoding_.transform(X).X  # a data frame with the columns of the training table
        X = checked_rows(self, X)
        coef = self.coef_
        scores = X @ coef.T if sp.issparse(X) or not sp.issparse(coef) else (coef @ X.T).T
        scores = scores.toarray() if sp.issparse(scores) else np.asarray(scores)
        return scores + self.intercept_

    def sparsify(self) -> Self:
        """Store ``coef_`` as a sparse matrix, which saves memory and time if most weights are zero."""
        check_is_fitted(self)
        self.coef_ = sp.csr_array(np.atleast_2d(self.coef_)) if not sp.issparse(self.coef_) else self.coef_
        return self

    def densify(self) -> Self:
        """Store ``coef_`` as a dense array again."""
        check_is_fitted(self)
        if sp.issparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

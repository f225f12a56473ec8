"""``LogisticRegressionCV`` as in scikit-learn: the C, and the l1_ratio, with the best score on held-out rows

In every fold the problems are solved from the strongest penalty to the weakest, each warm-started from the last.
"""

from __future__ import annotations

import copy
import inspect
import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils.validation import _check_method_params

from fenchel.core.array_types import MatrixLike, RandomState
from fenchel.core.errors import InputError
from fenchel.core.threads import Stop, one_thread, run_tasks
from fenchel.driver import solve
from fenchel.estimators.checked_input import checked_pair
from fenchel.estimators.linear_estimator import ClassWeight, CrossValidation, Formulation, with_callbacks
from fenchel.estimators.logistic_regression import LogisticRegression, logistic_formulation
from fenchel.estimators.penalties import checked_strength
from fenchel.estimators.repeated_rows import dense_if_cheaper
from fenchel.estimators.routing import Routing
from fenchel.linalg.design import threads_for_problems

RANGE_OF_CS = (1e-4, 1e4)  # the smallest and the largest C if only their number is given


class LogisticRegressionCV(Routing, LogisticRegression):
    """scikit-learn's ``LogisticRegressionCV``, with its parameters, and a certificate.

    Args:
        Cs: the number of values of C to try, evenly spaced from 1e-4 to 1e4 on a logarithmic scale, or the values themselves.
        l1_ratios: the shares of the l1 norm to choose from.
        cv: a number of folds, a splitter, or pairs of training and test rows; None means 5 folds.
        scoring: the name of a scorer, or a function, that selects the best; None means accuracy.
        refit: whether to fit to all rows with the chosen parameters; otherwise weights and C are means over the folds.
        tol, max_iter, solver, fit_intercept, class_weight, n_jobs, verbose, random_state: as in :class:`LogisticRegression`.
        dual, penalty, intercept_scaling, use_legacy_attributes: no effect.

    Attributes after ``fit``, in addition to those of :class:`LogisticRegression`: ``C_``, ``l1_ratio_``, ``Cs_``, ``l1_ratios_``,
    ``scores_`` (folds × l1_ratios × Cs), ``coefs_paths_`` (additionally × classes × features, the intercept last) and ``n_iter_``
    (passes, folds × l1_ratios × Cs). ``score`` uses ``scoring``.

    >>> import fenchel as fl
    >>> X, y = fl.datasets.make_text(300, n=100, nonzeros=10)
    >>> fl.LogisticRegressionCV(Cs=3, cv=3).fit(X, y).scores_.shape
    (3, 1, 3)
    """

    scored_methods, default_scorer = ("fit", "score"), "accuracy"

    def __init__(
        self,
        *,
        Cs: int | Iterable[float] = 10,
        l1_ratios: ArrayLike | None = (0.0,),
        fit_intercept: bool = True,
        cv: CrossValidation = None,
        dual: bool = False,
        penalty: Any = "deprecated",
        scoring: str | Callable[..., float] | None = None,
        solver: str = "auto",
        tol: float = 1e-4,
        max_iter: int = 100,
        class_weight: ClassWeight = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        refit: bool = True,
        intercept_scaling: float = 1.0,
        random_state: RandomState = None,
        use_legacy_attributes: bool = False,
    ) -> None:
        self.Cs = Cs
        self.l1_ratios = l1_ratios
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.dual = dual
        self.penalty = penalty
        self.scoring = scoring
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.refit = refit
        self.intercept_scaling = intercept_scaling
        self.random_state = random_state
        self.use_legacy_attributes = use_legacy_attributes

    @with_callbacks
    @one_thread
    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None, **params: Any) -> Self:
        """Choose C by cross-validation, then fit to all rows X with labels y; ``params`` are passed to the splitter and the scorer."""
        X, y = checked_pair(self, X, y, numeric=False)
        codes = self._encoded(y)
        sample_weight = None if sample_weight is None else self._weights_of(X, sample_weight)
        splitter_params, scorer_params = self._routed("fit", sample_weight, params)
        weight = self._class_weighted(self._weights_of(X, sample_weight), y, sample_weight)
        self.Cs_ = np.geomspace(*RANGE_OF_CS, self.Cs) if isinstance(self.Cs, (int, np.integer)) else np.sort([*self.Cs]).astype(float)
        for C in self.Cs_:
            checked_strength("Cs", float(C))
        self.l1_ratios_ = np.atleast_1d(np.array(0.0 if self.l1_ratios is None else self.l1_ratios, dtype=float))
        splits = list(check_cv(self.cv, y, classifier=True).split(X, y, **splitter_params))
        for fold, (train, _) in enumerate(splits):
            if not weight[train].any():
                raise InputError(f"The training rows of fold {fold} of cv have zero total weight: give other folds, or other weights.")
        rows, stop = dense_if_cheaper(X), Stop()
        tasks = [partial(self._one_fold, rows, codes, weight, train, stop) for train, _ in splits]
        outputs = len(self.classes_) if self._is_joint(len(self.classes_)) else 1
        coefs, passes = zip(*run_tasks(tasks, threads_for_problems(rows, self._threads(), outputs), stop), strict=True)
        self.coefs_paths_ = np.array(coefs)
        score: Any = partial(self._score_fold, X, y, scorer_params)
        if self.scoring in (None, "accuracy") and scorer_params.keys() <= {"sample_weight"}:
            score = partial(self._accuracies, X, codes, scorer_params.get("sample_weight"))
        self.scores_ = np.array([score(test, fold) for (_, test), fold in zip(splits, coefs, strict=True)])
        self._choose(X, y, codes, weight)
        self.n_iter_ = np.array(passes)
        return self

    def _check_loaded(self) -> None:
        super()._check_loaded()
        self._get_scorer()  # raises a ValueError for an unknown name

    def score(self, X: MatrixLike, y: ArrayLike, *, sample_weight: ArrayLike | None = None, **params: Any) -> float:
        """The score, by ``scoring``, of the predictions for rows X with labels y; ``params`` are passed to the scorer."""
        _, scorer_params = self._routed("score", sample_weight, params)
        return self._get_scorer()(self, X, y, **scorer_params)

    def _one_fold(self, X: Any, codes: np.ndarray, weight: np.ndarray, train: Any, stop: Stop) -> tuple[np.ndarray, np.ndarray]:
        """The weights learnt from the training rows, the intercept last, and the passes, for every l1_ratio and C."""
        model = self._fold_model(X)
        limits = {**self._limits(), "threads": 1, "seed": self._seed(), "callback": lambda evaluation: stop.is_set()}
        coefs, passes = [], []
        for l1_ratio in self.l1_ratios_:
            problem, before = None, None
            for C in self.Cs_:
                form = self._formulation_for(float(C), float(l1_ratio), float(weight[train].sum()))
                if problem is None or form.regularizer is None:
                    problem = model._problem(X[train], self._targets(codes[train])[0], form, weight[train])
                problem = problem.replace(regularizer=form.regularizer)  # of the last one, which has computed what both have in common
                before = solve(problem, start=before, **limits)
                if before.status in ("interrupted", "callback"):
                    raise KeyboardInterrupt
                found = model._attributes([(before.coef, before.intercept)], X.dtype)
                coefs.append(np.column_stack([found["coef_"], found["intercept_"]]) if self.fit_intercept else found["coef_"])
                passes.append(math.ceil(before.passes))
        shape = (len(self.l1_ratios_), len(self.Cs_))
        return np.array(coefs).reshape(*shape, *coefs[0].shape), np.array(passes).reshape(shape)

    def _score_fold(self, X: Any, y: Any, scorer_params: dict[str, Any], test: Any, coefs: np.ndarray) -> np.ndarray:
        """The score of each of these weights on the test rows; not in parallel, because scorers may not be thread-safe."""
        model, scorer = self._fold_model(X), with_labels(self._get_scorer(), self.classes_)
        given = _check_method_params(X, scorer_params, indices=test)
        scores = np.zeros(coefs.shape[:2])
        for index in np.ndindex(scores.shape):
            self._set_weights(model, coefs[index], X.dtype)
            scores[index] = scorer(model, X[test], y[test], **given)
        return scores

    def _accuracies(self, X: Any, codes: np.ndarray, sample_weight: Any, test: Any, coefs: np.ndarray) -> np.ndarray:
        """The same for scikit-learn's accuracy: one product with the test rows serves all weights."""
        flat = coefs.reshape(-1, coefs.shape[-1]).astype(X.dtype)
        z = X[test] @ (flat[:, :-1].T if self.fit_intercept else flat.T) + (flat[:, -1] if self.fit_intercept else 0.0)
        z = z.reshape(-1, *coefs.shape[:3])
        predicted = z[..., 0] > 0.0 if coefs.shape[2] == 1 else z.argmax(axis=-1)
        weight = None if sample_weight is None else sample_weight[test]
        return np.average(predicted == codes[test][:, None, None], axis=0, weights=weight)

    def _fold_model(self, X: Any) -> LogisticRegression:
        model = clone_of_parent(self)
        model.classes_, model.n_features_in_ = self.classes_, X.shape[1]
        return model

    def _set_weights(self, model: LogisticRegression, coefs: np.ndarray, dtype: Any) -> None:
        """Set ``coef_`` and ``intercept_`` from weights with the intercept last, if there is one."""
        bare = coefs[:, :-1] if self.fit_intercept else coefs
        model.coef_ = bare.astype(dtype)
        model.intercept_ = (coefs[:, -1] if self.fit_intercept else np.zeros(len(coefs))).astype(dtype)

    def _choose(self, X: Any, y: Any, codes: np.ndarray, weight: np.ndarray) -> None:
        """Fit to all rows with the best mean score, or average the best weights and parameters of each fold."""
        ratio, C = np.unravel_index(self.scores_.mean(axis=0).argmax(), self.scores_.shape[1:])
        self.C_, self.l1_ratio_ = float(self.Cs_[C]), float(self.l1_ratios_[ratio])
        self._learn(X, y, codes, weight, self._formulation_for(self.C_, self.l1_ratio_, float(weight.sum())))
        if not self.refit:
            indices = [np.unravel_index(scores.argmax(), scores.shape) for scores in self.scores_]
            mean = np.mean([self.coefs_paths_[fold][index] for fold, index in enumerate(indices)], axis=0)
            self._set_weights(self, mean, X.dtype)
            self.C_ = float(np.mean([self.Cs_[C] for _, C in indices]))
            self.l1_ratio_ = float(np.mean([self.l1_ratios_[ratio] for ratio, _ in indices]))

    def _formulation(self, weight: float, together: bool) -> Formulation:
        return self._formulation_for(self.C_, self.l1_ratio_, weight)

    def _formulation_for(self, C: float, l1_ratio: float, weight: float) -> Formulation:
        return logistic_formulation(C, l1_ratio, weight, self._is_joint(len(self.classes_)), self.fit_intercept)


def clone_of_parent(model: LogisticRegressionCV) -> LogisticRegression:
    """A plain ``LogisticRegression`` with the parameters that both classes have."""
    names = LogisticRegression._get_param_names()
    return LogisticRegression(**{name: value for name, value in clone(model).get_params().items() if name in names})


def with_labels(scorer: Any, classes: np.ndarray) -> Any:
    """The scorer, given all class labels if it accepts them, because the test rows may lack some classes.

    >>> from sklearn.metrics import get_scorer
    >>> with_labels(get_scorer("neg_log_loss"), np.array([3, 5]))._kwargs
    {'labels': array([3, 5])}
    """
    parameters = inspect.signature(scorer._score_func).parameters if hasattr(scorer, "_score_func") else {}
    if "labels" not in parameters:
        return scorer
    positive = {"pos_label": classes[1]} if len(classes) == 2 and "pos_label" in parameters else {}
    labelled = copy.copy(scorer)
    labelled._kwargs = {"labels": classes, **positive, **scorer._kwargs}
    return labelled

"""Other packages on the objectives of race.py, each in its own scaling and in the layout of X that suits it best.

    mean loss + λ/2·‖w‖²  or  mean loss + λ·‖w‖₁, without an intercept

``fits`` gives the functions that fit a task, each from its loosest tolerance to its tightest; what they return are the weights, one vector
or one column for each class. Conversions of X to a package's own format are made beforehand and are not in its times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import Lasso, LogisticRegression, Ridge

Fit = Callable[[], np.ndarray]
LOOSE_TO_TIGHT = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8)
MOST_PASSES = 2000
FEW_COLUMNS = 1500  # most columns for solvers that factorise matrices of second derivatives


def fits(task: str, X: Any, y: np.ndarray, strength: float, threads: int) -> dict[str, list[Fit]]:
    """The fits of every package installed that solves the task, by its name."""
    found: dict[str, list[Fit]] = {}
    for package in (liblinear, cyanure, snapml, scikit_learn, celer, skglm, glum):
        try:
            for name, fit in package(task, X, y, strength, threads):
                found[name] = [partial(fit, tol) for tol in LOOSE_TO_TIGHT]
        except ImportError:
            continue
    return found


Named = Iterator[tuple[str, Callable[[float], np.ndarray]]]


def liblinear(task: str, X: Any, y: np.ndarray, strength: float, threads: int) -> Named:
    """pip install liblinear-official. Its squared hinge has no ½; with several classes it fits one against the rest."""
    solvers = {"logistic": (0, 7), "hinge": (3,), "squared-hinge": (1, 2), "l1-logistic": (6,), "one-vs-rest": (1, 2)}.get(task, ())
    if not solvers:
        return
    from liblinear.liblinearutil import parameter, problem, train

    rows = problem(y, sp.csr_matrix(X))
    C = (0.5 if task in ("squared-hinge", "one-vs-rest") else 1.0) / (strength * len(y))

    def fit(solver: int, tol: float) -> np.ndarray:
        model = train(rows, parameter(f"-s {solver} -c {C} -e {tol} -q"))
        labels = model.get_labels()
        if task == "one-vs-rest":
            return np.array([model.get_decfun(k)[0] for k in np.argsort(labels)]).T
        return np.array(model.get_decfun(0)[0]) * (1.0 if labels[0] > 0 else -1.0)

    for solver in solvers:
        yield f"liblinear -s {solver}", partial(fit, solver)


def cyanure(task: str, X: Any, y: np.ndarray, strength: float, threads: int) -> Named:
    """pip install cyanure"""
    losses = {"ridge": "square", "lasso": "square", "squared-hinge": "sqhinge", "one-vs-rest": "sqhinge", "softmax": "multiclass-logistic"}
    losses |= {"logistic": "logistic", "l1-logistic": "logistic"}
    if task not in losses:
        return
    from cyanure.estimators import Classifier, Regression

    make = Regression if losses[task] == "square" else Classifier
    options = {
        **({"loss": losses[task]} if make is Classifier else {}),
        "penalty": "l1" if task in ("lasso", "l1-logistic") else "l2",
        "lambda_1": strength,
        "max_iter": MOST_PASSES,
        "fit_intercept": False,
        "verbose": False,
        "n_threads": threads,
        "duality_gap_interval": 5,
    }

    def fit(tol: float) -> np.ndarray:
        w = np.asarray(make(tol=tol, **options).fit(X, y).coef_)
        return w.ravel() if task not in ("softmax", "one-vs-rest") else w if w.shape[0] == X.shape[1] else w.T

    yield "cyanure", fit


def snapml(task: str, X: Any, y: np.ndarray, strength: float, threads: int) -> Named:
    """pip install snapml. Its regularizer belongs to the sum of the losses."""
    if task not in ("logistic", "hinge"):
        return
    import snapml

    make = snapml.LogisticRegression if task == "logistic" else snapml.SupportVectorMachine
    options = {"regularizer": strength * len(y), "max_iter": MOST_PASSES, "fit_intercept": False, "n_jobs": threads, "random_state": 0}
    yield "snapml", lambda tol: make(tol=tol, **options).fit(X, y).coef_.ravel()


def scikit_learn(task: str, X: Any, y: np.ndarray, strength: float, threads: int) -> Named:
    """Its own solvers; those that wrap liblinear's are above."""
    dense = not sp.issparse(X)
    if task in ("logistic", "softmax"):
        solvers = ["lbfgs", "newton-cg"] + (["newton-cholesky"] if X.shape[1] < FEW_COLUMNS else [])
        options = {"C": 1.0 / (strength * len(y)), "fit_intercept": False, "max_iter": MOST_PASSES}
        for solver in solvers:
            yield f"sklearn {solver}", lambda tol, solver=solver: weights(LogisticRegression(solver=solver, tol=tol, **options).fit(X, y))
    if task == "ridge":
        for solver in ("cholesky", "sparse_cg", "lsqr") if dense else ("sparse_cg", "lsqr"):
            options = {"alpha": strength * len(y), "fit_intercept": False, "max_iter": 5000, "solver": solver}
            yield f"sklearn {solver}", lambda tol, options=options: Ridge(tol=tol, **options).fit(X, y).coef_
    if task == "lasso":
        columns = by_columns(X)
        for precompute in (False, True) if dense and X.shape[1] < min(X.shape[0], FEW_COLUMNS) else (False,):
            options = {"precompute": precompute, "fit_intercept": False, "max_iter": 20_000}
            name = "sklearn gram" if precompute else "sklearn"
            yield name, lambda tol, options=options: Lasso(alpha=strength, tol=tol, **options).fit(columns, y).coef_


def celer(task: str, X: Any, y: np.ndarray, strength: float, threads: int) -> Named:
    """pip install celer"""
    if task not in ("lasso", "l1-logistic"):
        return
    import celer

    columns, options = by_columns(X), {"fit_intercept": False, "max_iter": 200}
    if task == "lasso":
        yield "celer", lambda tol: celer.Lasso(alpha=strength, tol=tol, **options).fit(columns, y).coef_
    else:
        C = 1.0 / (strength * len(y))
        yield "celer", lambda tol: celer.LogisticRegression(C=C, tol=tol, **options).fit(columns, y).coef_.ravel()


def skglm(task: str, X: Any, y: np.ndarray, strength: float, threads: int) -> Named:
    """pip install skglm"""
    if task not in ("lasso", "l1-logistic"):
        return
    import skglm

    columns = by_columns(X)
    make = skglm.Lasso if task == "lasso" else skglm.SparseLogisticRegression
    options = {"alpha": strength, "fit_intercept": False, "max_iter": 200}
    yield "skglm", lambda tol: make(tol=tol, **options).fit(columns, y).coef_.ravel()


def glum(task: str, X: Any, y: np.ndarray, strength: float, threads: int) -> Named:
    """pip install glum. It forms matrices of second derivatives, in any case."""
    if task not in ("logistic", "l1-logistic") or X.shape[1] >= FEW_COLUMNS:
        return
    from glum import GeneralizedLinearRegressor

    counts = (y > 0.0).astype(np.float64)
    options = {"family": "binomial", "alpha": strength, "l1_ratio": float(task == "l1-logistic"), "fit_intercept": False, "max_iter": 200}
    columns = by_columns(X)
    yield "glum", lambda tol: GeneralizedLinearRegressor(gradient_tol=tol, **options).fit(columns, counts).coef_


def by_columns(X: Any) -> Any:
    """X as methods that go through its columns want it."""
    return sp.csc_matrix(X) if sp.issparse(X) else np.asfortranarray(X)


def weights(model: Any) -> np.ndarray:
    """The weights of a classifier of scikit-learn's, one column for each of several classes."""
    return model.coef_[0] if len(model.coef_) == 1 else model.coef_.T

"""What users do with fenchel, in small

The kernels that a call compiles depend on how X is stored, on the loss and the penalty, and on the solvers that ``auto`` chooses, which
depend on the shape. So the data have the shapes that lead to different solvers. To have another call ready at once, add it here: nothing
else lists kernels.
"""

from __future__ import annotations

import contextlib
import functools
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_classifier

from fenchel import datasets, estimators
from fenchel.core.errors import InputError
from fenchel.driver import minimize
from fenchel.losses import losses
from fenchel.paths import path
from fenchel.problems.problem import Problem
from fenchel.problems.stream import Stream
from fenchel.regularizers import L1, L1L2, L2
from fenchel.structured import Multiclass

# Rows and columns: few columns, some, more columns than rows, enough rows for samples of them, and enough entries for several threads.
SHAPES = {"narrow": (160, 4), "middle": (600, 50), "wide": (40, 200), "tall": (20_000, 8), "large": (2600, 400)}
TEXTS = {
    "sparse matrix": {"m": 2000, "n": 6000, "nonzeros": 25},  # fewer columns would make a dense array of it
    "sparse matrix of rare words": {"m": 1500, "n": 60_000, "nonzeros": 80},  # columns of single rows, which are merged
    "large sparse matrix": {"m": 25_000, "n": 20_000, "nonzeros": 40},  # enough for several threads
}
CV = {"cv": 3}


class Call(NamedTuple):
    """A typical call; the ``common`` ones are the estimators with default parameters, on numbers in double precision."""

    name: str
    common: bool
    run: Callable[[], Any]


def all_calls() -> list[Call]:
    """All of them, the common ones first."""
    found = [*_estimator_calls(), *_structured_calls(), *_reader_calls(), *_solver_calls(), *_path_calls()]
    return sorted(found, key=lambda call: not call.common)


# ---- data ----


@functools.cache
def _rows(shape: str) -> tuple[np.ndarray, np.ndarray]:
    """Normal rows and a noisy linear score."""
    m, n = SHAPES[shape]
    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, n))
    return X, X @ rng.standard_normal(n) + rng.standard_normal(m)


@functools.cache
def _text(name: str = "sparse matrix") -> tuple[Any, np.ndarray]:
    """Generated text and a score, whose values are all different."""
    X, y = datasets.make_text(**TEXTS[name], seed=0)
    X = sp.csr_matrix(X)
    return X, X @ np.random.default_rng(1).standard_normal(X.shape[1]) + 0.1 * y


def _labels(score: np.ndarray, kind: str) -> np.ndarray:
    """Numbers, or the interval of the score as the class, of which some are larger than others."""
    if kind == "numbers":
        return score
    return np.digitize(score, np.quantile(score, [0.4] if kind == "two classes" else [0.3, 0.6]))


def _inputs(common: bool) -> Iterator[tuple[str, Any, np.ndarray]]:
    """Name, X and a score for every way of storing X: those of the common calls, or the others."""
    if common:
        for shape in SHAPES:
            yield f"{shape} array", *_rows(shape)
        for name in TEXTS:
            yield name, *_text(name)
        return
    X, score = _text()
    for shape in SHAPES:
        dense, of_dense = _rows(shape)
        yield f"{shape} array by columns", np.asfortranarray(dense), of_dense
        yield f"{shape} array of float32", dense.astype(np.float32), of_dense
    wide_indices = X.copy()
    wide_indices.indices, wide_indices.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    yield "sparse matrix of float32", X.astype(np.float32), score
    yield "sparse matrix with int64 indices", wide_indices, score
    yield "sparse matrix by columns", X.tocsc(), score


# ---- estimators ----

# Parameters other than the defaults that many users give.
PARAMETERS: dict[str, list[dict[str, Any]]] = {
    "LogisticRegression": [{"l1_ratio": 1.0}, {"l1_ratio": 0.5}, {"C": 100.0}, {"fit_intercept": False}],
    "LogisticRegressionCV": [],
    "LinearSVC": [{"loss": "hinge"}, {"penalty": "l1", "dual": False}, {"C": 0.01}],
    "LinearSVR": [{"loss": "squared_epsilon_insensitive"}],
    "Lasso": [{"alpha": 0.01}, {"positive": True}],
    "ElasticNet": [{"alpha": 0.01}, {"positive": True}],
    "SGDClassifier": [{"loss": loss} for loss in ("log_loss", "squared_hinge", "modified_huber")] + [{"penalty": "l1"}],
    "SGDRegressor": [{"loss": loss} for loss in ("huber", "epsilon_insensitive")] + [{"penalty": "elasticnet"}],
    "LinearClassifier": [{"loss": loss} for loss in ("hinge", "smooth-hinge", "squared-hinge")] + [{"penalty": "l1"}],
    "LinearRegressor": [{"loss": loss} for loss in ("huber", "absolute", "quantile", "epsilon-insensitive")] + [{"penalty": "l1"}],
}


def _estimator_calls() -> Iterator[Call]:
    for name in sorted(set(dir(estimators)) - set(estimators.STRUCTURED)):
        cls = getattr(estimators, name)
        kinds = ("two classes", "three classes") if is_classifier(cls()) else ("numbers",)
        for kind in kinds:
            for stored, X, score in _inputs(common=True):
                if name.endswith("CV") and ("large" in stored or "rare" in stored):
                    continue
                y = _labels(score, kind)
                yield Call(f"{name}() on a {stored}, {kind}", True, functools.partial(_fit_and_use, cls, {}, X, y))
                for parameters in PARAMETERS.get(name, []):
                    shown = ", ".join(f"{key}={value!r}" for key, value in parameters.items())
                    yield Call(f"{name}({shown}) on a {stored}, {kind}", False, functools.partial(_fit_and_use, cls, parameters, X, y))
        for kind in kinds:
            for stored, X, score in _inputs(common=False):
                if not name.endswith("CV"):
                    yield Call(f"{name}() on a {stored}, {kind}", False, functools.partial(_fit_and_use, cls, {}, X, _labels(score, kind)))


def _fit_and_use(cls: Any, parameters: dict[str, Any], X: Any, y: np.ndarray) -> None:
    model = cls(**parameters).fit(X, y)
    model.predict(X)
    model.score(X, y)
    for method in ("decision_function", "predict_proba"):
        if hasattr(model, method):
            getattr(model, method)(X)
    if hasattr(model, "partial_fit"):
        with contextlib.suppress(InputError):  # no online solver is for this loss with this penalty
            cls(**parameters).partial_fit(X, y, **({"classes": np.unique(y)} if is_classifier(model) else {}))


# ---- tags, rankings, RNA ----

WORDS = [["the", "dog", "barks"], ["a", "cat", "sleeps", "well"]] * 4
TAGS = [["DET", "NOUN", "VERB"], ["DET", "NOUN", "VERB", "ADV"]] * 4
BASES, PAIRS = ["GGGGAAAACCCC", "GCGCAAAAGCGCAA"] * 2, ["((((....))))", "((((....)))).."] * 2


def _structured_calls() -> Iterator[Call]:
    for loss in ("likelihood", "margin"):
        is_default = loss == "likelihood"
        yield Call(f"Tagger({loss!r})", is_default, functools.partial(_use_structured, estimators.Tagger(loss=loss), WORDS, TAGS))
        yield Call(f"RnaFolder({loss!r})", is_default, functools.partial(_use_structured, estimators.RnaFolder(loss), BASES, PAIRS))
    X, grades, queries = datasets.make_ranking(queries=20)
    for loss in ("pairwise-logistic", "pairwise-hinge", "ndcg"):
        yield Call(f"Ranker({loss!r})", loss == "pairwise-logistic", functools.partial(_rank, loss, X, grades, queries))
    rows, score = _rows("middle")
    labels = _labels(score, "three classes")
    for cls in (estimators.StructuredSVM, estimators.ConditionalRandomField):
        yield Call(cls.__name__, True, functools.partial(_use_structured, cls(Multiclass()), rows, labels))


def _use_structured(model: Any, X: Any, Y: Any) -> None:
    model.fit(X, Y)
    model.predict(X)
    model.score(X, Y)


def _rank(loss: str, X: Any, grades: np.ndarray, queries: np.ndarray) -> None:
    model = estimators.Ranker(loss).fit(X, grades, qid=queries)
    model.predict(X)
    model.score(X, grades, qid=queries)


# ---- files ----


def _reader_calls() -> Iterator[Call]:
    yield Call("reading and writing files", True, _read_and_write)


def _read_and_write() -> None:
    X, y = _text()
    with tempfile.TemporaryDirectory() as folder:
        for name, data in {"a.svm": (X, y), "b.svm": (X.astype(np.float32), y), "c.csv": (_rows("narrow"))}.items():
            file = Path(folder) / name
            datasets.write(file, datasets.Data(*data))
            datasets.read(file)


# ---- solvers ----

CLASSIFICATION = ("logistic", "hinge", "smooth-hinge", "squared-hinge")
REGRESSION = ("squared", "huber", "absolute", "quantile")
SOLVERS = {  # with the penalties that a user of each would take
    "sdca": (L2(1e-3), L1L2(1e-4, 1e-3)),
    "accelerated-sdca": (L2(1e-5), L1(1e-3)),
    "newton": (L2(1e-4),),
    "lbfgs": (L2(1e-4),),
    "fista": (L1(1e-3), L2(1e-3)),
    "working-set": (L1(1e-3),),
    "interior-point": (L2(1e-3),),
    "pgs": (L2(1e-3),),
    "optimistic": (L2(1e-3),),
    "proximal-bundle": (L2(1e-3),),
}


def _solver_calls() -> Iterator[Call]:
    X, y = _text()
    dense, score = _rows("middle")
    for solver, penalties in SOLVERS.items():
        for loss in (*CLASSIFICATION, *REGRESSION):
            for penalty in penalties:
                for stored, rows, values in (("array", dense, score), ("sparse matrix", X, y)):
                    name = f"minimize with {solver}, {loss} loss and {type(penalty).__name__} on a {stored}"
                    target = values if loss in REGRESSION else np.sign(values)
                    yield Call(name, False, functools.partial(_minimize, solver, loss, penalty, rows, target))
    yield Call("learning from a stream", False, functools.partial(_learn_from_stream, X, np.sign(y)))


def _minimize(solver: Any, loss: str, penalty: Any, X: Any, y: np.ndarray) -> None:
    with contextlib.suppress(InputError):  # the solver is not for this loss
        minimize(Problem(X, y, losses()[loss](), penalty), solver, tol=1e-4, max_passes=30)


def _learn_from_stream(X: Any, y: np.ndarray) -> None:
    chunks = [(X[start : start + 500], y[start : start + 500]) for start in range(0, 2000, 500)]
    minimize(Stream(chunks, losses()["logistic"](), L2(1e-3)))


def _path_calls() -> Iterator[Call]:
    X, y = _text()
    dense, score = _rows("middle")
    for loss, of_values in (("squared", np.asarray), ("logistic", np.sign)):
        for stored, rows, values in (("array", dense, score), ("sparse matrix", X, y)):
            call = functools.partial(path, rows, of_values(values), losses()[loss](), n_strengths=10, ratio=0.1)
            yield Call(f"path with {loss} loss on {'an' if stored == 'array' else 'a'} {stored}", False, call)

"""Fits of the classes with scikit-learn's names on random data, beside those of scikit-learn

Shapes, densities, scales and correlations of columns, strengths and numbers of classes are drawn at random. A fit fails if it raises an
error, if it warns where scikit-learn's does not, or if it takes over ``FACTOR`` times as long and over ``LEAST`` seconds. Each fit is made
once before it is timed, for the kernels that it compiles.
"""

from __future__ import annotations

import json
import time
import traceback
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import sklearn.linear_model
import sklearn.svm

from fenchel import estimators

FACTOR, LEAST = 3.0, 0.02
FAILURES = ("errors", "warnings", "slow fits")
CLASSIFIERS = ("LogisticRegression", "LinearSVC", "SGDClassifier")
REGRESSORS = ("Ridge", "Lasso", "ElasticNet", "LinearSVR", "SGDRegressor", "RidgeCV", "LassoCV", "ElasticNetCV")


class Case(NamedTuple):
    name: str
    parameters: dict[str, Any]
    X: Any
    y: np.ndarray

    def __str__(self) -> str:
        kind = "sparse" if sp.issparse(self.X) else "dense"
        classes = f", {len(np.unique(self.y))} classes" if self.name in CLASSIFIERS else ""
        return f"{self.name}({self.parameters}) on {self.X.shape[0]} x {self.X.shape[1]} {kind}{classes}"


def case(seed: int, k: int, largest: int = 3000) -> Case:
    """Case k of a seed, with at most so many rows."""
    rng = np.random.default_rng((seed, k))
    name = str(rng.choice(CLASSIFIERS + REGRESSORS))
    m, n = int(np.exp(rng.uniform(np.log(20), np.log(largest)))), int(np.exp(rng.uniform(np.log(2), np.log(largest / 6))))
    X = rng.standard_normal((m, n))
    if rng.random() < 0.3:  # correlated columns
        X = X @ (np.eye(n) + rng.standard_normal((n, 1)) @ rng.standard_normal((1, n)))
    if rng.random() < 0.3:
        X = X * 10.0 ** rng.uniform(-2.0, 2.0, n)
    if rng.random() < 0.2:
        X = X + 10.0 ** rng.uniform(0.0, 2.0)
    if rng.random() < 0.4:
        X = X * (rng.random((m, n)) < 10.0 ** rng.uniform(-1.5, -0.3))
    scores = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9) @ (rng.standard_normal(n) * (rng.random(n) < 0.3))
    scores = scores / max(scores.std(), 1e-9) + 10.0 ** rng.uniform(-2.0, 0.5) * rng.standard_normal(m)
    X = sp.csr_matrix(X) if (X == 0.0).mean() > 0.5 else X
    strength = float(10.0 ** rng.uniform(-3.0, 1.5))
    if name in CLASSIFIERS:
        classes = int(rng.integers(2, 7))
        y = np.digitize(scores, np.quantile(scores, np.linspace(0.0, 1.0, classes + 1)[1:-1]))
        parameters = {"alpha": strength / 100.0} if name == "SGDClassifier" else {"C": strength}
        return Case(name, parameters, X, y)
    y = scores * 10.0 ** rng.uniform(-1.0, 2.0) + rng.choice([0.0, 100.0])
    named = {"Ridge": "alpha", "Lasso": "alpha", "ElasticNet": "alpha", "SGDRegressor": "alpha", "LinearSVR": "C"}.get(name)
    return Case(name, {named: strength / (100.0 if name == "SGDRegressor" else 1.0)} if named else {}, X, y)


def fitted(case: Case, ours: bool) -> tuple[float, list[str]]:
    """The seconds of a fit, and its warnings."""
    home = estimators if ours else sklearn.svm if hasattr(sklearn.svm, case.name) else sklearn.linear_model
    model = getattr(home, case.name)(**case.parameters)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        began = time.perf_counter()
        model.fit(case.X, case.y)
        seconds = time.perf_counter() - began
    return seconds, [f"{warning.category.__name__}: {warning.message}" for warning in caught]


def judge(case: Case) -> dict[str, str]:
    """What is wrong: a text for each kind of failure."""
    try:
        _, warned = fitted(case, ours=True)
    except Exception:
        return {"errors": traceback.format_exc(limit=-3)}
    found = {"warnings": warned[0]} if warned and not fitted(case, ours=False)[1] else {}
    seconds = min(fitted(case, ours=True)[0] for _ in range(2))
    if seconds > LEAST:
        theirs = min(fitted(case, ours=False)[0] for _ in range(2))
        if seconds > FACTOR * theirs:
            found["slow fits"] = f"{1e3 * seconds:.1f} ms, and scikit-learn takes {1e3 * theirs:.1f} ms"
    return found


def run(seconds: float, seed: int, keep: Path) -> dict[str, int]:
    """Judge cases until the time is over, and keep the failures."""
    began, k = time.perf_counter(), 0
    counts = dict.fromkeys(("cases", *FAILURES), 0)
    while time.perf_counter() - began < seconds:
        chosen = case(seed, k)
        for kind, text in judge(chosen).items():
            counts[kind] += 1
            keep.mkdir(parents=True, exist_ok=True)
            facts = {"seed": seed, "case": k, "fit": str(chosen), "failure": text}
            (keep / f"{kind.replace(' ', '-')}-{seed}-{k}.json").write_text(json.dumps(facts, indent=1))
        counts["cases"] += 1
        k += 1
    return counts

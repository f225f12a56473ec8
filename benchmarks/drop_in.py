"""Classes with scikit-learn's names against scikit-learn, both with defaults: time of ``fit`` and distance from the minimum.

Both are fitted in the same run, fenchel's after a first fit that compiles. "off" is (objective − bound)/bound in scikit-learn's scaling,
with the lower bound that fenchel proves, which holds for both. The arguments are names of data sets, by default all.
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np
import scipy.sparse as sp
import sklearn.linear_model
import sklearn.svm
from common import show, text
from scipy.special import logsumexp

import fenchel as fl
from fenchel import estimators

DATA = ("a9a", "rcv1sub.ccat", "usps", "covtype", "text", "news20")
MODELS = ("LogisticRegression", "LinearSVC", "SGDClassifier")


def loaded(name: str) -> tuple[sp.csr_matrix, np.ndarray] | None:
    if name == "text":
        return text()
    try:
        X, y = fl.datasets.load(name, download=False)
    except FileNotFoundError:
        return None
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # liblinear needs 32-bit indices
    return X, y


def objective(model: object, X: object, y: np.ndarray) -> float:
    """scikit-learn's objective with default parameters: C = 1 and α = 1e-4, squared hinge for LinearSVC, hinge for SGDClassifier."""
    z = X @ model.coef_.T + model.intercept_
    signs = np.where(y[:, None] == (model.classes_[1:] if z.shape[1] == 1 else model.classes_), 1.0, -1.0)
    penalty = 0.5 * (model.coef_**2).sum()
    if isinstance(model, (sklearn.svm.LinearSVC, estimators.LinearSVC)):
        return (np.maximum(0.0, 1.0 - signs * z) ** 2).sum() + penalty + 0.5 * (model.intercept_**2).sum()
    if isinstance(model, (sklearn.linear_model.SGDClassifier, estimators.SGDClassifier)):
        return np.maximum(0.0, 1.0 - signs * z).sum() / len(y) + 1e-4 * penalty
    if z.shape[1] == 1:
        return np.logaddexp(0.0, -signs * z).sum() + penalty
    return (logsumexp(z, axis=1) - z[np.arange(len(y)), np.searchsorted(model.classes_, y)]).sum() + penalty


def fitted(make: type, X: object, y: np.ndarray) -> tuple[object, float]:
    clock = time.perf_counter()
    model = make().fit(X, y)
    return model, time.perf_counter() - clock


def main() -> None:
    warnings.simplefilter("ignore")
    rows = []
    for name in sys.argv[1:] or DATA:
        found = loaded(name)
        if found is None:
            continue
        X, y = found
        for kind in MODELS:
            home = sklearn.svm if hasattr(sklearn.svm, kind) else sklearn.linear_model
            getattr(estimators, kind)(max_iter=3).fit(X, y)  # compile first
            ours, seconds = fitted(getattr(estimators, kind), X, y)
            theirs, their_seconds = fitted(getattr(home, kind), X, y)
            off = [objective(model, X, y) / ours.dual_objective_ - 1.0 for model in (ours, theirs)]
            rows.append([name, kind, ours.solver_, seconds, their_seconds, their_seconds / seconds, *off])
            print(*(f"{cell:.3g}" if isinstance(cell, float) else cell for cell in rows[-1]), flush=True)
    columns = ["data", "class", "solver", "fenchel, s", "scikit-learn, s", "ratio", "fenchel off", "scikit-learn off"]
    show("defaults of both", columns, rows)


if __name__ == "__main__":
    main()

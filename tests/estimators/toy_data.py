"""Data sets that come with scikit-learn or are generated, with standardised columns."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import sklearn.datasets
from sklearn.preprocessing import StandardScaler

import fenchel as fl


def scaled(load):
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def standard(y):
    return (y - y.mean(axis=0)) / y.std(axis=0)


def random_sparse(m, n, density, seed):
    rng = np.random.default_rng(seed)
    X = sp.random_array((m, n), density=density, format="csr", rng=rng, data_sampler=rng.standard_normal)
    return X, X @ rng.standard_normal(n) + 0.3 * rng.standard_normal(m)


def wide():
    X, y, _ = fl.datasets.make_wide(120, n=400, informative=8, nonzeros=20)
    return X, standard(y)


CLASSES = {
    "iris": lambda: scaled(sklearn.datasets.load_iris),
    "wine": lambda: scaled(sklearn.datasets.load_wine),
    "breast cancer": lambda: scaled(sklearn.datasets.load_breast_cancer),
    "digits": lambda: tuple(part[:400] for part in scaled(sklearn.datasets.load_digits)),
    "text": lambda: fl.datasets.make_text(800, n=300, nonzeros=15),
    "sparse": lambda: (lambda X, y: (X, np.where(y > 0.0, "up", "down")))(*random_sparse(500, 60, 0.1, 1)),
}
NUMBERS = {
    "diabetes": lambda: (lambda X, y: (X, standard(y)))(*scaled(sklearn.datasets.load_diabetes)),
    "linnerud": lambda: (lambda X, y: (X, standard(y)))(*scaled(sklearn.datasets.load_linnerud)),
    "wide": wide,
    "tall": lambda: random_sparse(2000, 15, 0.5, 2),
    "sparse": lambda: random_sparse(300, 80, 0.1, 3),
}

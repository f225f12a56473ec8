"""Small data sets that several test modules use; each has one maker, with parameters for size and seed."""

from __future__ import annotations

import functools

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

TOKENS, TAGS = [["the", "dog"], ["a", "cat"]] * 2, [["D", "N"], ["D", "N"]] * 2


def labels_for(kind, score, cuts=(-1.0, 1.0), middle=None):
    """Labels of a loss's kind from a score: the score itself, its side of ``middle`` (the median unless given), or its interval."""
    if kind == "class":
        return np.digitize(score, cuts)
    middle = np.median(score) if middle is None else middle
    return score if kind == "real" else np.where(score > middle, 1.0, -1.0)


@functools.cache
def data(labels: str):
    """A small problem with an empty row, a constant column and a column that is all zero."""
    rng = np.random.default_rng(7)
    X = rng.standard_normal((40, 6))
    X[3] = 0.0
    X[:, 4] = 1.0
    X[:, 5] = 0.0
    score = X[:, 0] - X[:, 1] + 0.5 * rng.standard_normal(40)
    return X, labels_for(labels, score, cuts=(-0.7, 0.7), middle=0.0)


def signed_rows(m=200, n=5, seed=0):
    """Normal rows, and the sign of the first column as the label."""
    X = np.random.default_rng(seed).standard_normal((m, n))
    return X, np.where(X[:, 0] > 0.0, 1.0, -1.0)


def randomly_labelled_rows(classes=2):
    """Normal rows whose classes have nothing to do with them."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    return X, rng.integers(0, classes, 60)


def linear_classes(rng, m, n, noise=1.0):
    """Normal rows, and the largest of three noisy linear scores as the class."""
    X = rng.standard_normal((m, n))
    return X, (X @ rng.standard_normal((n, 3)) + noise * rng.standard_normal((m, 3))).argmax(axis=1)


def redundant_columns(m=80, n=15, seed=0, zero=None, twins=None):
    """A score of two columns, and among the others one of zeros and one that repeats another."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, n)) + 0.5
    original, copy = (0, n // 2) if twins is None else twins
    X[:, n // 3 if zero is None else zero] = 0.0
    X[:, copy] = X[:, original]
    return X, X[:, 0] - 2.0 * X[:, 1] + 0.5 * rng.standard_normal(m) + 1.0


def redundant_bounded_columns(m=60, n=12, seed=0):
    """Entries within [-1, 1], three in ten of them zero; a column of zeros, two that are the same, and one that is another's multiple."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (m, n)) * (rng.uniform(size=(m, n)) < 0.7)
    X[:, 3], X[:, 6], X[:, 8] = 0.0, X[:, 5], -0.5 * X[:, 7]
    return X, X[:, 0] - 2.0 * X[:, 1] + X[:, 5] + 0.3 * rng.standard_normal(m)


def breast_cancer(scaled=True):
    """Tumours labelled -1 and 1; unless they are scaled, the columns differ in size by a factor of over 100,000."""
    X, y = load_breast_cancer(return_X_y=True)
    return (StandardScaler().fit_transform(X) if scaled else X), 2.0 * y - 1.0

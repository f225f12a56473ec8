"""Multiclass classification as a structured model: y is one of K classes, and ψ(x, y) is x in the block of weights of class y

K. Crammer and Y. Singer, *On the algorithmic implementation of multiclass kernel-based vector machines*, JMLR 2001 (margin), and
multinomial logistic regression (likelihood). These are the problems of ``fenchel.Problem`` with ``MulticlassHinge`` and ``Softmax``,
generalised to any costs between classes instead of 0 and 1. This is the shortest example of a structured model.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled
from fenchel.core.elementary import exponential
from fenchel.core.errors import Argument, InputError
from fenchel.core.numeric import largest_of
from fenchel.linalg.design import Design
from fenchel.linalg.weights import plain
from fenchel.structured.structured_model import LIKELIHOOD, MARGIN, StructuredModel


@compiled
class MulticlassExamples(NamedTuple):
    """Rows and their classes; the K parts of an output are the indicators of its class."""

    rows: Any
    label: np.ndarray
    costs: np.ndarray  # Δ, one row per true class

    def count(self):  # type: ignore[override]
        return self.label.shape[0]

    def outputs(self, i):
        return 1

    def parts(self, i):
        return self.costs.shape[0]

    def work(self, i):
        return float(self.rows.count(i) * self.costs.shape[0])

    def decode(self, i, w, scale, cost, y):
        z = np.empty(self.costs.shape[0])
        self.rows.dots(i, plain(w), z)
        best = -math.inf
        y[0] = 0  # a valid class even if all scores are NaN
        for k in range(z.shape[0]):
            score = scale * z[k] + cost * self.costs[self.label[i], k]
            if score > best:
                best = score
                y[0] = k

    def loss(self, i, y):
        return self.costs[self.label[i], y[0]]

    def difference(self, i, y, d):
        d[:] = 0.0
        d[y[0]] += 1.0
        d[self.label[i]] -= 1.0

    def expected(self, i, w, scale, d):
        self.rows.dots(i, plain(w), d)
        d *= scale
        truth, top = d[self.label[i]], largest_of(d)
        total = 0.0
        for k in range(d.shape[0]):
            d[k] = exponential(d[k] - top)
            total += d[k]
        d /= total
        d[self.label[i]] -= 1.0
        return top + math.log(total) - truth

    def dot(self, i, d, w):
        z = np.empty(d.shape[0])
        self.rows.dots(i, plain(w), z)
        total = 0.0
        for k in range(d.shape[0]):
            total += d[k] * z[k]
        return total

    def add(self, i, c, d, out):
        self.rows.adds(i, c * d, out)


@dataclass(frozen=True)
class Multiclass(StructuredModel):
    """One of K classes for each row of X.

    Args:
        costs: Δ, a matrix with a row per true class and a column per predicted class; by default 1 off the diagonal.
        classes: the classes in the order of the rows of ``costs``; by default those that occur in training, sorted.

    >>> model = Multiclass().fitted(np.eye(3), ["a", "b", "a"])
    >>> model.classes, model.n
    (('a', 'b'), 6)
    """

    costs: Any = None
    classes: tuple[Any, ...] = ()
    features: int = 0

    losses: ClassVar[tuple[str, ...]] = (MARGIN, LIKELIHOOD)

    def fitted(self, X: Any, Y: Any) -> Multiclass:
        """The model with the classes in Y and the number of features of X filled in."""
        classes = self.classes or distinct_classes(Y)
        if len(classes) < 2:
            raise InputError(f"Y contains {len(classes)} classes ({', '.join(map(repr, classes)) or 'none'}): at least two are needed.")
        checked_costs(self.costs, len(classes))
        return replace(self, classes=classes, features=self.features or Design(X).n)

    @property
    def n(self) -> int:
        """One weight for each feature and class."""
        return self.features * len(self.classes)

    def examples(self, X: Any, Y: Any = None) -> MulticlassExamples:
        """The examples in the form that kernels use."""
        design = Design(X)
        if design.n != self.features:
            raise InputError(f"X has {design.n} columns, but the model was fitted with {self.features}.")
        label = np.zeros(design.m, dtype=np.int64) if Y is None else self._encoded(Y, design.m)
        return MulticlassExamples(design.rows, label, checked_costs(self.costs, len(self.classes)))

    def _encoded(self, Y: Any, m: int) -> np.ndarray:
        values = np.asarray(Y)
        if values.shape != (m,):
            raise InputError(f"Y has shape {values.shape} for the {m} rows of X: give one class per row.")
        number = {name: k for k, name in enumerate(self.classes)}
        wrong = next((i for i, name in enumerate(values.tolist()) if name not in number), None)
        if wrong is not None:
            raise InputError(f"Y[{wrong}] is {values.tolist()[wrong]!r}, which is not one of the model's {len(number)} classes.")
        return np.array([number[name] for name in values.tolist()], dtype=np.int64)

    def output(self, examples: Any, i: int, y: np.ndarray) -> Any:
        """The name of the class."""
        return self.classes[int(y[0])]

    def to_json(self) -> dict[str, Any]:
        """The model as JSON values."""
        costs = None if self.costs is None else np.asarray(self.costs).tolist()
        return {"costs": costs, "classes": list(self.classes), "features": self.features}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Multiclass:
        """The inverse of ``to_json``; invalid values raise an InputError."""
        if not isinstance(data, dict) or set(data) != {"costs", "classes", "features"}:
            raise InputError("A multiclass model is described by exactly costs, classes and features.")
        classes, features = data["classes"], data["features"]
        if type(features) is not int or not 0 <= features < 2**40 or not isinstance(classes, list):
            raise InputError("The features of a multiclass model must be a whole number, and its classes a list.")
        plain = all(isinstance(name, (str, int, float)) for name in classes)
        if classes and not (plain and len(set(map(str, classes))) == len(classes) >= 2):
            raise InputError("The classes of a multiclass model must be two or more distinct names or numbers.")
        if classes:
            checked_costs(data["costs"], len(classes))
        return cls(data["costs"], tuple(classes), features)


def distinct_classes(Y: Any) -> tuple[Any, ...]:
    """The classes that occur, sorted."""
    try:
        return tuple(np.unique(np.asarray(Y)).tolist())
    except TypeError:
        raise InputError("Y contains classes of several types, which cannot be sorted: make them all strings, or all numbers.") from None


def checked_costs(costs: Any, K: int) -> np.ndarray:
    """Δ as a matrix: zero on the diagonal, non-negative elsewhere."""
    if costs is None:
        return 1.0 - np.eye(K)
    try:
        matrix = np.ascontiguousarray(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(Argument("costs", costs), ": give a matrix of numbers.") from None
    if matrix.shape != (K, K):
        raise InputError(f"costs has shape {matrix.shape}, but there are {K} classes: give a row and a column for each.")
    if not (np.isfinite(matrix).all() and (matrix >= 0.0).all() and (np.diag(matrix) == 0.0).all()):
        raise InputError("costs must be finite and non-negative, with zeros on the diagonal.")
    return matrix

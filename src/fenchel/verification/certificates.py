"""P(w) rounded up and D(α) rounded down, computed from the data, w and α alone

    P(w) = Σ_i r_i φ(<w, x_i>, y_i) + Ω(w)        D(α) = −Σ_i r_i φ*(−α_i, y_i) − Ω*(v),   v = Σ_i r_i α_i x_i,   r_i = s_i/m

D(α) ≤ min P for every α in the domain of φ*, with Σ_i r_i α_i = 0 where the intercept is not penalised. It does not matter where α comes
from: any α that passes is a proof. α is first moved to the nearest point that satisfies the constraints, and what rounding may have added
to D or taken from P is charged (:mod:`fenchel.problems.rounding`), with sums of absolute values in place of a priori bounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fenchel.core.compiled import is_foreign
from fenchel.core.errors import InputError, InputTypeError
from fenchel.problems.problem import Problem
from fenchel.problems.result import Result
from fenchel.verification.arithmetic import arithmetic
from fenchel.verification.definitions import LINKS, LOSSES, PENALTIES, LossDefinition, PenaltyDefinition, Terms, box_conjugate

PIECE = 1 << 20  # entries of X converted at once
MOST_EXACT = 2_000_000  # entries of X up to which fractions are offered: more take hours
CLASSES = 2  # a loss of K outputs changes by at most so many times the largest change of its predictions


@dataclass(frozen=True)
class Verification:
    """What was proven about weights: the smallest objective lies between ``dual_objective`` and ``objective``.

    Attributes:
        objective: P(w), rounded up.
        dual_objective: the best lower bound on min P that the dual points give, rounded down.
        claimed: the gap that the result claims.
        arithmetic: the numbers computed with.
    """

    objective: float
    dual_objective: float
    claimed: float
    arithmetic: str

    @property
    def gap(self) -> float:
        """An upper bound on P(w) − min P, proven here."""
        return self.objective - self.dual_objective

    @property
    def holds(self) -> bool:
        """Whether the proven gap is at most the claimed one."""
        return self.gap <= self.claimed


def verify(problem: Problem, result: Result, *, exact: bool = False) -> Verification:
    """Check the certificate of a result without any code of the solvers: in extended precision, or with exact fractions (slow).

    >>> import fenchel as fl
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((50, 3)); y = np.sign(X[:, 0])
    >>> problem = fl.Problem(X, y, fl.Hinge(), fl.L2(0.1))
    >>> fl.verify(problem, fl.minimize(problem, tol=1e-6)).holds
    True
    """
    if not isinstance(problem, Problem):
        raise InputTypeError(f"verify takes a fenchel.Problem, not {type(problem).__name__}: only rows in memory can be read again.")
    if not isinstance(result, Result):
        raise InputTypeError(f"verify takes the result of fenchel.minimize, not {type(result).__name__}.")
    if result.w.shape != problem.shape:
        raise InputError(f"The result has weights of shape {result.w.shape}; this problem's have shape {problem.shape}.")
    problem = problem.replace(regularizer=result.regularizer)
    given = [] if result.alpha is None else [result.alpha]
    return verify_point(problem, result.w, [*given, problem.dual_point(result.w)], result.gap, exact=exact)


@np.errstate(all="ignore")
def verify_point(problem: Problem, w: np.ndarray, alphas: list[np.ndarray], claimed: float, *, exact: bool = False) -> Verification:
    """What any dual points prove about weights; the best of them counts."""
    if exact and problem.design.nnz > MOST_EXACT:
        raise InputError(f"X has {problem.design.nnz:,} entries, and exact fractions are slow beyond {MOST_EXACT:,}: leave out exact.")
    check = Check(problem, w, arithmetic(exact))
    quick = Check(problem, w, arithmetic(False)) if exact else check
    bound = -math.inf
    for alpha in alphas:
        if alpha.shape == problem.dual_shape:
            point = check.point(alpha)
            bound = max(bound, check.bound(point, quick.best_scale(quick.point(alpha) if exact else point)))
    return Verification(check.above, bound, claimed, check.numbers.name)


class DualPoint(NamedTuple):
    """A dual point that satisfies the constraints, up to a relative change; and v with the sizes of its sums."""

    a: np.ndarray
    change: Any
    v: np.ndarray
    sizes: np.ndarray


class Check:
    """The data of a problem and the definitions of its loss and penalty, in one kind of numbers."""

    def __init__(self, problem: Problem, w: np.ndarray, numbers: Any) -> None:
        self.problem, self.numbers = problem, numbers
        self.loss = plain_python(problem.loss) if is_foreign(problem.loss) else LOSSES[type(problem.loss).__name__]
        self.parameters = tuple(self._number(value) for value in problem.loss)
        self.r = numbers.array(problem.row_weights)
        self.y = problem.y if problem.vector_valued else numbers.array(problem.y)
        self.shift = self._number(0.0)
        if problem.free and getattr(problem.loss, "of_residual", False):
            # Labels and an unpenalised intercept may be relative to any number; D is the same for all at an exactly balanced α.
            self.shift = self._number(float(np.median(problem.y)))
            self.y = self.y - self.shift
        self.penalty, self.penalty_parameters = penalty_definition(problem.penalised, self._number)
        self.above = self._objective(w)  #: P(w), rounded up

    def _number(self, value: Any) -> Any:
        return self.numbers.number(value) if np.ndim(value) == 0 else self.numbers.array(value)

    # ---- P(w) ----

    def _objective(self, w: np.ndarray) -> float:
        numbers, problem = self.numbers, self.problem
        W = numbers.array(w)
        intercept = self._number(problem.intercept) * W[-1] - self.shift
        total = size = self._number(0.0)
        for first, last, X in self._blocks():
            z = X.times(W[: problem.design.width])
            sizes = X.absolute().times(np.abs(W[: problem.design.width]))
            if problem.intercept:
                z, sizes = z + intercept, sizes + np.abs(intercept)
            distance = numbers.error(problem.n) * sizes
            y, r = self.y[first:last], self.r[first:last]
            if problem.vector_valued:
                values = self.loss.value(numbers, self.parameters, z, y) + (CLASSES * distance + numbers.error(0) * np.abs(z)).max(axis=1)
            else:
                ends = [self.loss.value(numbers, self.parameters, z + sign * distance, y) for sign in (-1, 1)]
                values = np.maximum(*ends)
            total, size = total + (r * values).sum(), size + (r * np.abs(values)).sum()
        values, sizes = self.penalty.value(numbers, self.penalty_parameters, self._penalised(W))
        above = total + values.sum() + numbers.error(problem.m + problem.n) * (size + sizes.sum())
        return rounded(above, math.inf)

    # ---- D(α) ----

    def bound(self, point: DualPoint, c: float = 1.0) -> float:
        """The better of D(α) and D(cα), rounded down."""
        return max(self._value(point, c) for c in {1.0, c, float(self._largest_scale(point))})

    def best_scale(self, point: DualPoint) -> float:
        """The c at which D(cα) is about largest."""
        from scipy.optimize import minimize_scalar

        largest = float(self._largest_scale(point))
        found = minimize_scalar(lambda c: -self._value(point, c), bounds=(0.0, largest), method="bounded", options={"xatol": 1e-12})
        return max((1.0, largest, float(found.x)), key=lambda c: self._value(point, c))

    def _value(self, point: DualPoint, c: float) -> float:
        """D(cα), rounded down."""
        numbers = self.numbers
        scale = self._number(c)
        values, sizes = self.loss.conjugate(numbers, self.parameters, scale * point.a, self.y)
        losses, size = (self.r * values).sum(), (self.r * sizes).sum()
        v, distance = scale * point.v, scale * (numbers.error(self.problem.m) + point.change) * point.sizes
        if type(self.problem.penalised).__name__ in ("SquaredLp", "Entropy"):
            ends = [np.where(v >= 0, v + distance, v - distance)]
        else:
            ends = [v + distance, v - distance]
        terms = [self.penalty.conjugate(numbers, self.penalty_parameters, end, self._number(self.above)) for end in ends]
        penalties, penalty_sizes = terms[0] if len(terms) == 1 else (np.maximum(terms[0][0], terms[1][0]), terms[0][1] + terms[1][1])
        penalty = penalties.sum()
        if not math.isfinite(penalty):
            return -math.inf
        charge = (numbers.error(self.problem.m) + point.change) * size + numbers.error(self.problem.n) * penalty_sizes.sum()
        return rounded(-losses - penalty - charge, -math.inf)

    def _largest_scale(self, point: DualPoint) -> Any:
        """The largest c ≤ 1 for which Ω*(cv) is finite, a little less than that to stay finite with rounding."""
        farthest = np.abs(point.v) + (self.numbers.error(self.problem.m) + point.change) * point.sizes
        c = self.penalty.scale(self.numbers, self.penalty_parameters, np.where(point.v >= 0, farthest, -farthest))
        return c if c >= 1 else c * (1 - self._number(2.0**-50))

    def point(self, alpha: np.ndarray) -> DualPoint:
        """The point nearest to α that satisfies the constraints, and v = Σ r_i α_i x_i."""
        numbers, problem = self.numbers, self.problem
        a = self.loss.feasible(numbers, self.parameters, numbers.array(alpha), self.y)
        change = self._number(0.0)
        if problem.vector_valued:
            change = change + 40 * problem.outputs * numbers.error(0)
        if problem.free:
            a = balanced_classes(a, self.y, self.r) if problem.vector_valued else balanced(a, self.r)
            change = change + 4 * problem.outputs * numbers.error(problem.m)
        weighted = a * (self.r[:, None] if problem.vector_valued else self.r)
        shape = (problem.design.width, *a.shape[1:])
        v, sizes = numbers.array(np.zeros(shape)), numbers.array(np.zeros(shape))
        for first, last, X in self._blocks():
            X.add_transposed(weighted[first:last], v)
            X.absolute().add_transposed(np.abs(weighted[first:last]), sizes)
        if problem.intercept and not problem.free:
            c = self._number(problem.intercept)
            v = np.concatenate([v, [c * weighted.sum(axis=0)]])
            sizes = np.concatenate([sizes, [np.abs(c) * np.abs(weighted).sum(axis=0)]])
        return DualPoint(a, change, v.reshape(-1), sizes.reshape(-1))

    # ---- parts ----

    def _penalised(self, w: np.ndarray) -> np.ndarray:
        return (w[:-1] if self.problem.free else w).reshape(-1)

    def _blocks(self) -> Iterator[tuple[int, int, Block]]:
        """Pieces of consecutive rows: the first, the one after the last, and their entries."""
        storage, m = self.problem.design.storage, self.problem.m
        storage = storage.tocsr() if sp.issparse(storage) else storage
        rows = max(1, PIECE * m // max(1, self.problem.design.nnz))
        for first in range(0, m, rows):
            piece = storage[first : first + rows]
            yield first, min(first + rows, m), (SparseBlock if sp.issparse(piece) else DenseBlock).of(piece, self.numbers)


class DenseBlock(NamedTuple):
    """Some rows of a dense matrix."""

    X: np.ndarray

    @classmethod
    def of(cls, rows: Any, numbers: Any) -> DenseBlock:
        """The rows in another kind of numbers."""
        return cls(numbers.array(rows))

    def absolute(self) -> DenseBlock:
        """|X|"""
        return DenseBlock(np.abs(self.X))

    def times(self, w: np.ndarray) -> np.ndarray:
        """X·w"""
        return self.X @ w[: self.X.shape[1]]

    def add_transposed(self, a: np.ndarray, out: np.ndarray) -> None:
        """out ← out + Xᵀ·a"""
        out[: self.X.shape[1]] += self.X.T @ a


class SparseBlock(NamedTuple):
    """Some rows of a sparse matrix: the row, the column and the value of each entry."""

    m: int
    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray

    @classmethod
    def of(cls, rows: Any, numbers: Any) -> SparseBlock:
        """The rows in another kind of numbers."""
        entries = rows.tocoo()
        return cls(rows.shape[0], entries.row, entries.col, numbers.array(entries.data))

    def absolute(self) -> SparseBlock:
        """|X|"""
        return self._replace(values=np.abs(self.values))

    def times(self, w: np.ndarray) -> np.ndarray:
        """X·w"""
        out = np.zeros((self.m, *w.shape[1:]), dtype=w.dtype)
        np.add.at(out, self.rows, self._products(w[self.columns]))
        return out

    def add_transposed(self, a: np.ndarray, out: np.ndarray) -> None:
        """out ← out + Xᵀ·a"""
        np.add.at(out, self.columns, self._products(a[self.rows]))

    def _products(self, factors: np.ndarray) -> np.ndarray:
        return self.values * factors if factors.ndim == 1 else self.values[:, None] * factors


Block = DenseBlock | SparseBlock


def balanced(a: np.ndarray, r: np.ndarray) -> np.ndarray:
    """α with Σ r_i α_i = 0: its positive or its negative entries scaled down.

    >>> balanced(np.array([0.5, -0.25]), np.array([0.5, 0.5])).tolist()
    [0.25, -0.25]
    """
    up, down = (r * np.maximum(a, 0)).sum(), -(r * np.minimum(a, 0)).sum()
    if up > down:
        return np.where(a > 0, a * (down / up), a)
    return np.where(a < 0, a * (up / down), a) if down > 0 else a


def balanced_classes(a: np.ndarray, y: np.ndarray, r: np.ndarray) -> np.ndarray:
    """α with Σ r_i α_ik = 0 for every class k: classes with too much probability lose it in proportion, the others gain it."""
    rows = np.arange(len(y))
    p = -a
    p[rows, y] += 1
    sums = (r[:, None] * p).sum(axis=0)
    weights = np.array([r[y == k].sum() if (y == k).any() else 0 * r[0] for k in range(a.shape[1])])
    kept = np.array([weight / total if total > weight else 1 + 0 * total for weight, total in zip(weights, sums, strict=True)])
    missing = np.maximum(weights - sums, 0)
    if missing.sum() > 0:
        lost = (p * (1 - kept)).sum(axis=1)
        p = p * kept + lost[:, None] * (missing / missing.sum())
    p[rows, y] -= 1
    return -p


def penalty_definition(regularizer: Any, number: Any) -> tuple[PenaltyDefinition, tuple[Any, ...]]:
    """The definition of a regularizer and its parameters."""
    name = type(regularizer).__name__
    if name == "Box":
        inner, parameters = penalty_definition(regularizer.penalty, number)
        low, high = (number(bound[0] if bound.size == 1 else bound) for bound in (regularizer.lower, regularizer.upper))
        links = LINKS[type(regularizer.penalty).__name__]

        def value(numbers: Any, given: Any, w: np.ndarray) -> Terms:
            return inner.value(numbers, given[2], w) if ((low <= w) & (w <= high)).all() else (np.array([math.inf]), np.array([0.0]))

        def scale(numbers: Any, given: Any, v: np.ndarray) -> Any:
            # Only a v_j that pushes a weight in an unbounded direction matters.
            unbounded = np.where(np.isinf(regularizer.upper), np.maximum(v, 0), 0) + np.where(
                np.isinf(regularizer.lower), np.maximum(-v, 0), 0
            )
            return inner.scale(numbers, given[2], unbounded)

        return PenaltyDefinition(value, box_conjugate(inner, links), scale), (low, high, parameters)
    if name not in PENALTIES or is_foreign(regularizer):
        raise InputError(f"The regularizer {name} is not one of fenchel's, whose conjugates can be checked by their definition.")
    return PENALTIES[name], tuple(number(value[0] if np.size(value) == 1 and np.ndim(value) else value) for value in regularizer)


def plain_python(loss: Any) -> LossDefinition:
    """A user-defined loss of one output, called as plain Python: its own code is what is checked against itself."""
    if not hasattr(loss, "conjugate") or getattr(loss, "labels", "real") == "class":
        raise InputError(f"The loss {type(loss).__name__} needs a conjugate, and one output, for its certificate to be verified.")

    def each(method: Any, numbers: Any, first: np.ndarray, y: np.ndarray) -> np.ndarray:
        return numbers.array([float(method(float(value), float(label))) for value, label in zip(first, y, strict=True)])

    def conjugate(numbers: Any, parameters: Any, a: np.ndarray, y: np.ndarray) -> Terms:
        values = each(loss.conjugate, numbers, -a, y)
        # Its own rounding is that of floats, not of the numbers of the check.
        return values, (np.abs(values) + np.abs(a * y) + 1) * (np.finfo(float).eps / numbers.error(0) * 16)

    return LossDefinition(lambda numbers, parameters, z, y: each(loss.value, numbers, z, y), conjugate, lambda numbers, parameters, a, y: a)


def rounded(value: Any, direction: float) -> float:
    """The float next to the value in the direction of an infinity."""
    return float(np.nextafter(float(value), direction)) if math.isfinite(value) else float(value)

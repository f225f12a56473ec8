"""min_w P(w) = (1/m) Σ_i s_i φ(<w, x_i>, y_i) + Ω(w), and its dual

    D(α) = (1/m) Σ_i −s_i φ*(−α_i, y_i) − Ω*(v),     v = (1/m) Σ_i s_i α_i x_i

with m rows, a loss φ, a regularizer Ω and sample weights s_i that sum to m. D(α) ≤ min P ≤ P(w) for all α and w: the gap
P(w) − D(α) bounds how far w is from optimal. From any w a dual point is free: α_i = −φ'(<w, x_i>, y_i).
"""

from __future__ import annotations

import copy
import math
import uuid
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from fenchel.core.errors import InputError
from fenchel.core.numeric import EPSILON, TINY
from fenchel.linalg.design import Design
from fenchel.problems.labels import checked_labels, checked_sample_weights
from fenchel.problems.objective import Chunk, Objective, gap_between, row_orders
from fenchel.problems.sums import sum_conjugates, sum_losses
from fenchel.regularizers.unpenalised_intercept import UnpenalisedIntercept

FREE = "free"
BALANCED = 1e-12  # of Σ|s_i α_i|: a sum this small is 0 but for rounding
FARTHEST = 1e15  # that a best intercept is looked for


class Problem(Objective):
    """A loss and a regularizer on a data matrix: everything a solver asks about, and nothing it does.

    X is a NumPy array (C or Fortran order) or a SciPy sparse matrix (CSR, CSC), float32 or float64, and is not copied
    unless its layout forces it. Labels are −1 and +1 for binary losses, 0 … K−1 for multiclass ones, else any numbers.
    ``intercept``, if not 0, is the value of a constant feature added to every row; its weight is penalised like any
    other, the less the larger the value, or with ``intercept="free"`` not at all. ``classes`` is how many classes there are,
    where not all of them occur in y.

    >>> import fenchel as fl
    >>> X, y = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]), np.array([1.0, -1.0, 1.0])
    >>> problem = fl.Problem(X, y, loss=fl.Logistic(), regularizer=fl.L2(0.1))
    >>> w = np.array([1.0, -1.0])
    >>> problem.objective(w) >= problem.dual_objective(problem.dual_point(w))
    True
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        loss: Any,
        regularizer: Any,
        *,
        sample_weight: Any = None,
        intercept: float | str = 0.0,
        classes: int | None = None,
    ) -> None:
        self.free = isinstance(intercept, str) and intercept == FREE
        super().__init__(loss, regularizer, 1.0 if self.free else intercept)  # type: ignore[arg-type]
        self.design = Design(X, self.intercept)
        self.m, self.n = self.design.m, self.design.n
        self.y, self.outputs = checked_labels(y, self.m, self.labels, type(loss).__name__, classes)
        self._check_fit(self.y)
        if self.free:
            self.regularizer = self._freed(self.regularizer)
        self.row_weights = checked_sample_weights(sample_weight, self.m) / self.m  # s_i / m
        self.memo: dict[str, Any] = {}  # what solvers keep for problems that differ in their regularizer only
        self.token = uuid.uuid4().hex  # tells an iterate of this problem from one of another

    def __repr__(self) -> str:
        kind = type(self.design.storage).__name__
        return f"Problem({self.m:,} x {self.n:,} {kind}, {self.loss!r}, {self.regularizer!r})"

    def _freed(self, regularizer: Any) -> Any:
        """The same regularizer with the intercept left alone."""
        return (
            regularizer if isinstance(regularizer, UnpenalisedIntercept) else UnpenalisedIntercept(regularizer, (self.n - 1) * self.outputs)
        )

    @property
    def dual_shape(self) -> tuple[int, ...]:
        """The shape of α: (m,), or (m, K) for K classes."""
        return (self.m, self.outputs) if self.vector_valued else (self.m,)

    # ---- primal ----

    def predict(self, w: np.ndarray) -> np.ndarray:
        """z = X·w, one row of K numbers per sample for a multiclass loss."""
        return self.design.matvec(self._as_weights(w))

    def between(self, w: np.ndarray, z: np.ndarray, z_old: np.ndarray, beta: float) -> np.ndarray:
        """X·w for the w that lies beta times the way from the point of z_old to that of z past the latter: predictions are linear."""
        return z + beta * (z - z_old)

    def objective(self, w: np.ndarray, z: np.ndarray | None = None) -> float:
        """P(w); z = X·w if it is known already."""
        return self.mean_loss(self.predict(w) if z is None else z) + self.penalty(w)

    def mean_loss(self, z: np.ndarray) -> float:
        """(1/m) Σ s_i φ(z_i, y_i)"""
        return float(sum_losses(self.loss, z, self.y, self.row_weights))

    def loss_gradient(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """At predictions z: the dual point α_i = −φ'(z_i), and v = −∇(mean loss)."""
        alpha = self._dual_point_at(z)
        return alpha, self.adjoint(alpha)

    def gradient(self, w: np.ndarray) -> np.ndarray:
        """∇P(w) where P is smooth; otherwise one subgradient (on the domain of Ω)."""
        w = self._as_weights(w)
        _, v = self.loss_gradient(self.predict(w))
        return self.penalty_gradient(w) - v

    def subgradient(self, w: np.ndarray, rows: Any) -> np.ndarray:
        """A subgradient at w of the objective on some rows only: a stochastic oracle, unbiased for uniform rows."""
        w = self._as_weights(w)
        some = self.on_rows(rows)
        return some._changed(row_weights=self.row_weights[rows] * (self.m / some.m)).gradient(w)

    def on_rows(self, rows: Any) -> Problem:
        """The same problem on some of the rows, their weights adding up to 1 again."""
        design = Design(self.design.storage[rows], self.design.intercept)
        design.threads = self.design.threads
        row_weights = self.row_weights[rows]
        if not row_weights.sum() > 0.0:
            raise InputError("These rows have no weight at all: take others, or give them sample weights above 0.")
        return self._changed(design=design, m=design.m, y=self.y[rows], row_weights=row_weights / row_weights.sum(), memo={})

    def chunks(self, sampling: str, rng: np.random.Generator, batch: int) -> Iterator[Chunk]:
        """The rows in the order that ``sampling`` names, pass after pass without end, in pieces of whole batches."""
        s = self.m * self.row_weights
        for order, passes in row_orders(self.m, sampling, rng, batch):
            yield Chunk(self.design, self.y, s, order, passes)

    def sample(self) -> Chunk:
        """Rows that stand for all: in memory, all of them."""
        return Chunk(self.design, self.y, self.m * self.row_weights, np.arange(self.m))

    # ---- dual ----

    def dual_point(self, w: np.ndarray) -> np.ndarray:
        """α_i = −φ'(<w, x_i>, y_i)"""
        return self._dual_point_at(self.predict(w))

    def _dual_point_at(self, z: np.ndarray) -> np.ndarray:
        return self.slopes(z, self.y)

    def adjoint(self, alpha: np.ndarray) -> np.ndarray:
        """v = (1/m) Σ_i s_i α_i x_i"""
        return self.design.rmatvec(alpha * (self.row_weights[:, None] if self.vector_valued else self.row_weights))

    def dual_objective(self, alpha: np.ndarray) -> float:
        """D(α), minus infinity where α is not feasible."""
        alpha = self._as_dual(alpha)
        if self.free and not self._is_balanced(alpha):
            return -math.inf
        return self._dual_value(alpha, self.adjoint(alpha), 1.0, math.inf, None)

    def is_dual_point(self, alpha: np.ndarray) -> bool:
        """Whether α has the right shape and lies in the domain of φ*."""
        return alpha.shape == self.dual_shape and math.isfinite(self.mean_conjugate(alpha))

    def gap(self, w: np.ndarray, alpha: np.ndarray | None = None) -> float:
        """An upper bound on P(w) − min P: the objective less the best lower bound that α (or w itself) gives."""
        z = self.predict(w)
        objective = self.objective(w, z)
        bound = self.lower_bound(self._dual_point_at(z) if alpha is None else alpha, objective=objective, z=z if alpha is None else None)
        return gap_between(objective, bound)

    def lower_bound(
        self,
        alpha: np.ndarray,
        v: np.ndarray | None = None,
        objective: float = math.inf,
        z: np.ndarray | None = None,
        wanted: float = math.inf,
    ) -> float:
        """The best of D(cα) over 0 ≤ c ≤ 1: a lower bound on min P, whether or not α itself is feasible.

        ``v`` is ``adjoint(alpha)`` if it is known; ``objective`` is any objective value reached so far, which confines
        the minimiser where Ω alone does not; ``z`` are the predictions α was derived from, which replace the
        conjugate of a loss that has none. There is no search once the bound is ``wanted``, or while it is far from it.
        """
        alpha = self._as_dual(alpha)
        if self.free and not self._is_balanced(alpha):
            alpha, v, z = self._balanced(alpha), None, None
            if not hasattr(self.loss, "conjugate"):
                return -math.inf
        v = self.adjoint(alpha) if v is None else v

        def value(c: float) -> float:
            return self._dual_value(alpha, v, c, objective, z)

        searches = z is None or hasattr(self.loss, "conjugate")
        return self.best_scaled(value, v, objective, wanted, searches)

    # ---- a free intercept ----

    def best_intercept(self, z: np.ndarray) -> Any:
        """The b that minimises the mean loss of z + b, for a smooth loss: where the weighted slopes add up to 0."""
        from scipy.optimize import brentq

        if self.vector_valued:
            return self._best_intercepts(z)

        def slope(b: float) -> float:
            return -float(self.slopes(z + b, self.y) @ self.row_weights)

        first = slope(0.0)
        if not abs(first) > EPSILON * float(np.abs(self.slopes(z, self.y)) @ self.row_weights):
            return 0.0
        # The slope rises by at most 1/γ a unit: the minimum is at least this far away.
        smoothness = getattr(self.loss, "smoothness", lambda: 1.0)()
        near, far = 0.0, -first / smoothness if math.isfinite(smoothness) else -math.copysign(1.0, first)
        while slope(far) * first > 0.0:
            near, far = far, 2.0 * far
            if abs(far) > FARTHEST:
                return 0.0  # there is none: labels of one class only
        return float(brentq(slope, near, far, xtol=EPSILON * abs(far), rtol=4.0 * EPSILON, disp=False))

    def _best_intercepts(self, z: np.ndarray) -> np.ndarray:
        """The same, one for each class."""
        from scipy.optimize import minimize

        def value_and_slope(b: np.ndarray) -> tuple[float, np.ndarray]:
            return self.mean_loss(z + b), -(self.slopes(z + b, self.y).T @ self.row_weights)

        found = minimize(value_and_slope, np.zeros(self.outputs), jac=True, method="L-BFGS-B", options={"ftol": 0.0, "gtol": BALANCED})
        return np.asarray(found.x - found.x.mean())

    def _is_balanced(self, alpha: np.ndarray) -> bool:
        """Whether Σ s_i α_i = 0, which a free intercept asks of a dual point, up to rounding."""
        weighted = alpha.T * self.row_weights
        return bool(np.abs(weighted.sum(axis=-1)).max() <= BALANCED * np.abs(weighted).sum())

    def _balanced(self, alpha: np.ndarray) -> np.ndarray:
        """α with the sign that weighs more scaled down: nearer to 0 it stays in the domain of φ*, for φ ≥ 0."""
        if self.vector_valued:
            return balanced_classes(alpha, self.y, self.row_weights)
        weighted = alpha * self.row_weights
        gains, losses = float(weighted.clip(min=0.0).sum()), float(-weighted.clip(max=0.0).sum())
        if gains > losses:
            return np.where(alpha > 0.0, alpha * (losses / gains), alpha)
        return np.where(alpha < 0.0, alpha * (gains / max(losses, TINY)), alpha)

    def _dual_value(self, alpha: np.ndarray, v: np.ndarray, c: float, objective: float, z: np.ndarray | None) -> float:
        return -self.mean_conjugate(alpha, c, z) - self.penalty_conjugate(c * v.reshape(-1), objective)

    def mean_conjugate(self, alpha: np.ndarray, c: float = 1.0, z: np.ndarray | None = None) -> float:
        """(1/m) Σ s_i φ*(−cα_i), or an upper bound on it from the predictions z that α was derived from."""
        if hasattr(self.loss, "conjugate"):
            return float(sum_conjugates(self.loss, alpha, self.y, self.row_weights, c))
        if z is None:
            return math.inf
        # Fenchel–Young is an equality at α = −φ'(z); φ ≥ 0 makes φ*(0) ≤ 0, and convexity does the rest.
        products = -(alpha * z if alpha.ndim == 1 else (alpha * z).sum(axis=1))
        return c * (float(products @ self.row_weights) - self.mean_loss(z))

    # ---- constants ----

    @cached_property
    def origin(self) -> np.ndarray:
        """The point of Ω's domain nearest to w = 0, an intercept that is free at its best."""
        w = super().origin
        if self.free:
            w = w.copy()
            w[-1] += self.best_intercept(self.predict(w))
        return w

    @property
    def threads(self) -> int:
        """How many threads products with the whole matrix may use."""
        return self.design.threads

    @property
    def entries(self) -> int:
        """Entries of X that a product with it reads."""
        return int(self.design.nnz)

    @property
    def density(self) -> float:
        """Entries a row, on average."""
        return max(1.0, self.entries / self.m)

    @cached_property
    def row_norms(self) -> np.ndarray:
        """‖x_i‖₂"""
        return self.design.row_norms()

    @cached_property
    def radius(self) -> float:
        """R = max ‖x_i‖₂"""
        return float(self.row_norms.max())

    @cached_property
    def smoothness(self) -> float:
        """A Lipschitz constant of the gradient of the mean loss: 1/γ times the mean of s_i‖x_i‖²."""
        return float(getattr(self.loss, "smoothness", lambda: math.inf)()) * float(self.row_norms**2 @ self.row_weights)

    @cached_property
    def lipschitz(self) -> float:
        """A Lipschitz constant of the mean loss."""
        return float(getattr(self.loss, "lipschitz", lambda: math.inf)()) * float(self.row_norms @ self.row_weights)

    def replace(self, *, loss: Any = None, regularizer: Any = None) -> Problem:
        """The same data under another loss or regularizer; nothing is copied or checked again."""
        known = self._known()
        if loss is not None:
            known["memo"] = {}
        loss = self.loss if loss is None else loss  # a loss without fields is an empty tuple, and false
        regularizer = self.regularizer if regularizer is None else regularizer
        regularizer = self._freed(regularizer) if self.free else regularizer
        return self._changed(loss=loss, regularizer=regularizer, **known)

    def with_labels(self, y: Any) -> Problem:
        """The same rows with other labels: one class against the rest, or another output."""
        labels, outputs = checked_labels(y, self.m, self.labels, type(self.loss).__name__, self.outputs)
        return self._changed(y=labels, outputs=outputs, memo={}, **self._known())

    def with_intercept(self, intercept: float | str) -> Problem:
        """The same problem with another intercept, or none; the matrix is not checked again."""
        free = isinstance(intercept, str) and intercept == FREE
        value = 1.0 if free else float(intercept)
        design = self.design.with_intercept(value)
        bare = self._changed(design=design, n=design.n, intercept=value, free=free, regularizer=self.penalised, memo={})
        return bare.replace() if free else bare

    def _known(self) -> dict[str, Any]:
        """What depends on the rows alone, if it is known already."""
        return {name: vars(self)[name] for name in ("row_norms", "radius") if name in vars(self)}

    def with_threads(self, threads: int | None) -> Problem:
        """The same problem with another number of threads for products with the whole matrix."""
        if threads is None or threads == self.design.threads:
            return self
        other = copy.copy(self)
        other.design = copy.copy(self.design)
        other.design.threads = int(threads)
        return other

    def _changed(self, **changes: Any) -> Problem:
        other = Problem.__new__(Problem)
        kept = {name: value for name, value in vars(self).items() if not isinstance(getattr(Problem, name, None), cached_property)}
        vars(other).update({**kept, "token": uuid.uuid4().hex, **changes})
        return other

    def _as_dual(self, alpha: Any) -> np.ndarray:
        alpha = np.asarray(alpha, dtype=np.float64)
        if alpha.shape != self.dual_shape:
            raise InputError(f"alpha has shape {alpha.shape}; this problem's dual points have shape {self.dual_shape}.")
        return alpha


def balanced_classes(alpha: np.ndarray, y: np.ndarray, row_weights: np.ndarray) -> np.ndarray:
    """A dual point near α with Σ s_i α_i = 0 for every class.

    α_i is e_y less probabilities p_i, and the classes' probabilities have to add up to what there is of them: classes with
    too much of it give it back in proportion, and those with too little share it.

    >>> balanced_classes(np.array([[0.8, -0.8], [-0.4, 0.4]]), np.array([0, 1]), np.array([0.5, 0.5])).round(2).tolist()
    [[0.57, -0.57], [-0.57, 0.57]]
    """
    p = -alpha
    p[np.arange(len(y)), y] += 1.0
    has, needs = row_weights @ p, np.bincount(y, row_weights, alpha.shape[1])
    kept = np.minimum(1.0, needs / np.maximum(has, TINY))
    lacks = np.maximum(needs - has, 0.0)
    freed = p @ (1.0 - kept)
    p = p * kept + freed[:, None] * (lacks / max(lacks.sum(), TINY))
    p[np.arange(len(y)), y] -= 1.0
    return -p

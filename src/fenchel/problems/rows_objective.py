"""P(w) = (1/m) Σ_i s_i φ(<w, x_i>, y_i) + Ω(w) and its dual on rows in memory

    D(α) = (1/m) Σ_i −s_i φ*(−α_i, y_i) − Ω*(v),     v = (1/m) Σ_i s_i α_i x_i

with m rows, a loss φ, a regularizer Ω and sample weights s_i that sum to m. D(α) ≤ min P ≤ P(w) for all α and w: the gap
P(w) − D(α) bounds how far w is from optimal. Every w gives a dual point: α_i = −φ'(<w, x_i>, y_i).
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from fenchel.core.errors import InputError
from fenchel.linalg.design import Design
from fenchel.problems import intercepts
from fenchel.problems.objective import Objective, gap_between
from fenchel.problems.sums import sum_conjugates, sum_losses


class RowsObjective(Objective):
    """The primal and the dual objective, their gradients and constants, for one matrix of rows."""

    design: Design
    m: int  #: rows
    y: np.ndarray
    row_weights: np.ndarray  #: s_i/m

    @property
    def dual_shape(self) -> tuple[int, ...]:
        """The shape of α: (m,), or (m, K) for K classes."""
        return (self.m, self.outputs) if self.vector_valued else (self.m,)

    # ---- primal ----

    def predict(self, w: np.ndarray) -> np.ndarray:
        """z = X·w, one row of K numbers per sample for a multiclass loss."""
        return self.design.matvec(self._as_weights(w))

    def between(self, w: np.ndarray, z: np.ndarray, z_old: np.ndarray, beta: float) -> np.ndarray:
        """X·w for the point w that extrapolates from the point of z_old through that of z by the factor beta: X·w is linear in w."""
        return z + beta * (z - z_old)

    def objective(self, w: np.ndarray, z: np.ndarray | None = None) -> float:
        """P(w), given z = X·w if it is known already."""
        return self.mean_loss(self.predict(w) if z is None else z) + self.penalty(w)

    def mean_loss(self, z: np.ndarray) -> float:
        """(1/m) Σ s_i φ(z_i, y_i)"""
        return float(sum_losses(self.loss, z, self.y, self.row_weights))

    def loss_gradient(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """At predictions z: the dual point α_i = −φ'(z_i), and v = −∇(mean loss)."""
        alpha = self.negative_derivatives(z, self.y)
        return alpha, self.adjoint(alpha)

    def gradient(self, w: np.ndarray) -> np.ndarray:
        """∇P(w) where P is smooth; otherwise one subgradient (on the domain of Ω)."""
        w = self._as_weights(w)
        _, v = self.loss_gradient(self.predict(w))
        return self.penalty_gradient(w) - v

    @cached_property
    def origin(self) -> np.ndarray:
        """The point of Ω's domain nearest to w = 0, with the best value of an unpenalised intercept."""
        w = super().origin
        if self.free:
            w = w.copy()
            w[-1] += self.best_intercept(self.predict(w))
        return w

    # ---- dual ----

    def dual_point(self, w: np.ndarray) -> np.ndarray:
        """α_i = −φ'(<w, x_i>, y_i)"""
        return self.negative_derivatives(self.predict(w), self.y)

    def adjoint(self, alpha: np.ndarray) -> np.ndarray:
        """v = (1/m) Σ_i s_i α_i x_i"""
        return self.design.rmatvec(alpha * (self.row_weights[:, None] if self.vector_valued else self.row_weights))

    def dual_objective(self, alpha: np.ndarray) -> float:
        """D(α), minus infinity where α is not feasible."""
        alpha = self._as_dual(alpha)
        if self.free and not self.is_balanced(alpha):
            return -math.inf
        return self._dual_value(alpha, self.adjoint(alpha), 1.0, math.inf, None)

    def is_dual_point(self, alpha: np.ndarray) -> bool:
        """Whether α has the right shape and lies in the domain of φ*."""
        return alpha.shape == self.dual_shape and math.isfinite(self.mean_conjugate(alpha))

    def gap(self, w: np.ndarray, alpha: np.ndarray | None = None) -> float:
        """An upper bound on P(w) − min P: the objective minus the best lower bound that α (or w itself) gives."""
        z = self.predict(w)
        objective = self.objective(w, z)
        if alpha is not None:
            return gap_between(objective, self.lower_bound(alpha, objective=objective))
        return gap_between(objective, self.lower_bound(self.negative_derivatives(z, self.y), objective=objective, z=z))

    def lower_bound(
        self,
        alpha: np.ndarray,
        v: np.ndarray | None = None,
        objective: float = math.inf,
        z: np.ndarray | None = None,
        wanted: float = math.inf,
    ) -> float:
        """The best of D(cα) over 0 ≤ c ≤ 1: a lower bound on min P, whether or not α itself is feasible.

        ``v`` is ``adjoint(alpha)`` if it is known; ``objective`` is any objective value reached so far, which bounds the
        minimiser where Ω alone does not; ``z`` are the predictions α was derived from, which replace the conjugate of a
        loss that has none. The search for c stops once the bound reaches ``wanted``, and is skipped while it is far from it.
        """
        alpha = self._as_dual(alpha)
        if self.free and not self.is_balanced(alpha):
            alpha, v, z = self.balanced(alpha), None, None
            if not hasattr(self.loss, "conjugate"):
                return -math.inf
        v = self.adjoint(alpha) if v is None else v

        def value(c: float) -> float:
            return self._dual_value(alpha, v, c, objective, z)

        searches = z is None or hasattr(self.loss, "conjugate")
        return self.best_scaled(value, v, objective, wanted, searches)

    def _dual_value(self, alpha: np.ndarray, v: np.ndarray, c: float, objective: float, z: np.ndarray | None) -> float:
        return -self.mean_conjugate(alpha, c, z) - self.penalty_conjugate(c * v.reshape(-1), objective)

    def mean_conjugate(self, alpha: np.ndarray, c: float = 1.0, z: np.ndarray | None = None) -> float:
        """(1/m) Σ s_i φ*(−cα_i), or an upper bound on it from the predictions z that α was derived from."""
        if hasattr(self.loss, "conjugate"):
            return float(sum_conjugates(self.loss, alpha, self.y, self.row_weights, c))
        if z is None:
            return math.inf
        # Fenchel–Young is an equality at α = −φ'(z). φ ≥ 0 implies φ*(0) ≤ 0, and φ* is convex.
        products = -(alpha * z if alpha.ndim == 1 else (alpha * z).sum(axis=1))
        return c * (float(products @ self.row_weights) - self.mean_loss(z))

    # ---- an unpenalised intercept: see fenchel.problems.intercepts ----

    def best_intercept(self, z: np.ndarray) -> Any:
        """The b that minimises the mean loss of z + b, for a smooth loss; one for each class."""
        return intercepts.best_intercept(self, z)

    def is_balanced(self, alpha: np.ndarray) -> bool:
        """Whether Σ s_i α_i = 0 up to rounding, the constraint of an unpenalised intercept."""
        return intercepts.is_balanced(alpha, self.row_weights)

    def balanced(self, alpha: np.ndarray) -> np.ndarray:
        """A dual point near α with Σ s_i α_i = 0."""
        if self.vector_valued:
            return intercepts.balanced_classes(alpha, self.y, self.row_weights)
        return intercepts.balanced(alpha, self.row_weights)

    # ---- constants ----

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
        """Entries in each row, on average."""
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

    def _as_dual(self, alpha: Any) -> np.ndarray:
        alpha = np.asarray(alpha, dtype=np.float64)
        if alpha.shape != self.dual_shape:
            raise InputError(f"alpha has shape {alpha.shape}; this problem's dual points have shape {self.dual_shape}.")
        return alpha

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

from fenchel.core.compiled import is_foreign
from fenchel.core.errors import InputError
from fenchel.core.numeric import EPSILON
from fenchel.linalg.design import Design
from fenchel.problems import intercepts
from fenchel.problems.objective import Objective, gap_between
from fenchel.problems.rounding import COMPENSATED, TERM, relative_error, underflow
from fenchel.problems.sums import in_ranges, sum_conjugates, sum_largest_derivatives, sum_losses, sum_of_sizes, weighted_sizes

SIMPLEX = 40.0  # p·log p changes by at most |log ε| < 40 times a change of ε ≥ 1e-17 in p
MANY_WEIGHTS = 10_000  # from which vectors of distances cost more time than the sums they are for


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
        return sum_losses(self.loss, z, self.y, self.row_weights, self.threads)

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
        return -self.mean_conjugate(alpha) - self.penalty_conjugate(self.adjoint(alpha).reshape(-1))

    def is_dual_point(self, alpha: np.ndarray) -> bool:
        """Whether α has the right shape and lies in the domain of φ*."""
        return alpha.shape == self.dual_shape and math.isfinite(self.mean_conjugate(alpha))

    @np.errstate(over="ignore")
    def gap(self, w: np.ndarray, alpha: np.ndarray | None = None) -> float:
        """An upper bound on P(w) − min P: the objective minus the best lower bound that α (or w itself) gives."""
        z = self.predict(w)
        objective = self.objective(w, z)
        error = self.objective_error(w, z, objective)
        source = z if alpha is None else None
        alpha = self.negative_derivatives(z, self.y) if alpha is None else alpha
        return gap_between(objective, self.lower_bound(alpha, objective=objective + error, z=source) - error)

    def objective_error(self, w: np.ndarray, z: np.ndarray, objective: float) -> float:
        """How much larger the exact P(w) may be than the objective computed from z = X·w: see :mod:`fenchel.problems.rounding`."""
        products = self._largest_prediction(w)
        distance = relative_error(self.design.longest_row) * products + underflow(self.n, products)
        rise = self._largest_rise(z, distance) if distance > 0.0 else 0.0  # predictions that are zero are exact
        penalty = self.penalty_error(w)
        size = abs(objective) + penalty / TERM + rise + (self._own_size if is_foreign(self.loss) else 0.0)  # at least the mean loss
        return rise + TERM * size + underflow(self.m, size) + penalty

    def _largest_rise(self, z: np.ndarray, distance: float) -> float:
        """How much the mean loss can rise if every prediction moves by at most the distance."""
        if not self.vector_valued:  # φ is convex: it rises at most by its derivative at an end of the interval
            found = in_ranges(self.threads, sum_largest_derivatives, self.loss, (z, self.y, self.row_weights), distance)
            return distance * float(sum(found))
        lipschitz = self._loss_constant("lipschitz") * math.sqrt(self.outputs)  # in the norm max_k |z_k|
        if not math.isfinite(lipschitz):
            lipschitz = 2.0 * float(np.abs(self.negative_derivatives(z, self.y)).sum(axis=1) @ self.row_weights)
        return lipschitz * distance + TERM * float(np.abs(z).max())  # a value may be a difference of terms as large as z

    def plane_errors(self, w: np.ndarray, loss: float, alpha: np.ndarray | None, a: np.ndarray) -> tuple[float, float]:
        """The plane <a, w'> + b with b = Σ_i r_i(φ(z_i) − φ'(z_i)·z_i) lies below the mean loss for any z, also for X·w up to rounding.

        What is computed as b is the loss minus <a, w>.
        """
        assert alpha is not None
        slopes = np.atleast_1d(self.row_weights @ np.abs(alpha))  # of each output
        products = self._largest_prediction(w)
        terms = self.m + self.n + self.design.longest_row
        size = abs(loss) + (float(slopes.sum()) + float(self.vector_valued)) * products
        b_error = relative_error(terms) * size + underflow(terms, size)
        return b_error, relative_error(self._terms_of_column) * float(np.linalg.norm(slopes)) * float(np.linalg.norm(self.design.largest))

    def _size_of_planes(self, w: np.ndarray) -> float:
        # |φ'| is at most the Lipschitz constant, or about as large as the residual.
        lipschitz = self._loss_constant("lipschitz")
        steepness = lipschitz if math.isfinite(lipschitz) else math.sqrt(2.0 * abs(self.objective_at_zero))
        return steepness * self._largest_prediction(w)

    def _largest_prediction(self, w: np.ndarray) -> float:
        """A bound on Σ_j |x_ij w_j| of every row and output: from the largest entries of columns, or from the lengths of rows."""
        if not w[: self.design.width].any():
            return abs(self.intercept) * float(np.abs(w[-1]).max())
        if self.design.knows_largest:
            if self.vector_valued:
                return float((self.design.largest @ np.abs(w)).max())
            return float(sum_of_sizes(self.design.largest, w))
        top = float(np.abs(w).max())  # squares of w itself may underflow or overflow
        length = top * math.sqrt(float(np.square(w / top).sum(axis=0).max()))
        return (1.0 + relative_error(self.n)) ** 2 * self.radius * length

    def _loss_constant(self, name: str) -> float:
        """``smoothness()`` or ``lipschitz()`` of the loss; infinite for a loss without it."""
        return float(getattr(self.loss, name, lambda: math.inf)())

    @property
    def hidden_terms(self) -> int:  # type: ignore[override]
        """How many columns a column may stand for, where some were merged: each of its entries is a rounded root of a sum over them."""
        return self.design.hidden_terms

    @property
    def _terms_of_column(self) -> int:
        """An upper bound on the terms of an entry of Xᵀ·a."""
        return self.m + self.hidden_terms

    @property
    def _own_size(self) -> float:
        """The size of the constants of φ*, to which the rounding of its terms is relative; losses of residuals have none but y."""
        return float(self.outputs) if self.labels != "real" or is_foreign(self.loss) else 0.0

    def lower_bound(
        self,
        alpha: np.ndarray,
        v: np.ndarray | None = None,
        objective: float = math.inf,
        z: np.ndarray | None = None,
        wanted: float = math.inf,
        *,
        compensated: bool = False,
    ) -> float:
        """The best of D(cα) over 0 ≤ c ≤ 1: a lower bound on min P, whether or not α itself is feasible.

        ``v`` is ``adjoint(alpha)`` if it is known; ``objective`` is any objective value reached so far, which bounds the
        minimiser where Ω alone does not; ``z`` are the predictions α was derived from, which replace the conjugate of a
        loss that has none. The search for c stops once the bound reaches ``wanted``, and is skipped while it is far from it.

        The bound is one for the exact real numbers: it is D of a point near α that satisfies every constraint exactly, less what
        rounding can have added to it (:mod:`fenchel.problems.rounding`). With ``compensated``, v is computed by compensated sums,
        whose rounding does not grow with the number of rows.
        """
        given = self._as_dual(alpha)
        alpha, change = self._feasible(given)
        if alpha is not given:
            v = z = None
        if change >= 1.0 or (z is None and not hasattr(self.loss, "conjugate")):
            return -math.inf
        if compensated:
            weighted = alpha * (self.row_weights[:, None] if self.vector_valued else self.row_weights)
            v, sizes = self.design.rmatvec_with_size(weighted)
            distance = (COMPENSATED + change) * (sizes.max(axis=1) if self.vector_valued else sizes)
            _, size_of_labels = self._sizes(alpha)
        elif v is None and not (self.vector_valued or self.design.knows_largest or self.design.stored_by_columns):
            v, sizes = self.design.rmatvec_with_sizes(alpha * self.row_weights)
            distance = (relative_error(self._terms_of_column) + change) * sizes
            _, size_of_labels = self._sizes(alpha)
        else:
            v = self.adjoint(alpha) if v is None else v
            size, size_of_labels = self._sizes(alpha)
            relative = (relative_error(self._terms_of_column) + change) * size  # to the largest entry of a column
            distance = relative * self.design.largest if v.size < MANY_WEIGHTS or not self._is_ridge else None
        v, lost = v.reshape(-1), underflow(self.m, size_of_labels)
        if distance is None:
            penalty_at = self.ridge_conjugate_along(v, relative * math.sqrt(self.outputs) * self.design.norm_of_largest, lost)
        else:
            penalty_at = self.penalty_conjugate_along(v, distance, lost, objective)

        def value(c: float) -> float:
            penalty = penalty_at(c)
            if penalty == math.inf:
                return -math.inf
            total, size = self._conjugate_sums(alpha, c, z)
            constants = self._own_size if c * size_of_labels > 0.0 else 0.0  # at α = 0 nothing is rounded
            losses = total + (TERM + change) * (size + c * size_of_labels + constants) + underflow(self.m, size)
            bound = -losses - penalty
            return bound - TERM * (abs(losses) + abs(penalty)) if bound > -math.inf else -math.inf

        searches = z is None or hasattr(self.loss, "conjugate")
        return self.best_scaled(value, v, distance, objective, wanted, searches)

    def estimated_bound(self, alpha: np.ndarray, v: np.ndarray, objective: float, wanted: float) -> float:
        """The same as ``lower_bound`` without the allowances for rounding, for a v that a solver has updated step by step: an estimate."""
        if self.free and not self.is_balanced(alpha):
            alpha = self.balanced(alpha)
            v = self.adjoint(alpha)

        whole = self.penalty_conjugate(v.reshape(-1), objective) if self._is_ridge else math.inf

        def value(c: float) -> float:
            penalty = c * c * whole if whole < math.inf else self.penalty_conjugate(c * v.reshape(-1), objective)
            return -self.mean_conjugate(alpha, c) - penalty if penalty < math.inf else -math.inf

        return self.best_scaled(value, v.reshape(-1), np.zeros(self.n), objective, wanted)

    def _feasible(self, alpha: np.ndarray) -> tuple[np.ndarray, float]:
        """A dual point that satisfies the constraints up to rounding, or α itself; and the relative change that makes them exact."""
        change = 0.0
        if self._has_simplex:
            alpha = self.on_simplex(alpha)
            change = SIMPLEX * self.outputs * EPSILON
        if self.free:
            imbalance = intercepts.imbalance(alpha, self.row_weights)
            if imbalance > intercepts.BALANCED:
                alpha = self.balanced(alpha)
                imbalance = intercepts.imbalance(alpha, self.row_weights)
            change += math.sqrt(self.outputs) * imbalance
        return alpha, change

    def mean_conjugate(self, alpha: np.ndarray, c: float = 1.0, z: np.ndarray | None = None) -> float:
        """(1/m) Σ s_i φ*(−cα_i), or an upper bound on it from the predictions z that α was derived from."""
        return math.inf if z is None and not hasattr(self.loss, "conjugate") else self._conjugate_sums(alpha, c, z)[0]

    def _sizes(self, alpha: np.ndarray) -> tuple[float, float]:
        """Σ_i |s_i α_i|/m, the largest of all outputs; and Σ_i |s_i α_i y_i|/m, which may cancel in φ*; |y_i| counts as 1 for classes."""
        if not self.vector_valued:
            return weighted_sizes(alpha, self.y, self.row_weights)
        sizes = self.row_weights @ np.abs(alpha)
        return float(sizes.max()), float(sizes.sum())

    def _conjugate_sums(self, alpha: np.ndarray, c: float, z: np.ndarray | None) -> tuple[float, float]:
        """The mean conjugate at cα, and the sizes of what is added in it."""
        if hasattr(self.loss, "conjugate"):
            return sum_conjugates(self.loss, alpha, self.y, self.row_weights, c, self.threads)
        # Fenchel–Young is an equality at α = −φ'(z). φ ≥ 0 implies φ*(0) ≤ 0, and φ* is convex.
        products = -(alpha * z if alpha.ndim == 1 else (alpha * z).sum(axis=1))
        assert z is not None
        sizes, loss = np.abs(alpha * z), self.mean_loss(z)
        size = float((sizes if alpha.ndim == 1 else sizes.sum(axis=1)) @ self.row_weights) + loss
        # The products are added by BLAS in any order, not by a compensated sum.
        size *= relative_error(self._terms_of_column) / TERM
        return c * (float(products @ self.row_weights) - loss), c * size

    @property
    def _has_simplex(self) -> bool:
        """Whether the domain of φ* is known to be {p − e_y : p in the simplex}."""
        return self.vector_valued and not is_foreign(self.loss)

    def on_simplex(self, alpha: np.ndarray) -> np.ndarray:
        """A dual point near α in the domain of φ*, for several outputs; α itself for a user-defined loss, whose domain is not known."""
        return intercepts.on_simplex(alpha, self.y) if self._has_simplex else alpha

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
    def threads(self) -> int:  # type: ignore[override]
        """How many threads products with the whole matrix and sums over rows may use."""
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
        return self._loss_constant("smoothness") * float(self.row_norms**2 @ self.row_weights)

    @cached_property
    def lipschitz(self) -> float:
        """A Lipschitz constant of the mean loss."""
        return self._loss_constant("lipschitz") * float(self.row_norms @ self.row_weights)

    def _as_dual(self, alpha: Any) -> np.ndarray:
        alpha = np.asarray(alpha, dtype=np.float64)
        if alpha.shape != self.dual_shape:
            raise InputError(f"alpha has shape {alpha.shape}; this problem's dual points have shape {self.dual_shape}.")
        return alpha

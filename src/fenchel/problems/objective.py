"""mean loss + Ω(w): the parts of an objective that are the same for rows in memory and for rows in a stream"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from fenchel.core.compiled import is_foreign
from fenchel.core.errors import Argument, InputError
from fenchel.core.numeric import TINY
from fenchel.core.validation import is_number
from fenchel.linalg.design import Design
from fenchel.linalg.weights import read_weights, weights_of
from fenchel.losses import losses
from fenchel.problems.elastic_net import largest_entry_around, sum_conjugate, sum_conjugate_around, sum_penalty
from fenchel.problems.labels import checked_kind
from fenchel.problems.parts import checked_part, try_loss
from fenchel.problems.rounding import REPRESENTED, relative_error, underflow
from fenchel.problems.row_order import row_order
from fenchel.problems.scaling import FEASIBLE, best_scaled
from fenchel.problems.sums import (
    derivative_terms,
    in_ranges,
    negative_derivatives,
    negative_vector_derivatives,
    prox_terms,
    sum_conjugate_terms,
    sum_terms,
    whole_conjugate,
    whole_gradient,
    whole_value,
)
from fenchel.regularizers import regularizers
from fenchel.regularizers.parameters import ROUNDED, elastic_net_strengths

PLANES = 8.0  # the rounding of a mixture of planes, relative to that of one
PIECE = 1 << 18  # most rows in a chunk: time limits and interrupts are checked between chunks
SMALL_SCALE = 1e-3  # c below which the ridge penalty at cα is computed again, not as c² times that at α


class Chunk(NamedTuple):
    """Rows to process, and in which order."""

    design: Design | Any  #: the rows, or the examples of a structured problem
    y: np.ndarray
    s: np.ndarray  #: weights of the rows, with mean 1
    order: np.ndarray
    passes: float = 0.0  #: passes made after this chunk


class Objective:
    """A loss and a regularizer on weights of a known shape."""

    loss: Any
    regularizer: Any
    labels: str
    n: int  #: features, the intercept included
    outputs: int  #: K for K classes, else 1
    intercept: float  #: the constant feature, 0 without one
    free = False  #: whether the constant feature is an unpenalised intercept
    offset = 0.0  #: what an unpenalised intercept, and the labels, are relative to
    threads: int = 1  #: how many threads products and sums over rows may use
    in_memory = True  #: whether rows can be read again
    hidden_terms = 0  #: columns that a column may stand for
    structured = False  #: whether outputs are structures: a loss then decodes an example where it would multiply a row

    def __init__(self, loss: Any, regularizer: Any, intercept: float) -> None:
        self.loss = checked_part(loss, "loss", ("value", "derivative"), losses())
        self.regularizer = checked_part(regularizer, "regularizer", ("separable",), regularizers())
        if not is_number(intercept) or not math.isfinite(intercept):
            raise InputError(Argument("intercept", intercept), ': give the constant feature a finite value such as 1.0, or "free".')
        self.intercept = float(intercept)
        self.labels = checked_kind(getattr(loss, "labels", "real"), type(loss).__name__)

    def _changed(self, **changes: Any) -> Self:
        """The same with other attributes; what is computed once from them is computed again."""
        cls: Any = type(self)
        other = object.__new__(cls)
        kept = {name: value for name, value in vars(self).items() if name not in computed_once(cls)}
        vars(other).update({**kept, **changes})
        return other

    @property
    def penalised(self) -> Any:
        """The regularizer of the penalised weights."""
        return self.regularizer.penalty if self.free else self.regularizer

    @property
    def vector_valued(self) -> bool:
        """Whether the loss has one output per class."""
        return self.labels == "class"

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of w: (n,), or (n, K) for K classes."""
        return (self.n, self.outputs) if self.vector_valued else (self.n,)

    @cached_property
    def decisions(self) -> dict[str, Any]:
        """What was decided for this problem, by name, for callers that decide once; another loss or regularizer begins with none."""
        return {}

    @cached_property
    def elastic_net(self) -> tuple[float, float, int] | None:
        """l1, l2 and the number of penalised weights, which come first, if Ω is l1·‖w‖₁ + l2/2·‖w‖² of these; else None."""
        if not getattr(self.penalised, "is_elastic_net", False) or (self.free and self.regularizer.intercept_l2 > 0.0):
            return None
        return *elastic_net_strengths(self.penalised), self._penalised_entries

    def negative_derivatives(self, z: np.ndarray, y: np.ndarray) -> np.ndarray:
        """−φ'(z_i, y_i), one row of K numbers each for a multiclass loss."""
        out = np.empty_like(z)
        in_ranges(self.threads, negative_vector_derivatives if self.vector_valued else negative_derivatives, self.loss, (z, y, out))
        return out

    def penalty(self, w: np.ndarray) -> float:
        """Ω(w)"""
        if self.elastic_net is not None:
            if w is vars(self).get("origin"):
                return 0.0
            return float(sum_penalty(np.ascontiguousarray(w).reshape(-1), *self.elastic_net))
        flat = np.ascontiguousarray(w).reshape(-1)
        return float(sum_terms(self.regularizer, flat)[0] if self.regularizer.separable else whole_value(self.regularizer, flat))

    def penalty_error(self, w: np.ndarray) -> float:
        """How much larger the exact Ω(w) may be than the computed one."""
        if self.elastic_net is not None and w is vars(self).get("origin"):
            return 0.0
        flat = np.ascontiguousarray(w).reshape(-1)
        if self.regularizer.separable:
            size = self.penalty(w) if self.elastic_net is not None else float(sum_terms(self.regularizer, flat)[1])
            return relative_error(self.hidden_terms) * size + underflow(flat.size, size)
        # Ω(w) = <w, ∇Ω(w)> − Ω*(∇Ω(w)), in which the product may cancel.
        products = float(np.abs(flat) @ np.abs(self.penalty_gradient(flat))) if flat.any() else 0.0
        return relative_error(flat.size) * (float(whole_value(self.regularizer, flat)) + products)

    def penalty_gradient(self, w: np.ndarray) -> np.ndarray:
        """∇Ω(w), or one subgradient."""
        flat = np.ascontiguousarray(w).reshape(-1)
        out = np.empty_like(flat)
        (derivative_terms if self.regularizer.separable else whole_gradient)(self.regularizer, flat, out)
        return out.reshape(w.shape)

    def prox(self, x: np.ndarray, step: float) -> np.ndarray:
        """argmin_w step·Ω(w) + ½‖w − x‖², for regularizers that are sums over weights."""
        out = np.empty(x.size)
        prox_terms(self.regularizer, x.reshape(-1), float(step), out)
        return out.reshape(x.shape)

    def link(self, v: np.ndarray) -> np.ndarray:
        """w = ∇Ω*(v)"""
        return read_weights(weights_of(self.regularizer, v.reshape(-1))).reshape(v.shape)

    def penalty_conjugate(self, v: np.ndarray, objective: float = math.inf) -> float:
        """Ω*(v), or the same maximum over the w whose objective is at most the given one, where Ω*(v) is infinite."""
        if self.elastic_net is not None:
            return float(sum_conjugate(v, *self.elastic_net, objective))
        exact = float((sum_conjugate_terms if self.regularizer.separable else whole_conjugate)(self.regularizer, v))
        if not self._is_restricted(exact, objective):
            return exact
        if hasattr(self.penalised, "conjugate_within"):
            return float(self.regularizer.conjugate_within(v, objective))
        return float(sum_conjugate_terms(self.regularizer.within(objective), v))

    def penalty_conjugate_around(self, v: np.ndarray, distance: np.ndarray, objective: float = math.inf) -> float:
        """An upper bound on ``penalty_conjugate`` for every v' with |v'_j − v_j| ≤ distance_j, the rounding of its evaluation included.

        Ω* is convex, and smallest where w = ∇Ω*(v) is nearest to 0: at the end of each interval that is farthest from there it is largest.
        ``distance`` has one entry for each feature.
        """
        if self.elastic_net is not None:
            above = float(sum_conjugate_around(v, distance, self.outputs, *self.elastic_net, objective))
            return above + relative_error(v.size) * above
        end = self.farthest(v, distance)
        above = self.penalty_conjugate(end, objective)
        if not self.regularizer.separable:
            above *= ROUNDED  # Ω* grows at most in proportion to the radius of a ball, and Ω is finite up to rounding beyond it
        return above + relative_error(v.size) * (abs(above) + self._cancelled(end))

    def penalty_conjugate_along(self, v: np.ndarray, distance: np.ndarray, lost: float, objective: float) -> Callable[[float], float]:
        """The function c ↦ ``penalty_conjugate_around`` at cv and the distances c·distance + lost, 0 ≤ c ≤ 1.

        For the ridge penalty it is c² times its value at c = 1, with a distance that is enough for every c down to ``SMALL_SCALE``.
        """
        whole = self.penalty_conjugate_around(v, distance + lost / SMALL_SCALE, objective) if self._is_ridge else math.inf

        def at(c: float) -> float:
            if c >= SMALL_SCALE and whole < math.inf:
                return c * c * whole
            return self.penalty_conjugate_around(c * v, c * distance + lost, objective)

        return at

    def ridge_conjugate_along(self, v: np.ndarray, distance: float, lost: float) -> Callable[[float], float]:
        """The same for the ridge penalty and a distance from v in the Euclidean norm: Ω* is at most (‖v‖ + distance)²/(2·l2)."""
        assert self.elastic_net is not None
        l2, rounding = self.elastic_net[1], 1.0 + relative_error(v.size)
        norm = rounding * (1.0 + REPRESENTED) * math.sqrt(2.0 * l2 * self.penalty_conjugate(v))

        def at(c: float) -> float:
            return rounding * (c * (norm + distance) + math.sqrt(v.size) * lost) ** 2 / (2.0 * l2)

        return at

    @property
    def _is_ridge(self) -> bool:
        """Whether Ω(w) = l2/2·‖w‖² in the penalised weights."""
        return self.elastic_net is not None and self.elastic_net[0] == 0.0

    def farthest(self, v: np.ndarray, distance: np.ndarray) -> np.ndarray:
        """The v' within the distances of v at which Ω* is largest; ``distance`` has one entry for each feature."""
        reach = np.repeat(distance, self.outputs) + REPRESENTED * np.abs(v)
        penalised = self._penalised_entries
        rising = getattr(self.penalised, "rising", np.sign)(v[:penalised])
        return v + reach * np.append(np.where(rising < 0.0, -1.0, 1.0), np.zeros(v.size - penalised))

    def _cancelled(self, v: np.ndarray) -> float:
        """The size of what cancels in Ω*(v) = <v, w> − Ω(w), where that is more than Ω*(v) itself."""
        return float(getattr(self.penalised, "cancelled", lambda v: 0.0)(v[: self._penalised_entries]))

    @property
    def _penalised_entries(self) -> int:
        """How many weights, the first ones, are penalised."""
        return int(self.regularizer.first) if self.free else self.n * self.outputs

    def _is_restricted(self, conjugate: float, objective: float) -> bool:
        """Whether Ω* is infinite and is to be replaced by a maximum over the w whose objective is at most the given one."""
        return not math.isfinite(conjugate) and math.isfinite(objective) and self.penalised.strong_convexity() == 0.0

    @cached_property
    def origin(self) -> np.ndarray:
        """The point of Ω's domain nearest to w = 0."""
        return self.nearest(np.zeros(self.shape))

    def nearest(self, w: np.ndarray) -> np.ndarray:
        """A point of Ω's domain near w: w itself if it lies in it."""
        if getattr(self.penalised, "is_elastic_net", False) or math.isfinite(self.penalty(w)):
            return w
        return self.prox(w, 1e-300) if self.regularizer.separable else w * self.regularizer.shrink(w.reshape(-1))

    @cached_property
    def objective_at_zero(self) -> float:
        """P(0): the scale of every tolerance. (P at the nearest feasible point where 0 is outside the domain of Ω.)"""
        return self.objective(self.origin, self.origin_predictions)

    @cached_property
    def origin_predictions(self) -> Any:
        """X·w at the origin, computed once because most runs start there."""
        return self.predict(self.origin)

    def released(self, array: Any) -> Any:
        """The array, or a copy if it is one that the problem keeps for the next run."""
        is_kept = isinstance(array, np.ndarray) and any(array is vars(self).get(name) for name in ("origin", "origin_predictions"))
        return array.copy() if is_kept else array

    def starting_point(self, start: Any) -> tuple[np.ndarray, Any]:
        """The weights and the predictions of a start, an iterate or None for the origin; neither may be changed in place."""
        if start is None:
            return self.origin, self.origin_predictions
        return start.w, self.predict(start.w) if start.z is None else start.z

    def objective(self, w: np.ndarray, z: Any = None) -> float:
        """P(w), given z = predict(w) if it is known already."""
        raise NotImplementedError

    def objective_error(self, w: np.ndarray, z: Any, objective: float) -> float:
        """How much larger the exact P(w) may be than the objective computed from z = predict(w)."""
        raise NotImplementedError

    def predict(self, w: np.ndarray) -> Any:
        """What every loss depends on: the predictions X·w."""
        raise NotImplementedError

    @cached_property
    def scale(self) -> float:
        """What tolerances are relative to: P(0), rounded up, or P(0) minus the smallest Ω where a negative Ω makes P(0) negative."""
        at_zero = self.objective_at_zero
        at_zero += self.objective_error(self.origin, self.origin_predictions, at_zero) if math.isfinite(at_zero) else 0.0
        return at_zero if at_zero > 0.0 else at_zero + self.penalty_conjugate(np.zeros(math.prod(self.shape)))

    def best_scaled(
        self,
        value: Callable[[float], float],
        v: np.ndarray,
        distance: np.ndarray | None,
        objective: float,
        wanted: float,
        searches: bool = True,
    ) -> float:
        """The best of value(c) = D(cα), 0 ≤ c ≤ 1, where Xᵀ(sα)/m is within the distances of v; no search above ``wanted`` or far below.

        The distances matter only where Ω is not strongly convex.
        """
        if distance is not None and self.penalised.strong_convexity() == 0.0:
            return best_scaled(value, min(1.0, FEASIBLE * self.domain_scale(v, distance)), objective, wanted)
        return best_scaled(value, 1.0, objective, wanted) if searches else value(1.0)

    def domain_scale(self, v: np.ndarray, distance: np.ndarray) -> float:
        """The largest c for which Ω*(cv') is finite for every v' within the distances of v."""
        if self.elastic_net is not None:
            l1, _, penalised = self.elastic_net
            return l1 / max(float(largest_entry_around(v, distance, self.outputs, penalised)), TINY)
        return float(self.regularizer.domain_scale(self.farthest(v, distance)))

    def centred(self) -> Any:
        """An equivalent problem that rounding harms less, or this one."""
        return self

    def without_offset(self, w: np.ndarray) -> np.ndarray:
        """Weights whose intercept is relative to the offset as weights with the intercept itself."""
        return _shifted(w, self.offset) if self.offset else w

    def with_offset(self, w: np.ndarray, offset: float = 0.0) -> np.ndarray:
        """Weights whose intercept is relative to any offset, by default none, as weights relative to that of this problem."""
        return _shifted(w, offset - self.offset) if offset != self.offset else w

    def proven_bound_error(self, bound: float, w: np.ndarray, objective: float) -> float:
        """An estimate of the rounding in a bound from cutting planes, which solvers keep as numbers; ``w`` is the best point.

        A plane's value is a sum over rows and weights whose terms are as large as losses and predictions.
        """
        return PLANES * relative_error(self.m + self.n) * (abs(bound) + abs(objective) + self._size_of_planes(w))  # type: ignore[attr-defined]

    def plane_errors(self, w: np.ndarray, loss: float, alpha: np.ndarray | None, a: np.ndarray) -> tuple[float, float]:
        """For the plane with subgradient a through the mean loss at w, from the dual point α: how far below the computed plane one may lie
        that is below the mean loss everywhere, at 0, and in the Euclidean norm of its subgradient."""
        raise NotImplementedError

    def _size_of_planes(self, w: np.ndarray) -> float:
        """The sum of the absolute values of the terms of <a, w> for a subgradient a of the mean loss."""
        raise NotImplementedError

    def split(self, w: np.ndarray) -> tuple[np.ndarray, Any]:
        """Weights of the columns of X, and the intercept (0 without one)."""
        return (w[:-1], self.intercept * w[-1] + self.offset) if self.intercept else (w, 0.0)

    def _check_fit(self, y: np.ndarray) -> None:
        """Whether loss and regularizer fit labels like these and weights of this shape."""
        if is_foreign(self.loss):
            try_loss(self.loss, y, self.outputs)
        self._check_bounds()

    def _check_bounds(self) -> None:
        """Whether a regularizer with one number per weight has as many numbers as there are weights."""
        size = (self.n - self.free) * self.outputs
        for name in ("lower", "upper"):
            bound = getattr(self.regularizer, name, None)
            if bound is not None and bound.size not in (1, size):
                counted = " (including the intercept's)" if self.intercept and not self.free else ""
                raise InputError(f"Box has {bound.size} {name} bounds for {size} weights{counted}: give one, or one for each weight.")
        slope = getattr(getattr(self.regularizer, "penalty", None), "slope", None)
        if slope is not None and slope.size not in (1, size):
            raise InputError(f"Linear has {slope.size} coefficients for {size} weights: give one, or one for each weight.")

    def _as_weights(self, w: Any) -> np.ndarray:
        w = np.asarray(w, dtype=np.float64)
        if w.shape != self.shape:
            raise InputError(f"w has shape {w.shape}; this problem's weights have shape {self.shape}.")
        return w


@functools.cache
def computed_once(cls: type) -> frozenset[str]:
    """The names of the cached properties of a class."""
    return frozenset(name for name in dir(cls) if isinstance(getattr(cls, name, None), cached_property))


def _shifted(w: np.ndarray, offset: float) -> np.ndarray:
    """The weights with another intercept, which is the last."""
    shifted = w.copy()
    shifted[-1] += offset
    return shifted


def row_orders(m: int, sampling: str, rng: np.random.Generator, batch: int) -> Iterator[tuple[np.ndarray, float]]:
    """Pass after pass without end, the m rows in the order that ``sampling`` names, in pieces of whole batches; passes made after each."""
    piece = max(1, PIECE // batch) * batch
    for done in itertools.count():
        order = row_order(m, sampling, rng)
        for first in range(0, m, piece):
            part = order[first : first + piece]
            yield part, done + (first + len(part)) / m


def orders_on_disk(rows: Any, rng: np.random.Generator, batch: int) -> Iterator[tuple[np.ndarray, float]]:
    """The same for rows on disk, whatever the sampling: whole batches of rows of one block after another."""
    for done in itertools.count():
        read, left = 0, np.empty(0, dtype=np.int64)
        for order in rows.shuffled(rng):
            order = np.concatenate([left, order])
            kept = len(order) - len(order) % batch
            left, read = order[kept:], read + kept
            if kept:
                yield order[:kept], done + read / rows.m
        if len(left):
            yield left, done + 1.0


def gap_between(objective: float, bound: float) -> float:
    """Objective minus lower bound: infinite where either is not finite, and where they contradict each other.

    >>> gap_between(1.0, 0.75), gap_between(1.0, 1.25)
    (0.25, inf)
    """
    return objective - bound if math.isfinite(objective) and -math.inf < bound <= objective else math.inf

"""min_w (1/m) Σ_i s_i φ(<w, x_i>, y_i) + Ω(w) on a data matrix: how a problem is built, and how one is derived from another

The objective, its dual and the gap between them are in :mod:`fenchel.problems.rows_objective`.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from fenchel.core.array_types import MatrixLike
from fenchel.core.errors import Argument, InputError
from fenchel.core.memory import allowed_memory, checked_memory, memory_limited
from fenchel.linalg.design import Design
from fenchel.linalg.rows_on_disk import mapped_arrays, rows_on_disk
from fenchel.losses.loss_protocol import Loss
from fenchel.problems.labels import checked_labels, checked_sample_weights
from fenchel.problems.objective import Chunk, orders_on_disk, row_orders
from fenchel.problems.row_order import block_shuffled
from fenchel.problems.rows_objective import RowsObjective
from fenchel.regularizers.regularizer_protocol import Regularizer
from fenchel.regularizers.unpenalised_intercept import UnpenalisedIntercept

FREE = "free"
# Numbers for each row and weight that a run keeps beside X: labels, weights, norms, α, predictions, and copies of them.
VECTORS_OF_ROWS, VECTORS_OF_WEIGHTS = 12, 20


class Problem(RowsObjective):
    """A loss and a regularizer on a data matrix.

    X is a NumPy array (C or Fortran order) or a SciPy sparse matrix (CSR, CSC), float32 or float64, and is not copied
    unless its layout forces it. Labels are −1 and +1 for binary losses, 0 … K−1 for multiclass ones, else any numbers.
    ``intercept``, if not 0, is the value of a constant feature added to every row; its weight is penalised like any
    other, the less the larger the value, or with ``intercept="free"`` not at all. ``classes`` is the number of classes,
    where not all of them occur in y. ``check_finite=False`` skips the search for values that are not finite, for an X that
    has been checked already.

    >>> import fenchel as fl
    >>> X, y = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]), np.array([1.0, -1.0, 1.0])
    >>> problem = fl.Problem(X, y, loss=fl.Logistic(), regularizer=fl.L2(0.1))
    >>> w = np.array([1.0, -1.0])
    >>> problem.objective(w) >= problem.dual_objective(problem.dual_point(w))
    True
    """

    def __init__(
        self,
        X: MatrixLike,
        y: ArrayLike,
        loss: Loss,
        regularizer: Regularizer,
        *,
        sample_weight: ArrayLike | None = None,
        intercept: float | str = 0.0,
        classes: int | None = None,
        check_finite: bool = True,
    ) -> None:
        self.free = _is_free(intercept)
        super().__init__(loss, regularizer, 1.0 if self.free else intercept)  # type: ignore[arg-type]
        self.design = Design(X, self.intercept, check_finite=check_finite)
        self.m, self.n = self.design.m, self.design.n
        self.y, self.outputs = checked_labels(y, self.m, self.labels, type(loss).__name__, classes)
        self._check_fit(self.y)
        if self.free:
            self.regularizer = self._without_intercept(self.regularizer)
        self.row_weights = checked_sample_weights(sample_weight, self.m) / self.m
        self.memo: dict[str, Any] = {}  # shared by solvers of problems that differ in their regularizer only
        self.token = os.urandom(16).hex()  # distinguishes an iterate of this problem from one of another

    def __repr__(self) -> str:
        kind = type(self.design.storage).__name__
        return f"Problem({self.m:,} x {self.n:,} {kind}, {self.loss!r}, {self.regularizer!r})"

    def _without_intercept(self, regularizer: Any) -> Any:
        """The same regularizer, not applied to the intercept."""
        if isinstance(regularizer, UnpenalisedIntercept):
            return regularizer
        return UnpenalisedIntercept(regularizer, (self.n - 1) * self.outputs)

    # ---- some of the rows ----

    def subgradient(self, w: np.ndarray, rows: Any) -> np.ndarray:
        """A subgradient at w of the objective on some rows only: a stochastic oracle, unbiased for uniform rows."""
        w = self._as_weights(w)
        some = self.on_rows(rows)
        return some._changed(row_weights=self.row_weights[rows] * (self.m / some.m)).gradient(w)

    def on_rows(self, rows: Any) -> Problem:
        """The same problem on some of the rows, with weights that sum to 1 again."""
        design = Design(self.design.storage[rows], self.design.intercept, check_finite=False)
        design.threads = self.design.threads
        row_weights = self.row_weights[rows]
        if not row_weights.sum() > 0.0:
            raise InputError("These rows have no weight at all: take others, or give them sample weights above 0.")
        return self._changed(design=design, m=design.m, y=self.y[rows], row_weights=row_weights / row_weights.sum(), memo={})

    def passed(self, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """The rows of a pass in random order, in pieces: all at once, or for rows on disk those of one block after another."""
        if self.design.on_disk is None:
            yield block_shuffled(self.m, rng)
        else:
            yield from self.design.on_disk.shuffled(rng)

    def chunks(self, sampling: str, rng: np.random.Generator, batch: int) -> Iterator[Chunk]:
        """The rows in the order that ``sampling`` names, pass after pass without end, in pieces of whole batches."""
        s = self.m * self.row_weights
        on_disk = self.design.on_disk
        for order, passes in row_orders(self.m, sampling, rng, batch) if on_disk is None else orders_on_disk(on_disk, rng, batch):
            yield Chunk(self.design, self.y, s, order, passes)

    def sample(self) -> Chunk:
        """A sample of the rows: in memory, all of them."""
        return Chunk(self.design, self.y, self.m * self.row_weights, np.arange(self.m))

    # ---- the same data, another problem ----

    def replace(self, *, loss: Loss | None = None, regularizer: Regularizer | None = None) -> Problem:
        """The same data under another loss or regularizer; nothing is copied or checked again."""
        changes = self._row_constants()
        if loss is not None:
            changes["memo"] = {}
        same_loss = loss is None
        loss = self.loss if same_loss else loss  # not ``loss or self.loss``: a loss without fields is an empty tuple
        regularizer = self.regularizer if regularizer is None else regularizer
        regularizer = self._without_intercept(regularizer) if self.free else regularizer
        other = self._changed(loss=loss, regularizer=regularizer, **changes)
        if same_loss and self.elastic_net is not None and other.elastic_net is not None:  # both are 0 at w = 0
            vars(other).update(self._computed("origin", "origin_predictions", "objective_at_zero", "scale"))
        return other

    def with_labels(self, y: Any) -> Problem:
        """The same rows with other labels: one class against the rest, or another output."""
        labels, outputs = checked_labels(y, self.m, self.labels, type(self.loss).__name__, self.outputs)
        return self._changed(y=labels, outputs=outputs, memo={}, **self._row_constants())

    def with_intercept(self, intercept: float | str) -> Problem:
        """The same problem with another intercept, or none; the matrix is not checked again."""
        free = _is_free(intercept)
        value = 1.0 if free else float(intercept)
        design = self.design.with_intercept(value)
        bare = self._changed(design=design, n=design.n, intercept=value, free=free, regularizer=self.penalised, memo={})
        return bare.replace() if free else bare

    def centred(self) -> Problem:
        """The equivalent problem for labels y − c, with c = ``offset`` near their mean, if every y_i − c is exact; else this problem.

        A loss of the residual y − z does not change when an unpenalised intercept and all labels do by the same c. With labels near
        10¹², predictions and the dual objective would lose as many digits; y_i − c is exact where y_i and c are within a factor of 2
        (Sterbenz 1974).
        """
        if not self.free or self.offset or not getattr(self.loss, "of_residual", False):
            return self
        low, high = float(self.y.min()), float(self.y.max())
        if low <= 0.0 <= high or high > 4.0 * low > 0.0 or low < 4.0 * high < 0.0:  # no c is within a factor of 2 of both
            return self
        c = float(self.y.mean())
        if not (min(low / c, high / c) >= 0.5 and max(low / c, high / c) <= 2.0):
            return self
        memo = self.memo.setdefault("centred", {})
        return self._changed(y=self.y - c, offset=c, token=self.token, memo=memo, **self._row_constants())

    def with_threads(self, threads: int | None) -> Problem:
        """The same problem with another number of threads for products with the whole matrix."""
        if threads is None or threads == self.design.threads:
            return self
        if threads not in self._by_threads:
            other = copy.copy(self)
            other.design = copy.copy(self.design)
            other.design.threads = int(threads)
            self._by_threads[threads] = other
        return self._by_threads[threads]

    def with_memory(self, memory: int | str | None) -> Problem:
        """The same problem with rows on disk if they take more than so many bytes; an error if its vectors alone take more."""
        allowed = allowed_memory() if memory is None else checked_memory(memory, "memory")
        if allowed is None or (memory is None and not mapped_arrays(self.design.storage)):
            return self
        vectors = 8 * self.outputs * (VECTORS_OF_ROWS * self.m + VECTORS_OF_WEIGHTS * self.n)
        if vectors > allowed:
            given = allowed if memory is None else memory
            size = f"{vectors / 2**20:,.0f} MB"
            raise InputError(Argument("memory", given), f": the vectors of this problem take about {size}; give more.")
        if memory is None:
            return self
        with memory_limited(memory):
            other = copy.copy(self)
            other.design = copy.copy(self.design)
            other.design.on_disk = rows_on_disk(self.design.storage)
            vars(other).pop("decisions", None)
        return other

    @cached_property
    def _by_threads(self) -> dict[int, Problem]:
        """The same problem for other numbers of threads: what a run computes once is kept for the next."""
        return {}

    def _row_constants(self) -> dict[str, Any]:
        """The constants that depend on the rows alone, as far as they are computed."""
        return self._computed("row_norms", "radius")

    def _computed(self, *names: str) -> dict[str, Any]:
        """Those of these attributes, computed at their first use, that were used."""
        return {name: vars(self)[name] for name in names if name in vars(self)}

    def _changed(self, **changes: Any) -> Self:
        return super()._changed(**{"token": os.urandom(16).hex(), **changes})


def _is_free(intercept: Any) -> bool:
    return isinstance(intercept, str) and intercept == FREE

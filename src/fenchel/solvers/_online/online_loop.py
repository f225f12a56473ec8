"""The loop of every online solver: at w_t, draw rows A_t, and let a subgradient of their mean loss f_t give w_{t+1}

    g_t = (1/|A_t|) Σ_{i ∈ A_t} s_i φ'(<w_t, x_i>, y_i)·x_i

The update rule says how long the step along −g_t is and what else happens to w (:mod:`.protocols`), so that one kernel serves
all methods. A step touches only the entries of the rows drawn.

The derivatives computed on the way are a dual point: α_i, the mean of −φ' over the visits to row i, gives the lower bound D(α), whose
distance from the optimum the regret bounds. Where a loss is not smooth, −φ' at w is a poor dual point; where it is smooth, but the
regularizer weak, the gap of −φ' at w is ‖∇P(w)‖²/(2λ), which the noise of the last steps makes a hundred times that of the mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled, kernel, prefetch
from fenchel.core.errors import Argument, InputError
from fenchel.core.record import record
from fenchel.core.validation import checked_choice
from fenchel.linalg.rows import AHEAD
from fenchel.linalg.weights import Plain
from fenchel.losses.outputs import outputs_of
from fenchel.problems.objective import Chunk
from fenchel.problems.result import Iterate, ProgressiveLoss
from fenchel.problems.row_order import SAMPLING
from fenchel.solvers._online.protocols import OnlineWeights, UpdateRule

ROWS_BEFORE_START = 10_000.0  # rows that weights given as a start count for, where it is unknown how many they were learnt from
LARGEST_BATCH = 1 << 40  # larger batches than any data set has rows are all the same
NATURAL_LENGTH_ROWS = 1000.0  # the first rows, from which the natural length of w is estimated


def first_counters() -> Any:
    """What a run counts: rows and entries of X read; sums of φ(0), over all rows and over the first ones, and of ‖φ'(0)·x‖ over the
    first ones; and, where the loop evaluates rows before it learns from them, sums of losses, of −φ*(φ') and of errors.
    """
    return record(rows=0.0, accesses=0.0, loss_at_zero=0.0, first_loss=0.0, first_gradient=0.0, loss=0.0, dual=0.0, errors=0.0)


@compiled
class LabelledRows(NamedTuple):
    """Rows with their labels and weights s_i, as kernels take them."""

    rows: Any
    y: np.ndarray
    s: np.ndarray


@compiled
class StepRecord(NamedTuple):
    """What the loop writes down about the rows that it reads."""

    counters: Any
    evaluate: bool  # whether rows are evaluated before they are learnt from
    derivatives: np.ndarray  # −Σ φ' over the visits to each row, or empty
    visits: np.ndarray
    gradients: Plain  # −Σ s_i φ'(z_i)·x_i, or empty


# These functions take numbers and the counters, not the tuples of arrays that hold them: inside a branch Numba would count references
# to every array of a tuple at every row, which doubles the time of a step on short rows.


@compiled
def add_at_zero(counters, loss, outputs, y, s, norm):
    """Add φ(0, y), and while the natural length is estimated also ‖φ'(0, y)·x‖, with ‖s·x‖ ≤ norm."""
    value = s * loss.value(outputs.zero(), y)
    counters.loss_at_zero += value
    if counters.rows <= NATURAL_LENGTH_ROWS:
        counters.first_loss += value
        counters.first_gradient += norm * outputs.norm(outputs.derivative(loss, outputs.zero(), y))


@compiled
def add_loss(counters, loss, outputs, z, g, y, s):
    """Add the loss at z, its part in the dual objective, and whether the class predicted is wrong."""
    value = s * loss.value(z, y)
    counters.loss += value
    counters.dual += value - s * outputs.dot(z, g)  # −φ*(φ') = φ − z·φ', by Fenchel–Young
    counters.errors += s if outputs.is_wrong(z, y) else 0.0


@compiled
def natural_length(counters):
    known = counters.first_loss > 0.0 and counters.first_gradient > 0.0
    return counters.first_loss / counters.first_gradient if known else 1.0


@kernel
def run_steps(data, loss, outputs, rule, weights, order, batch, seen):
    """Steps of ``batch`` rows each, on ``weights``: those of the rule, or averages around them.

    Returns the number of rows used, fewer than given if the rule paused.
    """
    rows, y, s, counters, gradients = data.rows, data.y, data.s, seen.counters, seen.gradients
    derivatives = outputs.empty(min(batch, order.shape[0]))
    for first in range(0, order.shape[0], batch):
        last = min(first + batch, order.shape[0])
        k = last - first
        G = 0.0
        for b in range(k):
            i, soon = order[first + b], order[min(first + b + AHEAD, order.shape[0] - 1)]
            rows.fetch(soon)
            prefetch(y, soon)
            prefetch(s, soon)
            counters.rows += 1.0
            counters.accesses += rows.count(i)
            if rule.needs_values_at_zero() or seen.evaluate:
                add_at_zero(counters, loss, outputs, y[i], s[i], rule.gradient_norm(i, s[i]))  # ‖s_i·x_i‖
            z = outputs.predict(rows, i, weights)
            g = outputs.derivative(loss, z, y[i])
            if seen.evaluate:
                add_loss(counters, loss, outputs, z, g, y[i], s[i])
                if gradients.v.shape[0] > 0:
                    outputs.add(rows, i, -s[i], g, gradients)
            if seen.visits.shape[0] > 0:
                outputs.subtract(g, seen.derivatives, i)
                seen.visits[i] += 1.0
            outputs.put(g, derivatives, b)
            G += rule.gradient_norm(i, s[i] * outputs.norm(g))
        step = rule.step_size(G / k, counters.loss_at_zero / counters.rows, natural_length(counters)) / k
        for b in range(k):
            i = order[first + b]
            outputs.add(rows, i, -step * s[i], derivatives[b], weights)
        weights.end_shifts()
        paused = rule.finish_step()
        weights.end_step()
        if paused:
            return last
    return order.shape[0]


class OnlineLoop:
    """The steps of one run: where rows come from, what was counted, and the certificate that follows.

    ``problem`` is a :class:`fenchel.Problem` or a :class:`fenchel.Stream`; both hand out their rows in chunks. ``certify``
    stores the derivatives where they make the certificate.
    """

    def __init__(
        self, problem: Any, *, batch: int, sampling: str, rng: np.random.Generator, start: Iterate | None, certify: bool = True
    ) -> None:
        self.problem, self.batch = problem, batch
        self.sampling, self.rng = checked_sampling(sampling, problem.in_memory), rng
        self.state = state = {} if start is None else start.state
        self.counters = state.get("counters", first_counters()).copy()
        self.earlier_accesses = float(self.counters.accesses)
        self.evaluate = not problem.in_memory
        self.outputs = outputs_of(problem)
        self.gradients = state.get("gradients", np.zeros(math.prod(problem.shape) if self.evaluate else 0)).copy()
        # A loss of unknown smoothness counts as smooth: −φ' at w is a dual point as well, which the driver tries first.
        self.is_smooth = math.isfinite(getattr(problem.loss, "smoothness", lambda: 0.0)())
        self.keep_derivatives(certify and problem.in_memory and (hasattr(problem.loss, "conjugate") or not self.is_smooth))
        self.passes, self.total_passes = 0.0, state.get("total_passes", 0)

    def keep_derivatives(self, keep: bool) -> None:
        """Have −φ' added up for every row, for the certificate, or not."""
        shape = self.problem.dual_shape if keep else (0, *self.problem.shape[1:])
        self.derivatives = self.state.get("derivatives", np.zeros(shape)).copy()
        self.visits = self.state.get("visits", np.zeros(shape[0])).copy()

    def chunks(self) -> Iterator[Chunk]:
        """The rows, chunk by chunk; a problem in memory never ends."""
        begins_a_pass = True
        for chunk in self.problem.chunks(self.sampling, self.rng, self.batch):
            if begins_a_pass:
                self._forget_early_derivatives()
            begins_a_pass = chunk.passes.is_integer()
            self.total_passes += begins_a_pass
            yield chunk
            del chunk  # before the next is asked for, so that no two are held

    def _forget_early_derivatives(self) -> None:
        """Derivatives are averaged over the passes since the last power of two: early ones were computed far from the minimum."""
        if self.visits.size and self.total_passes & (self.total_passes - 1) == 0 and self.total_passes > 1:
            self.derivatives[:] = 0.0
            self.visits[:] = 0.0

    def run(self, chunk: Chunk, rule: UpdateRule, weights: OnlineWeights, order: np.ndarray) -> int:
        """Take steps on these rows of the chunk; returns the number of rows used, fewer than given if the rule paused."""
        self.passes = chunk.passes
        data = LabelledRows(chunk.design.rows, chunk.y, chunk.s)
        seen = StepRecord(self.counters, self.evaluate, self.derivatives, self.visits, Plain(self.gradients))
        return int(run_steps(data, self.problem.loss, self.outputs, rule, weights, order, self.batch, seen))

    def iterate(self, w: np.ndarray, state: dict[str, Any]) -> Iterate:
        """What the solver yields: w, with the certificate of the steps so far."""
        mean = None
        if self.visits.any():
            visits = np.maximum(self.visits, 1.0)
            mean = self.derivatives / (visits[:, None] if self.problem.vector_valued else visits)
        alpha, mean = (None, mean) if self.is_smooth else (mean, None)
        accesses = int(self.counters.accesses - self.earlier_accesses)
        regularizer = self.problem.regularizer
        w = self.problem.nearest(w.reshape(self.problem.shape))  # rounding can put an average outside of the domain
        state = {**self.to_continue(), **state}
        found = self.progressive()
        return Iterate(w, self.passes, accesses, alpha, mean_alpha=mean, state=state, regularizer=regularizer, progressive=found)

    def progressive(self) -> ProgressiveLoss | None:
        """The losses of the rows of a stream so far; None for rows in memory, which can be evaluated at any w."""
        if self.problem.in_memory or self.counters.rows == 0.0:
            return None
        return ProgressiveLoss(float(self.counters.rows), float(self.counters.loss), float(self.counters.dual), self.gradients)

    def to_continue(self) -> dict[str, Any]:
        """What a later run needs to continue this one."""
        certificate = {"derivatives": self.derivatives, "visits": self.visits} if self.visits.size else {}
        gradients = {"gradients": self.gradients} if self.gradients.size else {}
        return {"counters": self.counters, "total_passes": self.total_passes, **certificate, **gradients}


def checked_batch(batch: Any, automatic: int = 1) -> int:
    """The mini-batch size k."""
    if isinstance(batch, str) and batch == "auto":
        return automatic
    if not isinstance(batch, (int, np.integer)) or isinstance(batch, bool) or batch < 1:
        raise InputError(Argument("batch", batch), ': give a whole number of rows of at least 1, or "auto".')
    return min(int(batch), LARGEST_BATCH)


def checked_sampling(sampling: Any, in_memory: bool) -> str:
    """The name of a row order; by default shuffled blocks of rows in memory, and the rows of a stream in their own order."""
    checked_choice("sampling", sampling, ["auto", *SAMPLING])
    if sampling == "replacement" and not in_memory:
        raise InputError(Argument("sampling", "replacement"), " needs rows that can be read again: a Stream is read once.")
    return str(sampling) if sampling != "auto" else ("blocks" if in_memory else "sequential")

"""What a solver yields, what a run records, and what the user gets back."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from fenchel import plots
from fenchel.problems.objective import gap_between

STATUS = {
    "converged": "the certified gap is at or below the tolerance",
    "max_passes": "stopped after max_passes passes, before the gap reached the tolerance",
    "time_limit": "stopped at the time limit, before the gap reached the tolerance",
    "interrupted": "interrupted; this is the best iterate up to then",
    "callback": "stopped by the callback",
    "finished": "the solver's own rule says that it is done",
    "exhausted": "the stream has come to its end",
    "stalled": "the solver could make no further progress in floating point",
    "contradiction": "the lower bound lies above the objective, so that nothing is certified",
    "diverged": "the objective left the range of floating point; this is the best iterate before it did",
}


class ProgressiveLoss(NamedTuple):
    """Sums over all rows that an online solver has read, each evaluated just before it was used for a step."""

    rows: float
    loss: float  #: Σ s_i φ(z_i)
    dual: float  #: −Σ s_i φ*(φ'(z_i))
    v: np.ndarray  #: −Σ s_i φ'(z_i)·x_i


class Iterate(NamedTuple):
    """An intermediate point of a solver, with the state that it continues from.

    The arrays belong to the solver, which continues to change them: copy what you keep.
    """

    w: np.ndarray
    passes: float = 0.0  #: passes over the data so far
    accesses: int = 0  #: entries of X read so far
    alpha: np.ndarray | None = None  #: a dual point, if the solver has one
    v: np.ndarray | None = None  #: its image (1/m)·Xᵀ(sα), if known
    z: np.ndarray | None = None  #: predictions X·w, if known
    lower_bound: float = -math.inf  #: a lower bound on the optimum that the solver itself proves
    state: dict[str, Any] = {}  #: other state that the solver continues from
    offset: float = 0.0  #: what an unpenalised intercept in w is relative to
    regularizer: Any = None  #: the one w is for, from a solver that chooses its strength
    progressive: ProgressiveLoss | None = None  #: from a solver that reads rows once
    done: bool = False  #: alpha and v are complete and newly computed, and are to be evaluated now
    mean_loss: float = math.nan  #: over the last pass, each loss just before the step on its row, if the solver computes it
    exact: bool = False  #: z was computed from w at once, not updated step by step
    objective: float = math.nan  #: P(w) from z, if the solver computes it
    estimated_bound: float = math.nan  #: the lower bound that alpha gives, up to rounding, if the solver computes it; −∞: α = 0 is better
    mean_alpha: np.ndarray | None = None  #: a mean of the dual points of earlier steps, if the solver keeps one: the driver tries both

    def copy(self) -> Iterate:
        """A copy of the iterate, without the sums that only the driver uses."""
        alpha, v, z = (part.copy() if isinstance(part, np.ndarray) else part for part in (self.alpha, self.v, self.z))
        state = {k: v.copy() if isinstance(v, (np.ndarray, np.record)) else v for k, v in self.state.items()}
        return self._replace(w=self.w.copy(), alpha=alpha, v=v, z=z, state=state, progressive=None)


@dataclass(repr=False)
class History:
    """The course of a run: one row per evaluation, in columns.

    ``objective`` is that of the moment; ``gap`` is the best objective so far less the best bound so far.

    >>> history = History()
    >>> history.append(passes=1.0, accesses=10, seconds=0.1, objective=2.0, dual_objective=1.0, gap=1.0, nnz=3)
    >>> history["gap"].tolist()
    [1.0]
    """

    rows: list[tuple[float, ...]] = field(default_factory=list)

    COLUMNS = ("passes", "accesses", "seconds", "objective", "dual_objective", "gap", "nnz")

    def append(self, **values: float) -> None:
        """Add a row; every column must be given."""
        self.rows.append(tuple(values[name] for name in self.COLUMNS))

    def cap(self, bound: float) -> None:
        """Replace lower bounds above the one proven at the end: solvers update what they are computed from, and rounding adds up."""
        place, gap = self.COLUMNS.index("dual_objective"), self.COLUMNS.index("gap")
        for k, row in enumerate(self.rows):
            if row[place] > bound:
                changed = list(row)
                changed[place], changed[gap] = bound, changed[gap] + (row[place] - bound)
                self.rows[k] = tuple(changed)

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.COLUMNS:
            raise KeyError(f"there is no column {name!r}: the columns are {', '.join(self.COLUMNS)}")
        return np.array([row[self.COLUMNS.index(name)] for row in self.rows])

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"History({len(self)} evaluations of {', '.join(self.COLUMNS)})"

    def to_frame(self) -> Any:
        """The history as a pandas DataFrame (pandas must be installed)."""
        import pandas

        return pandas.DataFrame(self.rows, columns=list(self.COLUMNS))


@dataclass(eq=False)
class Result:
    """The best weights found and the certificate: ``objective`` is within ``gap`` of the smallest possible.

    Attributes:
        w: the best of the weights evaluated (except w = 0, which predicts nothing); ``coef`` are those of the columns of
            X, ``intercept`` the intercept (0 without one): predictions are ``X @ coef + intercept``. ``iterate.w`` are the last.
        alpha: the dual point with the best bound.
        objective: P(w); ``objective_error`` bounds how much larger it may be in exact arithmetic.
        dual_objective: a proven lower bound on min P, rounded down.
        gap: an upper bound on P(w) − min P: the difference of the two, rounded up.
        converged: whether ``gap`` ≤ ``tol``·P(0).
        status: why the run ended, a key of ``fenchel.problems.result.STATUS``; ``message`` says it in a sentence.
        passes, seconds: passes over the data, and time in the solver, evaluations not counted.
        history: the course of the run, a :class:`History`.
        solver, tol: what was run; ``target`` is ``tol``·P(0), the gap aimed at. ``solvers`` are all that ran, one after the other, with the
            passes before each: ``solver="auto"`` may try one that could be done soon before another.
        certified: whether ``objective`` is P(w); after a stream it is an estimate, and ``gap`` is nan.
        regularizer: the problem's, or with ``strength="auto"`` the one chosen; ``objective`` and ``gap`` are for it.
        iterate: where the solver stopped; pass the result, or this, as ``start=`` to continue.
    """

    w: np.ndarray
    alpha: np.ndarray | None
    objective: float
    dual_objective: float
    converged: bool
    status: str
    passes: float
    seconds: float
    history: History
    solver: str
    tol: float
    target: float
    coef: np.ndarray
    intercept: Any
    regularizer: Any
    certified: bool
    iterate: Iterate = field(repr=False)
    objective_error: float = 0.0
    solvers: tuple[tuple[str, float], ...] = ()

    @property
    def gap(self) -> float:
        """An upper bound on P(w) − min P; nan after a stream, whose objective is an estimate."""
        return gap_between(self.objective + self.objective_error, self.dual_objective) if self.certified else math.nan

    @property
    def message(self) -> str:
        """Why the run ended, as a sentence."""
        gap = f"gap {self.gap:.3g}, " if self.certified else ""
        return f"{self.solver}: {STATUS[self.status]} ({gap}{self.passes:g} passes)."

    def plot(self, *, x: str = "passes", axes: Any = None) -> Any:
        """Draw the gap and the objective against passes, ``"seconds"`` or ``"accesses"``; the axes (matplotlib must be installed)."""
        return plots.history(self, x=x, axes=axes)

    def __repr__(self) -> str:
        return (
            f"Result({self.status} by {self.solver!r}: objective={self.objective:.6g}, gap={self.gap:.3g}, "
            f"passes={self.passes:g}, seconds={self.seconds:.3g}, nnz={np.count_nonzero(self.w)} of {self.w.size})"
        )


def result_of_weights(problem: Any, w: np.ndarray, **facts: Any) -> Result:
    """A certified result of which only the weights and the numbers are known: no dual point, no history and no state of a solver."""
    coef, intercept = problem.split(w)
    w = problem.without_offset(w)
    nothing: dict[str, Any] = {"alpha": None, "certified": True, "history": History(), "iterate": Iterate(w)}
    return Result(w=w, coef=coef, intercept=intercept, **nothing, **facts)

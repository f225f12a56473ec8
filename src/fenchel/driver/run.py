"""One run of one solver: certify what it yields, keep the best, record it, and say when to stop.

Stopping rule, everywhere: gap ≤ tol·P(0). It bounds P(w) − min P, so ``tol`` means what it says.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.errors import InputError
from fenchel.problems.objective import gap_between
from fenchel.problems.result import History, Iterate, Result
from fenchel.solvers import solvers

NEXT_TO_NOTHING = 1e-12  # of the scale of the objective
IDLE = 6  # evaluations, each at a third more passes than the one before


class Evaluation(NamedTuple):
    """What a callback is told: where the run stands."""

    passes: float
    accesses: int
    seconds: float
    objective: float
    dual_objective: float
    gap: float
    nnz: int
    w: np.ndarray


class Run:
    """The state of one run: the best point, the best bound, the clock and the record."""

    at_the_end = "stalled"  # the status when a solver has nothing more to yield

    def __init__(
        self, problem: Any, solver: str, options: dict[str, Any], tol: float, callback: Callable[[Evaluation], bool | None] | None
    ) -> None:
        self.problem, self.solver, self.tol, self.callback = problem, solver, tol, callback
        self.objective, self.bound, self.proven = self._objective_at_zero(), -math.inf, -math.inf
        self.target = tol * (problem.scale if problem.in_memory else self.objective)
        # What a solver's private state depends on: it is worth nothing, or worse, to any other run.
        self.key = (solver, tuple(sorted(options.items())), problem.token, self.target if solvers()[solver].aims else None)
        self.history = History()
        self.w: np.ndarray = problem.origin
        self.alpha: np.ndarray | None = None
        self.sure = False  # whether the bound of alpha rests on a v that was computed from it, and not updated step by step
        self.solver_seconds, self.began = 0.0, time.perf_counter()
        self.evaluated = math.inf if not problem.in_memory else -1.0
        self.least, self.idle = math.inf, 0  # the smallest gap, and for how many evaluations it has been that
        self.next_evaluation = 1.0 if problem.in_memory else 0.0
        self.show: Callable[[Evaluation, float], None] = lambda evaluation, target: None

    def _objective_at_zero(self) -> float:
        return float(self.problem.objective_at_zero)

    @property
    def gap(self) -> float:
        """The best objective so far less the best bound so far."""
        return gap_between(self.objective, self.bound)

    def until_done(
        self,
        iterates: Iterator[Iterate],
        begin: Iterate,
        rng: np.random.Generator,
        max_passes: float,
        time_limit: float | None,
        looks_first: bool,
    ) -> Result:
        """Take iterates until the gap is small enough, a limit is reached, or the solver has no more of them."""
        iterate, status = begin, None
        try:
            self._follow(begin)
            limit = self._limit_reached(0.0, max_passes, time_limit)
            status = limit if looks_first and limit is None else self.evaluate(begin) or limit
            while status is None:
                clock = time.perf_counter()
                try:
                    iterate = next(iterates)
                except StopIteration as end:
                    if iterate.passes > self.evaluated:
                        status = self.evaluate(iterate)
                    status = status or end.value or self.at_the_end
                    break
                finally:
                    self.solver_seconds += time.perf_counter() - clock
                self._follow(iterate)
                limit = self._limit_reached(iterate.passes, max_passes, time_limit)
                if limit or iterate.done or iterate.passes >= self.next_evaluation:
                    status = self.evaluate(iterate) or limit
        except KeyboardInterrupt:
            status = "interrupted"
        finally:
            iterates.close()  # type: ignore[attr-defined]
        self._verify(final=True)
        return self._result(status, iterate, rng)

    def _follow(self, iterate: Iterate) -> None:
        """Judge by the regularizer that the solver has chosen, if it does: what was best under another is not under this one."""
        if iterate.regularizer is None or iterate.regularizer == self.problem.regularizer:
            return
        self.problem = self.problem.replace(regularizer=iterate.regularizer)
        self.objective, self.bound, self.proven = self._objective_at_zero(), -math.inf, -math.inf
        self.w, self.alpha = self.problem.origin, None
        origin = origin_of(self.problem)
        if origin.alpha is not None:
            self._raise_bound(origin, np.zeros(0))

    def evaluate(self, iterate: Iterate) -> str | None:
        """Certify an iterate, keep it and its bound if they are the best so far; the status if that ends the run."""
        problem = self.problem
        z = problem.predict(iterate.w) if iterate.z is None else iterate.z
        objective = problem.objective(iterate.w, z) if np.isfinite(iterate.w).all() else math.inf
        # w = 0 predicts nothing: any other point is preferred to it, and the gap tells how good that is.
        better = objective < self.objective or (self.w is problem.origin and math.isfinite(objective))
        if better and not np.array_equal(iterate.w, problem.origin):
            self.objective, self.w = objective, iterate.w.copy()
        if math.isfinite(objective):
            self._raise_bound(iterate, z)
        converged = self.gap <= self.target and self._verify()
        stuck = self._is_stuck()
        self._plan(iterate.passes)
        self.evaluated = iterate.passes
        stop = self._record(iterate, objective)
        if converged:
            return "converged"
        if not math.isfinite(objective):
            return "diverged"
        return "callback" if stop else "stalled" if stuck else None

    def _is_stuck(self) -> bool:
        """Whether a gap that is next to nothing has not shrunk for several evaluations: what is left of it is rounding."""
        self.idle = self.idle + 1 if self.gap >= self.least else 0
        self.least = min(self.least, self.gap)
        return 0.0 < self.target < self.gap <= NEXT_TO_NOTHING * self.problem.scale and self.idle >= IDLE

    def _record(self, iterate: Iterate, objective: float) -> bool:
        """Tell the history, the progress bar and the callback; whether the latter wants to stop."""
        nnz = int(np.count_nonzero(iterate.w))
        evaluation = Evaluation(iterate.passes, iterate.accesses, self.solver_seconds, objective, self.bound, self.gap, nnz, iterate.w)
        self.history.append(**{name: getattr(evaluation, name) for name in History.COLUMNS})
        self.show(evaluation, self.target)
        return bool(self.callback is not None and self.callback(evaluation))

    def _raise_bound(self, iterate: Iterate, z: np.ndarray) -> None:
        problem = self.problem
        alpha, v, source = iterate.alpha, iterate.v, None
        if alpha is None or not hasattr(problem.loss, "conjugate"):
            (alpha, v), source = problem.loss_gradient(z), z
        bound = problem.lower_bound(alpha, v, self.objective, source, wanted=self.objective - self.target)
        if iterate.lower_bound <= self.objective:  # one above it would be rounding, not proof
            self.proven = max(self.proven, iterate.lower_bound)
        if source is not None:
            self.proven = max(self.proven, bound)
        if bound > self.bound:
            self.bound, self.alpha, self.sure = bound, None if alpha is None else alpha.copy(), iterate.done
        self.bound = max(self.bound, self.proven)

    def _verify(self, final: bool = False) -> bool:
        """Recompute the bound from α alone: what is reported does not rest on v, which solvers update step by step."""
        if self.alpha is not None and not self.sure and hasattr(self.problem.loss, "conjugate"):
            # What was far from the tolerance was not worth a search on the way; what is reported is.
            wanted = math.inf if final and self.gap > self.target else self.objective - self.target
            self.bound = max(self.proven, self.problem.lower_bound(self.alpha, objective=self.objective, wanted=wanted))
        return self.gap <= self.target

    def _plan(self, passes: float) -> None:
        """Evaluate next when half the passes that the present rate still asks for are done, and never too rarely."""
        ahead = max(1.0, 0.3 * passes)
        if self.history.rows and self.target > 0.0:
            before, gap_before = self.history.rows[-1][0], self.history.rows[-1][5]
            if math.isfinite(gap_before) and self.target < self.gap < gap_before and passes > before:
                rate = math.log(gap_before / self.gap) / (passes - before)
                ahead = min(ahead, max(1.0, 0.5 * math.log(self.gap / self.target) / rate))
        self.next_evaluation = passes + math.floor(ahead)

    def _limit_reached(self, passes: float, max_passes: float, time_limit: float | None) -> str | None:
        if passes >= max_passes:
            return "max_passes"
        late = time_limit is not None and time.perf_counter() - self.began >= time_limit
        return "time_limit" if late else None

    def _result(self, status: str, iterate: Iterate, rng: np.random.Generator) -> Result:
        coef, intercept = self.problem.split(self.w)
        state = {**iterate.state, "key": self.key, "rng": rng.bit_generator.state}
        return Result(
            w=self.w,
            alpha=self.alpha,
            objective=self.objective,
            dual_objective=self.bound,
            converged=bool(self.gap <= self.target),
            certified=self.problem.in_memory,
            status=status,
            passes=iterate.passes,
            seconds=self.solver_seconds,
            history=self.history,
            solver=self.solver,
            tol=self.tol,
            target=self.target,
            coef=coef,
            intercept=intercept,
            regularizer=self.problem.regularizer,
            iterate=iterate._replace(state=state).copy(),
        )


class StreamRun(Run):
    """A run over rows that are read once: judged on the way, by every row's loss before it was learnt."""

    at_the_end = "exhausted"

    def _objective_at_zero(self) -> float:
        return math.inf  # not known before the rows are

    def evaluate(self, iterate: Iterate) -> str | None:
        """Every iterate counts, and the last is the one to keep: nothing is known of the others on the same rows."""
        met = iterate.progressive
        if met is None:
            return None
        self.w = iterate.w.copy()
        self.objective = met.loss / met.rows + self.problem.penalty(iterate.w)
        self.bound = self._bound_of_slopes(met.dual / met.rows, met.v / met.rows)
        self.next_evaluation = iterate.passes
        stop = self._record(iterate, self.objective)
        if not math.isfinite(self.objective):
            return "diverged"
        return "callback" if stop else None

    @property
    def gap(self) -> float:
        """Not a number, for the objective is an estimate: its distance to the bound proves nothing."""
        return math.nan

    def _bound_of_slopes(self, dual: float, v: np.ndarray) -> float:
        """The best of c·(mean of −φ*) − Ω*(cv) over 0 ≤ c ≤ 1: no more than D(cα), for φ*(0) ≤ 0."""
        from scipy.optimize import minimize_scalar  # here, for it is a third of what importing fenchel takes

        curved = self.problem.regularizer.strong_convexity() > 0.0
        corner = 1.0 if curved else min(1.0, self.problem.regularizer.domain_scale(v))
        found = minimize_scalar(lambda c: self.problem.penalty_conjugate(c * v) - c * dual, bounds=(0.0, corner), method="bounded")
        return max(0.0, dual - self.problem.penalty_conjugate(v), -float(found.fun))

    def _verify(self, final: bool = False) -> bool:
        return False

    def _result(self, status: str, iterate: Iterate, rng: np.random.Generator) -> Result:
        if status == self.at_the_end:
            iterate = iterate._replace(passes=float(self.problem.passes))
        return super()._result(status, iterate, rng)


def as_start(problem: Any, start: Iterate | Result | np.ndarray | None, key: Any, rng: np.random.Generator) -> Iterate | None:
    """The start as an iterate of this problem; private state goes only to the same solver on the same problem."""
    if start is None:
        return None
    start = start.iterate if isinstance(start, Result) else start
    iterate = start if isinstance(start, Iterate) else Iterate(np.asarray(start, dtype=np.float64))
    if iterate.w.shape != problem.shape:
        raise InputError(f"start has weights of shape {iterate.w.shape}; this problem's have shape {problem.shape}.")
    if not np.isfinite(iterate.w).all():
        raise InputError("start holds weights that are not finite: start from others, or from none.")
    w = problem.nearest(np.ascontiguousarray(iterate.w, dtype=np.float64))
    iterate = iterate._replace(w=w, passes=0.0, accesses=0, v=None, z=None, lower_bound=-math.inf)
    if iterate.alpha is not None and not problem.is_dual_point(iterate.alpha):
        iterate = iterate._replace(alpha=None)
    if iterate.state.get("key") != key:
        return iterate._replace(state={}, regularizer=None)
    rng.bit_generator.state = iterate.state["rng"]
    return iterate


def origin_of(problem: Any) -> Iterate:
    """Where a run without a start begins; α = 0 gives a bound that needs no pass over the data."""
    if not (problem.in_memory and hasattr(problem.loss, "conjugate")):
        return Iterate(problem.origin)
    return Iterate(problem.origin, alpha=np.zeros(problem.dual_shape), v=np.zeros(problem.shape))

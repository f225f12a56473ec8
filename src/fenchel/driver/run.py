"""One run of one solver: evaluate its iterates, keep the best, record the history, and decide when to stop

Stopping rule for every solver: gap ≤ tol·P(0). The gap bounds P(w) − min P, so that ``tol`` is the accuracy of the result.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import kernel
from fenchel.core.random_numbers import RandomNumbers
from fenchel.driver.certificate import Certificate
from fenchel.driver.checkpoint import Checkpoint
from fenchel.driver.schedule import Schedule
from fenchel.driver.start import origin_of
from fenchel.problems.result import History, Iterate, Result
from fenchel.solvers import solvers

UNMOVED = 100  # iterates for which a solver reads nothing, after which it makes no more progress
UNPROVEN = 3  # evaluations at which the estimated gap reaches the target and the proven one does not, after which rounding is the cause


class Evaluation(NamedTuple):
    """The state of a run at an evaluation, which callbacks receive: the columns of the history, then the weights."""

    passes: float
    accesses: int
    seconds: float
    objective: float
    dual_objective: float
    gap: float
    nnz: int
    w: np.ndarray


class Limits(NamedTuple):
    """When a run ends before its gap is small enough."""

    max_passes: float
    time_limit: float | None
    began: float

    def reached(self, passes: float) -> str | None:
        """The status of a run that has reached a limit."""
        if passes >= self.max_passes:
            return "max_passes"
        late = self.time_limit is not None and time.perf_counter() - self.began >= self.time_limit
        return "time_limit" if late else None


class Run:
    """The state of one run on rows in memory: the certificate, the schedule of evaluations, the clock and the history."""

    at_the_end = "stalled"  # the status when a solver yields no more iterates
    certified = True
    begun = 0  # how many runs have begun in this process

    def __init__(
        self, problem: Any, solver: str, options: dict[str, Any], tol: float, callback: Callable[[Evaluation], bool | None] | None
    ) -> None:
        self.problem, self.tol, self.callback = problem, tol, callback
        self.solvers: list[tuple[str, float]] = []  # those that ran, with the passes before each
        self.target = tol * self._scale()
        self.set_solver(solver, options)
        self.certificate = Certificate(problem, self._first_objective(), self.target)
        self.schedule = Schedule(1.0 if problem.in_memory else 0.0)
        self.history = History()
        self.unmoved = 0  # iterates in a row for which the solver has read nothing
        self.unproven = 0  # evaluations at which rounding kept the proven gap above the target, and the estimated one reached it
        self.solver_seconds, self.began = 0.0, time.perf_counter()
        self.evaluated = -1.0 if problem.in_memory else math.inf  # passes at the last evaluation; a stream cannot be evaluated again
        self.show: Callable[[Evaluation, float, str], None] = lambda evaluation, target, note: None
        self.checkpoint: Checkpoint | None = None

    def set_solver(self, solver: str, options: dict[str, Any], passes: float = 0.0) -> None:
        """Take the iterates that come, after so many passes, for those of this solver."""
        self.solver, self.options = solver, options
        self.solvers = [*(earlier for earlier in self.solvers if earlier[1] < passes), (solver, passes)]
        # A solver's private state is used again only where all of this is the same.
        self.key = (solver, tuple(sorted(options.items())), self.problem.token, self.target if solvers()[solver].aims else None)

    def _scale(self) -> float:
        """What the tolerance is relative to."""
        return float(self.problem.scale)

    def _first_objective(self) -> float:
        return float(self.problem.objective_at_zero)

    @property
    def gap(self) -> float:
        """The best objective so far minus the best bound so far."""
        return self.certificate.gap

    def until_done(
        self,
        iterates: Iterator[Iterate],
        begin: Iterate,
        rng: RandomNumbers,
        max_passes: float,
        time_limit: float | None,
        evaluates_start: bool,
    ) -> Result:
        """Take iterates until the gap is small enough, a limit is reached, or the solver yields no more; ``begin`` is evaluated first
        unless the solver yields it itself. After an interrupt the result is that of the iterates so far."""
        iterate, status = begin, None
        try:
            Run.begun += 1
            limits = Limits(max_passes, time_limit, self.began)
            self._follow(begin)
            limit = limits.reached(0.0)
            is_known = evaluates_start and limit is None and self.certificate.objective > self.target
            status = None if is_known else self.evaluate(begin) or limit
            while status is None:
                iterate, status = self._advance(iterates, iterate, limits)
                if self.checkpoint is not None and self.checkpoint.is_due:
                    self.checkpoint.save(self, iterate, rng)
            return self._finish(iterates, status, iterate.copy() if iterate is begin else iterate, rng)
        except KeyboardInterrupt:
            return self._finish(iterates, "interrupted", iterate.copy() if iterate is begin else iterate, rng)
        except BaseException:
            iterates.close()  # type: ignore[attr-defined]
            raise

    def _finish(self, iterates: Iterator[Iterate], status: str, iterate: Iterate, rng: RandomNumbers) -> Result:
        iterates.close()  # type: ignore[attr-defined]  # the solver's memory is not needed for the last evaluation
        self._verify_result()
        if self.checkpoint is not None and (self.checkpoint.is_asked_for or self.checkpoint.is_due or status == "interrupted"):
            self.checkpoint.save(self, iterate, rng)
        return self._result(status, iterate, rng)

    def _advance(self, iterates: Iterator[Iterate], last: Iterate, limits: Limits) -> tuple[Iterate, str | None]:
        """The next iterate, and the status if it ends the run."""
        clock = time.perf_counter()
        try:
            iterate = next(iterates)
        except StopIteration as end:
            status = self.evaluate(last) if last.passes > self.evaluated else None
            return last, status or end.value or self.at_the_end
        finally:
            self.solver_seconds += time.perf_counter() - clock
        self._follow(iterate)
        self.unmoved = self.unmoved + 1 if iterate.passes <= last.passes else 0
        if self.unmoved >= UNMOVED:
            return iterate, self.evaluate(iterate) or "stalled"
        limit = limits.reached(iterate.passes)
        if limit or iterate.done or iterate.passes >= self.schedule.next_evaluation:
            return iterate, self.evaluate(iterate) or limit
        return iterate, None

    def _follow(self, iterate: Iterate) -> None:
        """Start a new certificate where the solver has chosen another regularizer."""
        if iterate.regularizer is None or iterate.regularizer == self.problem.regularizer:
            return
        self.problem = self.problem.replace(regularizer=iterate.regularizer)
        self.certificate = Certificate(self.problem, self._first_objective(), self.target)
        origin = origin_of(self.problem)
        if origin.alpha is not None:
            self.certificate.add_bound(origin, origin.z)

    def evaluate(self, iterate: Iterate) -> str | None:
        """Certify an iterate, keep it and its bound if they are the best so far; the status if that ends the run."""
        problem, certificate = self.problem, self.certificate
        z = problem.predict(iterate.w) if iterate.z is None else iterate.z
        is_known = not (iterate.exact or math.isnan(iterate.objective))  # an exact z is what the proof is computed from
        objective = iterate.objective if is_known else problem.objective(iterate.w, z)
        objective = objective if math.isfinite(objective) else math.inf
        is_best = certificate.add_point(iterate.w, objective)
        if math.isfinite(objective):
            certificate.add_bound(iterate, z, is_best)
        gap = certificate.gap
        if gap <= self.target or certificate.is_contradictory:
            certificate.verify(z if is_best and (iterate.exact or iterate.z is None) else None)
            gap = certificate.gap
            self.unproven += gap > self.target
        stalled = self.schedule.is_stalled(gap, self.target, problem.scale) or self.unproven >= UNPROVEN
        self.schedule.plan(iterate.passes, gap, self.target)
        self.evaluated = iterate.passes
        stop = self._record(iterate, objective)
        if gap <= self.target:
            return "converged"
        if certificate.is_contradictory:
            return "contradiction"
        if not math.isfinite(objective):
            return "diverged"
        return "callback" if stop else "stalled" if stalled else None

    def _record(self, iterate: Iterate, objective: float) -> bool:
        """Add to the history, update the progress bar and call the callback; whether it asks to stop."""
        nnz = int(count_nonzero(iterate.w.reshape(-1)))
        bound, w = self.certificate.bound, self.problem.without_offset(iterate.w)
        evaluation = Evaluation(iterate.passes, iterate.accesses, self.solver_seconds, objective, bound, self.gap, nnz, w)
        self.history.rows.append(evaluation[:-1])  # all but the weights
        self.show(evaluation, self.target, self.note())
        return bool(self.callback is not None and self.callback(evaluation))

    def note(self) -> str:
        """What the progress bar says beside the numbers of an evaluation."""
        return ""

    def _verify_result(self) -> None:
        best = self.certificate
        reported = self.problem.with_offset(self.problem.without_offset(best.w))  # with an intercept that is a rounded sum
        if reported is not best.w and not np.array_equal(reported, best.w):
            best.w, best.error = reported, None
        best.verify(final=True)
        if best.is_contradictory:
            best.withdraw()
        self.history.cap(best.bound)

    def _result(self, status: str, iterate: Iterate, rng: RandomNumbers) -> Result:
        best = self.certificate
        if status == "converged" and not best.is_reached:
            status = "stalled"
        coef, intercept = self.problem.split(best.w)
        state = {**iterate.state, "key": self.key, "rng": rng.state}
        # The solver, which has ended, no longer changes its arrays, but those of the problem must not become the user's.
        w, z = (self.problem.released(part) for part in (iterate.w, iterate.z))
        return Result(
            w=self.problem.without_offset(best.w),
            alpha=best.alpha,
            objective=best.objective,
            objective_error=best.error or 0.0,
            dual_objective=best.bound,
            converged=bool(self.certified and best.is_reached),
            certified=self.certified,
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
            iterate=iterate._replace(w=w, z=z, state=state, offset=self.problem.offset, progressive=None),
            solvers=tuple(self.solvers),
        )


@kernel
def count_nonzero(w):
    """The number of entries that are not 0, in a quarter of the time that NumPy takes for many."""
    count = 0
    for j in range(w.shape[0]):
        count += w[j] != 0.0
    return count

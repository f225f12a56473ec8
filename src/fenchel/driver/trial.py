"""Trials of solvers that may be done soon, before one that suits the problem whatever happens

Dual ascent often reaches the tolerance in a few passes, where an interior point method makes ten steps or more that cost several each;
but it may also need thousands. Nothing that is known before the run tells which, and the course of its gap does: a trial goes on while the
passes that it still needs, at the rate at which its gap falls, take less time than the next solver would. What was spent does not count,
but a trial may not spend more than twice that time in all. The next solver goes on from where the trial ended, if it can use that point.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from fenchel.problems.result import History, Iterate, Result

LEFT = 0.3  # least share of the next solver's time that it needs from wherever the trial ends
MOST = 2.0  # time that a trial may take in all, relative to the next solver's


class Stage(NamedTuple):
    """A solver, its options, and the time that the next one takes from the origin, in passes of this one.

    It is not judged before ``least`` passes. With ``from_origin`` the next solver begins at the origin, wherever this one ended.
    """

    solver: str
    options: dict[str, Any]
    most: float = math.inf
    least: float = 2.0
    from_origin: bool = False


def after_start(stages: list[Stage], start: Any, problem: Any) -> list[Stage]:
    """The stages from the one on that an earlier run of the same problem, whose result is the ``start``, ended with; else all."""
    iterate = start.iterate if isinstance(start, Result) else start
    solver, _, token, _ = iterate.state.get("key", (None,) * 4) if isinstance(iterate, Iterate) else (None,) * 4
    names = [stage.solver for stage in stages]
    return stages[names.index(solver) :] if token == problem.token and solver in names else stages


def in_stages(
    stages: Sequence[Stage],
    begin: Callable[[Stage, Iterate | None], Iterator[Iterate]],
    goes_on: Callable[[Stage, float], bool],
    start: Iterate | None = None,
) -> Iterator[Iterate]:
    """The iterates of one stage after the other, the first begun with ``start``, each other with the last iterate of the one before.

    After every iterate ``goes_on`` is asked whether the stage does, with the passes that were made before it; the last stage always does.
    """
    last = start
    passes, accesses = 0.0, 0
    for stage in stages:
        solver = begin(stage, last)
        while True:
            try:
                iterate = next(solver)
            except StopIteration as end:
                if stage is stages[-1]:
                    return end.value
                break
            last = iterate._replace(passes=passes + iterate.passes, accesses=accesses + iterate.accesses)
            yield last
            if stage is not stages[-1] and not goes_on(stage, passes):
                solver.close()  # type: ignore[attr-defined]
                break
        passes, accesses = (last.passes, last.accesses) if last is not None else (passes, accesses)
    return None


def is_promising(history: History, target: float, stage: Stage, before: float) -> bool:
    """Whether the gap falls so fast that going on takes less time than the next solver; ``before`` passes were made in earlier stages.

    The rate is that of the latter half of the stage. The next solver is assumed to need that share of its time from the origin which is the
    share of the digits that are left.

    >>> history = History()
    >>> for passes, gap in [(0, 1.0), (1, 0.1), (2, 0.01)]:
    ...     history.append(passes=passes, accesses=0, seconds=0.0, objective=gap, dual_objective=0.0, gap=gap, nnz=0)
    >>> [is_promising(history, 1e-6, Stage("sdca", {}, most), 0.0) for most in (30.0, 3.0)]
    [True, False]
    """
    passes, gaps = history["passes"], history["gap"]
    now, gap = float(passes[-1]), float(gaps[-1])
    if gap <= target or now - before < stage.least:
        return True
    reference = max(int((passes <= before + 0.5 * (now - before)).sum()) - 1, 0)
    if not gap < gaps[reference]:
        return False
    rate = math.log(gaps[reference] / gap) / (now - passes[reference])
    left = math.log(gap / target)
    share = 1.0 if stage.from_origin else max(LEFT, min(1.0, left / math.log(gaps[0] / target)))
    return bool(left / rate <= share * stage.most and now - before + left / rate <= MOST * stage.most)

"""A trial of a cheap solver before the one that suits the problem whatever happens

Dual ascent often reaches the tolerance in a few passes, where an interior point method makes thirty steps that cost several passes each,
and momentum takes dozens of passes to build up; but it may also need thousands. Nothing that is known before the run tells which, and three
or four passes do: the trial goes on while its gap falls so fast that it will be done within a number of passes. Otherwise the solver that
was chosen goes on from where it ended.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from fenchel.problems.result import History, Iterate

MOST_PASSES = 30.0  # passes within which a trial must be going to end


def with_trial(trial: Iterator[Iterate], rest: Callable[[Iterate], Iterator[Iterate]], goes_on: Callable[[], bool]) -> Iterator[Iterate]:
    """The iterates of a trial while it ``goes_on``, then those of ``rest``, which is called with the last iterate of the trial."""
    last = next(trial)
    while True:
        yield last
        if not goes_on():
            break
        last = next(trial)
    trial.close()  # type: ignore[attr-defined]
    solver = rest(last)
    while True:
        try:
            iterate = next(solver)
        except StopIteration as end:
            return end.value
        yield iterate._replace(passes=last.passes + iterate.passes, accesses=last.accesses + iterate.accesses)


def is_promising(history: History, target: float) -> bool:
    """Whether the gap falls so fast that the target will be reached within ``MOST_PASSES``.

    >>> history = History()
    >>> for passes, gap in [(0, 1.0), (1, 0.1), (2, 0.01)]:
    ...     history.append(passes=passes, accesses=0, seconds=0.0, objective=gap, dual_objective=0.0, gap=gap, nnz=0)
    >>> is_promising(history, 1e-6), is_promising(history, 1e-40)
    (True, False)
    """
    passes, gaps = history["passes"], history["gap"]
    if len(passes) < 2 or passes[-2] == 0.0:
        return True
    if not 0.0 < target < gaps[-1] < gaps[-2]:
        return bool(0.0 < gaps[-1] <= target)
    rate = math.log(gaps[-2] / gaps[-1]) / (passes[-1] - passes[-2])
    return bool(passes[-1] + math.log(gaps[-1] / target) / rate <= MOST_PASSES)

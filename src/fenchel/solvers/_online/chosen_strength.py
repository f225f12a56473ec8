"""``strength="auto"``: the first pass chooses the strength of the regularizer, and later passes use it

The search is described in :mod:`.strength_search`; here it gets its candidates and the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fenchel.problems.result import Iterate
from fenchel.solvers._online.candidates import Candidate, SeparateCandidates
from fenchel.solvers._online.dual_averaging import LinearDualAveraging
from fenchel.solvers._online.online_loop import ROWS_BEFORE_START, OnlineLoop
from fenchel.solvers._online.ridge_candidates import RidgeCandidates
from fenchel.solvers._online.strength_search import StrengthSearch

SAMPLED = 256  # rows from which the mean of ‖x‖² is estimated


def run_with_chosen_strength(
    problem: Any,
    start: Iterate | None,
    predictor: str,
    settings: dict[str, Any],
    rule: Callable[..., Any],
    run: Callable[..., Iterator[Iterate]],
) -> Iterator[Iterate]:
    """The first pass with several strengths at once, then more passes with the best; on a stream, all along with the best so far.

    ``rule(problem, start)`` makes the update rule of a candidate, and ``run(problem, start)`` continues with one strength.
    """
    unit = unit_strength(problem) / problem.regularizer.strong_convexity()
    source = OnlineLoop(problem, start=start, **settings)
    averaging = predictor == "suffix" and problem.in_memory

    def candidate(exponent: float, of: Candidate | None = None) -> Candidate:
        own = problem.replace(regularizer=problem.regularizer.times(unit * 2.0**exponent))
        begin = start if of is None else of.iterate(scale=2.0 ** (exponent - of.exponent))
        loop = OnlineLoop(own, start=begin, certify=False, **{**settings, "rng": settings["rng"].spawn(1)[0]})
        return Candidate(own, exponent, rule(own, begin), loop, "last" if averaging else predictor)

    first_rule = rule(problem, start)
    one_row = problem.in_memory and start is None and source.batch == 1 and not problem.vector_valued
    if one_row and predictor in ("last", "suffix") and isinstance(first_rule.weights, LinearDualAveraging):
        candidates: Any = RidgeCandidates(problem, unit, float(first_rule.state.offset))
    else:
        candidates = SeparateCandidates(candidate, problem.threads)
    search = StrengthSearch(candidates, source.batch)
    if not problem.in_memory:
        for best in search.on_stream(source.chunks()):
            yield candidates.iterate(best)
        return
    first = candidates.iterate(search.in_memory(source.chunks(), problem.m, averaging))._replace(passes=1.0)
    yield first
    for later in run(problem.replace(regularizer=first.regularizer), first):
        yield later._replace(passes=later.passes + 1.0, accesses=later.accesses + first.accesses)


def unit_strength(problem: Any) -> float:
    """R²/m, R² the mean of ‖x‖²: the strengths tried are powers of two times it."""
    sample = problem.sample()
    some = np.linspace(0, len(sample.y) - 1, min(len(sample.y), SAMPLED)).astype(np.int64)
    order = 2.0 if problem.regularizer.separable else problem.regularizer.dual_order()
    square = float(np.mean(sample.s[some] * sample.design.row_norms(order, some) ** 2))
    return (square if square > 0.0 else 1.0) / (problem.m if problem.in_memory else ROWS_BEFORE_START)

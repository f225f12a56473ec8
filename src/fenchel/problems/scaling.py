"""The best of D(cα) over 0 ≤ c ≤ 1: a dual point from the derivatives of the loss is often better when it is a little smaller

D is concave: longer and longer steps from c = 1, or from the largest c at which Ω* is finite, find an interval around the best c, and
tops of parabolas come near it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from fenchel.core.numeric import EPSILON

FAR = 10.0  # the best c is searched only for gaps within this factor of the wanted gap
FIRST_STEP = 1e-3  # of the search, relative to the largest c
LONGER = 4.0  # ratio of a step of the search to the step before
REFINEMENTS = 2  # how often the search continues at the top of a parabola
FEASIBLE = 1.0 - 8.0 * EPSILON  # the largest c at which Ω* is finite is rounded, and taken this much smaller


def best_scaled(value: Callable[[float], float], largest: float, objective: float, wanted: float) -> float:
    """The best of a concave value(c), 0 ≤ c ≤ largest, and of value(1); no search where it is at least ``wanted``, or far below.

    ``objective`` is that of a point, so that the gap aimed at is ``objective − wanted``.
    """
    # Ω* is infinite for larger c, so that the best c is often the largest, where the value is not differentiable.
    best = at_largest = value(min(largest, 1.0))
    if largest < 1.0 and not best >= wanted:
        best = max(best, value(1.0))
    far = math.isfinite(wanted) and objective - best > FAR * (objective - wanted)
    if far and best < 0.0:
        best = max(best, value(0.0))  # α = 0, whose bound is 0 for most losses
    return best if best >= wanted or far else max(best, _largest_below(value, largest, at_largest))


def _largest_below(value: Callable[[float], float], largest: float, at_largest: float) -> float:
    """About the largest value(c) of a concave function, 0 ≤ c ≤ largest: longer and longer steps from there, then tops of parabolas.

    >>> round(_largest_below(lambda c: -((c - 0.7) ** 2), 1.0, -0.09), 12)
    -0.0
    """
    points = [(largest, at_largest)]
    step = FIRST_STEP * largest
    while points[-1][0] > 0.0 and (len(points) == 1 or points[-1][1] > points[-2][1]):
        c = max(0.0, points[-1][0] - step)
        points.append((c, value(c)))
        step *= LONGER
    points = points[-3:]
    for _ in range(REFINEMENTS):
        top = _top_of_parabola(*points) if len(points) == 3 else math.nan
        if not points[-1][0] < top < points[0][0] or any(top == c for c, _ in points):
            break
        around = sorted([*points, (top, value(top))], reverse=True)
        highest = max(range(1, 3), key=lambda k: around[k][1])
        points = around[highest - 1 : highest + 2]
    return max(height for _, height in points)


def _top_of_parabola(*points: tuple[float, float]) -> float:
    """Where the parabola through three points is highest; NaN if it has no top."""
    (a, at_a), (b, at_b), (c, at_c) = points
    left, right = (at_a - at_b) / (a - b), (at_b - at_c) / (b - c)
    curvature = (left - right) / (a - c)
    return 0.5 * (a + b) - 0.5 * left / curvature if curvature < 0.0 else math.nan

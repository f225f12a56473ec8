"""Newton's method under penalties that become weaker step by step, where steps under the penalty itself are short

Where φ'' jumps, as that of a squared hinge does, a Newton step can lead far beyond the rows that its model knows of, above all if these
are fewer than the weights, which only a weak penalty λ then determines. Steps along such directions are short. Once one is, the method
takes its steps on the mean loss + s/2·‖w‖² with a stronger penalty s, and reduces s to λ as soon as w is about a minimiser for it: as soon
as its gap ‖∇‖²/(2s) is at most a few times its objective. That takes about one step for each s. On squared hinge problems of seven data
sets (usps, optdigits, osuleaf, gunpoint, sonar, w8a, splice), each with λm = 1, 0.1, 0.01 and 10⁻⁴, the steps to a gap of 10⁻⁴·P(0) were
266 in all and at most 17, in place of 513 and 111.
"""

from __future__ import annotations

import math

from fenchel.core.compiled import compiled
from fenchel.problems.problem import Problem

SHORT = 0.3  # length of a step below which a stronger penalty is taken; with 0.5 the steps above are 268 in place of 266
STRONGER = 1e-3  # that penalty relative to a bound on the second derivatives, (1/γ)·mean ‖x_i‖²: 1e-2 and 1e-4 take 277 and 275 steps
WEAKER = 3.0  # ratio of a penalty to the next: 10 and 30 take up to 36 and 58 steps
GAP = 10.0  # largest gap relative to the objective for the next penalty; with 1 the steps are 310


def strongest(problem: Problem) -> float:
    """The penalty to begin with, no weaker than that of the problem; the same where no bound on second derivatives is known."""
    return stronger(problem.penalised.l2, problem.smoothness)


@compiled
def stronger(l2, bound):
    """The penalty to begin with in place of l2, for a ``bound`` on second derivatives.

    >>> stronger(0.1, 2.0), stronger(0.1, 2000.0), stronger(0.1, math.inf)
    (0.1, 2.0, 0.1)
    """
    return max(l2, STRONGER * bound) if math.isfinite(bound) else l2


@compiled
def weakened(strength, l2, loss, square, product, length):
    """The next strength: the smallest of s, s/3, s/9, … before the first for which w is no minimiser even roughly, but at least l2.

    ``loss`` is the mean loss, ``square`` = ‖g‖² of its gradient, ``product`` = <g, w> and ``length`` = ‖w‖² over the penalised weights.

    >>> weakened(9.0, 1.0, 1.0, 0.0, 0.0, 0.0), weakened(9.0, 1.0, 1.0, 1e9, 0.0, 0.0)
    (1.0, 9.0)
    """
    while strength > l2:
        gap = (square + 2.0 * strength * product + strength * strength * length) / (2.0 * strength)
        if not gap <= GAP * (loss + 0.5 * strength * length):
            break
        strength = max(strength / WEAKER, l2)
    return strength

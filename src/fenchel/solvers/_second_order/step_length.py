"""How far to go along a Newton direction d: about the minimum of P(w + t·d) over t > 0, for the ridge penalty

Predictions are linear in t, so that the derivative of P along d costs O(m), no product with X. P is convex along d: a root of the
derivative is searched by the method of Dowell & Jarratt (*A modified regula falsi method*, BIT 1971), until the derivative is a share of
that at 0. Near the minimiser t = 1 is such a point. Farther away the steps of Newton's method are too short where losses fall like e^{−z},
and too long where φ'' jumps, as that of a squared hinge does.
"""

from __future__ import annotations

import math

from fenchel.core.compiled import compiled, kernel, reassociated
from fenchel.core.numeric import narrowed

FLAT = 0.3  # relative to the derivative at 0: |derivative| at which the search ends
LONGEST = 64.0  # longest step tried
MOST_TRIALS = 20
MARGIN = 0.05  # least distance of a trial from the ends of the interval, relative to its width


@compiled
@reassociated
def derivative_along(loss, outputs, z, Xd, y, r, t):
    """Σ_i r_i φ'(z_i + t·(Xd)_i)·(Xd)_i"""
    total = 0.0
    for i in range(z.shape[0]):
        total += r[i] * outputs.dot(outputs.derivative(loss, outputs.along(z, Xd, i, t), y[i]), Xd[i])
    return total


@kernel
def length_along(loss, outputs, z, Xd, y, r, slope, linear, quadratic):
    """t > 0 near the minimum; ``slope`` is the derivative at 0, and ``linear + t·quadratic`` that of the penalty."""
    low, at_low, high, at_high = 0.0, -slope, math.inf, -math.inf  # decreases along d: positive before the minimum
    t, last = 1.0, 0
    for _ in range(MOST_TRIALS):
        at_t = derivative_along(loss, outputs, z, Xd, y, r, t) + linear + t * quadratic
        if not abs(at_t) > -FLAT * slope:  # also where it is not a number, which the caller finds
            return t
        low, at_low, high, at_high, last = narrowed(low, at_low, high, at_high, last, t, -at_t)
        if math.isinf(high):
            if t >= LONGEST:
                return t
            t *= 2.0
        else:
            width = high - low
            t = min(max(high - at_high * width / (at_high - at_low), low + MARGIN * width), high - MARGIN * width)
    return low if low > 0.0 else t

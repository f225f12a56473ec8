"""Exponents of growth: the slope of log y against log x, with its interval"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np


class Slope(NamedTuple):
    """An exponent b of y ∝ x^b, and a 95 % interval from the scatter around the line."""

    value: float
    low: float
    high: float


def slope(x: np.ndarray, y: np.ndarray) -> Slope:
    """Fit y ∝ x^b by least squares of the logarithms; not a number with fewer than two finite points.

    >>> slope(np.array([1.0, 2.0, 4.0, 8.0]), np.array([3.0, 12.0, 48.0, 192.0])).value.__round__(6)
    2.0
    """
    used = np.isfinite(y) & (y > 0.0) & (x > 0.0)
    a, b = np.log(x[used]), np.log(y[used])
    if len(a) < 2 or np.ptp(a) == 0.0:
        return Slope(math.nan, math.nan, math.nan)
    centred = a - a.mean()
    value = float(centred @ b / (centred @ centred))
    if len(a) == 2:
        return Slope(value, -math.inf, math.inf)
    rest = b - b.mean() - value * centred
    from scipy.stats import t

    half = float(t.ppf(0.975, len(a) - 2) * math.sqrt(rest @ rest / (len(a) - 2) / (centred @ centred)))
    return Slope(value, value - half, value + half)

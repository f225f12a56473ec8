"""Exponentials and logarithms that the compiler can vectorise

The library's functions are calls, so that a loop around them handles one number at a time. These are arithmetic on numbers and their bits
alone: loops over rows compute four to eight of them at once, in a fourth to a fifth of the time (``benchmarks/elementary.py``). Both are
accurate to about one unit in the last place, as :mod:`fenchel.problems.rounding` assumes. Where each number depends on the one before,
as in Newton's method for a single one, ``math.exp`` is faster.

    eˣ = 2ⁿ·eʳ,   n the integer nearest to x/log 2;  the series of eʳ up to r¹³ is exact to rounding for |r| ≤ ½·log 2
    log x = k·log 2 + log(1 + f),   x = 2ᵏ(1 + f), √½ ≤ 1 + f < √2;  log(1 + f) by a polynomial in s = f/(2 + f), from the identity
                                                              log(1 + f) = 2·artanh(s) (Sun Microsystems' fdlibm, 1993)
"""

from __future__ import annotations

import math

import numpy as np

from fenchel.core.compiled import contracted, inlined

INVERSE = 1.0 / math.log(2.0)
EXP_HIGH, EXP_LOW = 6.93145751953125e-1, 1.42860682030941723212e-6  # log 2 in two parts: n·EXP_HIGH is exact
ROUND = 6755399441055744.0  # 1.5·2⁵²: adding it leaves the nearest integer in the low bits
ROUND_BITS = int(np.float64(ROUND).view(np.int64))
LOWEST, HIGHEST = -746.0, 710.0  # beyond these eˣ is 0 or infinite

LOG_HIGH, LOG_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # log 2 in two parts: k·LOG_HIGH is exact
ROOT_BITS = 0x3FE6A09E00000000  # of √½, without its last digits
SMALLEST_NORMAL = 2.2250738585072014e-308


@inlined
@contracted
def exponential(x):
    """eˣ

    >>> round(exponential(1.0), 12), exponential(-np.inf), exponential(1000.0)
    (2.718281828459, 0.0, inf)
    """
    z = min(max(x, LOWEST), HIGHEST)
    shifted = np.float64(z * INVERSE + ROUND)
    n = float(shifted - ROUND)  # in Python too a float, whose overflow gives no warning
    r = (z - n * EXP_HIGH) - n * EXP_LOW
    bits = shifted.view(np.int64) - ROUND_BITS
    half = bits >> 1  # 2ⁿ in two factors, because it may be subnormal
    first, second = float(np.int64((half + 1023) << 52).view(np.float64)), float(np.int64((bits - half + 1023) << 52).view(np.float64))
    r2 = r * r
    r4 = r2 * r2
    low = (1.0 / 2.0 + r * (1.0 / 6.0)) + r2 * (1.0 / 24.0 + r * (1.0 / 120.0))
    middle = (1.0 / 720.0 + r * (1.0 / 5040.0)) + r2 * (1.0 / 40320.0 + r * (1.0 / 362880.0))
    high = (1.0 / 3628800.0 + r * (1.0 / 39916800.0)) + r2 * (1.0 / 479001600.0 + r * (1.0 / 6227020800.0))
    series = 1.0 + (r + r2 * (low + r4 * (middle + r4 * high)))
    return (series * first) * second if x == x else x


@inlined
@contracted
def logarithm_near(x, rest):
    """log(x + rest) for a positive, finite and normal x, and a rest within its rounding error."""
    bits = np.float64(x).view(np.int64)
    k = int(bits - ROOT_BITS) >> 52
    f = float(np.int64(bits - (k << 52)).view(np.float64)) - 1.0
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    odd = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01))
    even = z * (6.666666666666735130e-01 + w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)))
    half = 0.5 * f * f
    return k * LOG_HIGH - ((half - (s * (half + (odd + even)) + (k * LOG_LOW + rest / x))) - f)


@inlined
def logarithm(x):
    """log x for x > 0; that of the smallest normal number for smaller x

    >>> logarithm(10.0) == math.log(10.0), logarithm(np.inf)
    (True, inf)
    """
    return logarithm_near(max(x, SMALLEST_NORMAL), 0.0) if x < math.inf else x


@inlined
def log_one_plus(x):
    """log(1 + x) for x ≥ 0

    >>> log_one_plus(1e-20)
    1e-20
    """
    total = 1.0 + x
    return logarithm_near(total, x - (total - 1.0)) if x < math.inf else x

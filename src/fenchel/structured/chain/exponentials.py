"""Vectorised exponentials of non-positive numbers.

The library function is not vectorised and would cost as much as a whole pass of the recursions that need the exponentials.
eˣ = 2ⁿ·eʳ with n the integer nearest to x/log 2; the series of eʳ up to r¹³ is accurate to the last digit for |r| ≤ ½·log 2.
"""

from __future__ import annotations

import math

import numpy as np

from fenchel.core.compiled import compiled, reassociated

LOWEST = -708.0  # below this, eˣ is subnormal and is set to zero
INVERSE = 1.0 / math.log(2.0)
HIGH, LOW = 6.93145751953125e-1, 1.42860682030941723212e-6  # log 2 in two parts: n·HIGH is exact
ROUND = 6755399441055744.0  # 1.5·2⁵²: adding it leaves the nearest integer in the low bits


@compiled
def exponentiate(x):
    """x ← eˣ for a vector of numbers x ≤ 0, including −∞."""
    number = np.empty(1)
    bits = number.view(np.int64)
    for k in range(x.shape[0]):
        z = x[k] if x[k] > LOWEST else LOWEST
        number[0] = z * INVERSE + ROUND
        n = number[0] - ROUND
        e = series((z - n * HIGH) - n * LOW)
        bits[0] = ((bits[0] + 1023) & 0x7FF) << 52  # sets the exponent bits, so that number[0] is 2ⁿ
        x[k] = e * number[0] if x[k] > LOWEST else 0.0


@compiled
@reassociated
def series(r):
    """eʳ, |r| ≤ ½·log 2."""
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    return p * r + 1.0

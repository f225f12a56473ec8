"""Two kinds of numbers for checking a certificate: extended precision with bounds on its rounding, and exact fractions

The check is written once for arrays of either kind. ``error(k)`` bounds the rounding of a sum of k products, relative to the sum of
their absolute values; it is 0 for fractions, whose sums and products are exact. Logarithms, exponentials and powers of fractions are
computed with DIGITS digits.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from fenchel.problems.rounding import OPERATIONS

DIGITS = 60  # of logarithms, exponentials and powers of fractions
CONTEXT = decimal.Context(prec=DIGITS, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX)
FINEST = Fraction(1, 10 ** (DIGITS - 5))  # their relative error, with room for a few operations


class Extended:
    """NumPy's long double: 64 bits of mantissa on x86, 113 or 53 on other machines."""

    def __init__(self) -> None:
        self.unit = float(np.finfo(np.longdouble).eps) / 2.0
        self.name = f"{np.finfo(np.longdouble).nmant + 1}-bit floating point"

    def array(self, values: Any) -> np.ndarray:
        """The same numbers, exactly."""
        return np.asarray(values, dtype=np.longdouble)

    def number(self, value: float) -> Any:
        """The same number, exactly."""
        return np.longdouble(value)

    def error(self, terms: int) -> float:
        """A bound on the rounding of a sum of so many products, relative to the sum of their absolute values."""
        return 1.01 * (terms + OPERATIONS) * self.unit

    def log(self, x: np.ndarray) -> np.ndarray:
        """The natural logarithm; −∞ at 0."""
        with np.errstate(divide="ignore"):
            return np.log(x)

    def log1p_exp(self, x: np.ndarray) -> np.ndarray:
        """log(1 + eˣ)"""
        return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))

    def exp(self, x: np.ndarray) -> np.ndarray:
        """eˣ"""
        return np.exp(x)

    def power(self, x: np.ndarray, exponent: Any) -> np.ndarray:
        """x^exponent for x ≥ 0"""
        return x**exponent


class Exact:
    """Python's fractions: sums and products without rounding."""

    name = "exact fractions"

    def array(self, values: Any) -> np.ndarray:
        """The same numbers, exactly."""
        given = np.asarray(values)
        if given.dtype == object:
            return given
        out = np.empty(given.shape, dtype=object)
        out.ravel()[:] = [Fraction(float(x)) if math.isfinite(x) else float(x) for x in given.ravel()]
        return out

    def number(self, value: Any) -> Any:
        """The same number, exactly."""
        return Fraction(value) if math.isfinite(value) else float(value)

    def error(self, terms: int) -> Fraction:
        """The error of elementary functions; sums have none."""
        return FINEST

    def _each(self, function: Callable[[decimal.Decimal], Any], x: np.ndarray) -> np.ndarray:
        out = np.empty(np.shape(x), dtype=object)
        out.ravel()[:] = [Fraction(function(as_decimal(value))) for value in np.asarray(x, dtype=object).ravel()]
        return out

    def log(self, x: np.ndarray) -> np.ndarray:
        """The natural logarithm, for x > 0."""
        return self._each(lambda value: value.ln(CONTEXT), x)

    def exp(self, x: np.ndarray) -> np.ndarray:
        """eˣ"""
        return self._each(lambda value: value.exp(CONTEXT), x)

    def log1p_exp(self, x: np.ndarray) -> np.ndarray:
        """log(1 + eˣ)"""
        # 1 + e^−|x| is added exactly, because its logarithm would lose the digits of a small e^−|x|.
        return np.maximum(x, 0) + self._each(log1p, self.exp(-np.abs(x)))

    def power(self, x: np.ndarray, exponent: Any) -> np.ndarray:
        """x^exponent for x ≥ 0"""
        power = as_decimal(exponent)
        return self._each(lambda value: CONTEXT.power(value, power) if value else value, x)


def as_decimal(value: Any) -> decimal.Decimal:
    """A fraction or a float as a decimal number of DIGITS digits."""
    fraction = Fraction(value)
    return CONTEXT.divide(decimal.Decimal(fraction.numerator), decimal.Decimal(fraction.denominator))


def log1p(x: decimal.Decimal) -> decimal.Decimal:
    """log(1 + x) for 0 ≤ x ≤ 1, accurate for small x too."""
    if x < decimal.Decimal("1e-30"):
        return CONTEXT.subtract(x, CONTEXT.divide(CONTEXT.multiply(x, x), decimal.Decimal(2)))
    return CONTEXT.ln(CONTEXT.add(1, x))


def arithmetic(exact: bool) -> Extended | Exact:
    """Exact fractions, or extended precision."""
    return Exact() if exact else Extended()

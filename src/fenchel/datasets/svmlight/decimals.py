"""Format floats as the shortest decimals that are read back as the same floats, in compiled code.

The first 18 digits of x are those of x·10^k, computed from the leading 128 bits of 5^k. They are rounded to fewer digits, and the
result is checked with the reader itself (:mod:`fenchel.datasets.svmlight.floats`), so that it is exact even if not the shortest.
Every decimal of 15 digits (6 for float32) survives the conversion to a float and back, so a shorter one appears as trailing zeros.
"""

from __future__ import annotations

import numpy as np

from fenchel.core.compiled import compiled, inlined, kernel
from fenchel.datasets.svmlight.floats import (
    DOT,
    EXPONENT,
    FIVES,
    LARGEST_POWER,
    MINUS,
    NONE,
    PLUS,
    SMALLEST_POWER,
    TENS,
    U1,
    U10,
    U52,
    ZERO,
    nearest,
    product,
)
from fenchel.datasets.svmlight.parse import COLON, NEWLINE

LONGEST = 24  # characters of a number, as in -2.2250738585072014e-308
ENTRY_ROOM = 1 + 20 + 1 + LONGEST
SPACE = ord(" ")
NO_DECIMALS = -(10**6)
TOO_MANY = np.uint64(10**18)
FRACTION = np.uint64(2**52 - 1)


@compiled
def first_digits(x):
    """W and k such that W, of 18 digits, is the whole part of x·10^k; k = NO_DECIMALS if x is too small."""
    bits = np.float64(x).view(np.uint64)
    e = np.int64(bits >> U52)
    if e == 0:
        return NONE, NO_DECIMALS
    m = ((bits & FRACTION) | (U1 << U52)) << np.uint64(11)
    e -= 1086  # x = m·2^e, m of 64 bits
    k = 17 - ((78913 * (e + 63)) >> 18)
    while k <= LARGEST_POWER:
        high, low = product(m, FIVES[k - SMALLEST_POWER, 0])
        more, _ = product(m, FIVES[k - SMALLEST_POWER, 1])
        W = (high + np.uint64(low + more < more)) >> np.uint64(-(e + 1 + ((217706 * k) >> 16)))
        if W < TOO_MANY:
            return W, k
        k -= 1
    return NONE, NO_DECIMALS


@compiled
def shortest(x, narrow):
    """w and q with w·10^q read back as x > 0, of as few digits as possible; q = NO_DECIMALS if Python's repr is needed."""
    W, k = first_digits(x)
    fewest, most = (6, 9) if narrow else (15, 17)
    if k != NO_DECIMALS:
        for n in range(fewest, most + 1):
            ten = TENS[18 - n]
            w = (W + ten // np.uint64(2)) // ten
            for candidate in (w, w + U1, w - U1):
                read = nearest(candidate, 18 - n - k)
                if read == x or (narrow and np.float64(np.float32(read)) == x):
                    return without_zeros(candidate, 18 - n - k)
    return NONE, NO_DECIMALS


@compiled
def without_zeros(w, q):
    """The same number without trailing zeros in w."""
    while w // U10 * U10 == w:
        w //= U10
        q += 1
    return w, q


@compiled
def count_digits(w):
    """The number of digits of w."""
    n = 1
    while n < 20 and w >= TENS[n]:
        n += 1
    return n


@inlined
def put_digits(out, i, w, n):
    """Write the last n digits of w at i; the position after them."""
    for k in range(n):
        out[i + n - 1 - k] = ZERO + np.int64(w % U10)
        w //= U10
    return i + n


@compiled
def put_decimal(out, i, w, q):
    """Write w·10^q at i as Python's repr does, but without .0; the position after it."""
    n = count_digits(w)
    e = n - 1 + q
    if q >= 0 and e < 16:
        return put_digits(out, i, w * TENS[q], n + q)
    if -4 <= e < 0:
        out[i], out[i + 1] = ZERO, DOT
        return put_digits(out, i + 2, w, -q)
    whole = e + 1 if 0 <= e < 16 else 1
    i = put_digits(out, i, w // TENS[n - whole], whole)
    if n > whole:
        out[i] = DOT
        i = put_digits(out, i + 1, w, n - whole)
    return i if 0 <= e < 16 else put_exponent(out, i, e)


@compiled
def put_exponent(out, i, e):
    """Write the exponent e at i; the position after it."""
    out[i], out[i + 1] = EXPONENT, MINUS if e < 0 else PLUS
    return put_digits(out, i + 2, np.uint64(abs(e)), 3 if abs(e) > 99 else 2)


@kernel
def put_rows(starts, start_ends, bounds, indices, values, narrow, out, left):
    """Write rows as lines; the number of bytes, and of entries ``left[:, 1]`` for Python's repr, with LONGEST blanks at ``left[:, 0]``."""
    i, s, u = 0, 0, 0
    for row in range(len(start_ends)):
        while s < start_ends[row]:
            out[i] = starts[s]
            i += 1
            s += 1
        for entry in range(bounds[row], bounds[row + 1]):
            index = np.uint64(indices[entry])
            out[i] = SPACE
            i = put_digits(out, i + 1, index, count_digits(index))
            out[i] = COLON
            i += 1
            x = values[entry]
            w, q = (NONE, 0) if x == 0.0 else shortest(abs(x), narrow)
            if q == NO_DECIMALS:
                left[u, 0], left[u, 1] = i, entry
                u += 1
                for _ in range(LONGEST):
                    out[i] = SPACE
                    i += 1
            else:
                if np.float64(x).view(np.int64) < 0:
                    out[i] = MINUS
                    i += 1
                i = put_decimal(out, i, w, q)
        out[i] = NEWLINE
        i += 1
    return i, u

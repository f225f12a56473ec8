"""Read decimal numbers as the nearest float64, exactly as Python's ``float`` does, eight digits at a time.

A number is a mantissa w of at most 19 digits times 10^q. Up to 2⁵³ and 10²² both are floats, and one product or quotient
rounds correctly (Clinger 1990). Beyond, w is multiplied by the leading 128 bits of 5^q (Eisel & Lemire; Lemire, *Number
Parsing at a Gigabyte per Second*, 2021); Mushtak & Lemire, *Fast Number Parsing Without Fallback*, 2023, prove that
this always finds the nearest float. If there are more than 19 digits, the first 19 are taken: if w and w + 1 give the same float,
so does every number between them; if not, the result is nan, and the caller must use Python's ``float``.
"""

from __future__ import annotations

import math

import numpy as np

from fenchel.core.compiled import compiled, inlined

PADDING = 16  # bytes that may be read after the end of a text

PLUS, MINUS, DOT, EXPONENT, LOWER, ZERO = (ord(c) for c in "+-.e 0")
U1, U3, U7, U8, U9, U10, U16, U32, U52, U56, U63 = (np.uint64(n) for n in (1, 3, 7, 8, 9, 10, 16, 32, 52, 56, 63))
NONE = np.uint64(0)
ZEROS = np.uint64(0x3030303030303030)
ABOVE_NINE = np.uint64(0x7676767676767676)  # carries a byte of 10 or more into its highest bit
ONES = np.uint64(0x0101010101010101)
PAIRS = np.uint64(0x000000FF000000FF)
EVERY_FOURTH = np.uint64(0x000F424000000064)
EVERY_SECOND = np.uint64(0x0000271000000001)
LOW_HALF = np.uint64(0xFFFFFFFF)
CLOSE = np.uint64(0x1FF)
EXACT = np.uint64(2**53)
TENS = np.array([10**k for k in range(20)], dtype=np.uint64)
ROOM = np.array([(10**19 - 1) // 10**k - (k > 0) for k in range(9)], dtype=np.uint64)  # the largest w that k more digits can be appended to
FLOAT_TENS = np.array([10.0**k for k in range(23)])
SMALLEST_POWER, LARGEST_POWER = -342, 308  # 19 digits times less than 10^-342 are 0, times more than 10^308 are infinite
MANY = 10**15  # larger exponents are truncated, to avoid overflow


def _power_of_five(q: int) -> tuple[int, int]:
    """The leading 128 bits of 5^q in two halves, rounded down, or up if 5^-q fits into 64 bits, so that exact halves can be detected."""
    if q >= 0:
        bits = 5**q << 128 >> (5**q).bit_length()
    else:
        bits = (1 << (5**-q).bit_length() + 127) // 5**-q + (q >= -27)
    return bits >> 64, bits & (2**64 - 1)


FIVES = np.array([_power_of_five(q) for q in range(SMALLEST_POWER, LARGEST_POWER + 1)], dtype=np.uint64)


@inlined
def word(text, i):
    """The eight bytes at i, the first in the lowest bits; compiled to one load."""
    x = NONE
    for k in range(8):
        x |= np.uint64(text[np.uint64(i + k)]) << np.uint64(8 * k)  # unsigned, because signed indices are checked for negative values
    return x


@inlined
def digit(byte):
    """The value of a byte as a digit: 0 to 9 if it is one."""
    return np.int64(byte) - ZERO


@inlined
def others(bytes8):
    """Set the lowest bit of each byte that is not a digit; exact up to the first such byte."""
    distance = bytes8 ^ ZEROS
    return ((distance + ABOVE_NINE) | distance) >> U7 & ONES


@inlined
def before(first_of):
    """The number of bytes before the first marked one."""
    return np.int64(((first_of - U1) & ~first_of & ONES) * ONES >> U56)


@inlined
def decimal(bytes8, count):
    """The value of the first 1 to 8 digits, combined in parallel: pairs, then fours, then eights."""
    x = (bytes8 ^ ZEROS) << np.uint64(64 - 8 * count)
    x = x * U10 + (x >> U8)
    return ((x & PAIRS) * EVERY_FOURTH + (x >> U16 & PAIRS) * EVERY_SECOND) >> U32


@inlined
def number(text, i):
    """The number at i: the position after it, and its value, nan if Python's ``float`` is needed; position i if there is no number."""
    begin = i
    if text[i] == MINUS or text[i] == PLUS:
        i += 1
    w, q, in_range = NONE, 0, True
    first = i
    x = digit(text[i])
    if 0 <= x <= 9 and not 0 <= digit(text[i + 1]) <= 9:  # most numbers have one digit before the point
        w = np.uint64(x)
        i += 1
    else:
        i, w, in_range = digits(text, i, w)
    seen = i - first
    if text[i] == DOT:
        i += 1
        first = i
        i, w, fits = digits(text, i, w)
        in_range &= fits
        q = first - i
        seen -= q
    if seen == 0:
        return begin, 0.0
    if text[i] | LOWER == EXPONENT:
        i, shift = exponent(text, i)
        if i < 0:
            return begin, 0.0
        q += shift
    if not in_range:
        size = long_number(text, begin, q)
    elif w <= EXACT and -22 <= q <= 22:
        size = np.float64(np.int64(w)) * FLOAT_TENS[q] if q >= 0 else np.float64(np.int64(w)) / FLOAT_TENS[-q]
    else:
        size = nearest(w, q)
    return i, -size if text[begin] == MINUS else size


@inlined
def digits(text, i, w):
    """Append the digits at i to w: the position after them, the new w, and whether it fits into 19 digits."""
    in_range = True
    bytes8 = word(text, i)
    rest = others(bytes8)
    while rest == NONE:  # a branch rather than a computed count, so that the processor can predict it
        in_range &= w <= ROOM[8]
        w = w * TENS[8] + decimal(bytes8, 8)
        i += 8
        bytes8 = word(text, i)
        rest = others(bytes8)
    count = before(rest)
    if count > 0:
        in_range &= w <= ROOM[count]
        w = w * TENS[count] + decimal(bytes8, count)
        i += count
    return i, w, in_range


@compiled
def exponent(text, i):
    """The exponent whose e is at i: the position after it, and its value; position -1 if there are no digits."""
    i += 1
    negative = text[i] == MINUS
    if negative or text[i] == PLUS:
        i += 1
    first, value = i, 0
    while 0 <= digit(text[i]) <= 9:
        value = 10 * min(value, MANY) + digit(text[i])
        i += 1
    return (-1, 0) if i == first else (i, -value if negative else value)


@compiled
def long_number(text, i, q):
    """The absolute value of a number of more than 19 digits; q is the power of ten of the last digit."""
    w, taken, dropped, rest = NONE, 0, 0, False
    while True:
        x = digit(text[i])
        if 0 <= x <= 9:
            if taken < 19:
                w = w * U10 + np.uint64(x)
                taken += int(w > NONE)
            else:
                dropped += 1
                rest |= x > 0
        elif text[i] != DOT and text[i] != MINUS and text[i] != PLUS:
            break
        i += 1
    low = nearest(w, q + dropped)
    return low if not rest or low == nearest(w + U1, q + dropped) else math.nan


@compiled
def nearest(w, q):
    """The float64 nearest to w·10^q."""
    if w == NONE or q < SMALLEST_POWER:
        return 0.0
    if q > LARGEST_POWER:
        return math.inf
    # The highest bit of w & ~(w >> 1) is that of w, and the conversion to a float cannot round it up to the next power of two.
    zeros = 1086 - (np.float64(w & ~(w >> U1)).view(np.int64) >> 52)
    w = w << np.uint64(zeros)
    high, low = product(w, FIVES[q - SMALLEST_POWER, 0])
    if high & CLOSE == CLOSE:
        more, _ = product(w, FIVES[q - SMALLEST_POWER, 1])
        low += more
        if more > low:
            high += U1
    top = high >> U63
    m = high >> (top + U9)
    power = ((217706 * q) >> 16) + 63 + np.int64(top) - zeros + 1023
    if power <= 0:
        if power <= -63:
            return 0.0
        m >>= np.uint64(1 - power)
        return np.uint64((m + (m & U1)) >> U1).view(np.float64)  # denormal; one that rounds up to 2⁵² is the least normal number
    if low <= U1 and -4 <= q <= 23 and m & U3 == U1 and m << (top + U9) == high:
        m -= U1  # halfway between two floats: round to the even one
    m = (m + (m & U1)) >> U1
    bits = m + (np.uint64(power - 1) << U52)  # the leading bit of the mantissa adds 1 to the exponent, and rounding up to 2⁵³ another 1
    return np.uint64(bits).view(np.float64) if bits < INFINITE else math.inf


INFINITE = np.uint64(0x7FF0000000000000)


@inlined
def product(x, y):
    """The 128 bits of x·y in two halves."""
    x0, x1, y0, y1 = x & LOW_HALF, x >> U32, y & LOW_HALF, y >> U32
    low = x0 * y0
    middle = x1 * y0 + (low >> U32)
    across = x0 * y1 + (middle & LOW_HALF)
    return x1 * y1 + (middle >> U32) + (across >> U32), x * y

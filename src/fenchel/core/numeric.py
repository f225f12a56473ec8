"""Small numerical functions shared by losses, regularizers and solvers."""

from __future__ import annotations

import math

import numpy as np

from fenchel.core.compiled import compiled, inlined
from fenchel.core.elementary import exponential, log_one_plus, logarithm

EPSILON = float(np.finfo(float).eps)  # the distance from 1 to the next float
TINY = 1e-300  # a floor for divisors, which prevents division by zero


@inlined
def compensated_add(total, lost, term):
    """fl(total + term), and ``lost`` plus what rounding takes from it, which TwoSum (Knuth) computes exactly."""
    rounded = total + term
    if math.isinf(rounded):
        return rounded, 0.0
    part = rounded - total
    return rounded, lost + (total - (rounded - part)) + (term - part)


# NumPy's sum, max, argmax, arange and target[:] = source do the same in kernels, but take 0.1 to 1.2 s to compile.


@compiled
def assign(target, source):
    """Copy the entries of a vector into another."""
    for k in range(target.shape[0]):
        target[k] = source[k]


@compiled
def integers_below(n):
    """The vector 0, 1, …, n − 1."""
    found = np.empty(n, np.int64)
    for k in range(n):
        found[k] = k
    return found


@compiled
def sum_of(values):
    """The sum of the entries of a vector."""
    total = 0.0
    for k in range(values.shape[0]):
        total += values[k]
    return total


@compiled
def largest_of(values):
    """The largest entry of a vector, and at least −∞."""
    top = -math.inf
    for k in range(values.shape[0]):
        top = max(top, values[k])
    return top


@compiled
def index_of_largest(values):
    """The index of the largest entry of a vector, the first one in case of ties."""
    k = 0
    for other in range(1, values.shape[0]):
        if values[other] > values[k]:
            k = other
    return k


@compiled
def clip(x, low, high):
    return min(max(x, low), high)


@compiled
def soft_threshold(x, threshold):
    """argmin_u ½(u − x)² + threshold·|u|"""
    # Written without branches on the sign so that it vectorises.
    return math.copysign(max(abs(x) - threshold, 0.0), x)


@compiled
def narrowed(near, at_near, far, at_far, last, x, at_x):
    """An interval in which values change from positive, at ``near``, to negative, at ``far``, after x has replaced one of its ends.

    ``last`` is which end was replaced last, 1 for ``near`` and −1 for ``far``: the value at an end that stays twice in a row is halved, so
    that lines through the ends do not keep it for ever (M. Dowell and P. Jarratt, *A modified regula falsi method*, BIT 1971).

    >>> narrowed(0.0, 1.0, 4.0, -2.0, 0, 1.0, 0.5)
    (1.0, 0.5, 4.0, -2.0, 1)
    >>> narrowed(1.0, 0.5, 4.0, -2.0, 1, 2.0, 0.25)
    (2.0, 0.25, 4.0, -1.0, 1)
    """
    if at_x > 0.0:
        return x, at_x, far, at_far * (0.5 if last > 0 else 1.0), 1
    return near, at_near * (0.5 if last < 0 else 1.0), x, at_x, -1


@inlined
def log1pexp(x):
    """log(1 + eˣ) without overflow."""
    return max(x, 0.0) + log_one_plus(exponential(-abs(x)))


@inlined
def sigmoid(x):
    """1 / (1 + e⁻ˣ) without overflow."""
    e = exponential(-abs(x))
    return (1.0 if x >= 0.0 else e) / (1.0 + e)


@inlined
def xlogx(x):
    """x·log x, continued to 0 at 0."""
    return x * logarithm(x) if x > 0.0 else 0.0


@compiled
def power(x, exponent):
    """x^exponent for x ≥ 0, avoiding pow for the exponents 1/(p − 1) of p = 2, 9/5, 5/3 and 3/2: it would dominate the cost of a step."""
    if exponent == 1.0:
        return x
    if exponent == 1.25:
        return x * math.sqrt(math.sqrt(x))
    if exponent == 1.5:
        return x * math.sqrt(x)
    if exponent == 2.0:
        return x * x
    return x**exponent


@compiled
def log_sum_exp(z):
    top = largest_of(z)
    total = 0.0
    for k in range(z.shape[0]):
        total += exponential(z[k] - top)
    return top + math.log(total)


@compiled
def project_to_simplex(x, out):
    """Euclidean projection of x on {p ≥ 0, Σp = 1}, by sorting (Held, Wolfe & Crowder 1974)."""
    ordered = np.sort(x)
    K = x.shape[0]
    total = 0.0
    shift = 0.0
    largest = ordered[K - 1]  # subtracted first, because the projection of huge x would be lost in rounding
    for k in range(K):
        top = ordered[K - 1 - k] - largest
        total += top
        candidate = (total - 1.0) / (k + 1)
        if top <= candidate:
            break
        shift = candidate
    for k in range(K):
        out[k] = max(x[k] - largest - shift, 0.0)

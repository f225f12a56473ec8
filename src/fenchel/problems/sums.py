"""Sums over rows for a loss and its conjugate, and over weights for a regularizer

A prediction and a dual variable are numbers for a loss of one output and vectors for K outputs; the same loops serve for both, except for
derivatives, which a loss of K outputs writes to an array. Sums that a certificate rests on are compensated (Neumaier 1974): the
rounding error of each addition is computed exactly and added at the end, so that the error of the sum does not grow with its length.
They have many accumulators, each for every ``ACCUMULATORS``-th term: no addition waits for the one before, and the compiler uses vector
instructions. Sums over very many rows are divided among threads (``in_ranges``).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from fenchel.core.compiled import compiled, kernel, reassociated
from fenchel.core.numeric import compensated_add, sum_of
from fenchel.core.threads import in_parallel

ACCUMULATORS = 64  # sums of 50,000 logistic losses take 5.6, 4.4, 3.6 and 4.2 ns a row with 16, 32, 64 and 128
# Fewest predictions for each thread: a sum over so many takes 0.1 to 0.4 ms, and handing it to another thread about 0.05 ms.
FEWEST_IN_RANGE = 100_000


def in_ranges(threads: int, loop: Callable[..., Any], loss: Any, rows: tuple[np.ndarray, ...], *others: Any) -> list[Any]:
    """The results of a loop over rows for consecutive ranges of these, one for each thread; ``rows`` are arrays with an entry for each row.

    >>> in_ranges(2, lambda loss, a, c: c * a.sum(), None, (np.ones(400_000),), 0.5)
    [np.float64(100000.0), np.float64(100000.0)]
    """
    count = min(threads, rows[0].size // FEWEST_IN_RANGE) if threads > 1 else 1
    if count <= 1:
        return [loop(loss, *rows, *others)]
    ends = np.linspace(0, len(rows[0]), count + 1).astype(np.int64).tolist()
    found: list[Any] = [None] * count

    def run(k: int, first: int, last: int) -> None:
        found[k] = loop(loss, *(array[first:last] for array in rows), *others)

    in_parallel([(run, k, first, last) for k, (first, last) in enumerate(itertools.pairwise(ends))])
    return found


@compiled
def sum_of_accumulators(totals, losts):
    """The sum of all accumulators."""
    total, lost = sum_and_rest(totals, losts)
    return total + lost


@compiled
def sum_and_rest(totals, losts):
    """The same as a number and what rounding took from it."""
    total, lost = 0.0, 0.0
    for k in range(totals.shape[0]):
        total, lost = compensated_add(total, lost, totals[k])
        lost += losts[k]
    return total, lost


def total_of(sums: list[tuple[float, float]]) -> float:
    """The sum of several compensated sums, itself compensated."""
    if len(sums) == 1:
        return sums[0][0] + sums[0][1]
    return float(sum_of_sums(*np.array(sums).T.copy()))


@kernel
def sum_of_sums(totals, losts):
    return sum_of_accumulators(totals, losts)


def sum_losses(loss: Any, z: np.ndarray, y: np.ndarray, row_weights: np.ndarray, threads: int = 1) -> float:
    """Σ_i r_i φ(z_i)"""
    return total_of(in_ranges(threads, losses_in_range, loss, (z, y, row_weights)))


@kernel
def losses_in_range(loss, z, y, row_weights):
    totals, losts = np.zeros(ACCUMULATORS), np.zeros(ACCUMULATORS)
    for first in range(0, z.shape[0], ACCUMULATORS):
        last = first + ACCUMULATORS
        add_losses(loss, z[first:last], y[first:last], row_weights[first:last], totals, losts)
    return sum_and_rest(totals, losts)


@compiled
def add_losses(loss, z, y, row_weights, totals, losts):
    """Add the terms of at most ``ACCUMULATORS`` rows, one to each accumulator."""
    for k in range(z.shape[0]):
        totals[k], losts[k] = compensated_add(totals[k], losts[k], row_weights[k] * loss.value(z[k], y[k]))


@kernel
def negative_derivatives(loss, z, y, alpha):
    for i in range(z.shape[0]):
        alpha[i] = -loss.derivative(z[i], y[i])


@kernel
def negative_vector_derivatives(loss, z, y, alpha):
    for i in range(z.shape[0]):
        loss.derivative(z[i], y[i], alpha[i])
        for k in range(z.shape[1]):
            alpha[i, k] = -alpha[i, k]


def sum_conjugates(loss: Any, alpha: np.ndarray, y: np.ndarray, row_weights: np.ndarray, c: float, threads: int = 1) -> tuple[float, float]:
    """Σ_i r_i φ*(−cα_i), and the sum of the absolute values."""
    found = in_ranges(threads, conjugates_in_range, loss, (alpha, y, row_weights), c)
    return total_of([(total, lost) for total, lost, _ in found]), sum(size for _, _, size in found)


@kernel
def conjugates_in_range(loss, alpha, y, row_weights, c):
    totals, losts, sizes = np.zeros(ACCUMULATORS), np.zeros(ACCUMULATORS), np.zeros(ACCUMULATORS)
    for first in range(0, alpha.shape[0], ACCUMULATORS):
        last = first + ACCUMULATORS
        add_conjugates(loss, alpha[first:last], y[first:last], row_weights[first:last], c, totals, losts, sizes)
    return *sum_and_rest(totals, losts), sum_of(sizes)


@compiled
def add_conjugates(loss, alpha, y, row_weights, c, totals, losts, sizes):
    for k in range(alpha.shape[0]):
        term = loss.conjugate(-c * alpha[k], y[k])
        term = row_weights[k] * term if row_weights[k] > 0.0 else 0.0
        totals[k], losts[k] = compensated_add(totals[k], losts[k], term)
        sizes[k] += abs(term)


@kernel
@reassociated
def sum_largest_derivatives(loss, z, y, row_weights, distance):
    """Σ_i r_i·max |φ'| over the predictions within the distance of z_i: φ is convex, so that |φ'| is largest at an end"""
    total = 0.0
    for i in range(z.shape[0]):
        before = abs(loss.derivative(z[i] - distance, y[i]))
        after = abs(loss.derivative(z[i] + distance, y[i]))
        total += row_weights[i] * max(before, after)
    return total


@kernel
@reassociated
def weighted_sizes(alpha, y, row_weights):
    """Σ_i |r_i α_i| and Σ_i |r_i α_i y_i|"""
    total = 0.0
    with_labels = 0.0
    for i in range(alpha.shape[0]):
        size = abs(row_weights[i] * alpha[i])
        total += size
        with_labels += size * abs(y[i])
    return total, with_labels


@kernel
def weighted_sums(alpha, row_weights):
    """Σ_i r_i α_i, and the sum of the absolute values."""
    totals, losts, sizes = np.zeros(ACCUMULATORS), np.zeros(ACCUMULATORS), np.zeros(ACCUMULATORS)
    for first in range(0, alpha.shape[0], ACCUMULATORS):
        add_products(alpha[first : first + ACCUMULATORS], row_weights[first : first + ACCUMULATORS], totals, losts, sizes)
    return sum_of_accumulators(totals, losts), sum_of(sizes)


@compiled
def add_products(alpha, row_weights, totals, losts, sizes):
    for k in range(alpha.shape[0]):
        term = row_weights[k] * alpha[k]
        totals[k], losts[k] = compensated_add(totals[k], losts[k], term)
        sizes[k] += abs(term)


@kernel
def sum_terms(regularizer, w):
    """Σ_j of the terms of Ω, and of their sizes."""
    total = 0.0
    lost = 0.0
    size = 0.0
    for j in range(w.shape[0]):
        term = regularizer.term(w[j], j)
        total, lost = compensated_add(total, lost, term)
        size += abs(term)
    return total + lost, size


@kernel
def sum_conjugate_terms(regularizer, v):
    total = 0.0
    for j in range(v.shape[0]):
        total += regularizer.conjugate_term(v[j], j)
    return total


@kernel
def derivative_terms(regularizer, w, out):
    for j in range(w.shape[0]):
        out[j] = regularizer.derivative(w[j], j)


@kernel
def prox_terms(regularizer, x, step, out):
    for j in range(x.shape[0]):
        out[j] = regularizer.prox(x[j], step, j)


@kernel
def whole_value(regularizer, w):
    return regularizer.value(w)


@kernel
def whole_conjugate(regularizer, v):
    return regularizer.conjugate(v)


@kernel
def whole_gradient(regularizer, w, out):
    regularizer.gradient(w, out)


@kernel
@reassociated
def sum_of_sizes(a, b):
    """Σ_j |a_j b_j|"""
    total = 0.0
    for j in range(a.shape[0]):
        total += abs(a[j] * b[j])
    return total

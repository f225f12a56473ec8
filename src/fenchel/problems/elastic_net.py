"""Ω(w) = l1·‖w‖₁ + l2/2·‖w‖² of the first ``penalised`` weights, and Ω*, as functions of arrays and numbers alone

Nearly all problems have this Ω. Its kernels are compiled once, not for every class of regularizers; and they take no objects, whose types
Numba looks up in Python at every call, which takes longer than the sums of a small problem. Where Ω* is infinite (l2 = 0), it is
replaced by the largest <v, w> − Ω(w) of those w whose objective may be at most a given one: l1·‖w‖₁ ≤ objective.
"""

from __future__ import annotations

import numpy as np

from fenchel.core.compiled import compiled, kernel
from fenchel.core.numeric import compensated_add, largest_of, sum_of
from fenchel.problems.rounding import REPRESENTED
from fenchel.problems.sums import ACCUMULATORS, sum_of_accumulators


@kernel
def sum_penalty(w, l1, l2, penalised):
    """Ω(w)"""
    totals, losts = np.zeros(ACCUMULATORS), np.zeros(ACCUMULATORS)
    for first in range(0, penalised, ACCUMULATORS):
        add_penalties(w[first : min(first + ACCUMULATORS, penalised)], l1, l2, totals, losts)
    return sum_of_accumulators(totals, losts)


@compiled
def add_penalties(w, l1, l2, totals, losts):
    """Add the terms of at most ``ACCUMULATORS`` weights, one to each accumulator."""
    for k in range(w.shape[0]):
        totals[k], losts[k] = compensated_add(totals[k], losts[k], 0.5 * l2 * w[k] * w[k] + l1 * abs(w[k]))


@kernel
def sum_conjugate(v, l1, l2, penalised, objective):
    """Ω*(v)"""
    totals, tops, nothing = np.zeros(ACCUMULATORS), np.zeros(ACCUMULATORS), np.zeros(ACCUMULATORS)
    for first in range(0, penalised, ACCUMULATORS):
        last = min(first + ACCUMULATORS, penalised)
        add_excesses(v[first:last], 1.0, nothing[: last - first], l1, totals, tops)
    return conjugate(sum_of(totals), largest_of(tops), l1, l2, objective)


@kernel
def sum_conjugate_around(v, distance, outputs, l1, l2, penalised, objective):
    """The largest Ω*(v') with |v'_j − v_j| within the distance of the feature and the rounding of v_j; K outputs share a distance."""
    totals, tops, distances = np.zeros(ACCUMULATORS), np.zeros(ACCUMULATORS), np.empty(ACCUMULATORS)
    for first in range(0, penalised, ACCUMULATORS):
        last = min(first + ACCUMULATORS, penalised)
        if outputs == 1:
            add_excesses(v[first:last], 1.0 + REPRESENTED, distance[first:last], l1, totals, tops)
        else:
            for j in range(first, last):
                distances[j - first] = distance[j // outputs]
            add_excesses(v[first:last], 1.0 + REPRESENTED, distances[: last - first], l1, totals, tops)
    return conjugate(sum_of(totals), largest_of(tops), l1, l2, objective)


@compiled
def add_excesses(v, factor, distance, l1, totals, tops):
    """For at most ``ACCUMULATORS`` entries, of which factor·|v_j| plus the distance exceeds l1 by e: add e², and keep the largest e."""
    for k in range(v.shape[0]):
        excess = max(factor * abs(v[k]) + distance[k] - l1, 0.0)
        totals[k] += excess * excess
        tops[k] = max(tops[k], excess)


@kernel
def largest_entry_around(v, distance, outputs, penalised):
    """The largest |v'_j| of the same v'."""
    top = 0.0
    for j in range(penalised // outputs):
        for k in range(j * outputs, (j + 1) * outputs):
            top = max(top, (1.0 + REPRESENTED) * abs(v[k]) + distance[j])
    return top


@compiled
def conjugate(total, top, l1, l2, objective):
    """Ω* from Σ_j e_j² and max_j e_j, where e_j is what |v_j| exceeds l1 by."""
    if l2 > 0.0:
        return 0.5 * total / l2
    return objective / l1 * top if top > 0.0 else 0.0

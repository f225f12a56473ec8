"""Ω(w) = l1·‖w‖₁ + l2/2·‖w‖² of the first ``penalised`` weights, and Ω*, as functions of arrays and numbers alone

Nearly all problems have this Ω. Its kernels are compiled once, not for every class of regularizers; and they take no objects, whose types
Numba looks up in Python at every call, which takes longer than the sums of a small problem. Where Ω* is infinite (l2 = 0), it is
replaced by the largest <v, w> − Ω(w) of those w whose objective may be at most a given one: l1·‖w‖₁ ≤ objective.
"""

from __future__ import annotations

from fenchel.core.compiled import compiled, kernel
from fenchel.core.numeric import compensated_add
from fenchel.problems.rounding import REPRESENTED


@kernel
def sum_penalty(w, l1, l2, penalised):
    """Ω(w)"""
    total, lost = 0.0, 0.0
    for j in range(penalised):
        total, lost = compensated_add(total, lost, 0.5 * l2 * w[j] * w[j] + l1 * abs(w[j]))
    return total + lost


@kernel
def sum_conjugate(v, l1, l2, penalised, objective):
    """Ω*(v)"""
    total, top = 0.0, 0.0
    for j in range(penalised):
        excess = max(abs(v[j]) - l1, 0.0)
        total += excess * excess
        top = max(top, excess)
    return conjugate(total, top, l1, l2, objective)


@kernel
def sum_conjugate_around(v, distance, outputs, l1, l2, penalised, objective):
    """The largest Ω*(v') with |v'_j − v_j| within the distance of the feature and the rounding of v_j; K outputs share a distance."""
    total, top = 0.0, 0.0
    for j in range(penalised // outputs):
        for k in range(j * outputs, (j + 1) * outputs):
            excess = max((1.0 + REPRESENTED) * abs(v[k]) + distance[j] - l1, 0.0)
            total += excess * excess
            top = max(top, excess)
    return conjugate(total, top, l1, l2, objective)


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

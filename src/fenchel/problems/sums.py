"""Sums over rows for a loss and its conjugate, and over weights for a regularizer

A prediction and a dual variable are numbers for a loss of one output and vectors for K outputs; the same loops serve for both, except for
derivatives, which a loss of K outputs writes to an array. Sums that a certificate rests on are compensated (Neumaier 1974): the
rounding error of each addition is computed exactly and added at the end, so that the error of the sum does not grow with its length.
This takes no more time, because the loops wait for the addition before.
"""

from __future__ import annotations

from fenchel.core.compiled import kernel
from fenchel.core.numeric import compensated_add


@kernel
def sum_losses(loss, z, y, row_weights):
    total = 0.0
    lost = 0.0
    for i in range(z.shape[0]):
        term = row_weights[i] * loss.value(z[i], y[i])
        total, lost = compensated_add(total, lost, term)
    return total + lost


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


@kernel
def sum_conjugates(loss, alpha, y, row_weights, c):
    """Σ_i r_i φ*(−cα_i), and the sum of the absolute values."""
    total = 0.0
    lost = 0.0
    size = 0.0
    for i in range(alpha.shape[0]):
        if row_weights[i] > 0.0:
            term = row_weights[i] * loss.conjugate(-c * alpha[i], y[i])
            total, lost = compensated_add(total, lost, term)
            size += abs(term)
    return total + lost, size


@kernel
def sum_largest_derivatives(loss, z, y, row_weights, distance):
    """Σ_i r_i·max |φ'| over the predictions within the distance of z_i: φ is convex, so that |φ'| is largest at an end"""
    total = 0.0
    for i in range(z.shape[0]):
        before = abs(loss.derivative(z[i] - distance, y[i]))
        after = abs(loss.derivative(z[i] + distance, y[i]))
        total += row_weights[i] * max(before, after)
    return total


@kernel
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
    total = 0.0
    lost = 0.0
    size = 0.0
    for i in range(alpha.shape[0]):
        term = row_weights[i] * alpha[i]
        total, lost = compensated_add(total, lost, term)
        size += abs(term)
    return total + lost, size


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
def sum_farthest_conjugate_terms(regularizer, v, reach, relative, penalised):
    """Σ_j of the terms of Ω* where |v_j| is larger by ``reach[j]`` and its relative error, for the first ``penalised`` entries"""
    total = 0.0
    for j in range(v.shape[0]):
        farther = abs(v[j]) + reach[j] + relative * abs(v[j]) if j < penalised else abs(v[j])
        total += regularizer.conjugate_term(farther if v[j] >= 0.0 else -farther, j)
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

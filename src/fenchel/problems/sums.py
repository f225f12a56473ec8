"""Sums over rows for a loss and its conjugate, and over weights for a regularizer

A prediction and a dual variable are numbers for a loss of one output and vectors for K outputs; the same loops serve for both, except for
derivatives, which a loss of K outputs writes to an array.
"""

from __future__ import annotations

from fenchel.core.compiled import kernel


@kernel
def sum_losses(loss, z, y, row_weights):
    total = 0.0
    for i in range(z.shape[0]):
        total += row_weights[i] * loss.value(z[i], y[i])
    return total


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
    total = 0.0
    for i in range(alpha.shape[0]):
        if row_weights[i] > 0.0:
            total += row_weights[i] * loss.conjugate(-c * alpha[i], y[i])
    return total


@kernel
def sum_terms(regularizer, w):
    total = 0.0
    for j in range(w.shape[0]):
        total += regularizer.term(w[j], j)
    return total


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

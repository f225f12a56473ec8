"""Second derivatives of the mean loss with respect to the predictions, row by row, and the dual point of a Newton step's quadratic model"""

from __future__ import annotations

import math

import numpy as np

from fenchel.core.compiled import kernel

HALVINGS = 6  # of the distance to the end of the domain of φ*


@kernel
def row_curvatures(loss, z, y, row_weights, h):
    """h_i = s_i φ''(z_i)/m"""
    for i in range(z.shape[0]):
        h[i] = row_weights[i] * loss.curvature(z[i], y[i])


@kernel
def model_dual_points(loss, z, y, Xd, alpha):
    """α_i = −(φ'(z_i) + φ''(z_i)·<x_i, d>), or the end of the domain of φ* between that and −φ' at z_i + <x_i, d>"""
    conjugates = np.empty(z.shape[0])
    for i in range(z.shape[0]):  # two loops, because the compiler vectorises the one without branches
        alpha[i] = -(loss.derivative(z[i], y[i]) + loss.curvature(z[i], y[i]) * Xd[i])
        conjugates[i] = loss.conjugate(-alpha[i], y[i])
    for i in range(z.shape[0]):
        if not math.isfinite(conjugates[i]):
            outside = alpha[i]
            alpha[i] = -loss.derivative(z[i] + Xd[i], y[i])
            for _ in range(HALVINGS):
                middle = 0.5 * (alpha[i] + outside)
                if math.isfinite(loss.conjugate(-middle, y[i])):
                    alpha[i] = middle
                else:
                    outside = middle


@kernel
def model_dual_vectors(loss, z, y, Xd, alpha):
    """α_i = −(φ'(z_i) + φ''(z_i)·(Xd)_i) for several outputs, a vector for each row"""
    change = np.empty(z.shape[1])
    for i in range(z.shape[0]):
        loss.derivative(z[i], y[i], alpha[i])
        loss.curvature_times(z[i], y[i], Xd[i], change)
        for k in range(z.shape[1]):
            alpha[i, k] = -alpha[i, k] - change[k]

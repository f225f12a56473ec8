"""Second derivatives of the mean loss with respect to the predictions, row by row: s_i φ''(z_i, y_i)/m"""

from __future__ import annotations

import numpy as np

from fenchel.core.compiled import kernel


@kernel
def row_curvatures(loss, z, y, row_weights, h):
    """h_i = s_i φ''(z_i)/m"""
    for i in range(z.shape[0]):
        h[i] = row_weights[i] * loss.curvature(z[i], y[i])


@kernel
def class_curvatures(loss, z, y, row_weights, d, out):
    """out_i = s_i φ''(z_i)·d_i/m, a vector for each row"""
    for i in range(z.shape[0]):
        loss.curvature_times(z[i], y[i], d[i], out[i])
        for k in range(z.shape[1]):
            out[i, k] *= row_weights[i]


@kernel
def mean_curvatures(loss, z, y, row_weights, h):
    """h_i = s_i/m times the mean of the diagonal of φ''(z_i)"""
    K = z.shape[1]
    d, out = np.zeros(K), np.empty(K)
    for i in range(z.shape[0]):
        h[i] = 0.0
        for k in range(K):
            d[k] = 1.0
            loss.curvature_times(z[i], y[i], d, out)
            d[k] = 0.0
            h[i] += row_weights[i] * out[k] / K

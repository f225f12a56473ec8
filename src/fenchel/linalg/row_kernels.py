"""Products with all rows of a range: X·w and Xᵀ·a for one output or K, norms and weighted squares"""

from __future__ import annotations

import numpy as np

from fenchel.core.compiled import kernel, reassociated


@kernel
def rows_lengths(rows, which, out):
    for i in range(out.shape[0]):
        out[i] = rows.length(which[i])


@kernel
def rows_norms(rows, order, which, out):
    for i in range(out.shape[0]):
        out[i] = rows.norm(which[i], order)


@kernel
def rows_add_squares(rows, h, out):
    for i in range(h.shape[0]):
        rows.add_squares(i, h[i], out)


@kernel
def rows_dot(rows, w, first, last, out):
    for i in range(first, last):
        out[i] = rows.dot(i, w)


@kernel
def rows_add(rows, a, first, last, w):
    for i in range(first, last):
        if a[i] != 0.0:
            rows.add(i, a[i], w)


@kernel
def rows_dots(rows, w, first, last, out):
    for i in range(first, last):
        rows.dots(i, w, out[i])


@kernel
def rows_adds(rows, a, first, last, w):
    for i in range(first, last):
        rows.adds(i, a[i], w)


@kernel
@reassociated
def sum_of_zeros(values):
    """0 times each number of a flat array, added: 0, or NaN if one of them is not finite."""
    total = 0.0
    for k in range(values.shape[0]):
        total += 0.0 * values[k]
    return total


@kernel
def has_repeated(indices, indptr, last):
    """Whether an index occurs twice in a row; ``last`` has −1 for every column, and is overwritten."""
    for i in range(indptr.shape[0] - 1):
        for e in range(np.uintp(indptr[i]), np.uintp(indptr[i + 1])):
            j = np.uintp(indices[e])
            if last[j] == i:
                return True
            last[j] = i
    return False


@kernel
def largest_entries(indices, data, out):
    """out_j ← max |x_ij| over the stored entries of each column j, for indices of columns."""
    for e in range(data.shape[0]):
        j = np.uintp(indices[e])
        out[j] = max(out[j], abs(data[e]))


@kernel
def add_with_sizes(rows, a, first, last, out):
    """Add Σ_i a_i x_i of sparse rows to the first column of ``out``, and Σ_i |a_i x_i| to the second."""
    for i in range(first, last):
        if a[i] != 0.0:
            for e in range(np.uintp(rows.indptr[i]), np.uintp(rows.indptr[i + 1])):
                j = np.uintp(rows.indices[e])
                term = a[i] * rows.data[e]
                out[j, 0] += term
                out[j, 1] += abs(term)


@kernel
def largest_of_dense_columns(X, out):
    """out_j ← max |x_ij| for every column j of a matrix stored by rows."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            out[j] = max(out[j], abs(X[i, j]))

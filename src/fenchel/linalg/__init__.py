"""Matrices and vectors as kernels take them: rows and columns on NumPy and SciPy storage, X with its intercept, weights."""

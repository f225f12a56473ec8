"""A small matrix in every storage, and what its products are compared by."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

M, N = 23, 9


def some_matrix(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((M, N)) * (rng.uniform(size=(M, N)) < 0.4)
    X[5], X[:, 2] = 0.0, 0.0  # an empty row and an empty column
    return X


def with_indices(X, dtype):
    X.indices, X.indptr = X.indices.astype(dtype), X.indptr.astype(dtype)
    return X


STORAGES = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "csr_array": lambda X: with_indices(sp.csr_array(X), np.int32),
    "csr_matrix": lambda X: with_indices(sp.csr_matrix(X), np.int32),
    "csr int64": lambda X: with_indices(sp.csr_array(X), np.int64),
    "csc_array": lambda X: with_indices(sp.csc_array(X), np.int32),
    "csc_matrix": lambda X: with_indices(sp.csc_matrix(X), np.int32),
    "csc int64": lambda X: with_indices(sp.csc_array(X), np.int64),
}


def dense64(X):
    """What the values mean: sums are float64 even where values are float32."""
    return (X.toarray() if sp.issparse(X) else np.asarray(X)).astype(np.float64)


def close(expected):
    return pytest.approx(expected, rel=1e-12, abs=1e-12)

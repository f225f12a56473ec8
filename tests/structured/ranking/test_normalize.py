"""Features scaled within each query."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from fenchel.structured.ranking import normalized


def test_features_are_scaled_to_the_unit_interval_within_each_query():
    rng = np.random.default_rng(0)
    X, qid = rng.standard_normal((40, 3)) * [1.0, 1e6, 0.0], rng.integers(0, 5, 40)
    found = normalized(sp.csr_array(X), qid)
    for q in range(5):
        block = X[qid == q]
        span = block.max(axis=0) - block.min(axis=0)
        np.testing.assert_allclose(found[qid == q], (block - block.min(axis=0)) / np.where(span > 0, span, 1.0), atol=1e-12)

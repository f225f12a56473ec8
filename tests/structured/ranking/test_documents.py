"""Documents of queries: grouping of rows."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import fenchel as fl
from fenchel.structured.ranking import Documents, grouped, normalized


@pytest.mark.parametrize("start", [[0, 10**7], [1, 2], [0, 2, 1, 2], []])
def test_invalid_block_boundaries_are_refused(start):
    with pytest.raises(ValueError, match="increase from 0"):
        Documents(np.eye(2), np.array(start, dtype=np.int64))


def test_rows_of_a_query_need_not_be_contiguous():
    rng = np.random.default_rng(0)
    X, y, qid = rng.standard_normal((30, 2)), rng.integers(0, 3, 30), rng.choice(["q1", "q2", "q3"], 30)
    for matrix in (X, sp.csc_array(X)):
        groups = grouped(matrix, y, qid)
        for name, block, grades in zip(groups.X.names, groups.X, groups.y, strict=True):
            np.testing.assert_array_equal(block.toarray() if sp.issparse(block) else block, X[qid == name])
            np.testing.assert_array_equal(grades, y[qid == name])
        np.testing.assert_array_equal(np.concatenate(groups.y), y[groups.rows])
    contiguous = grouped(X, y, np.repeat([7, 3, 5], 10))
    assert contiguous.X.names.tolist() == [7, 3, 5]
    assert np.shares_memory(contiguous.X[1], X)


@pytest.mark.skipif("FENCHEL_DATA" not in os.environ, reason="FENCHEL_DATA is not set")
def test_letor_files_are_read_and_already_normalised():
    path = Path(os.environ["FENCHEL_DATA"]) / "structured" / "ltr_mq2008_S1.txt.xz"
    if not path.exists():
        pytest.skip("MQ2008 is not available")
    X, y, qid = fl.datasets.read_svmlight(path, qid=True)
    groups = grouped(X, y, qid)
    assert (len(groups.X), X.shape, set(y.tolist())) == (157, (2933, 46), {0.0, 1.0, 2.0})
    scaled = normalized(X, qid)
    spread = np.concatenate([np.ptp(block.toarray(), axis=0) for block in groups.X])
    np.testing.assert_allclose(scaled[:8], X.toarray()[:8], atol=1e-5)
    assert set(np.unique(spread.round(3))) == {0.0, 1.0}, "LETOR scales every feature within each query"

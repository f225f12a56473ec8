"""Data of the papers: substitutes where the sets are not there, and what is said of them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from fenchel.experiments import paper_data
from fenchel.experiments.paper_data import PaperData, by_largest_entries, unit_rows

SETS = [
    *(paper_data.duke, paper_data.arcene, paper_data.ccat, paper_data.ccat_subset, paper_data.astro_ph, paper_data.cov1),
    *(paper_data.covtype, paper_data.combined, paper_data.a9a, paper_data.w8a, paper_data.ijcnn1, paper_data.mnist),
    *(paper_data.connect_4, paper_data.rcv1, paper_data.real_sim),
]


@pytest.mark.parametrize("load", SETS, ids=lambda load: load.__name__)
def test_quick_data_are_small_and_labelled(load):
    found = load(True)
    assert isinstance(found, PaperData)
    assert found.X.shape[0] == len(found.y) <= 20_000
    assert found.X_test.shape[0] == len(found.y_test)
    assert found.X_test.shape[1] == found.X.shape[1]
    assert set(np.unique(found.y)) == {-1.0, 1.0}
    assert "generated" in found.note


@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_noise_is_appended_to_scaled_columns(kind):
    found = paper_data.magic(kind, True)
    assert found.X.shape[1] == 110
    assert abs(found.X).max() <= 1.0


def test_a_set_that_is_there_is_taken(monkeypatch):
    X, y = np.arange(12.0).reshape(6, 2), np.array([1.0, 2.0, 1.0, 2.0, 2.0, 1.0])
    monkeypatch.setattr(paper_data, "real", lambda name, split="train": (X, y) if name == "duke" else None)
    found = paper_data.duke(False)
    assert found.X.shape == (6, 2)
    assert found.note.startswith("duke, ")
    assert found.y.tolist() == [-1.0, 1.0, -1.0, 1.0, 1.0, -1.0]


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_columns_and_rows_are_scaled(store):
    A = np.array([[1.0, 0.0, -4.0], [0.5, 0.0, 2.0], [0.0, 0.0, 0.0]])
    columns, rows = by_largest_entries(store(A)), unit_rows(store(A))
    dense = [B.toarray() if sp.issparse(B) else B for B in (columns, rows)]
    np.testing.assert_allclose(dense[0], [[1.0, 0.0, -1.0], [0.5, 0.0, 0.5], [0.0, 0.0, 0.0]])
    np.testing.assert_allclose(np.linalg.norm(dense[1], axis=1), [1.0, 1.0, 0.0])

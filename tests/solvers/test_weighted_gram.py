"""The matrices Xᵀ·diag(h)·X of the steps of a run against their definition, also where only differences are computed"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from fenchel.linalg.design import Design
from fenchel.solvers._second_order import weighted_gram
from fenchel.solvers._second_order.weighted_gram import WeightedGram

LAYOUTS = [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array]


def rows(m=40, n=6):
    rng = np.random.default_rng(0)
    return rng.standard_normal((m, n)) * (rng.random((m, n)) < 0.4)


def naive(X, intercept, h):
    full = np.column_stack([X, np.full(len(X), intercept)]) if intercept else X
    return np.tril((full.T * h) @ full)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("intercept", [0.0, 2.0])
@pytest.mark.parametrize("speed", [1e9, 1e-9], ids=["filled in", "scattered"])
def test_matrices_are_right_whichever_rows_change(layout, intercept, speed, monkeypatch):
    monkeypatch.setattr(weighted_gram, "BLAS_SPEED", speed)
    X, rng = rows(), np.random.default_rng(1)
    gram = WeightedGram(Design(layout(X), intercept))
    h = np.full(len(X), 0.3)
    sequence = [h.copy(), h.copy()]
    for _ in range(6):
        h = h.copy()
        h[rng.integers(0, len(X), 5)] = rng.random(5) * (rng.random(5) < 0.5)
        sequence.append(h)
    sequence += [rng.random(len(X)), np.zeros(len(X)), np.full(len(X), 0.1)]
    for h in sequence:
        G = gram(h)
        np.testing.assert_allclose(np.tril(G), naive(X, intercept, h), atol=1e-12)
        G[:] = np.nan  # what is returned belongs to the caller


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda kind: kind.__name__)
def test_only_rows_that_change_are_multiplied(layout, monkeypatch):
    counted = []
    design = Design(layout(rows()), 1.0)
    gram = WeightedGram(design)
    for name in ("_dense", "_scattered", "_filled_in"):
        plain = getattr(weighted_gram, name)
        if gram.sums is plain:
            gram.sums = lambda design, h, single=False, plain=plain: counted.append(np.count_nonzero(h)) or plain(design, h, single)
    h = np.ones(design.m)
    gram(h)
    h[:3], h[5] = 0.0, 2.0
    gram(h)
    assert counted == [design.m, 1, 3]
    other = WeightedGram(design)
    other.sums = gram.sums
    other(np.full(design.m, 7.0))
    assert len(counted) == 3, "the matrix of equal h is kept with the design"
    assert not design.with_intercept(0.0).memo


def test_single_precision_is_not_carried_on_where_it_does_not_suffice(monkeypatch):
    monkeypatch.setattr(weighted_gram, "PARALLEL_PRODUCTS", 0)
    X = rows()
    gram = WeightedGram(Design(X), 1.0)
    h = np.ones(len(X))
    rough = gram(h, rough=True)
    assert 1e-12 < np.abs(np.tril(rough) - naive(X, 0.0, h)).max() < 1e-4
    h[0] = 0.5
    np.testing.assert_allclose(np.tril(gram(h)), naive(X, 0.0, h), atol=1e-12)
    h[0] = 0.25
    np.testing.assert_allclose(np.tril(gram(h, rough=True)), naive(X, 0.0, h), atol=1e-4)

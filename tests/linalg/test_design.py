"""Products and rows of every storage agree with NumPy, with one thread and with several."""

import threading

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st

from fenchel.core.compiled import kernel
from fenchel.linalg import design as design_module
from fenchel.linalg.design import Design
from fenchel.linalg.weights import Plain
from tests.linalg.matrices import STORAGES, M, N, close, dense64, some_matrix, with_indices


def extended(X, intercept):
    full = dense64(X)
    return np.column_stack([full, np.full(len(full), intercept)]) if intercept else full


@pytest.mark.parametrize("threads", [1, 2])
def test_products_agree_with_numpy(storage, dtype, threads, monkeypatch):
    monkeypatch.setattr(design_module, "PARALLEL_FROM", 0)
    X = STORAGES[storage](some_matrix().astype(dtype))
    rng = np.random.default_rng(1)
    for intercept in (0.0, 2.5):
        design, full = Design(X, intercept), extended(X, intercept)
        design.threads = threads
        for outputs in ((), (3,)):
            w, a = rng.standard_normal((full.shape[1], *outputs)), rng.standard_normal((M, *outputs))
            assert design.matvec(w) == close(full @ w)
            assert design.rmatvec(a) == close(full.T @ a)


def test_row_norms_agree_with_numpy(storage, dtype):
    X = STORAGES[storage](some_matrix().astype(dtype))
    for intercept in (0.0, -2.5):
        for order in (1.0, 1.5, 2.0, 21.0, np.inf):
            assert Design(X, intercept).row_norms(order) == close(np.linalg.norm(extended(X, intercept), order, axis=1))


def test_rows_agree_with_numpy(storage, dtype):
    X = STORAGES[storage](some_matrix().astype(dtype))
    rng = np.random.default_rng(2)
    for intercept in (0.0, 2.5):
        rows, full = Design(X, intercept).rows, extended(X, intercept)
        n, K = full.shape[1], 3
        w, W, c = rng.standard_normal(n), rng.standard_normal((n, K)), rng.standard_normal(K)
        for i in (0, 5, M - 1):
            assert rows.dot(i, Plain(w)) == close(full[i] @ w)
            z = np.full(K, np.nan)
            rows.dots(i, Plain(W.reshape(-1)), z)
            assert z == close(full[i] @ W)
            moved, moved_all = w.copy(), W.copy()
            rows.add(i, np.float64(0.7), Plain(moved))
            rows.adds(i, c, Plain(moved_all.reshape(-1)))
            assert moved == close(w + 0.7 * full[i])
            assert moved_all == close(W + np.outer(full[i], c))
            assert rows.count(i) == (X[[i]].nnz if sp.issparse(X) else N) + bool(intercept)


@pytest.mark.parametrize("storage", ["C", "csr_array", "csc_array"])
@kernel
def sums_of_rows_fetched_ahead(rows, w, m, out):
    for i in range(m):
        rows.fetch(min(i + 1, m - 1))
        out[i] = rows.dot(i, w)


def test_rows_may_be_fetched_ahead(storage, dtype):
    X = STORAGES[storage](some_matrix().astype(dtype))
    for intercept in (0.0, 2.5):
        full, out = extended(X, intercept), np.empty(M)
        sums_of_rows_fetched_ahead(Design(X, intercept).rows, Plain(np.ones(full.shape[1])), M, out)
        assert out == close(full.sum(axis=1))


def test_large_products_start_threads_and_small_ones_do_not(storage, monkeypatch):
    workers = set()
    plain = design_module.in_parallel
    monkeypatch.setattr(design_module, "in_parallel", lambda jobs: (workers.add(len(jobs)), plain(jobs))[1])
    design = Design(STORAGES[storage](some_matrix()))
    design.threads = 2
    for limit, expected in ((0, 2), (10**9, 1)):
        workers.clear()
        monkeypatch.setattr(design_module, "PARALLEL_FROM", limit)
        design.matvec(np.ones(N))
        design.rmatvec(np.ones(M))
        assert max(workers, default=1) == expected
    assert threading.active_count() < 10  # the threads are kept, and no more are started


@pytest.mark.parametrize("threads", [2, 7, 64])
def test_more_threads_than_rows_or_columns_do_no_harm(threads, monkeypatch):
    monkeypatch.setattr(design_module, "PARALLEL_FROM", 0)
    for X in (np.array([[1.0, 2.0, 3.0]]), sp.csr_array(np.array([[0.0, 2.0, 3.0]])), sp.csr_array((4, 3), dtype=np.float64)):
        design = Design(X)
        design.threads = threads
        assert design.matvec(np.ones(3)) == close(dense64(X).sum(axis=1))
        assert design.rmatvec(np.ones(X.shape[0])) == close(dense64(X).sum(axis=0))


@given(st.integers(1, 8), st.integers(1, 8), st.floats(0.0, 1.0), st.sampled_from(["csr", "csc"]), st.integers(0, 10**6), st.integers(1, 3))
@settings(deadline=None, max_examples=60, database=None)
def test_random_sparse_matrices(m, n, density, form, seed, threads):
    rng = np.random.default_rng(seed)
    X = sp.random_array((m, n), density=density, format=form, rng=rng)
    X = with_indices(X, np.int32)
    design, full = Design(X), X.toarray()
    design.threads = threads
    w, a = rng.standard_normal(n), rng.standard_normal(m)
    # The split of the work may fail on empty rows or columns, so it is used at every size.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(design_module, "PARALLEL_FROM", 0)
        assert design.matvec(w) == close(full @ w)
        assert design.rmatvec(a) == close(full.T @ a)
    assert design.row_norms() == close(np.linalg.norm(full, axis=1))


def test_float32_values_are_summed_in_float64():
    # In float32 sums 1e8 + 1 − 1e8 is 0.
    X = np.array([[1e8, 1.0, -1e8]], dtype=np.float32)
    for stored in (X, np.asfortranarray(X), sp.csr_array(X), sp.csc_array(X)):
        assert Design(stored).matvec(np.ones(3)).tolist() == [1.0]


def test_weights_in_any_layout_give_the_same_product():
    X, W = some_matrix(), np.random.default_rng(3).standard_normal((N, 3))
    for stored in (X, sp.csr_array(X)):
        for same in (np.asfortranarray(W), np.repeat(W, 2, axis=1)[:, ::2]):
            assert Design(stored).matvec(same) == close(X @ W)
        assert Design(stored).rmatvec(np.asfortranarray(X @ W)) == close(X.T @ (X @ W))


def test_weights_of_zero_need_no_product(monkeypatch):
    monkeypatch.setattr(Design, "_product", None)
    w = np.zeros(N + 1)
    w[-1] = 2.0
    assert Design(some_matrix(), 3.0).matvec(w).tolist() == [6.0] * M


@pytest.mark.parametrize("intercept", [0.0, -2.0])
@pytest.mark.parametrize("threads", [1, 3])
def test_products_with_sizes_are_those_of_absolute_values(threads, intercept, monkeypatch):
    monkeypatch.setattr(design_module, "PARALLEL_FROM", 0)
    X, a = some_matrix(), np.random.default_rng(0).standard_normal(M)
    full = np.column_stack([X, np.full(M, intercept)]) if intercept else X
    design = Design(sp.csr_array(X), intercept)
    design.threads = threads
    v, sizes = design.rmatvec_with_sizes(a)
    np.testing.assert_allclose(v, full.T @ a, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(sizes, np.abs(full).T @ np.abs(a), rtol=1e-12)


@pytest.mark.parametrize("density", [0.02, 0.5])
def test_products_of_rows_are_those_of_a_dense_matrix(density):
    X = sp.random_array((30, 40), density=density, rng=np.random.default_rng(0), format="csr")
    for stored in (X, X.tocsc(), X.astype(np.float32)):
        np.testing.assert_allclose(Design(stored).products_of_rows, X.toarray() @ X.toarray().T, rtol=1e-5, atol=1e-6)

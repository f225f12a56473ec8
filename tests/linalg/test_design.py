"""Products and rows of every storage agree with NumPy, copy nothing they need not copy, and refuse what is damaged."""

import logging
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from fenchel.linalg import design as design_module
from fenchel.linalg.design import Design
from fenchel.linalg.weights import Plain

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


@pytest.fixture(params=STORAGES)
def storage(request):
    return request.param


@pytest.fixture(params=[np.float64, np.float32], ids=["float64", "float32"])
def dtype(request):
    return request.param


@pytest.fixture
def logged(caplog):
    caplog.set_level(logging.DEBUG, logger="fenchel")
    return lambda: [record.getMessage() for record in caplog.records if "copying" in record.getMessage()]


def dense64(X):
    """What the values mean: sums are float64 even where values are float32."""
    return (X.toarray() if sp.issparse(X) else np.asarray(X)).astype(np.float64)


def extended(X, intercept):
    full = dense64(X)
    return np.column_stack([full, np.full(len(full), intercept)]) if intercept else full


def close(expected):
    return pytest.approx(expected, rel=1e-12, abs=1e-12)


# ---- products ----


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
def test_large_products_start_threads_and_small_ones_do_not(storage, monkeypatch):
    workers = set()
    plain = design_module.in_parallel
    monkeypatch.setattr(design_module, "in_parallel", lambda jobs: (workers.add(len(jobs)), plain(jobs))[1])
    design = Design(STORAGES[storage](some_matrix()))
    design.threads = 2
    for limit, expected in ((0, {2}), (10**9, {1})):
        workers.clear()
        monkeypatch.setattr(design_module, "PARALLEL_FROM", limit)
        design.matvec(np.ones(N))
        design.rmatvec(np.ones(M))
        assert workers == expected
    assert threading.active_count() < 10  # pools are closed again


@pytest.mark.parametrize("threads", [2, 7, 64])
def test_more_threads_than_lines_do_no_harm(threads, monkeypatch):
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
    # Shares of the work are what can go wrong on empty lines, so ask for them whatever the size.
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


# ---- no copies ----


def test_values_are_not_copied(storage, dtype, logged):
    X = STORAGES[storage](some_matrix().astype(dtype))
    design = Design(X)
    design.matvec(np.ones(N))
    design.rmatvec(np.ones(M))
    vectors, _ = design.contiguous
    if sp.issparse(X):
        assert np.shares_memory(vectors.data, X.data)
        assert np.shares_memory(vectors.indices, X.indices)
    else:
        assert np.shares_memory(vectors.values, X)
        assert np.shares_memory(design.rows.values, X)
    assert logged() == []


@pytest.mark.parametrize("storage", ["csc_array", "csc_matrix"])
def test_row_access_to_csc_copies_once_and_says_so(storage, logged):
    design = Design(STORAGES[storage](some_matrix()))
    assert logged() == []
    assert design.rows is design.rows
    assert len(logged()) == 1
    assert "CSC" in logged()[0]


@pytest.mark.parametrize(
    ("X", "word"),
    [
        (some_matrix()[::2], "strided"),
        (some_matrix()[:, ::2], "strided"),
        (np.arange(12).reshape(3, 4), "int64"),
        (np.eye(3, dtype=bool), "bool"),
        (np.eye(3, dtype=np.float16), "float16"),
        (np.eye(3).astype(object), "object"),
        (sp.csr_array(np.eye(3, dtype=np.int64)), "int64"),
        (sp.coo_array(some_matrix()), "coo"),
        (sp.dok_array(np.eye(3)), "dok"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_forced_copies_are_logged(X, word, logged):
    design = Design(X)
    assert design.matvec(np.ones(X.shape[1])) == close(dense64(X).sum(axis=1))
    assert len(logged()) == 1
    assert word in logged()[0]


def test_lists_and_frames_of_numbers_are_matrices():
    assert Design([[1, 2], [3, 4]]).matvec(np.ones(2)).tolist() == [3.0, 7.0]
    pd = pytest.importorskip("pandas")
    assert Design(pd.DataFrame({"a": [1.0, 2.0], "b": [3, 4]})).matvec(np.ones(2)).tolist() == [4.0, 6.0]


@pytest.mark.parametrize("storage", ["C", "F", "csr_array", "csc_array"])
def test_read_only_matrices_are_neither_copied_nor_compiled_for_again(storage):
    X = STORAGES[storage](some_matrix())
    for array in (X.data, X.indices, X.indptr) if sp.issparse(X) else (X,):
        array.flags.writeable = False
    design = Design(X)
    values = design.contiguous[0][0]
    assert np.shares_memory(values, X.data if sp.issparse(X) else X)
    assert values.flags.writeable  # the type kernels are compiled for
    assert design.matvec(np.ones(N)) == close(dense64(X).sum(axis=1))
    assert not (X.data if sp.issparse(X) else X).flags.writeable


def test_memory_maps_are_read_in_place(tmp_path):
    np.save(tmp_path / "X.npy", some_matrix())
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    design = Design(X)
    assert np.shares_memory(design.rows.values, X)
    assert type(design.rows.values) is np.ndarray
    assert design.matvec(np.ones(N)) == close(some_matrix().sum(axis=1))
    del X
    assert design.rmatvec(np.ones(M)) == close(some_matrix().sum(axis=0))  # the map stays open as long as the rows need it


def test_memory_mapped_sparse_parts_are_read_in_place(tmp_path):
    X = sp.csr_array(some_matrix())
    for name in ("data", "indices", "indptr"):
        np.save(tmp_path / name, getattr(X, name))
    parts = [np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in ("data", "indices", "indptr")]
    mapped = sp.csr_array(tuple(parts), shape=X.shape)
    design = Design(mapped)
    assert np.shares_memory(design.rows.data, parts[0])
    assert design.matvec(np.ones(N)) == close(some_matrix().sum(axis=1))


# ---- odd but lawful matrices ----


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array])
def test_unsorted_and_repeated_indices_mean_their_sum(form, logged):
    data, indices, indptr = np.array([1.0, 2.0, 4.0, 8.0]), np.array([2, 0, 2, 1]), np.array([0, 3, 3, 4])
    X = form((data, indices, indptr), shape=(3, 3))
    expected = X.toarray()
    design = Design(X)
    assert design.matvec(np.array([1.0, 10.0, 100.0])) == close(expected @ [1.0, 10.0, 100.0])
    # Norms are what a repeated entry would spoil: |1| and |4| for 5.
    assert design.row_norms() == close(np.linalg.norm(expected, axis=1))
    assert X.data.tolist() == [1.0, 2.0, 4.0, 8.0]  # the user's matrix is left as it is
    assert len([message for message in logged() if "repeated" in message]) == 1


def test_stored_zeros_and_spare_room_are_ignored():
    X = sp.csr_array((np.array([0.0, 3.0]), np.array([1, 0]), np.array([0, 1, 2])), shape=(2, 2))
    X.data, X.indices = np.append(X.data, np.nan), np.append(X.indices, 99)  # room past the last entry
    assert Design(X).matvec(np.ones(2)).tolist() == [0.0, 3.0]


def test_huge_finite_values_are_finite():
    # Their sum overflows; they are numbers all the same.
    X = np.full((2, 2), 1.7e308)
    assert Design(X).m == 2
    assert Design(sp.csr_array(X)).nnz == 4


# ---- refusals ----


@pytest.mark.parametrize("storage", ["C", "F", "csr_array", "csc_array"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [(0, 0), (7, 3), (M - 1, N - 1)])
def test_values_that_are_not_finite_are_named(storage, dtype, bad, place):
    X = some_matrix().astype(dtype)
    X[place] = bad
    with pytest.raises(ValueError, match=rf"X\[{place[0]}, {place[1]}\] is {bad}"):
        Design(STORAGES[storage](X))


def test_the_place_is_right_in_a_matrix_of_many_blocks():
    X = np.zeros((3000, 1000), dtype=np.float32)
    X[2999, 998], X[2999, 999] = np.inf, -np.inf  # their sum is NaN, not infinite
    with pytest.raises(ValueError, match=r"X\[2999, 998\] is inf"):
        Design(X)


def damaged(**parts):
    X = sp.csr_array(np.array([[1.0, 2.0, 0.0], [0.0, 3.0, 4.0]]))
    for name, part in parts.items():
        setattr(X, name, np.array(part, dtype=X.indices.dtype) if name != "data" else np.array(part))
    return X


@pytest.mark.parametrize(
    ("construct", "word"),
    [
        (lambda: np.ones(3), "1 dimension"),
        (lambda: np.ones((2, 2, 2)), "3 dimension"),
        (lambda: 5.0, "0 dimension"),
        (lambda: sp.coo_array(np.ones(3)), "1 dimension"),
        (lambda: np.ones((0, 3)), "no rows"),
        (lambda: np.ones((3, 0)), "no columns"),
        (lambda: sp.csr_array((0, 3)), "no rows"),
        (lambda: sp.csc_array((3, 0)), "no columns"),
        (lambda: sp.csr_array((1, 2**31), dtype=np.float64), "columns, past"),
        (lambda: np.array([["a", "b"]]), "real numbers"),
        (lambda: np.array([["a", 1.0]], dtype=object), "real numbers"),
        (lambda: np.array([[None, 1.0]], dtype=object), "real numbers|not finite"),
        (lambda: np.array([[1j, 1.0]]), "real numbers"),
        (lambda: np.array([["2020-01-01"]], dtype="datetime64[D]"), "real numbers"),
        (lambda: sp.csr_array(np.array([[1j, 1.0]])), "real numbers"),
        (lambda: damaged(indptr=[0, 2]), "indptr"),
        (lambda: damaged(indptr=[1, 2, 4]), "indptr"),
        (lambda: damaged(indptr=[0, 3, 2]), "indptr"),
        (lambda: damaged(indptr=[0, 2, 5]), "indptr"),
        (lambda: damaged(data=[1.0, 2.0, 3.0]), "indptr"),
        (lambda: damaged(indices=[0, 1, 1]), "indptr"),
        (lambda: damaged(indices=[0, 1, 1, 3]), "index outside 0..2"),
        (lambda: damaged(indices=[0, -1, 1, 2]), "index outside 0..2"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_matrices_that_cannot_be_used_are_refused_in_one_sentence(construct, word):
    X = construct()
    with pytest.raises(ValueError, match=word) as caught:
        Design(X)
    message = str(caught.value)
    assert message.startswith("X")
    assert message.endswith(".")
    assert "\n" not in message


def test_a_damaged_csc_matrix_is_told_apart_from_a_lawful_csr_one():
    # Three rows, two columns: row indices reach 2, which as columns would be too many.
    X = sp.csc_array(np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]]))
    assert Design(X).matvec(np.ones(2)).tolist() == [1.0, 2.0, 3.0]
    X.indices = np.array([0, 3, 1], dtype=X.indices.dtype)
    with pytest.raises(ValueError, match=r"damaged CSC matrix: it holds an index outside 0\.\.2"):
        Design(X)

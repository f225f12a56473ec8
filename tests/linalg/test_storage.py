"""What becomes of X: values are copied only where they must be, unusual matrices mean what NumPy says, damaged ones are refused."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fenchel as fl
from fenchel.linalg.design import Design
from fenchel.solvers._second_order.weighted_gram import WeightedGram, _scattered
from tests.data import data
from tests.linalg.matrices import STORAGES, M, N, close, dense64, some_matrix


def test_foreign_byte_order_is_accepted():
    X, y = data("binary")
    sparse = sp.csr_array(X)
    sparse.indices = sparse.indices.astype(">i4")
    problem, plain = (fl.Problem(A, y, fl.Hinge(), fl.L2(0.1)) for A in (sparse, X))
    assert problem.objective(np.ones(6)) == pytest.approx(plain.objective(np.ones(6)))


def test_a_damaged_coo_matrix_is_refused():
    damaged = sp.coo_array((np.ones(1), (np.array([0]), np.array([0]))), shape=(2, 2))
    damaged.coords = (np.array([7]), np.array([0]))
    with pytest.raises(ValueError, match="damaged COO"):
        fl.Problem(damaged, np.ones(2), fl.Hinge(), fl.L2(1.0))


def test_masked_entries_are_refused():
    X, y = data("binary")
    with pytest.raises(ValueError, match="masked"):
        fl.Problem(np.ma.masked_greater(X, 1.0), y, fl.Hinge(), fl.L2(1.0))


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
def test_row_access_to_csc_copies_once_and_logs_it(storage, logged):
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


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array])
def test_unsorted_indices_are_read_in_place_and_give_the_same_products(form):
    rng = np.random.default_rng(0)
    X = form(sp.random_array((40, 12), density=0.3, rng=rng))
    indices, data = X.indices.copy(), X.data.copy()
    for first, last in zip(X.indptr, X.indptr[1:], strict=False):
        order = first + rng.permutation(last - first)
        indices[first:last], data[first:last] = X.indices[order], X.data[order]
    shuffled = form((data, indices, X.indptr), shape=X.shape)
    assert not shuffled.has_sorted_indices
    design, sorted_design, h = Design(shuffled, 1.0), Design(X, 1.0), rng.random(40)
    assert np.shares_memory(design.storage.data, data)
    assert design.matvec(np.arange(13.0)) == close(sorted_design.matvec(np.arange(13.0)))
    assert design.rmatvec(h) == close(sorted_design.rmatvec(h))
    assert design.row_norms() == close(sorted_design.row_norms())
    assert design.largest == close(sorted_design.largest)
    assert np.tril(WeightedGram(design)(h)) == close(np.tril(WeightedGram(sorted_design)(h)))
    assert np.tril(_scattered(design, h)) == close(np.tril(_scattered(sorted_design, h)))


def test_stored_zeros_and_unused_array_ends_are_ignored():
    X = sp.csr_array((np.array([0.0, 3.0]), np.array([1, 0]), np.array([0, 1, 2])), shape=(2, 2))
    X.data, X.indices = np.append(X.data, np.nan), np.append(X.indices, 99)  # room past the last entry
    assert Design(X).matvec(np.ones(2)).tolist() == [0.0, 3.0]


def test_huge_finite_values_are_finite():
    # Their sum overflows; they are numbers all the same.
    X = np.full((2, 2), 1.7e308)
    assert Design(X).m == 2
    assert Design(sp.csr_array(X)).nnz == 4


@pytest.mark.parametrize("storage", ["C", "F", "csr_array", "csc_array"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [(0, 0), (7, 3), (M - 1, N - 1)])
def test_values_that_are_not_finite_are_named(storage, dtype, bad, place):
    X = some_matrix().astype(dtype)
    X[place] = bad
    with pytest.raises(ValueError, match=rf"X\[{place[0]}, {place[1]}\] is {bad}"):
        Design(STORAGES[storage](X))


def test_the_position_is_right_in_a_matrix_of_many_blocks():
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


def test_a_damaged_csc_matrix_is_distinguished_from_a_valid_csr_matrix():
    # Three rows, two columns: row indices reach 2, which as columns would be too many.
    X = sp.csc_array(np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]]))
    assert Design(X).matvec(np.ones(2)).tolist() == [1.0, 2.0, 3.0]
    X.indices = np.array([0, 3, 1], dtype=X.indices.dtype)
    with pytest.raises(ValueError, match=r"damaged CSC matrix: it holds an index outside 0\.\.2"):
        Design(X)

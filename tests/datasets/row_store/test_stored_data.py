"""Opened stores: nothing is read but once to be checked, problems take them, and damage of any kind is reported."""

from __future__ import annotations

import json
import os
import shutil

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st

import fenchel as fl
from fenchel.core.errors import InputError
from fenchel.datasets.row_store import array_file, checking
from fenchel.datasets.row_store.array_file import HEADER, ArrayWriter, header
from fenchel.datasets.row_store.manifest import FILE


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """A sparse store, and a dense one with names of classes."""
    folder = tmp_path_factory.mktemp("stores")
    fl.datasets.write_svmlight(folder / "a.svm", *fl.datasets.make_text(300, n=100, nonzeros=10, seed=0))
    fl.datasets.convert(folder / "a.svm", folder / "sparse.store")
    rows = [f"{k % 7},{k % 3},{'yes' if k % 2 else 'no'}\n" for k in range(100)]
    (folder / "b.csv").write_text("a,b,class\n" + "".join(rows))
    fl.datasets.convert(folder / "b.csv", folder / "dense.store")
    return folder


@pytest.fixture(params=["sparse.store", "dense.store"])
def store(request, stores, tmp_path):
    """A copy that a test may damage."""
    return shutil.copytree(stores / request.param, tmp_path / request.param)


def test_rows_are_mapped_and_taken_as_they_are(stores):
    for name, kind in (("sparse.store", fl.LogisticRegression), ("dense.store", fl.LogisticRegression)):
        data = fl.datasets.open(stores / name)
        X = data.X
        mapped = [X.data, X.indices, X.indptr] if sp.issparse(X) else [X]
        assert all(isinstance(part, np.memmap) for part in mapped)
        problem = fl.Problem(X, np.where(data.y == data.y[0], -1.0, 1.0), fl.Logistic(), fl.L2(0.1))
        stored = problem.design.storage
        for a, b in zip(mapped, [stored.data, stored.indices, stored.indptr] if sp.issparse(X) else [stored], strict=True):
            assert np.shares_memory(a, b)
        in_memory = X.copy() if sp.issparse(X) else np.array(X)
        np.testing.assert_array_equal(kind().fit(X, data.y).coef_, kind().fit(in_memory, data.y).coef_)


def test_stores_are_read_like_files(stores):
    for name in ("sparse.store", "dense.store"):
        assert repr(fl.datasets.read(stores / name)) == repr(fl.datasets.open(stores / name))
    with pytest.raises(InputError, match="was chosen when"):
        fl.datasets.read(stores / "dense.store", target="a")


def test_a_store_is_checked_once_and_again_after_a_change(store, monkeypatch):
    seen, plain = [], checking.checksums_of
    monkeypatch.setattr(checking, "checksums_of", lambda array: seen.append(1) or plain(array))
    fl.datasets.open(store)
    count = len(seen)
    assert count >= 2
    fl.datasets.open(store)
    assert len(seen) == count
    os.utime(store / "data.npy", ns=(1, 1))
    fl.datasets.open(store)
    assert len(seen) == 2 * count


def test_every_changed_byte_is_found(store):
    rng = np.random.default_rng(0)
    for path in sorted(store.glob("*.npy")):
        whole = path.read_bytes()
        for at in rng.integers(HEADER, len(whole), 3):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
            with pytest.raises(InputError, match=rf"{path.stem}\.npy is damaged: block 1 of 1"):
                fl.datasets.open(store)
        path.write_bytes(whole)
    fl.datasets.open(store)


def test_a_change_is_found_even_if_the_file_keeps_its_time(store):
    fl.datasets.open(store)
    path = store / "y.npy"
    times, whole = path.stat(), path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    with pytest.raises(InputError, match="is damaged"):
        fl.datasets.open(store)


def test_missing_and_cut_files_are_reported(store):
    path = store / "data.npy"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    with pytest.raises(InputError, match=r"data\.npy is damaged: it has [\d,]+ bytes in place of"):
        fl.datasets.open(store)
    path.unlink()
    with pytest.raises(InputError, match=r"is incomplete: data\.npy is missing"):
        fl.datasets.open(store)
    (store / FILE).unlink()
    with pytest.raises(InputError, match=r"is no store: it has no manifest\.json"):
        fl.datasets.open(store)
    with pytest.raises(FileNotFoundError, match="There is no store"):
        fl.datasets.open(store / "none")
    with pytest.raises(InputError, match="is a file and no store: convert it"):
        fl.datasets.open(store / "y.npy")


def forged(store, **changes):
    """Change arrays, with checksums that fit."""
    found = json.loads((store / FILE).read_text())
    for name, change in changes.items():
        path = store / f"{name}.npy"
        array = np.fromfile(path, found["arrays"][name]["dtype"], offset=HEADER)
        change(array)
        path.write_bytes(header(array.dtype, array.shape) + array.tobytes())
        found["arrays"][name]["checksums"] = array_file.checksums_of(array)
    (store / FILE).write_text(json.dumps(found))


def put(at, value):
    return lambda array: array.__setitem__(at, value)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("indices", put(5, -1), "row 0, counting from 0, has a wrong column"),
        ("indices", put(-1, 2**31 - 1), "row 299, counting from 0, has a wrong column"),
        ("indices", lambda array: array[:2].__setitem__(slice(None), 3), "wrong column"),
        ("indptr", put(0, 1), "does not describe the rows"),
        ("indptr", put(-1, 10**6), "does not describe the rows"),
        ("indptr", put(3, 10**6), "does not describe the rows"),
        ("data", put(7, np.nan), "wrong column or value"),
        ("data", put(7, np.inf), "wrong column or value"),
        ("y", put(7, np.nan), "not finite"),
    ],
)
def test_arrays_with_right_checksums_and_wrong_contents_are_refused(stores, tmp_path, name, change, message):
    store = shutil.copytree(stores / "sparse.store", tmp_path / "forged.store")
    forged(store, **{name: change})
    with pytest.raises(InputError, match=message):
        fl.datasets.open(store)


def test_classes_without_a_name_are_refused(stores, tmp_path):
    store = shutil.copytree(stores / "dense.store", tmp_path / "forged.store")
    forged(store, y=put(0, 2))
    with pytest.raises(InputError, match="a class that has no name"):
        fl.datasets.open(store)


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=5)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_a_manifest_with_anything_in_it_is_refused_or_opened(stores, tmp_path_factory, data):
    found = json.loads((stores / "sparse.store" / FILE).read_text())
    place = data.draw(st.sampled_from([*found, ("arrays", "data"), ("arrays", "indptr", "entries"), ("arrays", "y", "dtype")]))
    inside, names = found, [place] if isinstance(place, str) else list(place)
    for name in names[:-1]:
        inside = inside[name]
    inside[names[-1]] = data.draw(json_values)
    store = tmp_path_factory.mktemp("any") / "any.store"
    shutil.copytree(stores / "sparse.store", store)
    (store / FILE).write_text(json.dumps(found))
    try:
        opened = fl.datasets.open(store)
    except InputError:
        return
    assert opened.X.shape[0] == 300


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": "fenchel store", "version": 2}', "[" * 100_000])
def test_a_damaged_manifest_is_reported(store, text):
    (store / FILE).write_text(text)
    with pytest.raises(InputError, match=r"is damaged|update fenchel"):
        fl.datasets.open(store)


def test_arrays_are_ordinary_npy_files(stores):
    data = fl.datasets.open(stores / "sparse.store")
    np.testing.assert_array_equal(np.load(stores / "sparse.store" / "indices.npy"), data.X.indices)
    assert np.load(stores / "dense.store" / "data.npy").shape == (100, 2)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 400), max_size=6), st.integers(0, 5))
def test_an_array_written_in_pieces_and_reopened_has_the_checksums_of_the_whole(tmp_path_factory, sizes, reopened):
    whole = np.random.default_rng(0).standard_normal(sum(sizes))
    folder = tmp_path_factory.mktemp("array")
    plain, array_file.BLOCK = array_file.BLOCK, 1000
    try:
        writer, at = ArrayWriter(folder / "a.npy", np.float64), 0
        for k, size in enumerate(sizes):
            if k == reopened:
                written = writer.synchronised()
                writer.append(np.ones(3))  # lost
                writer.close()
                writer = ArrayWriter(folder / "a.npy", np.float64, written)
            writer.append(whole[at : at + size])
            at += size
        writer.finish((len(whole),))
        assert writer.checksums == array_file.checksums_of(whole)
    finally:
        array_file.BLOCK = plain
    np.testing.assert_array_equal(np.load(folder / "a.npy"), whole)

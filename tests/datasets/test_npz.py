"""Data in .npz files: a round trip restores all parts, and damaged or malicious files are refused."""

from __future__ import annotations

import struct
import sys
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

import fenchel as fl
from fenchel.datasets import Data


def test_a_round_trip_through_npz_restores_all_parts(tmp_path):
    X, _ = fl.datasets.make_text(20, n=30, nonzeros=5)
    data = Data(X, np.array(["é", "b"] * 10), tuple(f"f{j}" for j in range(30)), "kind", np.arange(20) // 4, sample_weight=np.ones(20))
    fl.datasets.write(tmp_path / "a.npz", data)
    back = fl.datasets.read(tmp_path / "a.npz", dtype=np.float32)
    assert (X.astype(np.float32) != back.X).nnz == 0
    assert back.y.tolist() == data.y.tolist()
    assert back.feature_names == data.feature_names
    assert back.target_name == "kind"
    assert back.qid.tolist() == data.qid.tolist()
    sp.save_npz(tmp_path / "scipy.npz", X)
    assert (fl.datasets.read(tmp_path / "scipy.npz").X != X).nnz == 0
    sp.save_npz(tmp_path / "csc.npz", X.tocsc())
    with pytest.raises(ValueError, match="not CSR"):
        fl.datasets.read(tmp_path / "csc.npz")


def npz(path, **arrays):
    np.savez(path, **arrays)
    return path


CSR = {"data": np.ones(2), "indices": np.array([0, 1]), "indptr": np.array([0, 1, 2]), "shape": np.array([2, 2])}


@pytest.mark.parametrize(
    "change",
    [
        {"indices": np.array([0, 2])},
        {"indices": np.array([0, -1])},
        {"indptr": np.array([0, 2, 1])},
        {"indptr": np.array([0, 1, 9])},
        {"indptr": np.array([0, 2])},
        {"shape": np.array([2, -2])},
        {"shape": np.array([2.0, 2.0])},
        {"shape": np.array([2**62, 2**62])},
        {"data": np.array([1.0, np.nan])},
        {"data": np.array(["a", "b"])},
        {"y": np.ones(3)},
        {"y": np.ones((2, 1))},
        {"feature_names": np.array(["a"])},
        {"other": np.ones(1)},
    ],
)
def test_damaged_npz_is_refused(tmp_path, change):
    with pytest.raises(ValueError, match=r"\.$"):
        fl.datasets.read(npz(tmp_path / "a.npz", **{**CSR, **change}))


@pytest.mark.parametrize(
    "change",
    [
        {"shape": np.empty((10**9, 0), dtype=np.int64)},
        {"y": np.array([b"a", b"b"])},
        {"sample_weight": np.array(["a", "b"])},
        {"format": np.array([b"csr", b"csr"])},
        {"target_name": np.array(["a", "b"])},
    ],
)
def test_forged_arrays_are_refused_at_once(tmp_path, change):
    with pytest.raises(fl.InputError, match=r"\.$"):
        fl.datasets.read(npz(tmp_path / "a.npz", **{**CSR, **change}))


def test_npz_with_objects_is_never_unpickled(tmp_path):
    class Trap:
        def __reduce__(self):
            return (sys.exit, ("unpickled",))

    np.savez(tmp_path / "a.npz", X=np.ones((1, 1)), y=np.array([Trap()], dtype=object))
    with pytest.raises(ValueError, match="give numbers or text"):
        fl.datasets.read(tmp_path / "a.npz")


def raw_npz(path, header: str, body: bytes, name="X", mode="w"):
    text = header.encode("latin1")
    member = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + body
    with zipfile.ZipFile(path, mode, zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{name}.npy", member)
    return path


def test_texts_without_characters_are_refused_at_once(tmp_path):
    """NumPy would make each of them four bytes long."""
    path = npz(tmp_path / "a.npz", **CSR)
    header = "{'descr': '<U0', 'fortran_order': False, 'shape': (1000000000,), }\n"
    with pytest.raises(fl.InputError, match=r"\.$"):
        fl.datasets.read(raw_npz(path, header, b"", "y", "a"))


@pytest.mark.parametrize("shape", ["(1000000000000, 1000)", "(2, 3)", "(-1, 2)", "(0, 10)"])
def test_npz_headers_with_wrong_sizes_are_refused_before_anything_is_allocated(tmp_path, shape):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n"
    with pytest.raises(ValueError, match=r"\.$"):
        fl.datasets.read(raw_npz(tmp_path / "a.npz", header, bytes(32)))

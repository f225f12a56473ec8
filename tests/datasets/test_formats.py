"""Data files of every format: a round trip restores the data, and options that do not apply to a format are refused."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st

import fenchel as fl
from fenchel.datasets import Data, Encoding
from fenchel.datasets.tables import read as tables
from tests.datasets.cars import CARS, dense

matrices = st.tuples(st.integers(1, 8), st.integers(1, 6), st.integers(0, 2**31), st.booleans())


@settings(deadline=None, max_examples=40)
@given(matrices, st.sampled_from(["a.csv", "a.tsv", "a.csv.gz", "a.parquet", "a.npz", "a.svm", "a.txt.xz", "a"]))
def test_a_round_trip_through_a_file_restores_the_data(tmp_path_factory, shape, name):
    m, n, seed, sparse = shape
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, n)) * rng.integers(0, 2, (m, n)) * 10.0 ** rng.integers(-20, 20, (m, n))
    X[0, n - 1] = 1.0  # so that svmlight text determines the number of columns
    y = rng.standard_normal(m)
    path = tmp_path_factory.mktemp("round") / name
    fl.datasets.write(path, Data(sp.csr_array(X) if sparse else X, y))
    data = fl.datasets.read(path)
    exact = name.endswith((".csv", ".tsv", ".parquet", ".npz", ".csv.gz"))
    np.testing.assert_allclose(dense(data.X), X, rtol=0 if exact else 1e-14)
    np.testing.assert_allclose(data.y, y, rtol=0 if exact else 1e-14)
    assert [file.name for file in path.parent.iterdir()] == [name]


@pytest.mark.parametrize("name", ["a.txt", "a.gz", "a.npz"])
def test_a_round_trip_through_a_file_restores_queries(tmp_path, name):
    X, y, qid = fl.datasets.make_ranking(5, 4, n=3)
    fl.datasets.write(tmp_path / name, Data(X, y, qid=qid))
    back, grades, queries = fl.datasets.read(tmp_path / name)
    np.testing.assert_allclose(dense(back), X, rtol=1e-14)
    assert grades.tolist() == y.tolist()
    assert queries.tolist() == qid.tolist()


def test_a_query_id_in_a_comment_is_ignored(tmp_path):
    (tmp_path / "a").write_text("# qid:1\n\n1 1:2 # qid:3\n")
    assert fl.datasets.read(tmp_path / "a").qid is None


@pytest.mark.parametrize("body", [b"", b"no zip", b"PK\x03\x04" + bytes(50)])
@pytest.mark.parametrize("name", ["a.npz", "a.parquet"])
def test_invalid_npz_and_parquet_files_are_refused(tmp_path, body, name):
    (tmp_path / name).write_bytes(body)
    with pytest.raises(ValueError, match=rf"{name}.*\.$"):
        fl.datasets.read(tmp_path / name)


def test_options_that_do_not_apply_are_refused(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:1\n")
    (tmp_path / "a.csv").write_text(CARS)
    read = fl.datasets.read
    for options in ({"target": "y"}, {"drop": ["y"]}, {"missing": "mean"}, {"sample_weight": "w"}, {"encoding": Encoding(())}):
        with pytest.raises(ValueError, match=rf"{next(iter(options))}= is for tables"):
            read(tmp_path / "a.svm", **options)
    with pytest.raises(ValueError, match="target= is determined by the encoding"):
        read(tmp_path / "a.csv", encoding=read(tmp_path / "a.csv").encoding, target="class")
    with pytest.raises(ValueError, match="give a list of columns"):
        read(tmp_path / "a.csv", features=3)
    with pytest.raises(ValueError, match="features="):
        read(tmp_path / "a.svm", features=["a"])
    with pytest.raises(ValueError, match="format='exe'"):
        read(tmp_path / "a.csv", format="exe")
    with pytest.raises(ValueError, match="dtype"):
        read(tmp_path / "a.csv", dtype=int)
    with pytest.raises(FileNotFoundError, match="no file"):
        read(tmp_path / "b.csv")
    assert read(tmp_path / "a.csv", format="csv").X.shape == (3, 5)


def test_data_that_a_format_cannot_hold_are_refused_and_leave_no_file(tmp_path):
    write = fl.datasets.write
    X, y = np.eye(2), np.array([1.0, 2.0])
    for name, data, message in [
        ("a.svm", Data(X, np.array(["a", "b"])), "a number as the label"),
        ("a.svm", Data(X, None), "a number as the label"),
        ("a.svm", Data(X, y, sample_weight=y), "sample weights"),
        ("a.csv", Data(X, y, qid=y), "cannot hold query ids"),
        ("a.csv", Data(X, y, ["p", "p"]), "same name"),
        ("a.parquet", Data(sp.csr_array((2, tables.WIDEST + 1)), y), "too many for a table"),
        ("a.npz", Data(X, y[:1]), "one label per row"),
    ]:
        with pytest.raises(ValueError, match=message):
            write(tmp_path / name, data)
    with pytest.raises(OSError, match="there is no directory"):
        write(tmp_path / "none" / "a.csv", Data(X, y))
    assert list(tmp_path.iterdir()) == []


def test_unknown_endings_are_refused_for_writing(tmp_path):
    data = Data(np.eye(2), np.array([1.0, -1.0]))
    with pytest.raises(ValueError, match=r"the ending \.xyz belongs to no known format: use one of \.csv"):
        fl.datasets.write(tmp_path / "a.xyz.gz", data)
    assert not list(tmp_path.iterdir())
    fl.datasets.write(tmp_path / "a.xyz", data, format="svmlight")
    for name in ("a.svm", "a.dat", "a", "a.TXT", "a.libsvm.gz"):
        fl.datasets.write(tmp_path / name, data)
        assert dense(fl.datasets.read(tmp_path / name).X).tolist() == dense(fl.datasets.read(tmp_path / "a.xyz").X).tolist()


@pytest.mark.parametrize("name", ["a.svm", "a.svm.gz", "a.txt", "queries"])
def test_query_ids_are_found_in_compressed_text_whatever_its_name(tmp_path, name):
    text = b"# LETOR\n\n  # more\n" + b"#\n" * 70_000 + b"2 qid:3 1:0.5\n0 qid:4 2:1 # qid:5\n"
    (tmp_path / name).write_bytes(gzip.compress(text))
    assert fl.datasets.read(tmp_path / name).qid.tolist() == [3, 4]
    (tmp_path / name).write_bytes(gzip.compress(b"2 1:0.5 # qid:3\n0 qid:4 2:1\n"))
    assert fl.datasets.read(tmp_path / name).qid is None


@pytest.mark.parametrize("ending", [".npz", ".parquet"])
def test_compressed_npz_and_parquet_files_are_read(tmp_path, ending):
    data = fl.datasets.Data(np.eye(2), np.array([1.0, -1.0]))
    for packing in ("", ".gz", ".xz"):
        fl.datasets.write(tmp_path / f"a{ending}{packing}", data)
        assert fl.datasets.read(tmp_path / f"a{ending}{packing}").X.tolist() == [[1.0, 0.0], [0.0, 1.0]]

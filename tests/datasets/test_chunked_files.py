"""Files in chunks: the rows that are read at once, of any format, any number at a time."""

from __future__ import annotations

import io

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st

import fenchel as fl
from fenchel.datasets import text_files


def dense(X):
    return X.toarray() if sp.issparse(X) else np.asarray(X)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chunks")
    X, y = fl.datasets.make_text(400, n=60, nonzeros=8, seed=0)
    fl.datasets.write_svmlight(folder / "a.svm", X, y)
    fl.datasets.write_svmlight(folder / "b.svm.gz", X[:150], y[:150])
    fl.datasets.convert(folder / "a.svm", folder / "a.store")
    rows = [f"{k},{'x' if k % 3 else 'y'},{k % 2}\n" for k in range(300)]
    (folder / "c.csv").write_text("a,b,target\n" + "".join(rows))
    return folder


@settings(deadline=None, max_examples=25)
@given(st.sampled_from(["a.svm", "b.svm.gz", "a.store", "c.csv"]), st.integers(1, 500), st.sampled_from([1 << 9, 1 << 21]))
def test_chunks_are_the_rows_of_the_file(files, name, rows, size):
    plain = text_files.CHUNK, text_files.FIRST_CHUNK
    text_files.CHUNK = text_files.FIRST_CHUNK = size
    try:
        found = list(fl.datasets.chunks(files / name, rows))
    finally:
        text_files.CHUNK, text_files.FIRST_CHUNK = plain
    data = fl.datasets.read(files / name)
    assert [len(y) for _, y in found[:-1]] == [rows] * (len(found) - 1)
    assert 0 < len(found[-1][1]) <= rows
    np.testing.assert_array_equal(np.vstack([dense(X) for X, _ in found]), dense(data.X))
    np.testing.assert_array_equal(np.concatenate([y for _, y in found]), data.y)


def test_several_files_and_open_files_are_read(files):
    X, y = fl.datasets.read_svmlight(files / "a.svm")
    found = list(fl.datasets.chunks([files / "a.svm", files / "b.svm.gz"], 130))
    assert sum(len(labels) for _, labels in found) == 550
    opened = list(fl.datasets.chunks(io.BytesIO((files / "a.svm").read_bytes()), 400, features=60))
    np.testing.assert_array_equal(opened[0][0].toarray(), X.toarray())
    np.testing.assert_array_equal(opened[0][1], y)


@pytest.mark.parametrize("source", ["a.svm", "a.store", ["a.svm", "b.svm.gz"], "?.svm"])
def test_streams_read_files(files, source, monkeypatch):
    monkeypatch.chdir(files)
    stream = fl.Stream(source, fl.Logistic(), fl.L2(1e-3), passes=2)
    result = fl.minimize(stream, "pgs")
    assert result.status == "exhausted"
    X, y = fl.datasets.read_svmlight("a.svm")
    assert fl.Problem(X, y, fl.Logistic(), fl.L2(1e-3)).objective(result.w) < 0.69


def test_what_cannot_be_read_is_said(files):
    for sources, options, message in [
        (files / "none.svm", {}, "There is no file"),
        ([files / "a.svm", files / "a.store"], {}, "Some of the sources are stores"),
        ([files / "a.svm", files / "c.csv"], {}, "have one format"),
        (files / "a.svm", {"target": "x"}, "is for tables"),
        (files / "a.svm", {"rows": 0}, "rows"),
        (files / "a.svm", {"index_base": 3}, "index_base=3"),
    ]:
        with pytest.raises((ValueError, OSError), match=message):
            list(fl.datasets.chunks(sources, **options))

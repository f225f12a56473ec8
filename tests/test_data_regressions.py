"""What data and model files once got wrong, each as the law it broke."""

from __future__ import annotations

import gzip
import os

import numpy as np
import pytest

import fenchel as fl
from fenchel.core.atomic_files import checked_place, replacing
from fenchel.datasets import read


@pytest.mark.parametrize("text", ["a;b;y\n1,5;2,5;1\n2,5;3,5;0\n", "a;b;y\n1.5;2;1\n2.5;3;0\n"])
@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz"])
def test_a_table_with_semicolons_is_read_with_them(tmp_path, text, name):
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    data = read(path)
    assert data.feature_names == ("a", "b")
    assert data.X[:, 0].tolist() == [1.5, 2.5]
    assert data.y.tolist() == [1.0, 0.0]


def test_a_parquet_table_with_a_name_twice_is_refused_by_that_name(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.Table.from_arrays([pa.array([1, 2])] * 3, ["a", "a", "y"]), tmp_path / "twice.parquet")
    with pytest.raises(ValueError, match="Two columns are called 'a'"):
        read(tmp_path / "twice.parquet")


@pytest.mark.parametrize("penalty", [fl.Box(0.0, 1.0), fl.Box(0.0, np.inf, fl.L2(0.1))])
def test_a_model_with_bounds_comes_back_from_its_file(tmp_path, penalty):
    X = np.random.default_rng(0).standard_normal((40, 3))
    model = fl.LinearClassifier(penalty=penalty).fit(X, X[:, 0] > 0)
    fl.save(model, tmp_path / "box.fenchel")
    again = fl.load(tmp_path / "box.fenchel")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.fit(X, X[:, 0] > 0).coef_, model.coef_)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are for POSIX systems")
def test_what_is_no_ordinary_file_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileExistsError, match="no ordinary file"), replacing(tmp_path / "pipe"):
        pass
    assert (tmp_path / "pipe").is_fifo()


def test_what_is_read_is_not_overwritten_by_any_name(tmp_path):
    (tmp_path / "data.csv").write_text("a,y\n1,2\n")
    (tmp_path / "link").symlink_to(tmp_path / "data.csv")
    for name in ("data.csv", "./data.csv", "link"):
        with pytest.raises(FileExistsError, match="is the file to be read"):
            checked_place(tmp_path / name, tmp_path / "data.csv")


@pytest.mark.parametrize("words", [["train", "two.csv", "-m", "two.csv"], ["convert", "two.csv", "two.csv"]])
def test_commands_do_not_overwrite_their_data(tmp_path, monkeypatch, words):
    from typer.testing import CliRunner

    from fenchel.cli import app

    monkeypatch.chdir(tmp_path)
    (tmp_path / "two.csv").write_text("a,y\n1,0\n2,1\n3,0\n")
    assert CliRunner().invoke(app, words).exit_code != 0
    assert (tmp_path / "two.csv").read_text().startswith("a,y")

"""What data and model files once got wrong, each as the law it broke."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

import fenchel as fl
from fenchel.datasets import read


@pytest.mark.parametrize("text", ["a;b;y\n1,5;2,5;1\n2,5;3,5;0\n", "a;b;y\n1.5;2;1\n2.5;3;0\n"])
@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz"])
def test_a_table_with_semicolons_is_told_from_one_without_a_target(tmp_path, text, name):
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    with pytest.raises(ValueError, match="semicolons between its columns"):
        read(path)


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

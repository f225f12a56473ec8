"""Tables in files: text packed or not, Parquet, and what is wrong with them in a sentence."""

from __future__ import annotations

import gzip

import pytest

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

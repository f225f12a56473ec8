"""Tables in files: plain and compressed text, Parquet, and error messages."""

from __future__ import annotations

import gzip
import lzma

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fenchel as fl
from fenchel.datasets import Data, read
from fenchel.datasets.tables import read as tables
from tests.datasets.cars import CAR_NAMES, CAR_ROWS, CARS, categorical, dense


@pytest.mark.parametrize("text", ["a;b;y\n1,5;2,5;1\n2,5;3,5;0\n", "a;b;y\n1.5;2;1\n2.5;3;0\n"])
@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz"])
def test_semicolons_are_recognised_as_separators(tmp_path, text, name):
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    data = read(path)
    assert data.feature_names == ("a", "b")
    assert data.X[:, 0].tolist() == [1.5, 2.5]
    assert data.y.tolist() == [1.0, 0.0]


def test_a_parquet_table_with_a_repeated_column_name_is_refused(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.Table.from_arrays([pa.array([1, 2])] * 3, ["a", "a", "y"]), tmp_path / "twice.parquet")
    with pytest.raises(ValueError, match="Two columns are called 'a'"):
        read(tmp_path / "twice.parquet")


def tabbed(text):
    return text.replace(b",", b"\t")


PACKED = [("cars.csv", bytes), ("cars.csv.gz", gzip.compress), ("cars.csv.xz", lzma.compress), ("cars.tsv", tabbed)]


@pytest.mark.parametrize(("name", "packed"), PACKED)
def test_text_tables_may_be_compressed(tmp_path, name, packed):
    (tmp_path / name).write_bytes(packed(CARS.encode()))
    data = fl.datasets.read(tmp_path / name)
    np.testing.assert_array_equal(dense(data.X), CAR_ROWS)
    assert data.feature_names == CAR_NAMES
    assert data.name == name


def test_parquet_is_read_without_the_index_of_pandas(tmp_path):
    categorical().to_parquet(tmp_path / "cars.pq")
    np.testing.assert_array_equal(dense(fl.datasets.read(tmp_path / "cars.pq").X), CAR_ROWS)


def test_a_long_text_repeated_in_every_row_is_stored_once(tmp_path):
    long = "x" * 1_000_000
    table = pa.table({"t": pa.DictionaryArray.from_arrays(np.zeros(100_000, dtype=np.int32), [long]), "y": np.zeros(100_000)})
    pq.write_table(table, tmp_path / "a.parquet", store_schema=False)
    assert pq.read_schema(tmp_path / "a.parquet").field("t").type == pa.string()
    data = fl.datasets.read(tmp_path / "a.parquet")  # 100 GB if copied for every row
    assert data.X.shape == (100_000, 1)
    with pytest.raises(ValueError, match="too long for a class"):
        fl.datasets.read(tmp_path / "a.parquet", target="t")


def test_a_text_column_stays_text_if_another_file_has_numbers_in_it(tmp_path):
    (tmp_path / "train.csv").write_text("zip,size,label\n0123,1,1\nA1,2,x\n0123,3,x\n")
    (tmp_path / "test.csv").write_text("zip,size,label\n0123,7,1\n")
    with pytest.warns(UserWarning, match=r"'zip' is text .* 2 of 3 values are numbers; the first that is not is 'A1', in row 2"):
        train = fl.datasets.read(tmp_path / "train.csv")
    test = fl.datasets.read(tmp_path / "test.csv", encoding=train.encoding)
    np.testing.assert_array_equal(dense(test.X), [[1, 0, 7]])
    assert test.y.tolist() == ["1"]


@pytest.mark.parametrize(("name", "packed"), [("late.csv", bytes), ("late.csv.gz", gzip.compress)])
def test_types_may_change_after_the_first_block(tmp_path, name, packed):
    (tmp_path / name).write_bytes(packed(b"a,b,y\n" + b"1,2,0\n" * 400_000 + b"1.5,text,1\n"))
    with pytest.warns(UserWarning, match="'text', in row 400,001"):
        data = fl.datasets.read(tmp_path / name, features=["a", "b"])
    assert data.feature_names == ("a", "b=2", "b=text")
    assert dense(data.X)[-1].tolist() == [1.5, 0.0, 1.0]


def test_tables_are_written_in_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "BLOCK", 7)
    X, y = np.arange(60.0).reshape(20, 3), np.array(["a", "b"] * 10)
    for name in ("a.csv", "a.parquet"):
        fl.datasets.write(tmp_path / name, Data(X, y, ["p", "q", "r"], "kind", sample_weight=np.arange(20.0)))
        data = fl.datasets.read(tmp_path / name, target="kind", sample_weight="sample_weight")
        np.testing.assert_array_equal(data.X, X)
        assert data.y.tolist() == y.tolist()
        assert data.sample_weight.tolist() == list(range(20))
        assert data.feature_names == ("p", "q", "r")


@pytest.mark.parametrize("text", ["", "a,y\n", "a,y\n1,2\n1\n", "a,y\n1,2,3\n", "a,a,y\n1,2,3\n", "\x00\x01"])
def test_damaged_csv_is_refused(tmp_path, text):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(ValueError, match=r"\.$"):
        fl.datasets.read(tmp_path / "a.csv")


def test_truncated_archives_are_refused(tmp_path):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(CARS.encode() * 1)[:-12])
    (tmp_path / "b.csv.xz").write_bytes(lzma.compress(CARS.encode())[:-12])
    for name in ("a.csv.gz", "b.csv.xz"):
        with pytest.raises(ValueError, match=rf"{name} cannot be read as csv"):
            fl.datasets.read(tmp_path / name)


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
@pytest.mark.parametrize("numbers", [["1,5", "-2", "1,25e2"], ["1.5", "-2", "1.25e2"]])
def test_semicolons_work_with_decimal_commas_and_points(ending, numbers, tmp_path):
    file = tmp_path / f"euro{ending}"
    rows = [f"{number};{word};{k}" for k, (number, word) in enumerate(zip(numbers, ["a, b", "c", "c"], strict=True))]
    text = "\n".join(["size;colour;y", *rows]).encode()
    file.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    data = fl.datasets.read(file)
    assert data.feature_names == ("size", "colour=a, b", "colour=c")
    assert dense(data.X)[:, 0].tolist() == [1.5, -2.0, 125.0]
    assert dense(fl.datasets.read(file, encoding=data.encoding).X).tolist() == dense(data.X).tolist()


def test_a_bad_line_is_reported_by_number_without_unprintable_characters(tmp_path):
    file = tmp_path / "ragged.csv"
    file.write_text("a,b\n" + "1,2\n" * 500_000 + "1\x1b[31m,2,3\n" + "1,2.5\n" * 10)
    with pytest.raises(ValueError, match=r"ragged\.csv, line 500002: 3 values, and the heading has 2") as caught:
        fl.datasets.read(file, target="b")
    assert str(caught.value).isprintable()
    file.write_bytes(bytes(np.random.default_rng(0).integers(0, 256, 3000, dtype=np.uint8)))
    with pytest.raises(ValueError, match=r"ragged\.csv") as caught:
        fl.datasets.read(file)
    assert str(caught.value).isprintable()


def test_a_wide_table_with_a_short_line_is_parsed_once(tmp_path, monkeypatch):
    attempts = []
    parse = tables._parse_csv
    monkeypatch.setattr(tables, "_parse_csv", lambda *arguments, **options: attempts.append(1) or parse(*arguments, **options))
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"c{k}" for k in range(3000)) + "\n1,2,3\n")
    with pytest.raises(fl.InputError, match="line 2: 3 values, and the heading has 3000"):
        fl.datasets.read(path)
    assert len(attempts) == 1, "Arrow keeps the memory of every attempt"

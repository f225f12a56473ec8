"""Tables become matrices column by column, the same ones every time; files go round; files of strangers are refused in a sentence."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import struct
import sys
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import fenchel as fl
from fenchel.datasets import Data, Encoding, decompression
from fenchel.datasets.tables import arrow_columns
from fenchel.datasets.tables import read as tables
from fenchel.datasets.tables.column import Column

CARS = "hp,fuel,old,class\n90,diesel,true,slow\n120,petrol,false,fast\n75.5,,true,slow\n"
CAR_ROWS = [[90, 0, 1, 0, 1], [120, 0, 0, 1, 0], [75.5, 1, 0, 0, 1]]
CAR_NAMES = ("hp", "fuel=", "fuel=diesel", "fuel=petrol", "old")


def dense(X):
    return X.toarray() if sp.issparse(X) else X


def frame():
    return {"hp": [90, 120, 75.5], "fuel": ["diesel", "petrol", None], "old": [True, False, True], "class": ["slow", "fast", "slow"]}


def with_index():
    return pd.DataFrame(frame(), index=pd.Index([7, 3, 9], name="id"))


def categorical():
    return pd.DataFrame(frame()).astype({"fuel": "category"}).set_axis([5, 1, 2])


def polars_categorical():
    return plain_polars().with_columns(pl.col("fuel").cast(pl.Categorical), pl.col("class").cast(pl.Enum(["fast", "slow"])))


def plain_pandas():
    return pd.DataFrame(frame())


def plain_polars():
    return pl.DataFrame(frame(), strict=False)


def plain_arrow():
    return pa.table(frame())


@pytest.mark.parametrize("table", [plain_pandas, with_index, categorical, plain_polars, polars_categorical, plain_arrow])
def test_every_kind_of_table_becomes_the_same_matrix(table):
    encoding = Encoding.fit(table())
    data = encoding.transform(table())
    assert data.feature_names == encoding.feature_names == CAR_NAMES
    np.testing.assert_array_equal(dense(data.X), CAR_ROWS)
    assert data.y.tolist() == ["slow", "fast", "slow"]
    assert data.target_name == "class"


def tabbed(text):
    return text.replace(b",", b"\t")


PACKED = [("cars.csv", bytes), ("cars.csv.gz", gzip.compress), ("cars.csv.xz", lzma.compress), ("cars.tsv", tabbed)]


@pytest.mark.parametrize(("name", "packed"), PACKED)
def test_text_tables_are_read_packed_or_not(tmp_path, name, packed):
    (tmp_path / name).write_bytes(packed(CARS.encode()))
    data = fl.datasets.read(tmp_path / name)
    np.testing.assert_array_equal(dense(data.X), CAR_ROWS)
    assert data.feature_names == CAR_NAMES
    assert data.name == name


def test_parquet_is_read_without_the_index_of_pandas(tmp_path):
    categorical().to_parquet(tmp_path / "cars.pq")
    np.testing.assert_array_equal(dense(fl.datasets.read(tmp_path / "cars.pq").X), CAR_ROWS)


cells = st.one_of(st.none(), st.sampled_from(["", "a", "b", "é=", "c,d", '"q"', "x\ny"]))
numbers = st.floats(-1e6, 1e6).map(lambda value: round(value, 3))
lines = st.tuples(cells, numbers, st.booleans(), cells, numbers)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(cells, numbers, st.booleans(), cells, numbers), min_size=1, max_size=30), st.sampled_from([np.float32, np.float64])
)
def test_encoding_against_a_naive_twin(rows, dtype):
    names = ["text", "number", "flag", "more", "y"]
    table = pa.table({name: pa.array(list(column), TYPES[name]) for name, column in zip(names, zip(*rows, strict=True), strict=True)})
    data = Encoding.fit(table).transform(table, dtype)
    twin = []
    for text, number, flag, more, _ in rows:
        texts, others = sorted({row[0] or "" for row in rows}), sorted({row[3] or "" for row in rows})
        row = [float((text or "") == category) for category in texts] + [number, float(flag)]
        twin.append(row + [float((more or "") == category) for category in others])
    np.testing.assert_array_equal(dense(data.X), np.array(twin, dtype=dtype))
    assert data.X.dtype == dtype
    assert len(data.feature_names) == data.X.shape[1]
    assert data.y.tolist() == [row[4] for row in rows]
    if sp.issparse(data.X):
        assert data.X.has_canonical_format
        assert data.X.indices.dtype == np.int32
        stored = data.X.data.nbytes + data.X.indices.nbytes + data.X.indptr.nbytes
        assert 2 * stored < np.prod(data.X.shape) * data.X.dtype.itemsize


TYPES = {"text": pa.string(), "number": pa.float64(), "flag": pa.bool_(), "more": pa.large_string(), "y": pa.float64()}


def test_many_categories_make_a_sparse_matrix():
    rng = np.random.default_rng(0)
    table = pa.table({"word": [f"w{k}" for k in rng.integers(0, 80, 500)], "y": rng.standard_normal(500)})
    data = Encoding.fit(table).transform(table)
    assert sp.issparse(data.X)
    assert data.X.nnz == 500
    assert arrow_columns.assemble([np.arange(3.0)], [1], 3, np.float64).tolist() == [[0.0], [1.0], [2.0]]


def test_unused_categories_are_no_columns_and_dictionaries_may_differ_from_chunk_to_chunk():
    unused = pd.DataFrame({"c": pd.Categorical(["u", "v"], categories=["w", "u", "v", "x"]), "y": [0, 1]})
    assert Encoding.fit(unused).feature_names == ("c=u", "c=v")
    chunks = [pa.DictionaryArray.from_arrays([1, 0, None], ["a", "b"]), pa.DictionaryArray.from_arrays([0, 1], ["b", None])]
    table = pa.table({"c": pa.chunked_array(chunks), "y": pa.chunked_array([["p", "q", "p"], ["q", "q"]])})
    data = Encoding.fit(table).transform(table)
    assert data.feature_names == ("c=", "c=a", "c=b")
    assert dense(data.X).argmax(axis=1).tolist() == [2, 1, 0, 2, 0]
    assert data.y.tolist() == ["p", "q", "p", "q", "q"]


def test_a_long_text_in_every_row_is_kept_once(tmp_path):
    long = "x" * 1_000_000
    table = pa.table({"t": pa.DictionaryArray.from_arrays(np.zeros(100_000, dtype=np.int32), [long]), "y": np.zeros(100_000)})
    pq.write_table(table, tmp_path / "a.parquet", store_schema=False)
    assert pq.read_schema(tmp_path / "a.parquet").field("t").type == pa.string()
    data = fl.datasets.read(tmp_path / "a.parquet")  # 100 GB if spelt out
    assert data.X.shape == (100_000, 1)
    with pytest.raises(ValueError, match="that is no class"):
        fl.datasets.read(tmp_path / "a.parquet", target="t")


def test_the_next_table_gets_the_same_columns():
    encoding = Encoding.fit(plain_polars())
    new = pl.DataFrame({"old": [0, 1, 1], "extra": [1, 2, 3], "fuel": ["gas", "diesel", "gas"], "hp": [1, 2, 3]})
    with pytest.warns(UserWarning, match=r"2 rows have texts in column 'fuel' .* such as 'gas'"):
        data = encoding.transform(new)
    np.testing.assert_array_equal(dense(data.X), [[1, 0, 0, 0, 0], [2, 0, 1, 0, 1], [3, 0, 0, 0, 1]])
    assert data.y is None
    with pytest.raises(ValueError, match=r"lacks 'hp', 'old'"):
        encoding.transform(pl.DataFrame({"fuel": ["diesel"]}))
    with pytest.raises(ValueError, match=r"'hp' held numbers .* holds text now"):
        encoding.transform(pl.DataFrame({"hp": ["many"], "fuel": ["diesel"], "old": [True]}))
    with pytest.raises(ValueError, match=r"'hp' has 1 missing value, and the encoding nothing"):
        encoding.transform(pl.DataFrame({"hp": [None], "fuel": ["diesel"], "old": [True]}))


def test_text_stays_text_though_the_next_file_looks_like_numbers(tmp_path):
    (tmp_path / "train.csv").write_text("zip,size,label\n0123,1,1\nA1,2,x\n0123,3,x\n")
    (tmp_path / "test.csv").write_text("zip,size,label\n0123,7,1\n")
    with pytest.warns(UserWarning, match=r"'zip' is text, .* 2 of 3 values are numbers; the first that is not is 'A1', in row 2"):
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


@pytest.mark.parametrize(("missing", "filled"), [("zero", 0.0), ("mean", 2.0)])
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_missing_numbers(make, missing, filled):
    table = make({"a": [1.0, None, 3.0], "y": [1, 2, 3]})
    with pytest.raises(ValueError, match=r"Column 'a' has 1 missing value in 3 rows: .*missing='mean'.*drop=\['a'\]"):
        Encoding.fit(table)
    encoding = Encoding.fit(table, missing=missing)
    assert dense(encoding.transform(table).X).ravel().tolist() == [1.0, filled, 3.0]
    assert Encoding.from_json(encoding.to_json()) == encoding


def test_nan_is_missing_and_infinity_refused():
    with pytest.raises(ValueError, match="1 missing value"):
        Encoding.fit(pl.DataFrame({"a": [1.0, float("nan")], "y": [1.0, 2.0]}))
    with pytest.raises(ValueError, match="Column 'a' is inf in row 2, counting from 1"):
        Encoding.fit(pl.DataFrame({"a": [1.0, float("inf")], "y": [1.0, 2.0]}))
    with pytest.raises(ValueError, match="no value at all"):
        Encoding.fit(pa.table({"a": pa.nulls(2), "y": [1.0, 2.0]}), missing="mean")


def test_columns_that_are_neither_numbers_nor_text_are_named():
    when = pd.DataFrame({"day": pd.to_datetime(["2020-01-01", "2021-01-01"]), "a": [1, 2], "y": [0, 1]})
    with pytest.raises(ValueError, match=r"Column 'day' holds values of the type timestamp.*drop=\['day'\]"):
        Encoding.fit(when)
    assert Encoding.fit(when, drop=["day"]).feature_names == ("a",)
    with pytest.raises(ValueError, match=r"Column 'l' holds values of the type list"):
        Encoding.fit(pa.table({"l": [[1], [2]], "y": [0, 1]}))


def test_identifiers_are_refused():
    table = pa.table({"id": [f"p{k}" for k in range(150)], "y": list(range(150))})
    with pytest.raises(ValueError, match=r"'id' has 150 different texts in 150 rows.*drop=\['id'\].*max_categories=150"):
        Encoding.fit(table)
    assert len(Encoding.fit(table, max_categories=150).feature_names) == 150
    assert len(Encoding.fit(table.slice(0, 100)).feature_names) == 100


def test_the_target_is_found_or_asked_for():
    with pytest.raises(ValueError, match=r"No column is called .*say which of the columns it is with target=\. They are a, b\."):
        Encoding.fit(pa.table({"a": [1], "b": [2]}))
    with pytest.raises(ValueError, match=r"Several columns may be the target, 'Label', 'y'"):
        Encoding.fit(pa.table({"Label": [1], "y": [2]}))
    encoding = Encoding.fit(pa.table({"Label": [1], "y": [2], "w": [2.0]}), "y", sample_weight="w")
    assert encoding.feature_names == ("Label",)
    data = encoding.transform(pa.table({"Label": [1], "y": [2], "w": [2.0]}))
    assert data.y.tolist() == [2.0]
    assert data.sample_weight.tolist() == [2.0]
    with pytest.raises(ValueError, match=r"no column 'z': .*There are: a, b"):
        Encoding.fit(pa.table({"a": [1], "b": [2]}), "z")
    with pytest.raises(ValueError, match=r"'y' has 1 missing value in 2 rows"):
        Encoding.fit(pa.table({"a": [1, 2], "y": ["p", None]})).transform(pa.table({"a": [1, 2], "y": ["p", None]}))
    with pytest.raises(ValueError, match="nothing to learn from"):
        Encoding.fit(pa.table({"y": [1]}))
    with pytest.raises(ValueError, match="Two columns are called 'a'"):
        Encoding.fit(pa.table([[1], [2], [3]], ["a", "a", "y"]))
    with pytest.raises(TypeError, match="dict is no table"):
        Encoding.fit({"a": [1]})


names = st.text(max_size=5)
some_columns = st.lists(
    st.one_of(
        st.builds(Column, names, st.just("number"), fill=st.none() | st.floats(allow_nan=False, allow_infinity=False)),
        st.builds(Column, names, st.just("category"), st.lists(names, unique=True, max_size=4).map(tuple)),
    ),
    min_size=1,
    max_size=5,
    unique_by=lambda column: column.name,
).map(tuple)


@given(some_columns, st.none() | st.builds(Column, names, st.sampled_from(["number", "category"])), st.none() | names)
def test_json_goes_round(chosen, target, weight):
    encoding = Encoding(chosen, target, weight)
    assert Encoding.from_json(encoding.to_json()) == encoding
    assert Encoding.from_json(encoding.to_json().encode("utf-8", "surrogatepass")) == encoding


GOOD = json.loads(Encoding((Column("a", "category", ("x", "y")), Column("b", "number", fill=1.0)), Column("y", "number")).to_json())


@pytest.mark.parametrize(
    "change",
    [
        {"format": "other"},
        {"columns": []},
        {"columns": {}},
        {"columns": [1]},
        {"columns": [{"name": 1, "kind": "number"}]},
        {"columns": [{"name": "a", "kind": "pickle"}]},
        {"columns": [{"name": "a", "kind": "number"}] * 2},
        {"columns": [{"name": "a", "kind": "category", "categories": ["x", "x"]}]},
        {"columns": [{"name": "a", "kind": "category", "categories": [1]}]},
        {"columns": [{"name": "a", "kind": "category", "categories": "xy"}]},
        {"columns": [{"name": "a", "kind": "number", "categories": ["x"]}]},
        {"columns": [{"name": "a", "kind": "number", "fill": True}]},
        {"columns": [{"name": "a", "kind": "number", "fill": 10**400}]},
        {"columns": [{"name": "a", "kind": "number", "fill": float("nan")}]},
        {"columns": [{"name": ["a"], "kind": ["number"]}]},
        {"target": "y"},
        {"sample_weight": 3},
        {"more": 1},
    ],
)
def test_hostile_json_is_refused_in_a_sentence(change):
    with pytest.raises(ValueError, match=r"^This is not an encoding of fenchel's: .*\.$"):
        Encoding.from_json(json.dumps({**GOOD, **change}))


@pytest.mark.parametrize("text", ["", "{", "[]", "[" * 100_000, "1" * 10_000, b"\xff", "null"])
def test_text_that_is_no_json_is_refused(text):
    with pytest.raises(ValueError, match=r"^This is not an encoding of fenchel's: .*\.$"):
        Encoding.from_json(text)


matrices = st.tuples(st.integers(1, 8), st.integers(1, 6), st.integers(0, 2**31), st.booleans())


@settings(deadline=None, max_examples=40)
@given(matrices, st.sampled_from(["a.csv", "a.tsv", "a.csv.gz", "a.parquet", "a.npz", "a.svm", "a.txt.xz", "a"]))
def test_files_go_round(tmp_path_factory, shape, name):
    m, n, seed, sparse = shape
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, n)) * rng.integers(0, 2, (m, n)) * 10.0 ** rng.integers(-20, 20, (m, n))
    X[0, n - 1] = 1.0  # so that svmlight text tells its width
    y = rng.standard_normal(m)
    path = tmp_path_factory.mktemp("round") / name
    fl.datasets.write(path, Data(sp.csr_array(X) if sparse else X, y))
    data = fl.datasets.read(path)
    exact = name.endswith((".csv", ".tsv", ".parquet", ".npz", ".csv.gz"))
    np.testing.assert_allclose(dense(data.X), X, rtol=0 if exact else 1e-14)
    np.testing.assert_allclose(data.y, y, rtol=0 if exact else 1e-14)
    assert [file.name for file in path.parent.iterdir()] == [name]


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


def test_npz_keeps_all_there_is(tmp_path):
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


@pytest.mark.parametrize("name", ["a.txt", "a.gz", "a.npz"])
def test_queries_go_round(tmp_path, name):
    X, y, qid = fl.datasets.make_ranking(5, 4, n=3)
    fl.datasets.write(tmp_path / name, Data(X, y, qid=qid))
    back, grades, queries = fl.datasets.read(tmp_path / name)
    np.testing.assert_allclose(dense(back), X, rtol=1e-14)
    assert grades.tolist() == y.tolist()
    assert queries.tolist() == qid.tolist()


def test_a_comment_is_no_query(tmp_path):
    (tmp_path / "a").write_text("# qid:1\n\n1 1:2 # qid:3\n")
    assert fl.datasets.read(tmp_path / "a").qid is None


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


def test_npz_with_objects_is_never_unpickled(tmp_path):
    class Trap:
        def __reduce__(self):
            return (sys.exit, ("unpickled",))

    np.savez(tmp_path / "a.npz", X=np.ones((1, 1)), y=np.array([Trap()], dtype=object))
    with pytest.raises(ValueError, match="neither numbers nor text"):
        fl.datasets.read(tmp_path / "a.npz")


def raw_npz(path, header: str, body: bytes):
    text = header.encode("latin1")
    member = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + body
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", member)
    return path


@pytest.mark.parametrize("shape", ["(1000000000000, 1000)", "(2, 3)", "(-1, 2)", "(0, 10)"])
def test_npz_headers_that_lie_are_refused_before_anything_is_allocated(tmp_path, shape):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n"
    with pytest.raises(ValueError, match=r"\.$"):
        fl.datasets.read(raw_npz(tmp_path / "a.npz", header, bytes(32)))


@pytest.mark.parametrize("body", [b"", b"no zip", b"PK\x03\x04" + bytes(50)])
@pytest.mark.parametrize("name", ["a.npz", "a.parquet"])
def test_other_files_are_not_taken_for_npz_or_parquet(tmp_path, body, name):
    (tmp_path / name).write_bytes(body)
    with pytest.raises(ValueError, match=rf"{name}.*\.$"):
        fl.datasets.read(tmp_path / name)


def test_files_that_expand_beyond_reason_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(decompression, "FREE", 100_000)
    np.savez_compressed(tmp_path / "a.npz", X=np.zeros((200, 500)), y=np.zeros(200))
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"a,y\n" + b"0,0\n" * 1_000_000))
    pq.write_table(pa.table({"a": np.zeros(10_000_000), "y": np.zeros(10_000_000)}), tmp_path / "a.parquet")
    for name in ("a.npz", "a.csv.gz", "a.parquet"):
        with pytest.raises(ValueError, match="exhaust the memory"):
            fl.datasets.read(tmp_path / name)


@pytest.mark.parametrize("text", ["", "a,y\n", "a,y\n1,2\n1\n", "a,y\n1,2,3\n", "a,a,y\n1,2,3\n", "\x00\x01"])
def test_damaged_csv_is_refused(tmp_path, text):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(ValueError, match=r"\.$"):
        fl.datasets.read(tmp_path / "a.csv")


def test_truncated_archives_are_refused(tmp_path):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(CARS.encode() * 1)[:-12])
    (tmp_path / "b.csv.xz").write_bytes(lzma.compress(CARS.encode())[:-12])
    for name in ("a.csv.gz", "b.csv.xz"):
        with pytest.raises(ValueError, match=rf"{name} can't be read as csv"):
            fl.datasets.read(tmp_path / name)


def test_options_that_do_not_apply_are_refused(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:1\n")
    (tmp_path / "a.csv").write_text(CARS)
    read = fl.datasets.read
    for options in ({"target": "y"}, {"drop": ["y"]}, {"missing": "mean"}, {"sample_weight": "w"}, {"encoding": Encoding(())}):
        with pytest.raises(ValueError, match=rf"{next(iter(options))}= is for tables"):
            read(tmp_path / "a.svm", **options)
    with pytest.raises(ValueError, match="target= is settled by the encoding"):
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


def test_what_a_format_has_no_place_for_is_refused_and_leaves_no_file(tmp_path):
    write = fl.datasets.write
    X, y = np.eye(2), np.array([1.0, 2.0])
    for name, data, said in [
        ("a.svm", Data(X, np.array(["a", "b"])), "a number as the label"),
        ("a.svm", Data(X, None), "a number as the label"),
        ("a.svm", Data(X, y, sample_weight=y), "weights of rows"),
        ("a.csv", Data(X, y, qid=y), "no place for queries"),
        ("a.csv", Data(X, y, ["p", "p"]), "same name"),
        ("a.parquet", Data(sp.csr_array((2, tables.WIDEST + 1)), y), "more than a table is good for"),
        ("a.npz", Data(X, y[:1]), "as many"),
    ]:
        with pytest.raises(ValueError, match=said):
            write(tmp_path / name, data)
    with pytest.raises(OSError, match="there is no directory"):
        write(tmp_path / "none" / "a.csv", Data(X, y))
    assert list(tmp_path.iterdir()) == []


def test_importing_fenchel_imports_no_table_library():
    import subprocess

    code = "import sys, fenchel; print([name for name in ('pyarrow', 'pooch', 'requests', 'polars', 'pandas') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_bounded_streams_hand_on_every_byte(tmp_path):
    (tmp_path / "a").write_bytes(b"x" * 10)
    with decompression.Bounded(io.BytesIO(b"0123456789" * 1000), tmp_path / "a") as stream:
        assert io.BufferedReader(stream).read() == b"0123456789" * 1000


def is_number(text):
    try:
        return np.isfinite(float(text))
    except ValueError:
        return False


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from(["1", "-2.5", "3e4", "oops", "n/a!", "inf", None]), min_size=1, max_size=12), st.integers(1, 5))
def test_a_column_that_is_nearly_all_numbers_is_told_of(texts, size):
    chunks = [pa.array(texts[k : k + size], pa.string()) for k in range(0, len(texts), size)]
    found = arrow_columns.mixture(pa.chunked_array(chunks))
    held = [text for text in texts if text is not None]
    count = sum(map(is_number, held))
    others = [(text, row) for row, text in enumerate(texts, 1) if text is not None and not is_number(text)]
    assert found == ((count, len(held), *others[0]) if others and 2 * count >= len(held) else None)


def test_a_typing_error_in_a_table_is_a_warning_and_categories_are_none():
    table = pa.table({"b": ["1", "oops", "3", "4"], "c": ["1", "x", "z", "x"], "y": ["0", "1", "O", "1"]})
    with pytest.warns(UserWarning, match="is text") as told:
        Encoding.fit(table)
    assert [str(warning.message) for warning in told] == [
        "Column 'b' is text, and so one-hot, though 3 of 4 values are numbers; the first that is not is 'oops', in row 2, counting from 1: "
        "correct it, or leave the column out with drop=['b'].",
        "Column 'y' is text, and so classes, though 3 of 4 values are numbers; the first that is not is 'O', in row 3, counting from 1: "
        "correct it.",
    ]


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
@pytest.mark.parametrize("numbers", [["1,5", "-2", "1,25e2"], ["1.5", "-2", "1.25e2"]])
def test_semicolons_with_either_decimal_mark(ending, numbers, tmp_path):
    file = tmp_path / f"euro{ending}"
    rows = [f"{number};{word};{k}" for k, (number, word) in enumerate(zip(numbers, ["a, b", "c", "c"], strict=True))]
    text = "\n".join(["size;colour;y", *rows]).encode()
    file.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    data = fl.datasets.read(file)
    assert data.feature_names == ("size", "colour=a, b", "colour=c")
    assert dense(data.X)[:, 0].tolist() == [1.5, -2.0, 125.0]
    assert dense(fl.datasets.read(file, encoding=data.encoding).X).tolist() == dense(data.X).tolist()


def test_a_bad_line_is_told_by_its_number_and_without_its_bytes(tmp_path):
    file = tmp_path / "ragged.csv"
    file.write_text("a,b\n" + "1,2\n" * 500_000 + "1\x1b[31m,2,3\n" + "1,2.5\n" * 10)
    with pytest.raises(ValueError, match=r"ragged\.csv, line 500002: 3 values, where the heading has 2") as told:
        fl.datasets.read(file, target="b")
    assert str(told.value).isprintable()
    file.write_bytes(bytes(np.random.default_rng(0).integers(0, 256, 3000, dtype=np.uint8)))
    with pytest.raises(ValueError, match=r"ragged\.csv") as told:
        fl.datasets.read(file)
    assert str(told.value).isprintable()


def test_endings_that_tell_nothing_are_not_written(tmp_path):
    data = Data(np.eye(2), np.array([1.0, -1.0]))
    with pytest.raises(ValueError, match=r"the ending \.xyz tells no format: give one of \.csv"):
        fl.datasets.write(tmp_path / "a.xyz.gz", data)
    assert not list(tmp_path.iterdir())
    fl.datasets.write(tmp_path / "a.xyz", data, format="svmlight")
    for name in ("a.svm", "a.dat", "a", "a.TXT", "a.libsvm.gz"):
        fl.datasets.write(tmp_path / name, data)
        assert dense(fl.datasets.read(tmp_path / name).X).tolist() == dense(fl.datasets.read(tmp_path / "a.xyz").X).tolist()

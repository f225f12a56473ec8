"""Encodings turn tables into matrices with fixed columns; errors name the columns that cannot be encoded."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st

from fenchel.datasets import Encoding
from fenchel.datasets.tables import arrow_columns
from tests.datasets.cars import CAR_NAMES, CAR_ROWS, categorical, dense, frame


def with_index():
    return pd.DataFrame(frame(), index=pd.Index([7, 3, 9], name="id"))


def polars_categorical():
    return plain_polars().with_columns(pl.col("fuel").cast(pl.Categorical), pl.col("class").cast(pl.Enum(["fast", "slow"])))


def plain_pandas():
    return pd.DataFrame(frame())


def plain_polars():
    return pl.DataFrame(frame(), strict=False)


def plain_arrow():
    return pa.table(frame())


@pytest.mark.parametrize("table", [plain_pandas, with_index, categorical, plain_polars, polars_categorical, plain_arrow])
def test_every_kind_of_table_gives_the_same_matrix(table):
    encoding = Encoding.fit(table())
    data = encoding.transform(table())
    assert data.feature_names == encoding.feature_names == CAR_NAMES
    np.testing.assert_array_equal(dense(data.X), CAR_ROWS)
    assert data.y.tolist() == ["slow", "fast", "slow"]
    assert data.target_name == "class"


cells = st.one_of(st.none(), st.sampled_from(["", "a", "b", "é=", "c,d", '"q"', "x\ny"]))
numbers = st.floats(-1e6, 1e6).map(lambda value: round(value, 3))


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(cells, numbers, st.booleans(), cells, numbers), min_size=1, max_size=30), st.sampled_from([np.float32, np.float64])
)
def test_encoding_agrees_with_a_naive_implementation(rows, dtype):
    names = ["text", "number", "flag", "more", "y"]
    table = pa.table({name: pa.array(list(column), TYPES[name]) for name, column in zip(names, zip(*rows, strict=True), strict=True)})
    data = Encoding.fit(table).transform(table, dtype)
    expected = []
    for text, number, flag, more, _ in rows:
        texts, others = sorted({row[0] or "" for row in rows}), sorted({row[3] or "" for row in rows})
        row = [float((text or "") == category) for category in texts] + [number, float(flag)]
        expected.append(row + [float((more or "") == category) for category in others])
    np.testing.assert_array_equal(dense(data.X), np.array(expected, dtype=dtype))
    assert data.X.dtype == dtype
    assert len(data.feature_names) == data.X.shape[1]
    assert data.y.tolist() == [row[4] for row in rows]
    if sp.issparse(data.X):
        assert data.X.has_canonical_format
        assert data.X.indices.dtype == np.int32
        stored = data.X.data.nbytes + data.X.indices.nbytes + data.X.indptr.nbytes
        assert 2 * stored < np.prod(data.X.shape) * data.X.dtype.itemsize


TYPES = {"text": pa.string(), "number": pa.float64(), "flag": pa.bool_(), "more": pa.large_string(), "y": pa.float64()}


def test_many_categories_give_a_sparse_matrix():
    rng = np.random.default_rng(0)
    table = pa.table({"word": [f"w{k}" for k in rng.integers(0, 80, 500)], "y": rng.standard_normal(500)})
    data = Encoding.fit(table).transform(table)
    assert sp.issparse(data.X)
    assert data.X.nnz == 500
    assert arrow_columns.assemble([np.arange(3.0)], [1], 3, np.float64).tolist() == [[0.0], [1.0], [2.0]]


def test_unused_categories_give_no_columns_and_dictionaries_may_differ_between_chunks():
    unused = pd.DataFrame({"c": pd.Categorical(["u", "v"], categories=["w", "u", "v", "x"]), "y": [0, 1]})
    assert Encoding.fit(unused).feature_names == ("c=u", "c=v")
    chunks = [pa.DictionaryArray.from_arrays([1, 0, None], ["a", "b"]), pa.DictionaryArray.from_arrays([0, 1], ["b", None])]
    table = pa.table({"c": pa.chunked_array(chunks), "y": pa.chunked_array([["p", "q", "p"], ["q", "q"]])})
    data = Encoding.fit(table).transform(table)
    assert data.feature_names == ("c=", "c=a", "c=b")
    assert dense(data.X).argmax(axis=1).tolist() == [2, 1, 0, 2, 0]
    assert data.y.tolist() == ["p", "q", "p", "q", "q"]


def test_further_tables_are_encoded_with_the_same_columns():
    encoding = Encoding.fit(plain_polars())
    new = pl.DataFrame({"old": [0, 1, 1], "extra": [1, 2, 3], "fuel": ["gas", "diesel", "gas"], "hp": [1, 2, 3]})
    with pytest.warns(UserWarning, match=r"2 rows have texts in column 'fuel' .* such as 'gas'"):
        data = encoding.transform(new)
    np.testing.assert_array_equal(dense(data.X), [[1, 0, 0, 0, 0], [2, 0, 1, 0, 1], [3, 0, 0, 0, 1]])
    assert data.y is None
    with pytest.raises(ValueError, match=r"lacks 'hp', 'old'"):
        encoding.transform(pl.DataFrame({"fuel": ["diesel"]}))
    with pytest.raises(ValueError, match=r"'hp' held numbers .* now holds text"):
        encoding.transform(pl.DataFrame({"hp": ["many"], "fuel": ["diesel"], "old": [True]}))
    with pytest.raises(ValueError, match=r"'hp' has 1 missing value, and the encoding has no replacement"):
        encoding.transform(pl.DataFrame({"hp": [None], "fuel": ["diesel"], "old": [True]}))


@pytest.mark.parametrize(("missing", "filled"), [("zero", 0.0), ("mean", 2.0)])
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_missing_numbers_are_replaced_or_refused(make, missing, filled):
    table = make({"a": [1.0, None, 3.0], "y": [1, 2, 3]})
    with pytest.raises(ValueError, match=r"Column 'a' has 1 missing value in 3 rows: .*missing='mean'.*drop=\['a'\]"):
        Encoding.fit(table)
    encoding = Encoding.fit(table, missing=missing)
    assert dense(encoding.transform(table).X).ravel().tolist() == [1.0, filled, 3.0]
    assert Encoding.from_json(encoding.to_json()) == encoding


def test_nan_counts_as_missing_and_infinity_is_refused():
    with pytest.raises(ValueError, match="1 missing value"):
        Encoding.fit(pl.DataFrame({"a": [1.0, float("nan")], "y": [1.0, 2.0]}))
    with pytest.raises(ValueError, match="Column 'a' is inf in row 2, counting from 1"):
        Encoding.fit(pl.DataFrame({"a": [1.0, float("inf")], "y": [1.0, 2.0]}))
    with pytest.raises(ValueError, match="no values and so no mean"):
        Encoding.fit(pa.table({"a": pa.nulls(2), "y": [1.0, 2.0]}), missing="mean")


def test_columns_that_are_neither_numbers_nor_text_are_refused_by_name():
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


def test_the_target_is_found_by_name_or_must_be_given():
    with pytest.raises(ValueError, match=r"No column is called .*name it with target=\. They are a, b\."):
        Encoding.fit(pa.table({"a": [1], "b": [2]}))
    with pytest.raises(ValueError, match=r"Several columns may be the target, 'Label', 'y'"):
        Encoding.fit(pa.table({"Label": [1], "y": [2]}))
    encoding = Encoding.fit(pa.table({"Label": [1], "y": [2], "w": [2.0]}), "y", sample_weight="w")
    assert encoding.feature_names == ("Label",)
    data = encoding.transform(pa.table({"Label": [1], "y": [2], "w": [2.0]}))
    assert data.y.tolist() == [2.0]
    assert data.sample_weight.tolist() == [2.0]
    with pytest.raises(ValueError, match=r"no column 'z': .*hoose one of a, b"):
        Encoding.fit(pa.table({"a": [1], "b": [2]}), "z")
    with pytest.raises(ValueError, match=r"'y' has 1 missing value in 2 rows"):
        Encoding.fit(pa.table({"a": [1, 2], "y": ["p", None]})).transform(pa.table({"a": [1, 2], "y": ["p", None]}))
    with pytest.raises(ValueError, match="give at least one column to train on"):
        Encoding.fit(pa.table({"y": [1]}))
    with pytest.raises(ValueError, match="Two columns are called 'a'"):
        Encoding.fit(pa.table([[1], [2], [3]], ["a", "a", "y"]))
    with pytest.raises(TypeError, match="dict is not a table"):
        Encoding.fit({"a": [1]})


def test_typing_errors_among_numbers_give_a_warning_and_categories_give_none():
    table = pa.table({"b": ["1", "oops", "3", "4"], "c": ["1", "x", "z", "x"], "y": ["0", "1", "O", "1"]})
    with pytest.warns(UserWarning, match="is text") as caught:
        Encoding.fit(table)
    assert [str(warning.message) for warning in caught] == [
        "Column 'b' is text and encoded as one-hot columns, although 3 of 4 values are numbers; the first that is not is 'oops', "
        "in row 2, counting from 1: correct it, or leave the column out with drop=['b'].",
        "Column 'y' is text and encoded as classes, although 3 of 4 values are numbers; the first that is not is 'O', "
        "in row 3, counting from 1: correct it.",
    ]

"""Encodings as JSON: a round trip restores them, and any other text is refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from fenchel.datasets import Encoding
from fenchel.datasets.tables.column import Column

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
def test_a_round_trip_through_json_restores_the_encoding(chosen, target, weight):
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
def test_invalid_encodings_are_refused_in_one_sentence(change):
    with pytest.raises(ValueError, match=r"^This is not an encoding written by fenchel: .*\.$"):
        Encoding.from_json(json.dumps({**GOOD, **change}))


@pytest.mark.parametrize("text", ["", "{", "[]", "[" * 100_000, "1" * 10_000, b"\xff", "null"])
def test_text_that_is_not_json_is_refused(text):
    with pytest.raises(ValueError, match=r"^This is not an encoding written by fenchel: .*\.$"):
        Encoding.from_json(text)

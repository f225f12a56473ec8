"""fenchel info: facts about data, tables and models."""

from __future__ import annotations

import numpy as np

import fenchel as fl
from tests.cli.shell import COLUMNS, fenchel, json_of


def test_info_of_data_reports_sizes_values_and_labels(at_home, tmp_path):
    (tmp_path / "zero.svm").write_text("1 0:2\n-1 1:-3 2:0.5\n-1 2:1\n")
    facts = json_of("info", tmp_path / "zero.svm")
    assert (facts["rows"], facts["features"], facts["nonzeros"], facts["index_base"]) == (3, 3, 4, 0)
    assert (facts["smallest"], facts["largest"]) == (-3.0, 2.0)
    assert facts["labels"]["counts"] == {"-1": 2, "1": 1}
    assert json_of("info", "train.svm")["index_base"] == 1
    assert "fast" in fenchel("info", "train.csv").stdout


def test_info_of_a_table_lists_its_columns_without_a_target(at_home, tmp_path):
    (tmp_path / "t.csv").write_text("a,b,when,ok,[red]\n1,x,2024-05-01,true,1\n,z,2024-01-02,false,2\n-2.5,x,2024-02-02,,3\n")
    facts = json_of("info", tmp_path / "t.csv")
    assert (facts["kind"], facts["rows"]) == ("table", 3)
    assert [tuple(column.values()) for column in facts["columns"]] == [
        ("a", "number", 1, None, -2.5, 1),
        ("b", "text", 0, 2, None, None),
        ("when", "date", 0, None, "2024-01-02", "2024-05-01"),
        ("ok", "true/false", 1, None, None, None),
        ("[red]", "number", 0, None, 1, 3),
    ]
    assert "with --target" in facts["obstacle"]
    shown = fenchel("info", tmp_path / "t.csv").stdout
    assert "[red]" in shown
    assert "To train on it: No column is called target" in shown
    assert [column["name"] for column in json_of("info", "train.csv")["columns"]] == COLUMNS


def test_info_of_a_model_names_its_largest_weights(at_home):
    facts = json_of("info", "cars.fenchel")
    model = fl.load("cars.fenchel")
    largest = int(np.argmax(np.abs(model.coef_)))
    assert facts["largest"][0] == {"feature": model.encoding_.feature_names[largest], "weight": model.coef_[0, largest], "class": "slow"}
    assert facts["version"] == fl.__version__
    assert facts["certificate"]["gap"] == model.gap_
    assert "at most" in fenchel("info", "cars.fenchel").stdout

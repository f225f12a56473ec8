"""fenchel predict: models from the shell or Python, rows that differ from the training rows, and output to screen and files."""

from __future__ import annotations

import numpy as np
import pytest

import fenchel as fl
from tests.cli.shell import COLUMNS, cars, fenchel, json_of


def test_a_model_trained_in_the_shell_predicts_the_same_in_python(at_home, tmp_path):
    facts = json_of("train", "train.csv", "--model", tmp_path / "m.fenchel", "--validation", "test.csv")
    lines = fenchel("predict", tmp_path / "m.fenchel", "test.csv").stdout.split()
    model = fl.load(tmp_path / "m.fenchel")
    with pytest.warns(UserWarning, match="pink"):
        test = fl.datasets.read("test.csv", encoding=model.encoding_)
    assert model.predict(test.X).tolist() == lines
    assert facts["validation"]["accuracy"] == model.score(test.X, test.y)
    assert (facts["objective"], facts["gap"], facts["converged"]) == (model.objective_, model.gap_, True)
    assert facts["gap"] == pytest.approx(facts["objective"] - facts["dual_objective"])
    assert facts["classes"] == ["fast", "slow"]


def test_a_model_trained_in_python_predicts_the_same_in_the_shell(at_home, tmp_path):
    X, y = fl.datasets.read("train.svm")
    model = fl.LogisticRegression(C=1.0).fit(X, y)
    fl.save(model, tmp_path / "m.fenchel")
    lines = fenchel("predict", tmp_path / "m.fenchel", "train.svm").stdout.split()
    assert np.array_equal(np.array(lines, dtype=float), model.predict(X))
    scores = json_of("evaluate", tmp_path / "m.fenchel", "train.svm")
    assert scores["accuracy"] == model.score(X, y)
    assert scores["error"] == pytest.approx(1.0 - scores["accuracy"])


def test_columns_may_have_another_order_and_unknown_categories(at_home, tmp_path):
    result = fenchel("predict", "cars.fenchel", "test.csv", "--probabilities", "-o", tmp_path / "p.csv")
    assert "Warning:" in result.stderr
    assert "'pink'" in result.stderr
    assert result.stderr.count("\n") == 1
    cars(tmp_path / "ordered.csv", 60, 1, COLUMNS, ("red", "blue", "green", "pink"))
    fenchel("predict", "cars.fenchel", tmp_path / "ordered.csv", "--probabilities", "-o", tmp_path / "q.csv")
    assert (tmp_path / "p.csv").read_text() == (tmp_path / "q.csv").read_text()
    cars(tmp_path / "bare.csv", 60, 1, COLUMNS[:-1], ("red", "blue", "green", "pink"))
    assert (
        fenchel("predict", "cars.fenchel", tmp_path / "bare.csv").stdout.split()
        == fenchel("predict", "cars.fenchel", "test.csv").stdout.split()
    )


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".npz", ".txt"])
def test_predictions_in_files_equal_those_on_the_screen(ending, at_home, tmp_path):
    file = tmp_path / f"p{ending}"
    fenchel("predict", "text.fenchel", "train.svm", "--scores", "-o", file)
    facts = json_of("predict", "text.fenchel", "train.svm", "--scores")
    if ending == ".npz":
        with np.load(file) as arrays:
            found, scores = arrays["predictions"], arrays["scores"]
    else:
        heading, *lines = file.read_text().splitlines()
        separator = "," if ending == ".csv" else "\t"
        assert heading.split(separator) == ["prediction", "score"]
        found, scores = np.array([line.split(separator) for line in lines], dtype=float).T
    assert np.array_equal(found, facts["predictions"])
    assert np.array_equal(scores, facts["scores"])


def test_rows_with_another_number_of_columns_are_padded_or_cut(at_home, tmp_path):
    (tmp_path / "narrow.svm").write_text("1 1:1\n")
    assert len(fenchel("predict", "text.fenchel", tmp_path / "narrow.svm").stdout.split()) == 1
    (tmp_path / "wide.svm").write_text("1 1:1 500:1\n")
    result = fenchel("predict", "text.fenchel", tmp_path / "wide.svm", "--scores")
    assert "the others are ignored" in result.stderr
    assert result.stdout == fenchel("predict", "text.fenchel", tmp_path / "narrow.svm", "--scores").stdout


def test_a_model_stores_the_index_of_the_first_column(tmp_path):
    (tmp_path / "zero.svm").write_text("1 0:1 1:2\n-1 0:-1 1:1\n" * 5)
    (tmp_path / "new.svm").write_text("1 1:1\n")
    (tmp_path / "same.svm").write_text("1 0:0 1:1\n")
    model = tmp_path / "m.fenchel"
    fenchel("train", tmp_path / "zero.svm", "--model", model, "--task", "classify")
    scores = [fenchel("predict", model, tmp_path / name, "--scores").stdout for name in ("new.svm", "same.svm")]
    assert scores[0] == scores[1]
    assert fl.load(model).index_base_ == 0

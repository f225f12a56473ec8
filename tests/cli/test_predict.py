"""fenchel predict: models from shell or Python, rows unlike those learnt from, and predictions on the screen and in files."""

from __future__ import annotations

import numpy as np
import pytest

import fenchel as fl
from tests.cli.shell import COLUMNS, cars, fenchel, told


def test_a_model_from_the_shell_predicts_in_python_what_the_shell_predicts(at_home, tmp_path):
    facts = told("train", "train.csv", "--model", tmp_path / "m.fenchel", "--validation", "test.csv")
    lines = fenchel("predict", tmp_path / "m.fenchel", "test.csv").stdout.split()
    model = fl.load(tmp_path / "m.fenchel")
    with pytest.warns(UserWarning, match="pink"):
        test = fl.datasets.read("test.csv", encoding=model.encoding_)
    assert model.predict(test.X).tolist() == lines
    assert facts["validation"]["accuracy"] == model.score(test.X, test.y)
    assert (facts["objective"], facts["gap"], facts["converged"]) == (model.objective_, model.gap_, True)
    assert facts["gap"] == pytest.approx(facts["objective"] - facts["dual_objective"])
    assert facts["classes"] == ["fast", "slow"]


def test_a_model_from_python_works_in_the_shell(at_home, tmp_path):
    X, y = fl.datasets.read("train.svm")
    model = fl.LogisticRegression(C=1.0).fit(X, y)
    fl.save(model, tmp_path / "m.fenchel")
    lines = fenchel("predict", tmp_path / "m.fenchel", "train.svm").stdout.split()
    assert np.array_equal(np.array(lines, dtype=float), model.predict(X))
    judged = told("evaluate", tmp_path / "m.fenchel", "train.svm")
    assert judged["accuracy"] == model.score(X, y)
    assert judged["error"] == pytest.approx(1.0 - judged["accuracy"])


def test_columns_may_be_in_another_order_and_categories_unknown(at_home, tmp_path):
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
def test_predictions_in_files_are_those_on_the_screen(ending, at_home, tmp_path):
    file = tmp_path / f"p{ending}"
    fenchel("predict", "text.fenchel", "train.svm", "--scores", "-o", file)
    facts = told("predict", "text.fenchel", "train.svm", "--scores")
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


def test_rows_of_other_widths_are_cut_or_widened(at_home, tmp_path):
    (tmp_path / "narrow.svm").write_text("1 1:1\n")
    assert len(fenchel("predict", "text.fenchel", tmp_path / "narrow.svm").stdout.split()) == 1
    (tmp_path / "wide.svm").write_text("1 1:1 500:1\n")
    result = fenchel("predict", "text.fenchel", tmp_path / "wide.svm", "--scores")
    assert "the others are left out" in result.stderr
    assert result.stdout == fenchel("predict", "text.fenchel", tmp_path / "narrow.svm", "--scores").stdout


def test_a_model_remembers_what_the_text_calls_its_first_column(tmp_path):
    (tmp_path / "zero.svm").write_text("1 0:1 1:2\n-1 0:-1 1:1\n" * 5)
    (tmp_path / "new.svm").write_text("1 1:1\n")
    (tmp_path / "same.svm").write_text("1 0:0 1:1\n")
    model = tmp_path / "m.fenchel"
    fenchel("train", tmp_path / "zero.svm", "--model", model, "--task", "classify")
    scores = [fenchel("predict", model, tmp_path / name, "--scores").stdout for name in ("new.svm", "same.svm")]
    assert scores[0] == scores[1]
    assert fl.load(model).index_base_ == 0

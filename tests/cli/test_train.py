"""fenchel train: options reach the model, all formats give the same model, and a run that stops early says so."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import fenchel as fl
from tests.cli.shell import fenchel, json_of


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".npz", ".svm", ".svm.gz", ".txt.xz", ".csv.bz2"])
def test_all_formats_give_the_same_model(ending, at_home, tmp_path):
    fenchel("convert", "train.svm", tmp_path / f"data{ending}")
    facts = json_of("train", tmp_path / f"data{ending}", "--model", tmp_path / "m.fenchel")
    assert facts["objective"] == pytest.approx(fl.load("text.fenchel").objective_, abs=2e-4)
    assert facts["features"] == 100
    ours = fenchel("predict", tmp_path / "m.fenchel", tmp_path / f"data{ending}").stdout
    assert ours == fenchel("predict", "text.fenchel", "train.svm").stdout


def test_options_reach_the_model(at_home, tmp_path):
    options = [
        "--loss",
        "smooth-hinge",
        "--penalty",
        "elasticnet",
        "--strength",
        "0.01",
        "--l1-ratio",
        "0.2",
        "--solver",
        "sdca",
        "--tol",
        "1e-3",
    ]
    fenchel(
        "train", "train.svm", "--model", tmp_path / "m.fenchel", *options, "--no-intercept", "--class-weight", "balanced", "--seed", "3"
    )
    model = fl.load(tmp_path / "m.fenchel")
    wanted = {"loss": "smooth-hinge", "penalty": "elasticnet", "strength": 0.01, "l1_ratio": 0.2, "solver": "sdca", "tol": 1e-3}
    wanted |= {"fit_intercept": False, "class_weight": "balanced", "random_state": 3}
    assert {name: model.get_params()[name] for name in wanted} == wanted
    assert model.solver_ == "sdca"


def test_training_without_penalty_and_with_calibration(at_home, tmp_path):
    fenchel("train", "train.csv", "--model", tmp_path / "m.fenchel", "--penalty", "none")
    assert fl.load(tmp_path / "m.fenchel").penalty is None
    fenchel("train", "train.csv", "--model", tmp_path / "c.fenchel", "--loss", "squared-hinge", "--calibration", "sigmoid")
    p = np.array(json_of("predict", tmp_path / "c.fenchel", "test.csv", "--probabilities")["probabilities"])
    assert np.allclose(p.sum(axis=1), 1.0)
    fenchel("train", "train.csv", "--model", tmp_path / "c.fenchel", "--loss", "squared-hinge")
    assert "--calibration sigmoid" in fenchel("predict", tmp_path / "c.fenchel", "test.csv", "--probabilities", code=2).stderr


def test_numeric_labels_give_a_regression(at_home, tmp_path):
    facts = json_of(
        "train", "train.csv", "--target", "weight", "--drop", "class", "--model", tmp_path / "m.fenchel", "--validation", "0.25"
    )
    assert facts["task"] == "regress"
    assert facts["classes"] is None
    assert (facts["rows"], facts["validation"]["rows"]) == (150, 50)
    scores = json_of("evaluate", tmp_path / "m.fenchel", "train.csv", "--plot", tmp_path / "p.svg")
    data = fl.datasets.read("train.csv", encoding=fl.load(tmp_path / "m.fenchel").encoding_)
    error = fl.load(tmp_path / "m.fenchel").predict(data.X) - data.y
    assert scores["rmse"] == pytest.approx(np.sqrt(np.mean(error**2)))
    assert scores["mean_loss"] == pytest.approx(np.mean(error**2) / 2)
    assert scores["r2"] == pytest.approx(1.0 - np.sum(error**2) / np.sum((data.y - data.y.mean()) ** 2))


def test_more_than_two_classes(at_home, tmp_path):
    facts = json_of("train", "train.csv", "--target", "colour", "--model", tmp_path / "m.fenchel", "--features", "hp,weight,class")
    assert facts["classes"] == ["blue", "green", "red"]
    scores = json_of("evaluate", tmp_path / "m.fenchel", "train.csv", "--plot", tmp_path / "p.png")
    with open("train.csv", newline="") as file:
        colours = [row["colour"] for row in csv.DictReader(file)]
    counts = [colours.count(name) for name in facts["classes"]]
    assert [row["rows"] for row in scores["classes"]] == counts
    assert scores["mean_loss"] == pytest.approx(scores["log_loss"])
    assert json_of("evaluate", tmp_path / "m.fenchel", "test.csv")["unknown_classes"] == ["pink"]


def test_sample_weights_are_read_from_their_column(home, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "twice.csv").write_text("a,y,s\n1,0,2\n2,1,1\n3,0,1\n4,1,1\n")
    (tmp_path / "plain.csv").write_text("a,y\n1,0\n1,0\n2,1\n3,0\n4,1\n")
    one = json_of("train", "twice.csv", "--sample-weight", "s", "--model", "m.fenchel", "--tol", "1e-8")
    other = json_of("train", "plain.csv", "--model", "m.fenchel", "--tol", "1e-8")
    assert one["features"] == other["features"] == 1
    assert one["objective"] == pytest.approx(other["objective"], abs=1e-6)


def test_a_typing_error_among_numbers_gives_a_warning_on_one_line(at_home, tmp_path):
    (tmp_path / "t.csv").write_text("b,y\n1,0\noops,1\n3,0\n4,1\n")
    result = fenchel("train", tmp_path / "t.csv", "--model", tmp_path / "m.fenchel", "--quiet")
    assert result.stderr == (
        "Warning: Column 'b' is text and encoded as one-hot columns, although 3 of 4 values are numbers; the first that is not is 'oops', "
        "in row 2, counting from 1: correct it, or leave the column out with --drop b.\n"
    )


def test_a_run_that_stops_early_saves_its_model_and_warns(at_home, tmp_path):
    result = fenchel(*f"train train.svm --model {tmp_path}/m.fenchel --solver sdca --tol 1e-12 --max-passes 2".split(), code=3)
    assert result.stderr.startswith("Warning: LinearClassifier stopped at a certified gap")
    assert "--max-passes" in result.stderr
    assert result.stderr.count("\n") == 1
    assert not fl.load(tmp_path / "m.fenchel").converged_
    facts = json_of(
        *f"train train.svm --model {tmp_path}/n.fenchel --solver pegasos --tol 1e-15 --max-passes 1e9 --time-limit 0.2".split(), code=3
    )
    assert facts["passes"] > 0
    assert fl.load(tmp_path / "n.fenchel").gap_ == facts["gap"]


def test_training_goes_on_from_checkpoints_within_a_budget(at_home, tmp_path):
    fenchel("convert", "train.svm", tmp_path / "a.store")
    words = ["train", tmp_path / "a.store", "-m", tmp_path / "m.fenchel", "--checkpoint", tmp_path / "kept", "--memory", "100MB", "--quiet"]
    fenchel(*words, "--max-passes", "1", "--tol", "1e-9", "--solver", "sdca", code=3)
    assert (tmp_path / "kept").is_dir()
    fenchel(*words, "--tol", "1e-3")
    assert "give a number of bytes" in fenchel(*words[:-2], "much", code=2).output
    assert "the vectors of this problem take about" in " ".join(fenchel(*words[:-2], "1KB", code=2).output.split())
    output = fenchel(*words[:-2], "1KB", "--validation", "0.2", code=2).output
    assert "give a second store" in " ".join(output.split())

"""The command line: every example in its help runs, models go between shell and Python, and every ending has its exit code."""

from __future__ import annotations

import csv
import ctypes
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import Future
from pathlib import Path

import numpy as np
import pytest
from typer.main import get_command
from typer.testing import CliRunner

import fenchel as fl
from fenchel.cli import app, exits, inputs
from fenchel.cli.training import gap_in_words
from fenchel.core.errors import InputError, InputTypeError

runner = CliRunner()
COLUMNS = ["hp", "weight", "colour", "fuel", "class"]


def cars(path, m, seed, columns=COLUMNS, colours=("red", "blue", "green")):
    """A table with numbers and categories, in whatever order of columns."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(m):
        hp, weight, colour = int(rng.integers(5, 20)), round(rng.normal(10.0, 2.0), 2), str(rng.choice(colours))
        fast = hp + 3.0 * (colour == "red") - weight / 2 + rng.normal(0.0, 2.0) > 8.0
        fuel = str(rng.choice(["diesel", "petrol"]))
        rows.append({"hp": hp, "weight": weight, "colour": colour, "fuel": fuel, "class": "fast" if fast else "slow"})
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with all the files that examples name."""
    folder = tmp_path_factory.mktemp("shell")
    cars(folder / "train.csv", 200, 0)
    cars(folder / "test.csv", 60, 1, ["fuel", "class", "colour", "weight", "hp"], ("red", "blue", "green", "pink"))
    fl.datasets.write_svmlight(folder / "train.svm", *fl.datasets.make_text(300, n=100, nonzeros=10, seed=0))
    fl.datasets.write_svmlight(folder / "text.svm", *fl.datasets.make_text(1500, n=300, nonzeros=15, contrast=0.8, seed=1))
    (folder / "a9a").write_text("+1 3:1\n-1 5:1\n")
    table = fl.datasets.read(folder / "train.csv")
    model = fl.LinearClassifier().fit(table.X, table.y)
    model.encoding_ = table.encoding
    fl.save(model, folder / "cars.fenchel")
    fl.save(fl.LinearClassifier().fit(*fl.datasets.read(folder / "train.svm")), folder / "text.fenchel")
    structures(folder)
    return folder


def structures(folder):
    """Text to tag, documents to rank and RNA to fold, to learn from and to judge by, and a model of each."""
    rng = np.random.default_rng(0)
    for name, count in (("train", 30), ("test", 10)):
        words = [rng.choice(["the", "a", "dog", "cat", "sees", "runs"], 5).tolist() for _ in range(count)]
        marks = [["O" if word in ("sees", "runs") else "B-NP" if word in ("the", "a") else "I-NP" for word in text] for text in words]
        fl.datasets.write_conll(folder / f"{name}.conll", words, marks)
        X, y, qid = fl.datasets.make_ranking(queries=count, documents=6, n=4, seed=count)
        fl.datasets.write_svmlight(folder / f"{name}.letor", X, y, qid=qid)
        sequences, brackets = fl.datasets.make_rna(count, length=24, seed=count)
        fl.datasets.write_dbn(folder / f"{name}.dbn", [(f"rna{i}", s, b) for i, (s, b) in enumerate(zip(sequences, brackets, strict=True))])
        if name == "train":
            fl.save(fl.Tagger(l2=1e-2).fit(words, marks), folder / "chunks.fenchel")
            fl.save(fl.Ranker(l2=0.1).fit(X, y, qid=qid), folder / "ranker.fenchel")
            fl.save(fl.RnaFolder(l2=0.3, tol=1e-2).fit(sequences, brackets), folder / "folder.fenchel")


@pytest.fixture
def at_home(home, monkeypatch):
    monkeypatch.chdir(home)
    monkeypatch.setenv("FENCHEL_DATA", str(home))
    return home


def fenchel(*words, code=0):
    """Run a command; its result if the exit code is the one expected."""
    result = runner.invoke(app, [str(word) for word in words])
    assert result.exit_code == code, f"{result.output}\n{result.exception!r}"
    return result


def told(*words, code=0):
    return json.loads(fenchel(*words, "--json", code=code).stdout)


def commands(group=None, name=()):
    """Every command with its words."""
    for key, command in (group or get_command(app)).commands.items():
        yield from commands(command, (*name, key)) if hasattr(command, "commands") else [((*name, key), command)]


def examples():
    return [example for _, command in commands() for example in re.findall(r"Example: fenchel (.+)", command.help)]


@pytest.mark.parametrize(("name", "command"), list(commands()), ids=lambda part: " ".join(part) if isinstance(part, tuple) else "")
def test_every_command_has_an_example_and_tells_its_json_keys(name, command):
    assert re.search(rf"Example: fenchel {' '.join(name)} ?", command.help)
    if any("--json" in option.opts for option in command.params):
        assert "Keys of --json" in command.help


@pytest.mark.parametrize("example", examples())
def test_examples_run(example, at_home, tmp_path, monkeypatch):
    shutil.copytree(at_home, tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    fenchel(*shlex.split(example))


# ---- models between shell and Python ----


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


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".npz", ".svm", ".svm.gz", ".txt.xz", ".csv.bz2"])
def test_all_formats_make_the_same_model(ending, at_home, tmp_path):
    fenchel("convert", "train.svm", tmp_path / f"data{ending}")
    facts = told("train", tmp_path / f"data{ending}", "--model", tmp_path / "m.fenchel")
    assert facts["objective"] == pytest.approx(fl.load("text.fenchel").objective_, abs=2e-4)
    assert facts["features"] == 100
    ours = fenchel("predict", tmp_path / "m.fenchel", tmp_path / f"data{ending}").stdout
    assert ours == fenchel("predict", "text.fenchel", "train.svm").stdout


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


# ---- what train and its relatives learn ----


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


def test_a_penalty_of_none_and_calibration(at_home, tmp_path):
    fenchel("train", "train.csv", "--model", tmp_path / "m.fenchel", "--penalty", "none")
    assert fl.load(tmp_path / "m.fenchel").penalty is None
    fenchel("train", "train.csv", "--model", tmp_path / "c.fenchel", "--loss", "squared-hinge", "--calibration", "sigmoid")
    p = np.array(told("predict", tmp_path / "c.fenchel", "test.csv", "--probabilities")["probabilities"])
    assert np.allclose(p.sum(axis=1), 1.0)
    fenchel("train", "train.csv", "--model", tmp_path / "c.fenchel", "--loss", "squared-hinge")
    assert "--calibration sigmoid" in fenchel("predict", tmp_path / "c.fenchel", "test.csv", "--probabilities", code=2).stderr


def test_numbers_are_regressed_on(at_home, tmp_path):
    facts = told("train", "train.csv", "--target", "weight", "--drop", "class", "--model", tmp_path / "m.fenchel", "--validation", "0.25")
    assert facts["task"] == "regress"
    assert facts["classes"] is None
    assert (facts["rows"], facts["validation"]["rows"]) == (150, 50)
    judged = told("evaluate", tmp_path / "m.fenchel", "train.csv", "--plot", tmp_path / "p.svg")
    data = fl.datasets.read("train.csv", encoding=fl.load(tmp_path / "m.fenchel").encoding_)
    error = fl.load(tmp_path / "m.fenchel").predict(data.X) - data.y
    assert judged["rmse"] == pytest.approx(np.sqrt(np.mean(error**2)))
    assert judged["mean_loss"] == pytest.approx(np.mean(error**2) / 2)
    assert judged["r2"] == pytest.approx(1.0 - np.sum(error**2) / np.sum((data.y - data.y.mean()) ** 2))


def test_more_classes_than_two(at_home, tmp_path):
    facts = told("train", "train.csv", "--target", "colour", "--model", tmp_path / "m.fenchel", "--features", "hp,weight,class")
    assert facts["classes"] == ["blue", "green", "red"]
    judged = told("evaluate", tmp_path / "m.fenchel", "train.csv", "--plot", tmp_path / "p.png")
    with open("train.csv", newline="") as file:
        colours = [row["colour"] for row in csv.DictReader(file)]
    counts = [colours.count(name) for name in facts["classes"]]
    assert [row["rows"] for row in judged["classes"]] == counts
    assert judged["mean_loss"] == pytest.approx(judged["log_loss"])
    assert told("evaluate", tmp_path / "m.fenchel", "test.csv")["unknown_classes"] == ["pink"]


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (["a", "b"], "classify"),
        ([0.0, 1.0, 1.0], "classify"),
        ([1.0, 2.0, 3.0, 1.0, 2.0, 3.0], "classify"),
        ([1.0, 2.0, 3.0, 4.0], "regress"),
        ([0.5, 1.0] * 10, "regress"),
        (list(range(25)) * 10, "regress"),
    ],
)
def test_the_task_is_guessed_by_the_rule_that_the_help_states(y, task):
    assert inputs.guessed_task(np.array(y)) == task


def test_weights_of_rows_are_taken_from_their_column(home, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "twice.csv").write_text("a,y,s\n1,0,2\n2,1,1\n3,0,1\n4,1,1\n")
    (tmp_path / "plain.csv").write_text("a,y\n1,0\n1,0\n2,1\n3,0\n4,1\n")
    one = told("train", "twice.csv", "--sample-weight", "s", "--model", "m.fenchel", "--tol", "1e-8")
    other = told("train", "plain.csv", "--model", "m.fenchel", "--tol", "1e-8")
    assert one["features"] == other["features"] == 1
    assert one["objective"] == pytest.approx(other["objective"], abs=1e-6)


def test_path_finds_the_same_as_the_library_and_writes_the_best(at_home, tmp_path):
    facts = told("path", "train.svm", "--strengths", "6", "--cv", "3", "--model", tmp_path / "m.fenchel", "--plot", tmp_path / "p.png")
    X, y = fl.datasets.read("train.svm")
    path = fl.path(X, y, fl.Logistic(), n_strengths=6, cv=3, intercept="free")
    assert [point["nnz"] for point in facts["points"]] == path["nnz"].tolist()
    assert facts["best"] == path.best
    model = fl.load(tmp_path / "m.fenchel")
    assert model.objective_ == pytest.approx(path["objective"][path.best], abs=2e-4)


def test_compare_sorts_by_time_to_the_tolerance_and_tells_who_was_refused(at_home, tmp_path):
    facts = told("compare", "train.svm", "--solvers", "sdca,lbfgs,working-set", "--plot", tmp_path / "c.png")
    assert {run["solver"] for run in facts["runs"]} == {"sdca", "lbfgs"}
    assert "L1 or L1L2" in facts["refused"]["working-set"]
    assert all(run["converged"] for run in facts["runs"])
    seconds = [run["seconds"] for run in facts["runs"]]
    assert seconds == sorted(seconds)
    low = max(run["dual_objective"] for run in facts["runs"])
    assert all(run["objective"] >= low - 1e-12 for run in facts["runs"])


def test_info_of_data_counts_what_is_there(at_home, tmp_path):
    (tmp_path / "zero.svm").write_text("1 0:2\n-1 1:-3 2:0.5\n-1 2:1\n")
    facts = told("info", tmp_path / "zero.svm")
    assert (facts["rows"], facts["features"], facts["nonzeros"], facts["index_base"]) == (3, 3, 4, 0)
    assert (facts["smallest"], facts["largest"]) == (-3.0, 2.0)
    assert facts["labels"]["counts"] == {"-1": 2, "1": 1}
    assert told("info", "train.svm")["index_base"] == 1
    assert "fast" in fenchel("info", "train.csv").stdout


def test_info_of_a_table_lists_its_columns_without_a_target(at_home, tmp_path):
    (tmp_path / "t.csv").write_text("a,b,when,ok,[red]\n1,x,2024-05-01,true,1\n,z,2024-01-02,false,2\n-2.5,x,2024-02-02,,3\n")
    facts = told("info", tmp_path / "t.csv")
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
    assert "To learn from it: No column is called target" in shown
    assert [column["name"] for column in told("info", "train.csv")["columns"]] == COLUMNS


def test_a_typing_error_among_numbers_is_told_in_a_line(at_home, tmp_path):
    (tmp_path / "t.csv").write_text("b,y\n1,0\noops,1\n3,0\n4,1\n")
    result = fenchel("train", tmp_path / "t.csv", "--model", tmp_path / "m.fenchel", "--quiet")
    assert result.stderr == (
        "Warning: Column 'b' is text, and so one-hot, though 3 of 4 values are numbers; the first that is not is 'oops', in row 2, "
        "counting from 1: correct it, or leave the column out with --drop b.\n"
    )


def test_terms_of_data_sets_are_told_if_asked_for(at_home):
    plain, full = (fenchel("datasets", "list", *words).stdout for words in ([], ["--terms"]))
    terms = {listing["terms"] for listing in told("datasets", "list")["datasets"]} - {""}
    assert terms
    assert not any(text in plain for text in terms)
    assert "terms" in full


def test_accuracy_is_told_in_percent(at_home):
    share = told("evaluate", "text.fenchel", "train.svm")["accuracy"]
    assert f"{100.0 * share:.2f} %" in fenchel("evaluate", "text.fenchel", "train.svm").stdout


def test_info_of_a_model_names_its_largest_weights(at_home):
    facts = told("info", "cars.fenchel")
    model = fl.load("cars.fenchel")
    largest = int(np.argmax(np.abs(model.coef_)))
    assert facts["largest"][0] == {"feature": model.encoding_.feature_names[largest], "weight": model.coef_[0, largest], "class": "slow"}
    assert facts["version"] == fl.__version__
    assert facts["certificate"]["gap"] == model.gap_
    assert "at most" in fenchel("info", "cars.fenchel").stdout


def test_made_up_data_in_all_kinds(at_home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for kind in ("text", "gaussians", "wide", "ranking"):
        fenchel("datasets", "make", kind, f"{kind}.svm", "--rows", "20", "--features", "50")
    _, _, qid = fl.datasets.read("ranking.svm")
    assert len(np.unique(qid)) == 20
    assert told("info", "ranking.svm")["task"] == "rank"
    fenchel("datasets", "make", "rna", "r.dbn", "--rows", "3")
    lines = (tmp_path / "r.dbn").read_text().splitlines()
    assert [line[0] for line in lines[::3]] == [">"] * 3
    assert list(map(len, lines[1::3])) == list(map(len, lines[2::3]))
    fenchel("datasets", "make", "sequences", "s.conll", "--rows", "4")
    sentences = (tmp_path / "s.conll").read_text().strip().split("\n\n")
    _, _, sentence = fl.datasets.make_sequences(4)
    assert [len(part.splitlines()) for part in sentences] == np.bincount(sentence).tolist()
    assert "There are:" in fenchel("datasets", "make", "rocks", "r.svm", code=2).stderr


def test_names_of_data_sets(at_home, tmp_path):
    known = told("datasets", "list")["datasets"]
    assert next(entry for entry in known if (entry["name"], entry["split"]) == ("a9a", "train"))["where"] == str(at_home / "a9a")
    assert fenchel("datasets", "fetch", "a9a").stdout.strip() == str(at_home / "a9a")
    assert told("info", "a9a")["rows"] == 2


# ---- errors, warnings, exit codes ----


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("train nowhere.csv --model m.fenchel", "There is no file nowhere.csv, and no data set of that name: check the path."),
        ("train a8a --model m.fenchel", "did you mean"),
        ("train train.csv --model nowhere/m.fenchel", "there is no directory"),
        ("train train.csv --model m.fenchel --loss squred", "--loss squred: did you mean 'squared-hinge'?"),
        ("train train.csv --model m.fenchel --penalty l3", "--penalty l3: did you mean 'lp'?"),
        ("train train.csv --model m.fenchel --solver sdac", "did you mean 'sdca'?"),
        ("train train.csv --model m.fenchel --target prise", "There is no column 'prise'"),
        ("train train.csv --model m.fenchel --strength -1", "--strength -1.0: give a positive number."),
        ("train train.csv --model m.fenchel --task regress", "labels that are text, such as"),
        ("train train.csv --model m.fenchel --validation 2", "--validation 2: give a file, or a share"),
        ("train train.csv --model m.fenchel --plot figure.doc", "its name must end in .png"),
        ("train train.svm --model m.fenchel --target y", "--target is for tables"),
        ("train bad.svm --model m.fenchel", "bad.svm, line 2, column 6: 'x' is not a number"),
        ("train missing.csv --model m.fenchel", "Column 'a' has 1 missing value"),
        ("train missing.csv --model m.fenchel", "--missing zero or --missing mean"),
        ("train train.csv --target weight --class-weight balanced --model m.fenchel", "--class-weight is for classification"),
        ("train . --model m.fenchel", ". is a directory: give a file in it."),
        ("train ragged.csv --model m.fenchel", "ragged.csv, line 3: 1 value, where the heading has 2"),
        ("train empty.csv --model m.fenchel", "empty.csv has a heading, and no rows below it"),
        ("train one.csv --model m.fenchel", "one.csv has one class only, 1:"),
        ("compare one.csv", "one.csv has one class only, 1:"),
        (
            "train real.csv --task classify --model m.fenchel",
            "real.csv has 3 different labels that are no whole numbers: give --task regress.",
        ),
        ("train bare.csv --model m.fenchel", "say which of the columns it is with --target. They are a, b."),
        ("info bare.csv --target c", "There is no column 'c'"),
        ("predict test.csv cars.fenchel", "cars.fenchel is a model, and test.csv is not: swap them"),
        ("evaluate test.csv cars.fenchel", "cars.fenchel is a model, and test.csv is not: swap them"),
        ("convert train.svm train.xyz", "train.xyz: the ending .xyz tells no format: give one of .csv"),
        ("predict train.csv test.csv", "train.csv: it is damaged, cut short or no model file"),
        ("predict cars.fenchel train.svm", "train.svm has 100 features, and the model was fitted on 7"),
        ("predict cars.fenchel test.csv -o p.doc", "its name must end in .csv"),
        ("evaluate text.fenchel missing.csv", "Column 'a' has 1 missing value"),
        ("path train.csv --model m.fenchel", "give --cv 5 as well"),
        ("compare train.csv --solvers sdac", "did you mean 'sdca'?"),
        ("compare train.csv --loss hinge --penalty l1 --solvers newton", "newton needs a smooth loss"),
        ("export cars.fenchel cars.onnx", "turns tables into numbers itself"),
        ("export text.fenchel text.bin --format pmml", "--format pmml: "),
        ("convert train.csv nowhere/train.svm", "there is no directory"),
        ("datasets fetch a9b", "did you mean 'a9a'?"),
    ],
)
def test_bad_input_is_told_in_a_sentence(words, message, at_home):
    (at_home / "bad.svm").write_text("+1 1:2\n-1 3:x\n")
    (at_home / "missing.csv").write_text("a,y\n1,0\n,1\n3,0\n4,1\n")
    (at_home / "ragged.csv").write_text("a,y\n1,0\n2\n3,1\n")
    (at_home / "empty.csv").write_text("a,y\n")
    (at_home / "one.csv").write_text("a,y\n1,1\n2,1\n")
    (at_home / "real.csv").write_text("a,y\n1,0.5\n2,0.25\n3,1\n")
    (at_home / "bare.csv").write_text("a,b\n1,0\n2,1\n")
    result = fenchel(*words.split(), code=2)
    assert message in result.stderr
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
    assert not (at_home / "m.fenchel").exists()


@pytest.mark.parametrize("words", ["train", "train train.csv", "predict", "nonsense", "train train.csv --model m --tol none"])
def test_bad_usage_has_the_same_exit_code(words, at_home):
    fenchel(*words.split(), code=2)


def test_a_run_that_ends_early_writes_its_model_and_says_so(at_home, tmp_path):
    result = fenchel(*f"train train.svm --model {tmp_path}/m.fenchel --solver sdca --tol 1e-12 --max-passes 2".split(), code=3)
    assert result.stderr.startswith("Warning: LinearClassifier stopped at a certified gap")
    assert "--max-passes" in result.stderr
    assert result.stderr.count("\n") == 1
    assert not fl.load(tmp_path / "m.fenchel").converged_
    facts = told(
        *f"train train.svm --model {tmp_path}/n.fenchel --solver pegasos --tol 1e-15 --max-passes 1e9 --time-limit 0.2".split(), code=3
    )
    assert facts["passes"] > 0
    assert fl.load(tmp_path / "n.fenchel").gap_ == facts["gap"]


@pytest.mark.parametrize("options", [[], ["--calibration", "sigmoid"], ["--target", "colour", "--multiclass", "one-vs-rest"]])
@pytest.mark.parametrize("threads", ["1", "2"])
def test_an_interrupt_keeps_the_model(options, threads, at_home, tmp_path, monkeypatch):
    from fenchel.driver.run import Run

    seen = []
    record = Run._record

    def interrupted(self, iterate, objective):
        seen.append(objective)
        if len(seen) == 3:
            raise KeyboardInterrupt
        return record(self, iterate, objective)

    monkeypatch.setattr(Run, "_record", interrupted)
    words = ["train", "train.csv", "--model", tmp_path / "m.fenchel", "--solver", "fista", "--tol", "1e-12", "--threads", threads]
    result = fenchel(*words, *options, code=130)
    assert "Interrupted: the best model so far is in" in result.stderr
    monkeypatch.undo()
    model = fl.load(tmp_path / "m.fenchel")
    assert np.isfinite(model.coef_).all()
    assert len(fenchel("predict", tmp_path / "m.fenchel", at_home / "test.csv").stdout.split()) == 60


def test_an_interrupt_between_threads_keeps_all_classes(at_home, tmp_path, monkeypatch):
    result, calls = Future.result, []

    def interrupted(self, timeout=None):
        calls.append(self)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return result(self, timeout)

    monkeypatch.setattr(Future, "result", interrupted)
    words = ["--target", "colour", "--multiclass", "one-vs-rest", "--loss", "squared-hinge", "--threads", "2"]
    fenchel("train", "train.csv", "--model", tmp_path / "m.fenchel", *words, code=130)
    assert fl.load(tmp_path / "m.fenchel").coef_.shape == (3, 6)


@pytest.mark.slow
def test_control_c_in_a_terminal_keeps_the_model(at_home, tmp_path):
    # A child of a shell in the background may have inherited an ignored SIGINT: the first line puts it right.
    start = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from fenchel.cli import app; app(prog_name='fenchel')"
    words = ["train", "text.svm", "--model", str(tmp_path / "m.fenchel"), "--solver", "fista", "--tol", "0", "--max-passes", "1e12"]
    run = subprocess.Popen(
        [sys.executable, "-c", start, *words, "--progress"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "FORCE_COLOR": "1"},
    )
    shown = ""
    while "objective" not in shown:  # the bar: training has begun
        shown += run.stderr.read(1)
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=120)
    assert run.returncode == 130, err
    assert "the best model so far is in" in err
    assert "certificate" in out
    assert len(fl.load(tmp_path / "m.fenchel").history_) > 0


def test_an_interrupt_lost_in_a_callback_comes_again():
    @ctypes.CFUNCTYPE(None)
    def compiling():
        raise KeyboardInterrupt

    def work():
        compiling()
        for _ in range(1000):
            time.sleep(0.01)

    with exits.interrupts_kept(), pytest.raises(KeyboardInterrupt):
        work()


def test_control_c_while_importing_is_quiet():
    # SIGINT may have been inherited as ignored.
    start = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "class Impatient:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        name == 'fenchel.problems.problem' and signal.raise_signal(signal.SIGINT)\n"
        "sys.meta_path.insert(0, Impatient()); import _fenchel; _fenchel.main()"
    )
    run = subprocess.run([sys.executable, "-c", start, "demo"], capture_output=True, text=True, timeout=60, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (130, "", "Interrupted.\n")


def test_an_interrupted_comparison_keeps_the_solvers_that_are_done(at_home, monkeypatch):
    from fenchel.driver.run import Run

    evaluate = Run.evaluate

    def interrupted(self, iterate):
        if self.solver == "fista":
            raise KeyboardInterrupt
        return evaluate(self, iterate)

    monkeypatch.setattr(Run, "evaluate", interrupted)
    words = ["compare", "train.svm", "--solvers", "newton,fista,sdca"]
    result = fenchel(*words, code=130)
    assert "newton" in result.stdout
    assert result.stderr == "Interrupted: fista, sdca did not finish.\n"
    facts = told(*words, code=130)
    assert ([run["solver"] for run in facts["runs"]], facts["interrupted"]) == (["newton"], True)
    assert fenchel("compare", "train.svm", "--solvers", "fista", code=130).stderr == "Interrupted.\n"


def test_a_comparison_is_certified_if_one_solver_is(at_home):
    limits = ["--tol", "1e-9", "--max-passes", "30"]
    result = fenchel("compare", "train.svm", "--solvers", "newton,pegasos", *limits)
    assert "a gap of at most 1e-09 of the objective at w = 0" in result.stdout
    assert "The intercept is penalised" in result.stdout
    assert "max passes" in result.stdout
    fenchel("compare", "train.svm", "--solvers", "pegasos", *limits, code=3)


def test_an_interrupted_path_keeps_the_strengths_that_are_done(at_home, monkeypatch):
    from fenchel.driver.run import Run

    record, ended = Run._record, []

    def interrupted(self, iterate, objective):
        ended.append(iterate)
        if len(ended) == 8:
            raise KeyboardInterrupt
        return record(self, iterate, objective)

    monkeypatch.setattr(Run, "_record", interrupted)
    result = fenchel("path", "train.svm", "--strengths", "30", "--json", code=130)
    done = len(json.loads(result.stdout)["points"])
    assert 0 < done < 30
    assert result.stderr == f"Interrupted: {done} of 30 strengths are done.\n"


def test_an_error_of_our_own_asks_for_a_report(at_home, monkeypatch, tmp_path):
    monkeypatch.setattr("fenchel.cli.inputs.to_learn_from", lambda *_: 1 / 0)
    result = fenchel("train", "train.csv", "--model", tmp_path / "m.fenchel", code=1)
    assert "ZeroDivisionError" in result.stderr
    assert "fenchel --debug" in result.stderr
    assert "Traceback" not in result.stderr
    assert "Traceback" in fenchel("--debug", "train", "train.csv", "--model", tmp_path / "m.fenchel", code=1).stderr


@pytest.mark.parametrize(
    ("place", "error", "told"),
    [
        ("fenchel.solvers", "InputError('a sentence without an end')", True),
        ("anywhere", "InputTypeError('a class of another kind')", True),
        ("fenchel.solvers", "ValueError('This ends with a full stop, and is ours to mend.')", False),
        ("fenchel.solvers", "ValueError('operands could not be broadcast together')", False),
        ("sklearn.utils.validation", "ValueError('Input X contains NaN')", True),
        ("scipy.sparse", "ValueError('row index exceeds matrix dimensions.')", False),
        ("anywhere", "OSError('disk full')", True),
        ("fenchel.solvers", "RuntimeError('This should not be.')", False),
    ],
)
def test_what_is_the_users_to_mend_and_what_is_ours(place, error, told):
    with pytest.raises(Exception) as caught:  # noqa: PT011
        exec(f"raise {error}", {"__name__": place, "InputError": InputError, "InputTypeError": InputTypeError})
    assert exits.is_about_input(caught.value) is told


def test_the_guide_to_the_command_line_runs(at_home, tmp_path, monkeypatch):
    shutil.copytree(at_home, tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    lines = [line for block in re.findall(r"```bash\n(.*?)```", page, flags=re.DOTALL) for line in block.splitlines()]
    assert {name[0] for name, _ in commands()} <= {line.split()[1] for line in lines}
    for line in lines:
        fenchel(*shlex.split(line, comments=True)[1:])
    for code in (exits.DONE, exits.INTERNAL, exits.BAD_INPUT, exits.NOT_CERTIFIED, exits.INTERRUPTED):
        assert f"| {code} |" in page


@pytest.mark.parametrize("words", ["datasets list", "datasets list --json", "predict text.fenchel train.svm"])
def test_a_closed_pipe_is_quiet(words, at_home):
    command = f"set -o pipefail; {shlex.quote(sys.executable)} -m fenchel {words} | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.stderr, done.returncode) == ("", exits.BROKEN_PIPE)


def test_quiet_says_nothing_and_colours_stay_away(at_home, tmp_path):
    result = fenchel("train", "train.svm", "--model", tmp_path / "m.fenchel", "--quiet")
    assert result.output == ""
    done = subprocess.run(
        [sys.executable, "-m", "fenchel", "info", "train.svm"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "NO_COLOR": "1"},
    )
    assert "\x1b" not in done.stdout


def test_exit_codes_are_in_the_help():
    words = " ".join(fenchel("--help").output.split())
    for code in (exits.DONE, exits.INTERNAL, exits.BAD_INPUT, exits.NOT_CERTIFIED, exits.INTERRUPTED):
        assert re.search(rf"\b{code} \w+", words)


@pytest.mark.parametrize(
    ("numbers", "words"),
    [((1.0002, 1.0, 2e-4), "at most 0.02 %"), ((3.0, 1.0, 2.0), "at most 2 above"), ((1.0, -np.inf, np.inf), "none: no lower bound")],
)
def test_certificates_in_words(numbers, words):
    assert gap_in_words(*numbers).startswith(words)


def test_a_model_remembers_what_the_text_calls_its_first_column(tmp_path):
    (tmp_path / "zero.svm").write_text("1 0:1 1:2\n-1 0:-1 1:1\n" * 5)
    (tmp_path / "new.svm").write_text("1 1:1\n")
    (tmp_path / "same.svm").write_text("1 0:0 1:1\n")
    model = tmp_path / "m.fenchel"
    fenchel("train", tmp_path / "zero.svm", "--model", model, "--task", "classify")
    scores = [fenchel("predict", model, tmp_path / name, "--scores").stdout for name in ("new.svm", "same.svm")]
    assert scores[0] == scores[1]
    assert fl.load(model).index_base_ == 0


@pytest.mark.parametrize("words", [["train", "two.csv", "-m", "two.csv"], ["convert", "two.csv", "two.csv"]])
def test_commands_do_not_overwrite_their_data(tmp_path, monkeypatch, words):
    from typer.testing import CliRunner

    from fenchel.cli import app

    monkeypatch.chdir(tmp_path)
    (tmp_path / "two.csv").write_text("a,y\n1,0\n2,1\n3,0\n")
    assert CliRunner().invoke(app, words).exit_code != 0
    assert (tmp_path / "two.csv").read_text().startswith("a,y")


def test_commands_for_rows_name_the_command_for_structures(tagger, tmp_path):
    fl.save(tagger, tmp_path / "m.fenchel")
    (tmp_path / "a.svm").write_text("1 1:0.5\n0 1:0.1\n")
    for command in ("predict", "evaluate"):
        result = runner.invoke(app, [command, str(tmp_path / "m.fenchel"), str(tmp_path / "a.svm")])
        assert result.exit_code == 2
        assert "use fenchel tag" in result.stderr
    result = runner.invoke(app, ["rank", "predict", str(tmp_path / "m.fenchel"), str(tmp_path / "a.svm")])
    assert result.exit_code == 2
    assert "use fenchel tag" in result.stderr

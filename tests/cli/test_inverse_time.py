"""fenchel inverse-time: its table, figure, data and error messages."""

from __future__ import annotations

import lzma

import pytest

import fenchel as fl
from fenchel.cli import app
from tests.cli.shell import runner


@pytest.fixture
def svm(tmp_path):
    """A small compressed data file."""
    X, y = fl.datasets.make_text(1500, n=300, nonzeros=15, contrast=0.8, seed=1)
    lines = []
    for i in range(X.shape[0]):
        row = X[[i]].tocoo()
        lines.append(f"{y[i]:+.0f} " + " ".join(f"{j + 1}:{v:.6g}" for j, v in zip(row.col, row.data, strict=True)))
    path = tmp_path / "text.svm.xz"
    path.write_bytes(lzma.compress("\n".join(lines).encode()))
    return path


def test_the_command_prints_a_table_and_whether_time_decreased(svm, tmp_path):
    figure = tmp_path / "figure.png"
    result = runner.invoke(
        app, ["inverse-time", str(svm), "--accuracy", "0.8", "--sizes", "200,1000", "--runs", "2", "--figure", str(figure)]
    )
    assert result.exit_code == 0, result.output
    printed = " ".join(result.output.split())
    assert all(expected in printed for expected in ("200", "1,000", "iterations", "Time to 80%"))
    assert any(verdict in printed for verdict in ("decreased with m", "hardly changed with m", "increased with m"))
    assert figure.read_bytes().startswith(b"\x89PNG")


def test_text_is_generated_if_no_data_are_given():
    result = runner.invoke(
        app, ["inverse-time", "--rows", "1000", "--runs", "1", "--accuracy", "0.7", "--sizes", "500,1000", "--loss", "hinge"]
    )
    assert result.exit_code == 0, result.output
    assert "Generating 1,000 documents" in result.output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["nowhere.svm"], "There is no file nowhere.svm"),
        (["--rows", "1000", "--sizes", "10,1000"], "size 10: give sizes between 100 and the number of training rows, 1,000"),
        (["--rows", "1000", "--sizes", "many"], "--sizes many: give whole numbers separated by commas"),
        (["--rows", "1000", "--loss", "squared"], "--loss squared: did you mean 'squared-hinge'?"),
        (["--rows", "1000", "--p", "3"], "p must lie in (1, 2]"),
        (["--rows", "1000", "--figure", "x.foo"], "--figure x.foo: the ending must be one of .png"),
        (["--rows", "1000", "--figure", "nowhere/x.png"], "there is no directory"),
    ],
)
def test_bad_input_is_reported_in_one_sentence(options, message):
    result = runner.invoke(app, ["inverse-time", *options])
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())
    assert "Traceback" not in result.output


def test_files_with_invalid_data_are_refused(tmp_path):
    for text, message in (("hello world\n", "'hello' is not a label"), ("1 1:1\n2 1:1\n3 1:1\n" * 200, "has 3 different labels")):
        path = tmp_path / "bad.svm"
        path.write_text(text)
        result = runner.invoke(app, ["inverse-time", str(path)])
        assert result.exit_code == 2
        assert message in " ".join(result.output.split())


def test_the_accuracy_is_chosen_if_none_is_given(svm):
    result = runner.invoke(app, ["inverse-time", str(svm), "--sizes", "400,1200", "--runs", "1"])
    assert result.exit_code == 0, result.output
    assert "Accuracy to train to: 0." in result.output


def test_a_number_of_features_can_be_given_to_the_reader(svm):
    X, _ = fl.datasets.read_svmlight(svm, features=400)
    assert X.shape == (1500, 400)

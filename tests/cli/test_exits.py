"""Errors: bad input is reported in one sentence with exit code 2; internal errors ask the user to report them."""

from __future__ import annotations

import pytest

from fenchel.cli import app, exits
from fenchel.core.errors import InputError, InputTypeError
from tests.cli.shell import fenchel, runner


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
        ("train train.csv --model m.fenchel --plot figure.doc", "the ending must be one of .png"),
        ("train train.svm --model m.fenchel --target y", "--target is for tables"),
        ("train bad.svm --model m.fenchel", "bad.svm, line 2, column 6: 'x' is not a number"),
        ("train missing.csv --model m.fenchel", "Column 'a' has 1 missing value"),
        ("train missing.csv --model m.fenchel", "--missing zero or --missing mean"),
        ("train train.csv --target weight --class-weight balanced --model m.fenchel", "--class-weight is for classification"),
        ("train . --model m.fenchel", ". is a directory: give a file in it."),
        ("train ragged.csv --model m.fenchel", "ragged.csv, line 3: 1 value, and the heading has 2"),
        ("train empty.csv --model m.fenchel", "empty.csv has a heading but no rows"),
        ("train one.csv --model m.fenchel", "one.csv has only one class, 1:"),
        ("compare one.csv", "one.csv has only one class, 1:"),
        (
            "train real.csv --task classify --model m.fenchel",
            "real.csv has 3 different labels that are not whole numbers: give --task regress.",
        ),
        ("train bare.csv --model m.fenchel", "name it with --target. They are a, b."),
        ("info bare.csv --target c", "There is no column 'c'"),
        ("predict test.csv cars.fenchel", "cars.fenchel is a model, and test.csv is not: swap them"),
        ("evaluate test.csv cars.fenchel", "cars.fenchel is a model, and test.csv is not: swap them"),
        ("convert train.svm train.xyz", "train.xyz: the ending .xyz belongs to no known format: use one of .csv"),
        ("predict train.csv test.csv", "train.csv: it is damaged, incomplete or not a model file"),
        ("predict cars.fenchel train.svm", "train.svm has 100 features, and the model was fitted on 7"),
        ("predict cars.fenchel test.csv -o p.doc", "the ending must be one of .csv"),
        ("evaluate text.fenchel missing.csv", "Column 'a' has 1 missing value"),
        ("path train.csv --model m.fenchel", "give --cv 5 as well"),
        ("compare train.csv --solvers sdac", "did you mean 'sdca'?"),
        ("compare train.csv --loss hinge --penalty l1 --solvers newton", "newton needs a smooth loss"),
        ("export cars.fenchel cars.onnx", "includes the encoding of a table"),
        ("export text.fenchel text.bin --format pmml", "--format pmml: "),
        ("convert train.csv nowhere/train.svm", "there is no directory"),
        ("datasets fetch a9b", "did you mean 'a9a'?"),
    ],
)
def test_bad_input_is_reported_in_one_sentence(words, message, at_home):
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


def test_an_internal_error_asks_for_a_report(at_home, monkeypatch, tmp_path):
    monkeypatch.setattr("fenchel.cli.inputs.read_training_rows", lambda *_: 1 / 0)
    result = fenchel("train", "train.csv", "--model", tmp_path / "m.fenchel", code=1)
    assert "ZeroDivisionError" in result.stderr
    assert "fenchel --debug" in result.stderr
    assert "Traceback" not in result.stderr
    assert "Traceback" in fenchel("--debug", "train", "train.csv", "--model", tmp_path / "m.fenchel", code=1).stderr


@pytest.mark.parametrize(
    ("place", "error", "about_input"),
    [
        ("fenchel.solvers", "InputError('a sentence without an end')", True),
        ("anywhere", "InputTypeError('a class of another kind')", True),
        ("fenchel.solvers", "ValueError('This ends with a full stop, and is internal.')", False),
        ("fenchel.solvers", "ValueError('operands could not be broadcast together')", False),
        ("sklearn.utils.validation", "ValueError('Input X contains NaN')", True),
        ("scipy.sparse", "ValueError('row index exceeds matrix dimensions.')", False),
        ("anywhere", "OSError('disk full')", True),
        ("fenchel.solvers", "RuntimeError('This should not be.')", False),
    ],
)
def test_input_errors_are_distinguished_from_internal_ones(place, error, about_input):
    with pytest.raises(Exception) as caught:  # noqa: PT011
        exec(f"raise {error}", {"__name__": place, "InputError": InputError, "InputTypeError": InputTypeError})
    assert exits.is_about_input(caught.value) is about_input


@pytest.mark.parametrize("words", [["train", "two.csv", "-m", "two.csv"], ["convert", "two.csv", "two.csv"]])
def test_commands_do_not_overwrite_their_data(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two.csv").write_text("a,y\n1,0\n2,1\n3,0\n")
    assert runner.invoke(app, words).exit_code != 0
    assert (tmp_path / "two.csv").read_text().startswith("a,y")

"""fenchel path: the same points as the library, the best model, and the results after an interrupt."""

from __future__ import annotations

import json

import pytest

import fenchel as fl
from tests.cli.shell import fenchel, json_of


def test_path_agrees_with_the_library_and_saves_the_best_model(at_home, tmp_path):
    facts = json_of("path", "train.svm", "--strengths", "6", "--cv", "3", "--model", tmp_path / "m.fenchel", "--plot", tmp_path / "p.png")
    X, y = fl.datasets.read("train.svm")
    path = fl.path(X, y, fl.Logistic(), n_strengths=6, cv=3, intercept="free")
    assert [point["nnz"] for point in facts["points"]] == path["nnz"].tolist()
    assert facts["best"] == path.best
    model = fl.load(tmp_path / "m.fenchel")
    assert model.objective_ == pytest.approx(path["objective"][path.best], abs=2e-4)


def test_an_interrupted_path_reports_the_finished_strengths(at_home, monkeypatch):
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


@pytest.mark.parametrize("folds", [0, 1, 2])
def test_an_interrupted_cross_validation_reports_the_finished_folds(folds, at_home, tmp_path, monkeypatch):
    from fenchel import paths

    validate, calls = paths.validate_fold, []

    def interrupted(*arguments):
        if len(calls) == folds:
            raise KeyboardInterrupt
        calls.append(arguments)
        validate(*arguments)

    monkeypatch.setattr(paths, "validate_fold", interrupted)
    words = ["path", "train.svm", "--strengths", "6", "--cv", "3", "--threads", "1", "--model", tmp_path / "m.fenchel", "--json"]
    result = fenchel(*words, code=130)
    facts = json.loads(result.stdout)
    ending = f"{tmp_path / 'm.fenchel'} {'has the best of them' if folds else 'is not written'}."
    assert result.stderr == f"Interrupted: 6 of 6 strengths are done, with {folds} of 3 folds. {ending}\n"
    assert ("validation_loss" in facts["points"][0]) == (tmp_path / "m.fenchel").exists() == (folds > 0)
    assert (facts["best"] is None) == (facts["model"] is None) == (folds == 0)

"""fenchel verify: a model's certificate is proven on its rows, and a changed model's is not."""

from __future__ import annotations

import pytest

import fenchel as fl
from tests.cli.shell import fenchel, json_of


@pytest.mark.parametrize(("model", "data"), [("cars.fenchel", "train.csv"), ("text.fenchel", "train.svm")])
def test_a_model_is_proven_on_its_rows(model, data, at_home):
    facts = json_of("verify", model, data)
    assert facts["holds"]
    assert facts["gap"] <= facts["claimed"] == fl.load(model).gap_
    assert facts["dual_objective"] <= fl.load(model).objective_ <= facts["objective"] + 1e-12
    assert "the claim is proven" in fenchel("verify", model, data).stdout


def test_changed_weights_are_not_proven(at_home, tmp_path):
    model = fl.load("text.fenchel")
    model.coef_ = model.coef_ + 0.1
    fl.save(model, tmp_path / "changed.fenchel")
    assert "the claim is not proven" in fenchel("verify", tmp_path / "changed.fenchel", "train.svm", code=3).stdout


def test_rows_of_other_classes_and_other_models_are_refused(at_home, tmp_path):
    (tmp_path / "other.svm").write_text("0 1:1\n2 2:1\n")
    assert "other classes than the rows" in fenchel("verify", "text.fenchel", tmp_path / "other.svm", code=2).stderr

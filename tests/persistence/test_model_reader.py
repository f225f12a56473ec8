"""Files with inconsistent attributes are refused by ``load``."""

from __future__ import annotations

import numpy as np
import pytest

import fenchel as fl
from fenchel.structured import Multiclass
from tests.data import TAGS, TOKENS


@pytest.mark.parametrize(
    "forge",
    [
        lambda m: delattr(m, "model_"),
        lambda m: delattr(m, "columns_"),
        lambda m: setattr(m, "columns_", []),
        lambda m: setattr(m, "columns_", [1]),
        lambda m: setattr(m, "model_", Multiclass(classes=("a", "b"), features=1)),
        lambda m: setattr(m, "coef_", m.coef_.astype(np.float16)),
        lambda m: setattr(m, "coef_", m.coef_[:-1]),
        lambda m: setattr(m, "coef_", None),
    ],
)
def test_models_with_inconsistent_attributes_are_refused(forge, tagger, tmp_path, monkeypatch):
    from fenchel.persistence import model_reader, model_writer

    copy = fl.Tagger(l2=1e-2).fit(TOKENS, TAGS)
    forge(copy)
    monkeypatch.setattr(model_writer, "check_model", lambda *_: None)
    fl.save(copy, tmp_path / "m.fenchel")
    assert model_reader.check_model is not model_writer.check_model
    with pytest.raises(fl.ModelFileError):
        fl.load(tmp_path / "m.fenchel")


def linear(**changes):
    X = np.array([[0.0, 1.0], [1.0, 0.0]])
    model = fl.LinearClassifier()
    found = {"coef_": X[:1], "intercept_": np.zeros(1), "classes_": np.array([0, 1]), "n_features_in_": 2}
    for name, value in {**found, **changes}.items():
        if value is not None:
            setattr(model, name, value)
    return model


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tol": "small"}, "parameters.tol is 'small', which is not of the type float"),
        ({"n_jobs": 1.5}, "parameters.n_jobs is '1.5', which is not of the type int"),
        ({"class_weight": [1, 2]}, "parameters.class_weight"),
        ({"loss": "nothing"}, "'nothing'"),
        ({"multiclass": "none"}, "multiclass='none'"),
        ({"calibration": "sigmoid"}, "calibration_ has not two numbers"),
        ({"calibration": "sigmoid", "calibration_": np.full((1, 2), np.nan)}, "calibration_ is not finite"),
        ({"converged_": "yes"}, "converged_ is 'yes', which is not of the type bool"),
        ({"history_": 1}, "history_ is '1'"),
        ({"coef_": np.ones(2)}, "coef_ is not an array of weights"),
        ({"coef_": np.ones((1, 2), dtype=np.int64)}, "coef_ is not an array of weights"),
        ({"coef_": np.ones((0, 2))}, "coef_ is not an array of weights"),
        ({"intercept_": np.zeros((1, 1))}, "intercept_ of shape"),
        ({"intercept_": None}, "intercept_ is missing"),
        ({"n_features_in_": None}, "n_features_in_ is missing"),
        ({"classes_": None}, "classes_ is not an array"),
        ({"classes_": np.eye(2)}, "classes_ is not an array"),
        ({"classes_": np.array([1, 1])}, "classes_ names a class twice"),
        ({"index_base_": 2}, "index_base_ is neither 0 nor 1"),
        ({"encoding_": Multiclass(classes=("a", "b"), features=1)}, "encoding_ is not an encoding"),
    ],
)
def test_linear_models_that_could_not_predict_are_refused(tmp_path, monkeypatch, changes, message):
    from fenchel.persistence import model_writer

    fl.save(linear(), tmp_path / "m.fenchel")
    fl.load(tmp_path / "m.fenchel").predict(np.ones((1, 2)))
    monkeypatch.setattr(model_writer, "check_model", lambda *_: None)
    fl.save(linear(**changes), tmp_path / "m.fenchel")
    with pytest.raises(fl.ModelFileError, match=message):
        fl.load(tmp_path / "m.fenchel")

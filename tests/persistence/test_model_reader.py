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

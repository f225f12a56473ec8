"""Model files written by version 0.1 still load."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import fenchel as fl

FOLDER = Path(__file__).parent / "written_by_0_1"
WEIGHTS = json.loads((FOLDER / "weights.json").read_text())


@pytest.mark.parametrize("name", WEIGHTS)
def test_loaded_weights_equal_the_saved_ones(name):
    assert np.ravel(fl.load(FOLDER / f"{name}.fenchel").coef_)[:5].tolist() == WEIGHTS[name]


def test_every_file_is_tested():
    assert {file.stem for file in FOLDER.glob("*.fenchel")} == set(WEIGHTS)


def test_a_renamed_regularizer_keeps_its_strengths():
    assert fl.load(FOLDER / "elastic_net_penalty.fenchel").penalty == fl.L1L2(l1=0.125, l2=0.25)
    assert fl.load(FOLDER / "box_around_elastic_net.fenchel").penalty.penalty == fl.L1L2(l1=0.1, l2=0.2)


@pytest.mark.slow
def test_loaded_models_predict():
    assert fl.load(FOLDER / "tagger.fenchel").predict([["the", "cat", "barks"]]) == [["DET", "NOUN", "VERB"]]
    assert set(fl.load(FOLDER / "logistic_regression.fenchel").predict(np.eye(3))) <= {"a", "b", "c"}
    assert len(fl.load(FOLDER / "rna_folder.fenchel").predict(["GGGAAACCC"])[0]) == 9
    assert fl.load(FOLDER / "encoded_table.fenchel").encoding_.feature_names == ("size", "colour=blue", "colour=red")

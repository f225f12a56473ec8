"""``fenchel convert`` into stores, and the other commands on them."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest

import fenchel as fl
from tests.cli.shell import fenchel, json_of


@pytest.fixture
def store(at_home, tmp_path):
    fenchel("convert", "train.svm", tmp_path / "train.store", "--shuffle")
    return tmp_path / "train.store"


def test_commands_take_stores(store, tmp_path):
    fenchel("train", store, "-m", tmp_path / "m.fenchel", "--quiet")
    assert json_of("evaluate", tmp_path / "m.fenchel", store, "--json")["rows"] == 300
    fenchel("predict", tmp_path / "m.fenchel", store, "--output", tmp_path / "p.txt")
    assert len((tmp_path / "p.txt").read_text().split()) == 300
    assert "300" in fenchel("info", store).output
    assert len(json_of("path", store, "--strengths", "3", "--json")["points"]) == 3


def test_tables_become_stores_with_their_encoding(at_home, tmp_path):
    fenchel("convert", "train.csv", tmp_path / "train.store", "--target", "class")
    fenchel("train", tmp_path / "train.store", "-m", tmp_path / "m.fenchel", "--quiet")
    table, stored = (json_of("evaluate", tmp_path / "m.fenchel", data, "--json") for data in ("train.csv", tmp_path / "train.store"))
    assert table["accuracy"] == stored["accuracy"]
    output = fenchel("convert", "test.csv", tmp_path / "test.store", "--like", tmp_path / "train.store").output
    assert "pink" in output
    assert json_of("evaluate", tmp_path / "m.fenchel", tmp_path / "test.store", "--json")["rows"] == 60
    fenchel("convert", "test.csv", tmp_path / "other.store", "--target", "class")
    assert "convert the data again with --like" in fenchel("evaluate", tmp_path / "m.fenchel", tmp_path / "other.store", code=2).output


def test_several_files_and_standard_input(at_home, tmp_path, monkeypatch):
    assert "600 rows" in fenchel("convert", "train.svm", "train.svm", tmp_path / "two.store").output
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((at_home / "train.svm").read_bytes())))
    fl.datasets.convert(io.BytesIO((at_home / "train.svm").read_bytes()), tmp_path / "pipe.store", dtype=np.float32)
    assert fl.datasets.open(tmp_path / "pipe.store").X.dtype == np.float32


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("train.svm",), "The file to write is missing"),
        (("train.svm", "train.svm", "a.csv"), "Several files make a store only"),
        (("train.svm", "a.csv", "--shuffle"), "--shuffle is for stores"),
        (("none.svm", "a.store"), "There is no file none.svm"),
    ],
)
def test_what_cannot_be_done_is_said(at_home, words, message):
    assert message in " ".join(fenchel("convert", *words, code=2).output.split())

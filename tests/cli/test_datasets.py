"""fenchel datasets: list, fetch and make."""

from __future__ import annotations

import numpy as np

import fenchel as fl
from tests.cli.shell import fenchel, json_of


def test_terms_of_use_are_shown_only_if_requested(at_home):
    plain, full = (fenchel("datasets", "list", *words).stdout for words in ([], ["--terms"]))
    terms = {listing["terms"] for listing in json_of("datasets", "list")["datasets"]} - {""}
    assert terms
    assert not any(text in plain for text in terms)
    assert "terms" in full


def test_make_writes_every_kind_of_data(at_home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for kind in ("text", "gaussians", "wide", "ranking"):
        fenchel("datasets", "make", kind, f"{kind}.svm", "--rows", "20", "--features", "50")
    _, _, qid = fl.datasets.read("ranking.svm")
    assert len(np.unique(qid)) == 20
    assert json_of("info", "ranking.svm")["task"] == "rank"
    fenchel("datasets", "make", "rna", "r.dbn", "--rows", "3")
    lines = (tmp_path / "r.dbn").read_text().splitlines()
    assert [line[0] for line in lines[::3]] == [">"] * 3
    assert list(map(len, lines[1::3])) == list(map(len, lines[2::3]))
    fenchel("datasets", "make", "sequences", "s.conll", "--rows", "4")
    sentences = (tmp_path / "s.conll").read_text().strip().split("\n\n")
    _, _, sentence = fl.datasets.make_sequences(4)
    assert [len(part.splitlines()) for part in sentences] == np.bincount(sentence).tolist()
    assert "hoose one of" in fenchel("datasets", "make", "rocks", "r.svm", code=2).stderr


def test_data_sets_are_found_by_name(at_home, tmp_path):
    known = json_of("datasets", "list")["datasets"]
    assert next(entry for entry in known if (entry["name"], entry["split"]) == ("a9a", "train"))["where"] == str(at_home / "a9a")
    assert fenchel("datasets", "fetch", "a9a").stdout.strip() == str(at_home / "a9a")
    assert json_of("info", "a9a")["rows"] == 2

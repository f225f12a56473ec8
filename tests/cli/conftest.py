"""A folder with the files and models that commands are given, and the shell in it."""

from __future__ import annotations

import numpy as np
import pytest

import fenchel as fl
from tests.cli.shell import cars


@pytest.fixture(scope="session")
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

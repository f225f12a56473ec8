"""A folder with the data files and models that the tests of commands use."""

from __future__ import annotations

import numpy as np
import pytest

import fenchel as fl
from tests.cli.shell import cars


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """A folder with all files that the examples use."""
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
    write_structured_data(folder, "train", 30)
    write_structured_data(folder, "test", 10)
    return folder


def write_structured_data(folder, name, count):
    """Write text to tag, documents to rank and RNA to fold."""
    rng = np.random.default_rng(count)
    words = [rng.choice(["the", "a", "dog", "cat", "sees", "runs"], 5).tolist() for _ in range(count)]
    marks = [["O" if word in ("sees", "runs") else "B-NP" if word in ("the", "a") else "I-NP" for word in text] for text in words]
    fl.datasets.write_conll(folder / f"{name}.conll", words, marks)
    X, y, qid = fl.datasets.make_ranking(queries=count, documents=6, n=4, seed=count)
    fl.datasets.write_svmlight(folder / f"{name}.letor", X, y, qid=qid)
    sequences, brackets = fl.datasets.make_rna(count, length=24, seed=count)
    fl.datasets.write_dbn(folder / f"{name}.dbn", [(f"rna{i}", s, b) for i, (s, b) in enumerate(zip(sequences, brackets, strict=True))])


@pytest.fixture(scope="session")
def structured_models(home):
    """The folder, with a model of each structured kind as well; these take long to compile."""
    words, marks = fl.datasets.read_conll(home / "train.conll")
    fl.save(fl.Tagger(l2=1e-2).fit(words, marks), home / "chunks.fenchel")
    rows = fl.datasets.read(home / "train.letor")
    fl.save(fl.Ranker(l2=0.1).fit(rows.X, rows.y, qid=rows.qid), home / "ranker.fenchel")
    records = fl.datasets.read_dbn(home / "train.dbn")
    folder = fl.RnaFolder(l2=0.3, tol=1e-2)
    fl.save(folder.fit([r.sequence for r in records], [r.structure for r in records]), home / "folder.fenchel")
    return home


@pytest.fixture
def at_home(home, monkeypatch):
    monkeypatch.chdir(home)
    monkeypatch.setenv("FENCHEL_DATA", str(home))
    return home

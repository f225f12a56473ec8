"""Exports: other programs read them and predict the same as the model."""

from __future__ import annotations

import builtins

import numpy as np
import pytest
import scipy.sparse as sp

import fenchel as fl
from fenchel.persistence.exports import VW_CONSTANT, sigmoid_probabilities, softmax_probabilities, vw_bits

RULES = {"sigmoid": sigmoid_probabilities, "softmax": softmax_probabilities}


class Regressor:
    def __init__(self, coef, intercept):
        self.coef_, self.intercept_ = coef, intercept

    def scores(self, X):
        return X @ np.atleast_2d(self.coef_).T + self.intercept_

    def predict(self, X):
        return self.scores(X) if np.ndim(self.coef_) == 2 else self.scores(X)[:, 0]


class Classifier(Regressor):
    def __init__(self, coef, intercept, classes):
        super().__init__(coef, intercept)
        self.classes_ = classes

    def predict(self, X):
        scores = self.scores(X)
        return self.classes_[scores.argmax(axis=1) if scores.shape[1] > 1 else (scores[:, 0] > 0.0).astype(int)]


class Probabilistic(Classifier):
    def __init__(self, coef, intercept, classes, rule):
        super().__init__(coef, intercept, classes)
        self.rule = rule

    def predict_proba(self, X):
        return RULES[self.rule](self.scores(X))


rng = np.random.default_rng(0)
N = 9
X = rng.standard_normal((200, N))
TWO, FOUR = np.array([3, 8]), np.array([0, 2, 5, 11])
CLASSIFIERS = {
    "binary": Classifier(rng.standard_normal((1, N)), np.array([0.3]), TWO),
    "binary in a row": Classifier(rng.standard_normal(N), 0.3, TWO),
    "binary of two rows": Probabilistic(rng.standard_normal((2, N)), np.array([0.3, -0.1]), TWO, "softmax"),
    "logistic": Probabilistic(rng.standard_normal((1, N)), np.array([-0.7]), TWO, "sigmoid"),
    "without intercept": Probabilistic(rng.standard_normal((1, N)), 0.0, TWO, "sigmoid"),
    "multiclass": Classifier(rng.standard_normal((4, N)), rng.standard_normal(4), FOUR),
    "one against the rest": Probabilistic(rng.standard_normal((4, N)), rng.standard_normal(4), FOUR, "sigmoid"),
    "softmax": Probabilistic(30.0 * rng.standard_normal((4, N)), rng.standard_normal(4), FOUR, "softmax"),
}
REGRESSOR = Regressor(100.0 * rng.standard_normal(N), -7.0)
every_classifier = pytest.mark.parametrize("name", CLASSIFIERS)


def read_liblinear(path):
    """Read the format according to liblinear's README and load_model."""
    words = path.read_text().split()
    head, at = {}, 0
    while words[at] != "w":
        key, at = words[at], at + 1
        count = int(head["nr_class"]) if key == "label" else 1
        head[key], at = (words[at : at + count] if key == "label" else words[at]), at + count
    regression = "label" not in head
    columns = 1 if regression or (head["nr_class"] == "2" and head["solver_type"] != "MCSVM_CS") else int(head["nr_class"])
    rows = int(head["nr_feature"]) + (float(head["bias"]) >= 0.0)
    w = np.array(words[at + 1 :], dtype=float).reshape(rows, columns)
    return head, w


def liblinear_scores(head, w, X):
    return np.hstack([X, np.full((len(X), 1), float(head["bias"]))]) @ w if float(head["bias"]) >= 0.0 else X @ w


@every_classifier
def test_liblinear_text_predicts_the_same(tmp_path, name):
    model, path = CLASSIFIERS[name], tmp_path / "model"
    fl.export(model, path, format="liblinear")
    head, w = read_liblinear(path)
    scores, labels = liblinear_scores(head, w, X), np.array(head["label"], dtype=int)
    found = labels[scores.argmax(axis=1)] if scores.shape[1] > 1 else np.where(scores[:, 0] > 0.0, labels[0], labels[1])
    assert found.tolist() == model.predict(X).tolist()
    has_probabilities = head["solver_type"] == "L2R_LR"
    assert has_probabilities == (hasattr(model, "predict_proba") and name != "softmax")
    if has_probabilities and scores.shape[1] == 1:
        p = 1.0 / (1.0 + np.exp(-scores))
        np.testing.assert_allclose(np.hstack([1.0 - p, p]), model.predict_proba(X), atol=1e-12)


def test_liblinear_weights_are_exact(tmp_path):
    fl.export(REGRESSOR, tmp_path / "model", format="liblinear")
    head, w = read_liblinear(tmp_path / "model")
    assert head["solver_type"] == "L2R_L2LOSS_SVR"
    assert w[:, 0].tolist() == [*REGRESSOR.coef_, -7.0]


def test_liblinear_itself_predicts_the_same(tmp_path):
    util = pytest.importorskip("liblinear.liblinearutil", reason="liblinear-official is not installed")
    for name, model in CLASSIFIERS.items():
        path = tmp_path / name
        fl.export(model, path, format="liblinear")
        loaded = util.load_model(str(path))
        labels, _, _ = util.predict([], sp.csr_matrix(X), loaded, "-q")
        assert labels == model.predict(X).tolist()
        if loaded.is_probability_model():
            _, _, probabilities = util.predict([], sp.csr_matrix(X), loaded, "-q -b 1")
            order = [loaded.get_labels().index(label) for label in model.classes_]
            np.testing.assert_allclose(np.array(probabilities)[:, order], model.predict_proba(X), atol=1e-9)
    fl.export(REGRESSOR, tmp_path / "regression", format="liblinear")
    numbers, _, _ = util.predict([], sp.csr_matrix(X), util.load_model(str(tmp_path / "regression")), "-q")
    np.testing.assert_allclose(numbers, REGRESSOR.predict(X))


@pytest.mark.parametrize("classes", [np.array([-1.0, 1.0]), np.array([False, True]), np.array([1, 2, 3], dtype=np.int8)])
def test_onnx_keeps_classes_that_are_whole_numbers(tmp_path, classes):
    pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    model = Classifier(np.eye(N)[: 1 if len(classes) == 2 else len(classes)], 0.0, classes)
    fl.export(model, tmp_path / "model.onnx")
    session = runtime.InferenceSession((tmp_path / "model.onnx").read_bytes(), providers=["CPUExecutionProvider"])
    labels, scores = session.run(None, {"X": X.astype(np.float32)})
    assert labels.tolist() == model.predict(X).astype(int).tolist()
    assert session.get_outputs()[1].shape[1] == scores.shape[1] == len(classes)


@every_classifier
def test_onnx_predicts_the_same(tmp_path, name):
    pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    model, path = CLASSIFIERS[name], tmp_path / "model.onnx"
    fl.export(model, path)
    session = runtime.InferenceSession(path.read_bytes(), providers=["CPUExecutionProvider"])
    X32 = X.astype(np.float32)
    labels, outputs = session.run(None, {"X": X32})
    assert labels.tolist() == model.predict(X32.astype(float)).tolist()
    assert session.get_outputs()[0].name == "label"
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(outputs, model.predict_proba(X32), atol=1e-4)
    else:
        np.testing.assert_allclose(outputs[:, -1], model.scores(X32)[:, -1], atol=1e-4)


def test_onnx_keeps_names_of_classes_and_several_outputs(tmp_path):
    pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    named = Classifier(sp.csr_matrix(rng.standard_normal((3, N))), np.zeros(3), np.array(["a", "käse", "c"], dtype=object))
    dense = Classifier(named.coef_.toarray(), named.intercept_, named.classes_)
    several = Regressor(rng.standard_normal((2, N)), np.array([1.0, 2.0]))
    X32 = X.astype(np.float32)
    for model, expected in ((named, dense), (several, several), (REGRESSOR, REGRESSOR)):
        fl.export(model, tmp_path / "model.onnx", format="onnx")
        session = runtime.InferenceSession((tmp_path / "model.onnx").read_bytes(), providers=["CPUExecutionProvider"])
        found = session.run(None, {"X": X32})[0]
        if model is named:
            assert found.tolist() == expected.predict(X32).tolist()
        else:
            np.testing.assert_allclose(found.reshape(expected.predict(X32).shape), expected.predict(X32), rtol=1e-4, atol=1e-3)


def vw_predictions(path, rows):
    vw = pytest.importorskip("vowpalwabbit")
    workspace = vw.Workspace(f"--quiet --no_stdin -t -i {path}")
    try:
        return [workspace.predict("| " + " ".join(f"{j}:{v:.9g}" for j, v in enumerate(row) if v)) for row in rows]
    finally:
        workspace.finish()


@every_classifier
def test_vowpal_wabbit_predicts_the_same(tmp_path, name):
    pytest.importorskip("vowpalwabbit")
    model, path = CLASSIFIERS[name], tmp_path / "model.vw"
    fl.export(model, path, format="vw")
    found = np.array(vw_predictions(path, X))
    places = found - 1 if len(model.classes_) > 2 else (found > 0.0).astype(int)
    assert model.classes_[places].tolist() == model.predict(X).tolist()
    if len(model.classes_) == 2 and model.scores(X).shape[1] == 1:
        np.testing.assert_allclose(found, model.scores(X)[:, 0], atol=1e-5)


def test_vowpal_wabbit_supports_large_scores_and_an_intercept(tmp_path):
    pytest.importorskip("vowpalwabbit")
    fl.export(REGRESSOR, tmp_path / "model.vw", format="vw")
    np.testing.assert_allclose(vw_predictions(tmp_path / "model.vw", X), REGRESSOR.predict(X), rtol=1e-4)
    wide = Regressor(np.zeros(200_000), 2.0)
    wide.coef_[[0, VW_CONSTANT % 2**18, 199_999]] = 10.0, 20.0, 30.0
    fl.export(wide, tmp_path / "wide.vw", format="vw")
    rows = np.zeros((3, 200_000))
    rows[[0, 1, 2], [0, VW_CONSTANT % 2**18, 199_999]] = 1.0
    assert vw_predictions(tmp_path / "wide.vw", rows) == [12.0, 22.0, 32.0]


@pytest.mark.parametrize(("n", "step"), [(1, 1), (116_060, 1), (116_061, 1), (200_000, 1), (30_000, 16), (10**6, 8), (11_650_396, 1)])
def test_no_two_weights_of_vowpal_wabbit_share_an_index(n, step):
    bits = vw_bits(n, step, True)
    assert n * step <= 2**bits
    assert VW_CONSTANT * step % 2**bits >= n * step
    assert bits == 18 or n * step > 2 ** (bits - 1) or VW_CONSTANT * step % 2 ** (bits - 1) < n * step


def test_models_that_a_format_cannot_hold_are_refused(tmp_path):
    file = tmp_path / "model"
    file.write_bytes(b"old")

    class Calibrated(Classifier):
        def predict_proba(self, X):
            return sigmoid_probabilities(0.5 * self.scores(X))

    class Encoding(Classifier):
        encoding_ = object()

    named = Classifier(np.ones((1, 2)), 0.0, np.array(["a", "b"]))
    refused = [
        (named, "liblinear", "liblinear needs whole numbers as classes, and these are a, b"),
        (Classifier(np.ones((1, 2)), 0.0, np.array([0.5, 1.0])), "liblinear", "whole numbers"),
        (Classifier(np.ones((1, 2)), 0.0, np.array([0.5, 1.0])), "onnx", "ONNX needs whole numbers as classes"),
        (Regressor(np.ones((2, 2)), 0.0), "liblinear", "predicts 2 outputs, and liblinear supports one"),
        (Regressor(np.ones((2, 2)), 0.0), "vw", "predicts 2 outputs"),
        (Calibrated(np.ones((1, 2)), 0.0, TWO), "liblinear", "gives calibrated probabilities"),
        (Encoding(np.ones((1, 2)), 0.0, TWO), "onnx", "includes the encoding of a table"),
        (Classifier(np.ones((2, 2)), 0.0, FOUR), "onnx", "4 classes and 2 rows of weights"),
        (Regressor(np.array([np.nan]), 0.0), "onnx", "not finite"),
        (object(), "onnx", "object has no coef_: fit it first"),
        (REGRESSOR, "onx", "format='onx': did you mean 'onnx'"),
    ]
    for model, format, message in refused:
        if format == "vw":
            pytest.importorskip("vowpalwabbit")
        with pytest.raises(ValueError, match=message):
            fl.export(model, file, format=format)
    assert file.read_bytes() == b"old"
    assert [found.name for found in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize(("format", "package"), [("onnx", "skl2onnx"), ("vw", "vowpalwabbit")])
def test_a_missing_package_is_reported_with_the_command_to_install_it(tmp_path, monkeypatch, format, package):
    real = builtins.__import__

    def without(name, *args, **options):
        if name.startswith(package):
            raise ImportError(name)
        return real(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ModuleNotFoundError, match=rf"fenchel\[{format}\]"):
        fl.export(REGRESSOR, tmp_path / "model", format=format)


def test_only_linear_models_are_exported(tagger, tmp_path):
    with pytest.raises(ValueError, match="only linear models"):
        fl.export(tagger, tmp_path / "m.onnx")
    X, y, qid = fl.datasets.make_ranking(queries=5, documents=5, n=3)
    with pytest.raises(ValueError, match="scales features itself"):
        fl.export(fl.Ranker(normalize=True).fit(X, y, qid=qid), tmp_path / "m.onnx")


def test_a_file_that_vowpal_wabbit_cannot_write_is_an_error_of_the_disk(tmp_path, monkeypatch):
    workspace = pytest.importorskip("vowpalwabbit").Workspace

    def fail(self, path):
        raise RuntimeError("Failed to write example")

    monkeypatch.setattr(workspace, "save", fail)
    with pytest.raises(OSError, match="Failed to write example") as caught:
        fl.export(CLASSIFIERS["binary"], tmp_path / "model", format="vw")
    assert caught.value.filename == str(tmp_path / "model")
    assert not list(tmp_path.iterdir())

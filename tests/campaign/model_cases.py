"""Forged model files with correct checksums, and the use of models that were loaded from them"""

from __future__ import annotations

import contextlib
import copy
import functools
import json
import math
import random
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from safetensors import safe_open

import fenchel as fl
from fenchel.core.errors import InputError
from fenchel.datasets import Column, Encoding
from fenchel.persistence import exports
from fenchel.persistence.model_files import FORMAT, model_digest
from fenchel.persistence.model_kinds import DTYPES

NAMES = {code: name for name, code in DTYPES.items()}
EARLIER = Path(__file__).parents[1] / "persistence" / "written_by_0_1"
CLASSIFIERS = ("LinearClassifier", "LinearSVC", "LogisticRegression", "LogisticRegressionCV", "SGDClassifier")
REGRESSORS = ("ElasticNet", "ElasticNetCV", "Lasso", "LassoCV", "LinearRegressor", "LinearSVR", "Ridge", "RidgeCV", "SGDRegressor")
WIDEST = 10_000  # features of the rows that a loaded model predicts
Contents = tuple[dict[str, Any], dict[str, np.ndarray]]


def _certified(model: Any, **attributes: Any) -> Any:
    history = fl.History()
    history.append(passes=1.0, accesses=10, seconds=0.1, objective=2.0, dual_objective=1.0, gap=1.0, nnz=3)
    usual = {
        "objective_": 2.0,
        "dual_objective_": 1.0,
        "gap_": 1.0,
        "converged_": True,
        "n_iter_": 3,
        "solver_": "sdca",
        "history_": history,
    }
    for name, value in {**usual, **attributes}.items():
        setattr(model, name, value)
    return model


def _models() -> list[Any]:
    """A model of every class, with weights that need no training."""
    rows = {"coef_": np.array([[0.5, -1.0, 0.0], [0.0, 0.0, 2.0], [1.0, 1.0, 1.0]]), "intercept_": np.zeros(3), "n_features_in_": 3}
    row = {"coef_": np.array([[0.5, -1.0, 0.0]]), "intercept_": np.array([0.25]), "n_features_in_": 3}
    made = []
    for name in CLASSIFIERS:
        cls = getattr(fl.estimators, name)
        made.append(_certified(cls(), **rows, classes_=np.array(["a", "b", "c"])))
        made.append(_certified(cls(), **row, classes_=np.array([-1.0, 1.0]), feature_names_in_=np.array(["u", "v", "w"], dtype=object)))
    for name in REGRESSORS:
        made.append(_certified(getattr(fl.estimators, name)(), coef_=np.array([0.5, -1.0, 0.0]), intercept_=0.5, n_features_in_=3))
        made.append(_certified(getattr(fl.estimators, name)(), **rows))
    encoding = Encoding((Column("s", "number", fill=0.0), Column("c", "category", ("r", "g"))), Column("y", "number"))
    two = {**row, "classes_": np.array([0.0, 1.0])}
    calibrated = fl.LinearClassifier("hinge", calibration="sigmoid", class_weight={0.0: 1.0, 1.0: 2.0})
    made.append(_certified(calibrated, **two, calibration_=np.array([[1.0, 0.0]]), index_base_=1))
    sparse = {**two, "coef_": sp.csr_array(row["coef_"])}
    made.append(_certified(fl.LinearClassifier(fl.SmoothHinge(0.5), penalty=fl.Box(0.0, 1.0, fl.L2(0.1))), **sparse, encoding_=encoding))
    names = np.array(["u", "v", "w"], dtype=object)
    made.append(_certified(fl.LinearRegressor(fl.Quantile(0.9), n_jobs=2, random_state=3), **row, feature_names_=names))
    earlier = fl.load(EARLIER / "structured_svm.fenchel")
    field = fl.ConditionalRandomField(earlier.model)
    return [*made, _certified(field, coef_=earlier.coef_, model_=earlier.model_)]


@functools.cache
def seeds() -> list[Contents]:
    """The headers and tensors of valid files."""
    with tempfile.TemporaryDirectory() as folder:
        made = []
        for k, model in enumerate(_models()):
            fl.save(model, Path(folder) / str(k))
            made.append(Path(folder) / str(k))
        return [_contents(path) for path in [*made, *sorted(EARLIER.glob("*.fenchel"))]]


def _contents(path: Path) -> Contents:
    with safe_open(path, framework="numpy") as opened:
        return json.loads(opened.metadata()["header"]), {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118


def written(header: Any, tensors: dict[str, np.ndarray], text: str | None = None) -> bytes:
    """A file with a correct checksum; safetensors itself writes its header in a random order."""
    text = json.dumps(header) if text is None else text
    tensors = {name: np.ascontiguousarray(tensor) if tensor.ndim else tensor for name, tensor in tensors.items()}
    places: dict[str, Any] = {"__metadata__": {"format": FORMAT, "header": text, "sha256": model_digest(text, tensors)}}
    end = 0
    for name, tensor in tensors.items():
        places[name] = {"dtype": NAMES[tensor.dtype.str], "shape": tensor.shape, "data_offsets": [end, end + tensor.nbytes]}
        end += tensor.nbytes
    head = json.dumps(places).encode()
    return len(head).to_bytes(8, "little") + head + b"".join(tensor.tobytes() for tensor in tensors.values())


def forged(rng: random.Random) -> tuple[str, bytes]:
    """A file with a few values, tensors or bytes changed, and its kind."""
    header, tensors = rng.choice(seeds())
    kind = "structured model" if header["model"]["class"] in fl.estimators.STRUCTURED else "model"
    return kind, _forged(rng, header, tensors)


def _forged(rng: random.Random, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> bytes:
    header, tensors = copy.deepcopy(header), dict(tensors)
    draw = rng.random()
    if draw < 0.1:
        whole = bytearray(written(header, tensors))
        for _ in range(rng.choice([1, 3])):
            whole[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        return bytes(whole[: rng.choice([len(whole), rng.randrange(len(whole))])])
    for _ in range(rng.choice([1, 1, 2, 3])):
        if rng.random() < 0.65:
            _change_value(rng, header)
        elif tensors:
            _change_tensor(rng, tensors)
    text = json.dumps(header)
    if draw < 0.12:
        depth = rng.choice([10, 3000, 100_000])
        text = text.replace("1", "[" * depth + "]" * depth, 1)
    return written(header, tensors, text)


def places(node: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) in a JSON document."""
    found, stack = [], [node]
    while stack:
        inner = stack.pop()
        keys = list(inner) if isinstance(inner, dict) else range(len(inner)) if isinstance(inner, list) else ()
        for key in keys:
            found.append((inner, key))
            stack.append(inner[key])
    return found


def _change_value(rng: random.Random, header: Any) -> None:
    every = places(header["model"]) or [(header, "model")]
    container, key = rng.choice(every)
    draw = rng.random()
    if draw < 0.15:
        del container[key]
    elif draw < 0.3:
        source, other = rng.choice(every)
        container[key] = copy.deepcopy(source[other]) if other in source or isinstance(source, list) else None
    elif draw < 0.4 and isinstance(container, dict):
        container[rng.choice([*VALUES_OF_NAMES, str(key) + "_"])] = container.pop(key)
    else:
        container[key] = copy.deepcopy(rng.choice(JUNK))


VALUES_OF_NAMES = [
    "coef_", "intercept_", "classes_", "n_features_in_", "feature_names_in_", "encoding_", "calibration_", "index_base_", "model_",
    "columns_", "loss", "kind", "class", "items", "shape", "width", "order", "whole", "parameters", "attributes", "verbose", "n_jobs",
    "feature_names_",
]  # fmt: skip
JUNK = [
    None, True, False, 0, 1, -1, 2, 3, 7, 2**31, 2**63, 10**30, 0.0, 0.5, -1.5, 1e308, "", "a", "abc", "logistic", "hinge", "csr_array",
    "softmax", "sigmoid", "likelihood", "margin", "together", "w[0]", "w[", [], [0], [1, 2], [True, 3], [2**40, 2**20], [-1], {},
    {"kind": "float", "value": "nan"}, {"kind": "float", "value": "inf"}, {"kind": "list", "items": []},
    {"kind": "list", "items": [1, "a"]}, {"kind": "tuple", "items": [None]}, {"kind": "dict", "items": [["a", 1]]},
    {"kind": "part", "class": "Hinge", "items": []}, {"kind": "part", "class": "L2", "items": ["x"]},
    {"kind": "part", "class": "SmoothHinge", "items": [0]},
    {"kind": "part", "class": "SmoothHinge", "items": [{"kind": "float", "value": "nan"}]},
    {"kind": "part", "class": "Softmax", "items": []}, {"kind": "part", "class": "Quantile", "items": [7]},
    {"kind": "array", "order": "C"}, {"kind": "part", "class": "Box", "items": [None, None, None]}, {"kind": "scalar"},
    {"kind": "strings", "width": True}, {"kind": "strings", "width": 2**27}, {"kind": "array", "order": "F"},
    {"kind": "array", "order": "C", "shape": [2**26]},
]  # fmt: skip


def _change_tensor(rng: random.Random, tensors: dict[str, np.ndarray]) -> None:
    name = rng.choice(list(tensors))
    tensor = tensors[name]
    draw = rng.random()
    if draw < 0.1:
        del tensors[name]
    elif draw < 0.2:
        tensors[rng.choice([*tensors, "x", name + "_"])] = tensor
    elif draw < 0.45:
        with np.errstate(all="ignore"):
            tensors[name] = tensor.astype(rng.choice(["f8", "f4", "f2", "i8", "i4", "i1", "u8", "u4", "u1", "?"]))
    elif draw < 0.7:
        shapes = (
            [tensor[:-1], np.concatenate([tensor, tensor]), tensor[None], tensor.ravel(), tensor[:0]] if tensor.ndim else [tensor[None]]
        )
        shapes += [tensor.reshape(-1, 1), tensor.reshape((*tensor.shape, 1)), np.resize(tensor, (2, 3)), np.resize(tensor, 7)]
        tensors[name] = rng.choice(shapes)
    else:
        changed = tensor.copy().reshape(-1)
        if changed.size:
            special = [0, 1, 127, 100] + ([math.nan, math.inf, -1.0, 1e308] if changed.dtype.kind == "f" else [])
            with np.errstate(all="ignore"):
                changed[rng.randrange(changed.size)] = np.array(rng.choice(special)).astype(changed.dtype)
        tensors[name] = changed.reshape(tensor.shape)


def use(path: Path) -> None:
    """Load a model, and do with it what users do."""
    model = fl.load(path, memory=2**24)
    repr(model)
    model.get_params()
    name = type(model).__name__
    if name == "Tagger":
        token: Any = "the" if len(model.columns_) == 1 else ("the",) * len(model.columns_)
        model.predict([[token, token], []])
        if model.loss == "likelihood":
            model.predict_marginals([[token]])
    elif name == "RnaFolder":
        model.predict(["GGGAAACCC"])
    elif name in ("StructuredSVM", "ConditionalRandomField"):
        model.predict(_structured_inputs(model.model_))
    else:
        _predict_rows(model, path)
    fl.save(model, path.with_suffix(".again"))


def _structured_inputs(model: Any) -> Any:
    name = type(model).__name__
    if name == "RnaFold":
        return ["GGGAAACCC"]
    width = getattr(model, "features", 0)
    if name == "Chain" and model.attributes is not None:
        return [[["a"], ["b"]]]
    X = np.zeros((2, width if width <= WIDEST else 3))
    return X if name == "Multiclass" else [X]


def _predict_rows(model: Any, path: Path) -> None:
    width = int(model.n_features_in_)
    X = np.ones((3, width)) if width <= WIDEST else sp.csr_array((3, width))
    qid = {"qid": [1, 1, 2]} if type(model).__name__ == "Ranker" else {}
    predicted = model.predict(X, **qid)
    assert len(predicted) == 3
    for method in ("decision_function", "predict_proba", "predict_log_proba"):
        if hasattr(model, method):
            assert len(getattr(model, method)(X)) == 3
    if qid:
        model.score(X, [0, 1, 1], **qid)
        return
    if predicted.dtype.kind != "f" or np.isfinite(predicted).all():  # finite weights can overflow
        model.score(X, predicted)
    if width <= WIDEST:
        with contextlib.suppress(InputError):  # not every model fits into the format
            exports.export(model, path.with_suffix(".liblinear"), "liblinear")

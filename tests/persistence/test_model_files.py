"""Model files: a round trip restores models exactly, and damaged or forged files are refused."""

from __future__ import annotations

import hashlib
import json
import math
import pickle
import pickletools
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp
from safetensors import safe_open
from safetensors.numpy import save_file
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.svm import LinearSVC

import fenchel as fl
from fenchel.persistence import model_files as models, model_kinds
from fenchel.persistence.model_kinds import JSON_CLASSES, MODELS


class MinimalModel:
    """A minimal model."""

    def __init__(self, l2=1e-3, loss="logistic", random_state=None, class_weight=None):
        self.l2, self.loss, self.random_state, self.class_weight = l2, loss, random_state, class_weight

    def get_params(self, deep=True):
        return {name: getattr(self, name) for name in ("l2", "loss", "random_state", "class_weight")}


class Columns:
    """An object with ``to_json`` and ``from_json``."""

    def __init__(self, names):
        self.names = names

    def to_json(self):
        return {"names": self.names}

    @classmethod
    def from_json(cls, node):
        return cls(node["names"])

    def __eq__(self, other):
        return self.names == other.names

    __hash__ = None


CLASSES = [MinimalModel]


@pytest.fixture(autouse=True)
def register_classes(monkeypatch):
    for cls in CLASSES:
        monkeypatch.setitem(MODELS, cls.__name__, cls)
    monkeypatch.setitem(JSON_CLASSES, "Columns", Columns)


def fitted(cls=MinimalModel, parameters=None, **attributes):
    model = cls(**(parameters or {}))
    for name, value in attributes.items():
        setattr(model, name, value)
    return model


def example(**changes):
    history = fl.History()
    history.append(passes=1.0, accesses=10, seconds=0.1, objective=2.0, dual_objective=-math.inf, gap=math.inf, nnz=3)
    usual = {
        "coef_": np.array([[0.5, -1.0, 0.0], [0.1, 0.2, 0.3], [1.0, 2.0, 3.0]]),
        "intercept_": np.array([0.1, -0.0, 2.0]),
        "classes_": np.array(["no", "yes", "käse"], dtype=object),
        "feature_names_in_": np.array(["a", "", "β😀"], dtype=object),
        "n_features_in_": 3,
        "n_iter_": np.int64(7),
        "gap_": 1e-17,
        "converged_": True,
        "solver_": "sdca",
        "dual_objective_": -math.inf,
        "history_": [history, fl.History()],
        "calibration_": None,
    }
    return fitted(**{**usual, **changes})


def same(a, b):
    """Whether both have the same type and are equal bit by bit."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        order = (a.flags.c_contiguous, a.flags.f_contiguous)
        alike = a.dtype == b.dtype and a.shape == b.shape and order == (b.flags.c_contiguous, b.flags.f_contiguous)
        return alike and (a.tolist() == b.tolist() if a.dtype.kind in "OU" else a.tobytes() == b.tobytes())
    if sp.issparse(a):
        return a.shape == b.shape and all(same(getattr(a, part), getattr(b, part)) for part in ("data", "indices", "indptr"))
    if isinstance(a, np.generic):
        return a.dtype == b.dtype and a.tobytes() == b.tobytes()
    if isinstance(a, fl.History):
        return same(a.rows, b.rows)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return same(list(a.items()), list(b.items()))
    if hasattr(a, "get_params"):
        return same(a.get_params(), b.get_params()) and same(vars(a), vars(b))
    return a == b or (a != a and b != b)


def round_trip(model, path, **options):
    fl.save(model, path)
    return fl.load(path, **options)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "model.fenchel"


def test_a_round_trip_restores_the_model(file):
    model = example()
    assert same(round_trip(model, file), model)
    assert [found.name for found in file.parent.iterdir()] == [file.name]
    other = file.with_name("other")
    other.touch()
    assert file.stat().st_mode == other.stat().st_mode


dtypes = st.sampled_from([np.float64, np.float32, np.float16, np.int64, np.int32, np.int8, np.uint64, np.uint8, np.bool_])
arrays = dtypes.flatmap(lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=8), fill=st.just(0)))
texts = st.lists(st.text(alphabet=st.characters(exclude_categories=()), max_size=6), max_size=8)
strings = texts.map(lambda items: np.array(items, dtype=object)) | texts.map(lambda items: np.array(items, dtype=np.str_))
plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(alphabet=st.characters(exclude_categories=()))
numbers = st.floats().map(np.float64) | st.floats(width=32).map(np.float32) | st.integers(-5, 5).map(np.int64) | st.booleans().map(np.bool_)
forms = st.sampled_from([sp.csr_matrix, sp.csc_matrix, sp.csr_array, sp.csc_array])
sparse = st.tuples(forms, hnp.arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(1, 5)))).map(lambda pair: pair[0](pair[1]))
losses = st.floats(0.1, 10.0).map(fl.SmoothHinge) | st.builds(fl.L1L2, st.floats(0.1, 1.0), st.floats(0.1, 1.0))
leaves = arrays | arrays.map(np.asfortranarray) | strings | plain | numbers | sparse | losses
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple), max_leaves=6)
dictionaries = st.dictionaries(st.text(max_size=3) | st.integers() | numbers, values, max_size=3)


@settings(max_examples=150, deadline=None)
@given(values | dictionaries, values)
def test_a_round_trip_restores_every_kind_of_value_exactly(tmp_path_factory, value, parameter):
    model = fitted(parameters={"class_weight": parameter}, anything_=value)
    assert same(round_trip(model, tmp_path_factory.mktemp("model") / "m"), model)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.4, 1.0])
def test_zeros_are_not_stored_if_there_are_many(file, dtype, share):
    rng = np.random.default_rng(0)
    coef = np.where(rng.random((3, 10_000)) < share, rng.standard_normal((3, 10_000)), 0.0).astype(dtype)
    coef[0, 5] = -0.0
    model = example(coef_=coef, n_features_in_=10_000, feature_names_in_=None)
    assert same(round_trip(model, file), model)
    fewest = min(coef.nbytes, (np.count_nonzero(coef) + 1) * (4 + coef.itemsize))
    assert fewest <= file.stat().st_size < (fewest if share != 0.4 else coef.nbytes) + 4000


@pytest.mark.parametrize("kind", [LogisticRegression, Lasso, LinearSVC])
def test_estimators_of_scikit_learn_can_be_registered_as_models(file, monkeypatch, kind):
    monkeypatch.setitem(MODELS, kind.__name__, kind)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 4))
    labels = np.array(["no", "yes", "perhaps"])[rng.integers(3, size=50)]
    model = kind().fit(X, X[:, 0] if kind is Lasso else labels)
    loaded = round_trip(model, file)
    assert loaded.predict(X).tolist() == model.predict(X).tolist()
    assert same(loaded.get_params(), model.get_params())
    if hasattr(model, "sparsify"):
        model.sparsify()
        assert same(round_trip(model, file).coef_, model.coef_)


def test_sparse_weights_stay_sparse(file):
    model = example(coef_=sp.csr_matrix(np.eye(3)))
    assert same(round_trip(model, file), model)


def test_objects_with_json_methods_are_restored(file):
    model = example(encoding_=Columns(["a", "b"]), n_features_in_=2, feature_names_in_=None)
    assert round_trip(model, file).encoding_ == Columns(["a", "b"])


def test_models_within_models_are_restored(file):
    model = fitted(parameters={"loss": example()}, estimators_=[example(), example(coef_=np.ones((3, 3)))])
    assert same(round_trip(model, file), model)


def test_many_feature_names_take_little_space(file):
    names = np.array([f"word{k}" for k in range(100_000)], dtype=object)
    model = fitted(coef_=np.zeros(100_000), n_features_in_=100_000, feature_names_in_=names)
    assert same(round_trip(model, file), model)
    assert file.stat().st_size < 100_000 * 16


class Mine:
    def __init__(self):
        self.coef_ = np.zeros(3)


def test_models_that_a_file_cannot_hold_are_refused_by_save(file):
    class OwnLoss(fl.Logistic):
        pass

    refused = [
        (example(generator_=np.random.default_rng(0)), "generator_ is a Generator, which a model file cannot hold"),
        (fitted(parameters={"loss": OwnLoss()}, coef_=np.zeros(2)), "parameters.loss is a OwnLoss, which is not part of fenchel"),
        (fitted(parameters={"random_state": np.random.RandomState(0)}, coef_=np.zeros(2)), "parameters.random_state is a RandomState"),
        (example(classes_=np.array(["a", 1, None], dtype=object)), "classes_ is an array of objects"),
        (example(extra_=np.zeros(2, dtype=complex)), "extra_ is an array of complex128"),
        (example(extra_=np.zeros(2, dtype=">f8")), "extra_ is an array of >f8"),
        (example(extra_=np.ma.masked_array([1.0], [True])), "extra_ is a MaskedArray"),
        (example(coef_=np.full((3, 3), np.nan)), "coef_ holds weights that are not finite"),
        (example(intercept_=np.array([1.0, np.inf, 0.0])), "intercept_ holds weights that are not finite"),
        (example(n_features_in_=4, feature_names_in_=None), r"n_features_in_ = 4 is inconsistent with coef_ of shape \(3, 3\)"),
        (example(classes_=np.array([1, 2])), r"classes_ of shape \(2,\) is inconsistent with coef_ of shape \(3, 3\)"),
        (example(intercept_=np.zeros(2)), "intercept_"),
        (example(feature_names_in_=np.array(["a"], dtype=object)), "feature_names_in_"),
        (example(_binarizer=1), "_binarizer would be lost: the names of fitted attributes of MinimalModel must end in an underscore"),
        (MinimalModel(), "MinimalModel is not fitted: call fit first"),
        (Mine(), "Mine is not a model that fenchel can save"),
    ]
    file.write_bytes(b"old")
    for model, message in refused:
        with pytest.raises(fl.ModelFileError, match=message):
            fl.save(model, file)
    assert file.read_bytes() == b"old"
    assert [found.name for found in file.parent.iterdir()] == [file.name]


def small():
    return fitted(coef_=np.array([0.5, 0, 0, 0, 0, 0, -2]), intercept_=0.25, classes_=np.array(["a", "b"]), n_features_in_=7)


def test_every_flipped_byte_is_detected(file):
    model = small()
    fl.save(model, file)
    whole = file.read_bytes()
    undetected = 0
    for k in range(len(whole)):
        for mask in (0x01, 0x20, 0xFF):
            file.write_bytes(whole[:k] + bytes([whole[k] ^ mask]) + whole[k + 1 :])
            refusal = None
            try:
                assert same(fl.load(file), model)
                undetected += 1
            except fl.ModelFileError as error:
                refusal = str(error)
            assert refusal is None or (refusal.startswith(f"{file}: ") and "\n" not in refusal)
    assert undetected <= 8  # padding blanks at the end of the header


def test_every_truncation_is_detected(file):
    fl.save(small(), file)
    whole = file.read_bytes()
    for k in range(len(whole)):
        file.write_bytes(whole[:k])
        with pytest.raises(fl.ModelFileError, match="damaged, incomplete or not a model file"):
            fl.load(file)
    file.write_bytes(whole + b"\0")
    with pytest.raises(fl.ModelFileError):
        fl.load(file)


def forge(file, change=None, tensors=None, text=None):
    """Change the contents of a file, with a correct checksum."""
    with safe_open(file, framework="numpy") as opened:
        header = json.loads(opened.metadata()["header"])
        kept = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    if change:
        change(header)
    kept.update(tensors or {})
    text = json.dumps(header) if text is None else text
    save_file(kept, file, metadata={"format": models.FORMAT, "header": text, "sha256": models.model_digest(text, kept)})


def attribute(name, **changes):
    return lambda header: header["model"]["attributes"].update({name: changes})


FORGERIES = [
    (lambda header: header.update(version=2), "in version 2 of the format, and this one reads up to 1: upgrade fenchel"),
    (lambda header: header.update(version="1"), "its header has no version"),
    (lambda header: header["model"].update({"class": "os.system"}), "'os.system', which this version of fenchel does not have"),
    (lambda header: header["model"].update({"class": ["MinimalModel"]}), "the model has no class"),
    (lambda header: header["model"]["parameters"].update(verbose=True), "verbose is not a parameter or attribute of MinimalModel"),
    (lambda header: header["model"]["attributes"].update({"__class__": 1}), "__class__ is not a parameter or attribute of MinimalModel"),
    (lambda header: header["model"]["attributes"].update({"get_params": 1}), "get_params is not a parameter or attribute of MinimalModel"),
    (lambda header: header["model"]["attributes"].update({"n_features_in_": 8}), "n_features_in_ .* is inconsistent with coef_"),
    (lambda header: header["model"].pop("attributes"), "the model has no attributes"),
    (lambda header: header["model"]["attributes"].pop("coef_"), "tensor 'coef_.indices' is not used by the model"),
    (attribute("coef_", kind="array", shape=[2**40, 2**20]), "coef_ would take .* bytes, and 1,073,741,824 are left"),
    (attribute("coef_", kind="array", shape=[2**40, 2**40]), "coef_ has the invalid shape"),
    (attribute("coef_", kind="array", shape=[-5]), "coef_ has the invalid shape"),
    (attribute("coef_", kind="array", shape=[4]), "coef_: its indices are invalid for its shape"),
    (attribute("coef_", kind="array"), "coef_ is missing"),
    (attribute("coef_", kind="list", items=[{"kind": "list", "items": [1]}, 2]), "coef_ holds weights that are not finite numbers"),
    (attribute("coef_", kind="pickle"), "coef_ is of kind 'pickle', which this version of fenchel does not have"),
    (attribute("coef_", kind=["array"]), "coef_ has no kind"),
    (attribute("classes_", kind="strings", width=-1), "not a valid width of strings"),
    (attribute("classes_", kind="strings", width=0), "longer than the width"),
    (attribute("other_", kind="part", **{"class": "Popen", "items": ["ls"]}), "'Popen', which this version of fenchel does not have"),
    (attribute("other_", kind="part", **{"class": "SquaredLp", "items": [1.0, "two"]}), "other_ is not a valid SquaredLp"),
    (attribute("other_", kind="json", **{"class": "Popen"}), "'Popen', which this version of fenchel does not have"),
    (attribute("other_", kind="json", **{"class": "Encoding"}), "other_ is (a 'Encoding', which|missing|not a valid Encoding)"),
    (attribute("other_", kind="dict", items=[[{"kind": "list", "items": []}, 1]]), "key that is neither a string nor a number"),
    (attribute("other_", kind="float", value="__import__('os')"), "which is not a number"),
]


@pytest.mark.parametrize(("change", "message"), FORGERIES)
def test_forged_headers_with_a_correct_checksum_are_refused(file, change, message):
    fl.save(small(), file)
    forge(file, change)
    with pytest.raises(fl.ModelFileError, match=message):
        fl.load(file)


def test_forged_tensors_with_a_correct_checksum_are_refused(file):
    forged = {
        "coef_.indices": (np.array([0, 2**31], dtype=np.uint32), "indices are invalid"),
        "coef_.values": (np.array([np.nan, 1.0]), "coef_ holds weights that are not finite"),
        "classes_.lengths": (np.array([2**31, 2**31], dtype=np.uint32), "do not add up"),
        "classes_.text": (np.array([0xFF, 0xFE], dtype=np.uint8), "classes_ is not valid text"),
        "more": (np.zeros(3), "tensor 'more' is not used by the model"),
    }
    for name, (tensor, message) in forged.items():
        fl.save(small(), file)
        forge(file, tensors={name: tensor})
        with pytest.raises(fl.ModelFileError, match=message):
            fl.load(file)


def test_sparse_matrices_with_invalid_indices_are_refused(file):
    for part, bad in (("indices", [0, 1, 3]), ("indices", [0, -1, 2]), ("indptr", [0, 2, 1, 3]), ("indptr", [0, 1, 2, 4])):
        fl.save(example(coef_=sp.csr_matrix(np.eye(3))), file)
        forge(file, tensors={f"coef_.{part}": np.array(bad, dtype=np.int32)})
        with pytest.raises(fl.ModelFileError, match="coef_ is not a valid sparse matrix"):
            fl.load(file)


def test_deep_nesting_is_refused(file):
    fl.save(small(), file)
    deep = "[" * 100_000 + "]" * 100_000
    forge(file, text=f'{{"version": 1, "model": {deep}}}')
    with pytest.raises(fl.ModelFileError, match=r"nested too deeply|not JSON"):
        fl.load(file)
    inner = '{"kind": "list", "items": [' * 400 + "]}" * 400
    forged = f'{{"version": 1, "model": {{"class": "MinimalModel", "parameters": {{}}, "attributes": {{"a_": {inner}}}}}}}'
    fl.save(small(), file)
    forge(file, text=forged)
    with pytest.raises(fl.ModelFileError):
        fl.load(file)


def raw(file, header, data=b""):
    text = json.dumps(header).encode()
    file.write_bytes(len(text).to_bytes(8, "little") + text + data)


def test_sizes_are_checked_before_memory_is_allocated(file):
    """The header claims 2⁶⁰ numbers in a file of a few bytes."""
    for shape, end in (([2**57], 2**60), ([2**60], 8), ([2**40, 2**40], 8), ([-1], 8)):
        raw(
            file,
            {"__metadata__": {"format": models.FORMAT}, "coef_": {"dtype": "F64", "shape": shape, "data_offsets": [0, end]}},
            b"\0" * 8,
        )
        with pytest.raises(fl.ModelFileError, match="damaged"):
            fl.load(file)
    file.write_bytes((2**62).to_bytes(8, "little") + b"{}")
    with pytest.raises(fl.ModelFileError, match="damaged"):
        fl.load(file)


def test_the_memory_limit_is_enforced_and_can_be_raised(file):
    model = fitted(coef_=np.zeros(10_000), n_features_in_=10_000)
    fl.save(model, file)
    with pytest.raises(fl.ModelFileError, match=r"coef_ would take 80,000 bytes, and 50,000 are left of the limit: give load\("):
        fl.load(file, memory=50_000)
    assert same(fl.load(file, memory=80_000), model)
    fl.save(small(), file)
    forge(file, attribute("classes_", kind="strings", width=2**20))
    with pytest.raises(fl.ModelFileError, match="classes_ would take"):
        fl.load(file, memory=2**20)


def test_other_files_are_refused(file):
    save_file({"x": np.zeros(2)}, file)
    with pytest.raises(fl.ModelFileError, match="not a fenchel model"):
        fl.load(file)
    for data in (b"", b"hello", pickle.dumps(example()), b"\x80\x04" * 100, b"\0" * 1000):
        file.write_bytes(data)
        with pytest.raises(fl.ModelFileError, match="not a model file"):
            fl.load(file)
    with pytest.raises(FileNotFoundError, match="There is no file"):
        fl.load(file.parent / "nowhere")
    with pytest.raises(FileNotFoundError, match="There is no file"):
        fl.load(file.parent)
    with pytest.raises(FileNotFoundError, match="there is no directory"):
        fl.save(small(), file.parent / "nowhere" / "model")


def test_tensors_of_other_types_are_refused(file):
    metadata = {"format": models.FORMAT, "header": json.dumps({"version": 1, "model": {}}), "sha256": ""}
    raw(file, {"__metadata__": metadata, "x": {"dtype": "BF16", "shape": [1], "data_offsets": [0, 2]}}, b"\0\0")
    with pytest.raises(fl.ModelFileError, match="tensor 'x' has type BF16"):
        fl.load(file)


class Fires:
    def __reduce__(self):
        return pytest.fail, ("unpickled",)


def test_nothing_is_unpickled(file, monkeypatch):
    for module, name in ((pickle, "load"), (pickle, "loads"), (pickle, "Unpickler")):
        monkeypatch.setattr(module, name, lambda *args, **options: pytest.fail("unpickled"))
    assert same(round_trip(small(), file), small())
    file.write_bytes(pickle.dumps(Fires()))
    with pytest.raises(fl.ModelFileError):
        fl.load(file)
    fl.save(example(), file)
    with pytest.raises(ValueError, match="opcode"):
        list(pickletools.genops(file.read_bytes()))


def test_the_checksum_is_computed_as_documented(file):
    fl.save(small(), file)
    with safe_open(file, framework="numpy") as opened:
        metadata = opened.metadata()
        total = hashlib.sha256(len(metadata["header"]).to_bytes(8, "little") + metadata["header"].encode())
        for name in sorted(opened.keys()):
            tensor = opened.get_tensor(name)
            for text in (name, f"{tensor.dtype.str} {tensor.shape}"):
                total.update(len(text).to_bytes(8, "little") + text.encode())
            total.update(tensor.tobytes())
    assert metadata["sha256"] == total.hexdigest()


def test_a_failed_write_leaves_the_old_file(file, monkeypatch):
    fl.save(small(), file)
    before = file.read_bytes()

    def broken(path, content):
        path.write_text("half")
        raise OSError("disk full")

    monkeypatch.setattr(Path, "write_bytes", broken)
    with pytest.raises(OSError, match="disk full"):
        fl.save(example(), file)
    assert file.read_bytes() == before
    assert [found.name for found in file.parent.iterdir()] == [file.name]


def test_every_estimator_can_be_saved():
    known = model_kinds.models()
    for name in fl.estimators.__all__:
        assert known[name] is getattr(fl.estimators, name)
    for cls in CLASSES:
        assert known[cls.__name__] is cls


def places(node, path=()):
    """The paths of all nodes of a JSON document."""
    yield path
    inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in inner:
        yield from places(value, (*path, key))


words = st.sampled_from(
    ["kind", "class", "items", "shape", "array", "model", "list", "part", "L2", "MinimalModel", "coef_", "scalar", "sparse"]
)
junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | words | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words | st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_any_header_is_read_or_refused(tmp_path_factory, data):
    file = tmp_path_factory.mktemp("forged") / "model"
    inner = fitted(parameters={"loss": fl.SmoothHinge(0.5), "class_weight": {1: 2.0, "a": math.inf}}, coef_=sp.csr_matrix(np.eye(2)))
    fl.save(example(inner_=inner, encoding_=Columns(["a"]), n_features_in_=1, feature_names_in_=None), file)

    def change(node):
        for _ in range(data.draw(st.integers(1, 2))):
            *path, last = data.draw(st.sampled_from([place for place in places(node) if place]))
            for key in path:
                node = node[key]
            node[last] = data.draw(junk)

    forge(file, change)
    try:
        fl.load(file, memory=2**20)
    except fl.ModelFileError as error:
        assert str(error).startswith(f"{file}: ")  # noqa: PT017 (loading may also succeed)


@pytest.mark.parametrize("penalty", [fl.Box(0.0, 1.0), fl.Box(0.0, np.inf, fl.L2(0.1))])
def test_a_round_trip_restores_a_model_with_bounds(tmp_path, penalty):
    X = np.random.default_rng(0).standard_normal((40, 3))
    model = fl.LinearClassifier(penalty=penalty).fit(X, X[:, 0] > 0)
    fl.save(model, tmp_path / "box.fenchel")
    again = fl.load(tmp_path / "box.fenchel")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.fit(X, X[:, 0] > 0).coef_, model.coef_)


def test_a_full_disk_is_reported_with_the_name_of_the_file(tmp_path):
    """A limit on the size of files stands for the full disk."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(OSError, match=r"File too large.*big\.fenchel"):
            fl.save(fitted(coef_=np.arange(1.0, 1000.0)), tmp_path / "big.fenchel")
        with pytest.raises(OSError, match=r"File too large.*big.svm"):
            fl.datasets.write(tmp_path / "big.svm", fl.datasets.Data(np.ones((500, 2)), np.ones(500)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("width", [True, 1.0, -1, "3"])
def test_forged_widths_of_strings_are_refused(file, width):
    fl.save(small(), file)
    forge(file, attribute("classes_", kind="strings", width=width))
    with pytest.raises(fl.ModelFileError, match="not a valid width of strings"):
        fl.load(file)


def test_the_memory_limit_can_be_an_environment_variable(file, monkeypatch):
    fl.save(fitted(coef_=np.zeros(10_000), n_features_in_=10_000), file)
    monkeypatch.setenv("FENCHEL_MAX_BYTES", "10k")
    with pytest.raises(fl.ModelFileError, match=r"coef_ would take 80,000 bytes.*FENCHEL_MAX_BYTES"):
        fl.load(file)
    assert len(fl.load(file, memory=80_000).coef_) == 10_000

"""Convert a model to JSON and tensors: every value has a kind, and arrays become tensors named by their place in the model"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from fenchel.core.messages import near
from fenchel.persistence.model_kinds import ATTRIBUTE, DTYPES, JSON_CLASSES, SPARSE, ModelFileError, check_model, models, parts
from fenchel.problems.result import History

BITS = {"<f8": np.uint64, "<f4": np.uint32, "<f2": np.uint16}
SETTINGS = ("_sklearn_", "_skl_", "_metadata_request")  # scikit-learn's attributes that are not part of the fitted state
DENSE_SHARE = 1 / 3  # share of non-zero entries from which zeros are stored too


class Writer:
    """Convert values to JSON, and collect their arrays in ``tensors``."""

    def __init__(self) -> None:
        self.tensors: dict[str, np.ndarray] = {}

    def model(self, model: Any, where: str = "") -> dict[str, Any]:
        """A fitted model: class, parameters, attributes."""
        name, known = type(model).__name__, models()
        if known.get(name) is not type(model):
            other = f"; it is {type(model).__module__}.{name}, use fenchel.estimators.{name}" if name in known else ""
            raise ModelFileError(f"{name} is not a model that fenchel can save{other}. {near(name, known)} Save pipelines with joblib.")
        fitted = {key: value for key, value in vars(model).items() if ATTRIBUTE.fullmatch(key)}
        if not fitted:
            raise ModelFileError(f"{name} is not fitted: call fit first, then save it.")
        check_model(model, where)
        parameters = model.get_params(deep=False)
        unfitted = vars(type(model)(**parameters))
        expected = {*fitted, *unfitted, *getattr(type(model), "transient", ())}
        lost = [key for key in vars(model) if key not in expected and not key.startswith(SETTINGS)]
        if lost:
            raise ModelFileError(f"{where}{lost[0]} would be lost: the names of fitted attributes of {name} must end in an underscore.")
        return {
            "kind": "model",
            "class": name,
            "parameters": {key: self.value(value, f"{where}parameters.{key}") for key, value in parameters.items()},
            "attributes": {key: self.value(value, f"{where}{key}") for key, value in fitted.items()},
        }

    def value(self, value: Any, where: str) -> Any:
        """A value of any permitted type."""
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, (int, float)) and not isinstance(value, np.generic):
            return self.number(value, where)
        for kinds, write in self.kinds():
            if isinstance(value, kinds):
                return write(value, where)
        if JSON_CLASSES.get(type(value).__name__) is type(value):
            text = json.dumps(value.to_json()).encode()
            self.keep(where, np.frombuffer(text, dtype=np.uint8))
            return {"kind": "json", "class": type(value).__name__}
        if models().get(type(value).__name__) is type(value):
            return self.model(value, f"{where}.")
        raise ModelFileError(
            f"{where} is a {type(value).__name__}, which a model file cannot hold: use a name, numbers, strings or arrays."
        )

    def kinds(self) -> list[tuple[Any, Callable[[Any, str], Any]]]:
        """The methods for each type; the first that matches is used."""
        return [
            (np.generic, self.scalar),
            (np.ndarray, self.array),
            (tuple(SPARSE.values()), self.sparse),
            (History, self.history),
            (tuple, self.sequence),
            (list, self.sequence),
            (dict, self.dictionary),
        ]

    def keep(self, where: str, tensor: np.ndarray) -> None:
        """Store a tensor under this name."""
        if tensor.dtype.str not in DTYPES.values():
            raise ModelFileError(f"{where} is an array of {tensor.dtype}, which a model file cannot hold: convert it to float64.")
        if where in self.tensors:
            raise ModelFileError(f"{where} occurs twice in the model: rename one of them.")
        self.tensors[where] = tensor if tensor.flags.c_contiguous else tensor.copy()

    def number(self, value: int | float, where: str) -> Any:
        """A Python number, exactly."""
        if isinstance(value, int) or math.isfinite(value):
            return value
        return {"kind": "float", "value": str(float(value))}

    def scalar(self, value: np.generic, where: str) -> Any:
        """A NumPy scalar."""
        if isinstance(value, np.str_):
            return str(value)
        self.keep(where, np.asarray(value))
        return {"kind": "scalar"}

    def array(self, value: np.ndarray, where: str) -> Any:
        """An array, in its memory order; zeros are not stored if there are many (−0 does not count as zero)."""
        if type(value) is not np.ndarray:
            raise ModelFileError(f"{where} is a {type(value).__name__}, which a model file cannot hold: convert it to a numpy.ndarray.")
        if value.dtype.kind in "OUT":
            return self.strings(value, where)
        fortran = value.flags.f_contiguous and not value.flags.c_contiguous
        stored = value.T if fortran else value
        node = {"kind": "array", "order": "F" if fortran else "C"}
        if value.dtype.str in BITS:
            flat = stored.ravel()
            bits = flat.view(BITS[value.dtype.str])
            if np.count_nonzero(bits) < DENSE_SHARE * bits.size:
                places = np.flatnonzero(bits)
                self.keep(f"{where}.indices", places.astype(np.uint32 if bits.size <= 2**32 else np.int64))
                self.keep(f"{where}.values", flat[places])
                return {**node, "shape": list(stored.shape)}
        self.keep(where, stored)
        return node

    def strings(self, value: np.ndarray, where: str) -> Any:
        """An array of strings, as one text and the length of each."""
        if value.ndim != 1 or not all(isinstance(item, str) for item in value):
            raise ModelFileError(
                f"{where} is an array of objects, which a model file cannot hold: use numbers, or a one-dimensional array of strings."
            )
        texts = [str(item).encode("utf-8", "surrogatepass") for item in value]
        self.keep(f"{where}.text", np.frombuffer(b"".join(texts), dtype=np.uint8))
        self.keep(f"{where}.lengths", np.fromiter(map(len, texts), dtype=np.uint32, count=len(texts)))
        return {"kind": "strings", "width": value.dtype.itemsize // 4 if value.dtype.kind == "U" else None}

    def sparse(self, value: Any, where: str) -> Any:
        """A sparse matrix, as its three arrays."""
        for part in ("data", "indices", "indptr"):
            self.keep(f"{where}.{part}", getattr(value, part))
        return {"kind": "sparse", "class": type(value).__name__, "shape": [int(size) for size in value.shape]}

    def history(self, value: History, where: str) -> Any:
        """The history of a run, with a row per evaluation and the names of the columns of whole numbers."""
        self.keep(where, np.array(value.rows, dtype=np.float64).reshape(len(value), len(History.COLUMNS)))
        return {"kind": "history", "whole": [name for name in History.COLUMNS if value[name].dtype.kind == "i"]}

    def sequence(self, value: list[Any] | tuple[Any, ...], where: str) -> Any:
        """A list, a tuple, or a loss or regularizer of fenchel."""
        items = [self.value(item, f"{where}[{k}]") for k, item in enumerate(value)]
        if type(value) in (list, tuple):
            return {"kind": type(value).__name__, "items": items}
        name = type(value).__name__
        if parts().get(name) is not type(value):
            raise ModelFileError(
                f"{where} is a {name}, which is not part of fenchel: a model file can hold only losses and regularizers of fenchel."
            )
        return {"kind": "part", "class": name, "items": items}

    def dictionary(self, value: dict[Any, Any], where: str) -> Any:
        """A dictionary, whose keys need not be strings."""
        pairs = enumerate(value.items())
        return {"kind": "dict", "items": [[self.value(k, f"{where}[{n}].key"), self.value(v, f"{where}[{n}]")] for n, (k, v) in pairs]}

"""Restore a model from the JSON and tensors of an untrusted file

Names of classes are looked up in fenchel's own lists, sizes are checked before memory is allocated, and every inconsistency is an error
that names its place in the model.
"""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from fenchel.core.messages import near
from fenchel.persistence.model_kinds import ATTRIBUTE, EARLIER_PARTS, JSON_CLASSES, SPARSE, ModelFileError, check_model, models, parts
from fenchel.persistence.model_types import attribute_types, described, has_type
from fenchel.problems.result import History

if TYPE_CHECKING:
    from fenchel.estimators import Estimator

MODEL_FIELDS: dict[str, type] = {"class": str, "parameters": dict, "attributes": dict}
SPARSE_PARTS = {"data": "fiub", "indices": "i", "indptr": "i"}


def damaged(what: str) -> ModelFileError:
    """The error for contents that fenchel does not write."""
    return ModelFileError(f"{what}: the file is damaged or was not written by fenchel.")


def field(node: Any, name: str, kind: type, where: str) -> Any:
    """The value with this name in the JSON object; an error if it is missing or has another type."""
    if not isinstance(node, dict) or not isinstance(node.get(name), kind):
        raise damaged(f"{where} has no {name}")
    return node[name]


def checked_shape(shape: Any, where: str) -> tuple[int, ...]:
    """The shape as a tuple; an error if it is not a valid one."""
    fine = isinstance(shape, list) and len(shape) <= 32 and all(type(n) is int and 0 <= n < 2**62 for n in shape)
    if not fine or math.prod(shape) >= 2**62:
        raise damaged(f"{where} has the invalid shape {str(shape)[:80]}")
    return tuple(shape)


class Reader:
    """Convert JSON and tensors to values; ``memory`` is the number of bytes that may be allocated beyond those in the file."""

    def __init__(self, tensors: dict[str, np.ndarray], memory: int) -> None:
        self.tensors, self.memory, self.used = tensors, memory, set[str]()

    def whole_model(self, node: Any) -> Estimator:
        """The model in the file; an error if it does not use all tensors."""
        model = self.model(node, "")
        unused = sorted(set(self.tensors) - self.used)
        if unused:
            raise damaged(f"tensor {unused[0]!r} is not used by the model")
        return model

    def model(self, node: Any, where: str) -> Any:
        """A model of a permitted class, with consistent attributes."""
        place = where or "the model"
        name, parameters, attributes = (field(node, key, kind, place) for key, kind in MODEL_FIELDS.items())
        known = models()
        if name not in known:
            raise ModelFileError(f"{place} is a {name!r}, which this version of fenchel does not have: {near(name, known)}")
        unknown = sorted(set(parameters) - set(inspect.signature(known[name]).parameters))
        unknown += sorted(key for key in attributes if not ATTRIBUTE.fullmatch(key) or hasattr(known[name], key))
        if unknown:
            raise damaged(f"{where}{unknown[0]} is not a parameter or attribute of {name}")
        model = self.built(known[name], {key: self.value(value, f"{where}parameters.{key}") for key, value in parameters.items()}, place)
        for key, value in attributes.items():
            setattr(model, key, self.value(value, f"{where}{key}"))
        check_model(model, where)
        return model

    def value(self, node: Any, where: str) -> Any:
        """The value that the JSON describes."""
        if not isinstance(node, (dict, list)):
            return node
        kind = field(node, "kind", str, where)
        if kind not in READERS:
            raise ModelFileError(f"{where} is of kind {kind!r}, which this version of fenchel does not have: {near(kind, READERS)}")
        return READERS[kind](self, node, where)

    def tensor(self, where: str, kinds: str = "", ndim: int | None = None) -> np.ndarray:
        """The tensor with this name; an error if it is missing or has an unexpected type."""
        if where not in self.tensors:
            raise damaged(f"{where} is missing")
        self.used.add(where)
        tensor = self.tensors[where]
        if (kinds and tensor.dtype.kind not in kinds) or (ndim is not None and tensor.ndim != ndim):
            raise damaged(f"{where} has type {tensor.dtype} and shape {tensor.shape}, which are wrong for its kind")
        return tensor

    def take(self, size: int, where: str) -> None:
        """Count memory beyond the size of the file, before it is allocated."""
        if size > self.memory:
            raise ModelFileError(
                f"{where} would take {size:,} bytes, and {self.memory:,} are left of the limit: "
                "give load(..., memory=) or the environment variable FENCHEL_MAX_BYTES a larger limit if you trust the file."
            )
        self.memory -= size

    def number(self, node: Any, where: str) -> float:
        """A number that JSON cannot express: nan or an infinity."""
        value = field(node, "value", str, where)
        if value not in ("nan", "inf", "-inf"):
            raise damaged(f"{where} is {value!r}, which is not a number")
        return float(value)

    def array(self, node: Any, where: str) -> np.ndarray:
        """An array, with zeros restored if they were not stored."""
        stored = self.tensor(where) if "shape" not in node else self.unpacked(node, where)
        return stored.T if node.get("order") == "F" else stored

    def unpacked(self, node: Any, where: str) -> np.ndarray:
        """An array from its non-zero values and their indices."""
        indices, values = self.tensor(f"{where}.indices", "iu", 1), self.tensor(f"{where}.values", "f", 1)
        shape = checked_shape(node["shape"], where)
        size = math.prod(shape)
        self.take(size * values.itemsize, where)
        increasing = bool((indices[1:] > indices[:-1]).all())
        if len(indices) != len(values) or not increasing or (len(indices) and not 0 <= int(indices[0]) <= int(indices[-1]) < size):
            raise damaged(f"{where}: its indices are invalid for its shape {shape}")
        flat = np.zeros(size, dtype=values.dtype)
        flat[indices] = values
        return flat.reshape(shape)

    def strings(self, node: Any, where: str) -> np.ndarray:
        """An array of strings."""
        text, lengths = self.tensor(f"{where}.text", "u", 1), self.tensor(f"{where}.lengths", "u", 1)
        width = node.get("width")
        if width is not None and not (type(width) is int and 0 <= width < 2**28):
            raise damaged(f"{where}: {width!r} is not a valid width of strings")
        self.take((100 + 4 * (width or 0)) * len(lengths) + 4 * text.nbytes, where)
        ends = np.cumsum(lengths, dtype=np.int64)
        if text.itemsize != 1 or lengths.itemsize > 4 or (ends[-1] if len(ends) else 0) != len(text):
            raise damaged(f"{where}: the lengths of its strings do not add up")
        data, stops = text.tobytes(), ends.tolist()
        try:
            items = [data[a:b].decode("utf-8", "surrogatepass") for a, b in zip([0, *stops], stops, strict=False)]
        except UnicodeDecodeError as error:
            raise damaged(f"{where} is not valid text ({error})") from None
        if width is not None and max(map(len, items), default=0) > width:
            raise damaged(f"{where}: a string is longer than the width {width}")
        found = np.empty(len(items), dtype=object if width is None else f"<U{width}")
        found[:] = items
        return found

    def sparse(self, node: Any, where: str) -> Any:
        """A sparse matrix whose indices are all within its shape."""
        name, shape = field(node, "class", str, where), checked_shape(node.get("shape"), where)
        data, indices, indptr = (self.tensor(f"{where}.{part}", kinds, 1) for part, kinds in SPARSE_PARTS.items())
        if name not in SPARSE or len(shape) != 2:
            raise damaged(f"{where} is not a sparse matrix of a known class")
        if indices.dtype not in (np.int32, np.int64) or indptr.dtype not in (np.int32, np.int64) or data.dtype == np.float16:
            raise damaged(f"{where} has types that SciPy does not support")
        try:
            matrix = SPARSE[name]((data, indices, indptr), shape=shape, copy=False)
            matrix.check_format(full_check=True)
        except (ValueError, OverflowError) as error:
            raise damaged(f"{where} is not a valid sparse matrix of shape {shape} ({error})") from None
        matrix.indices, matrix.indptr = indices, indptr  # SciPy may have changed their types
        return matrix

    def history(self, node: Any, where: str) -> History:
        """The history of a run."""
        rows = self.tensor(where, "f", 2)
        self.take(8 * rows.nbytes, where)
        whole = node.get("whole")
        if rows.shape[1] != len(History.COLUMNS) or not isinstance(whole, list):
            raise damaged(f"{where} is not a history")
        kinds = [name in whole and bool(np.isfinite(rows[:, k]).all()) for k, name in enumerate(History.COLUMNS)]
        return History([tuple(int(x) if kind else x for x, kind in zip(row, kinds, strict=True)) for row in rows.tolist()])

    def items(self, node: Any, where: str) -> list[Any]:
        """The values of a list."""
        return [self.value(item, f"{where}[{k}]") for k, item in enumerate(field(node, "items", list, where))]

    def part(self, node: Any, where: str) -> Any:
        """A loss or a regularizer of fenchel."""
        name, known = field(node, "class", str, where), parts()
        if name in EARLIER_PARTS:
            cls, fields = EARLIER_PARTS[name]
        elif name in known:
            cls, fields = known[name], known[name]._fields
        else:
            raise ModelFileError(f"{where} is a {name!r}, which this version of fenchel does not have: {near(name, known)}")
        part = self.built(cls, dict(zip(fields, self.items(node, where), strict=False)), where)
        for name, hint in attribute_types(cls).items():
            if not has_type(getattr(part, name), hint):
                raise damaged(f"{where}.{name} is {str(getattr(part, name))[:40]!r}, which is not of the type {described(hint)}")
        return part

    def built(self, cls: Any, parameters: dict[str, Any], where: str) -> Any:
        """An object of this class; an error if it does not accept the parameters."""
        try:
            return cls(**parameters)
        except (TypeError, ValueError) as error:
            raise damaged(f"{where} is not a valid {cls.__name__} ({str(error).rstrip('.')})") from None

    def dictionary(self, node: Any, where: str) -> dict[Any, Any]:
        """A dictionary."""
        found = {}
        for n, pair in enumerate(field(node, "items", list, where)):
            if not isinstance(pair, list) or len(pair) != 2 or isinstance(pair[0], list):
                raise damaged(f"{where} is not a dictionary")
            key = self.value(pair[0], f"{where}[{n}].key")
            if not isinstance(key, (str, int, float, np.generic, type(None))):
                raise damaged(f"{where} has a key that is neither a string nor a number")
            found[key] = self.value(pair[1], f"{where}[{n}]")
        return found

    def json(self, node: Any, where: str) -> Any:
        """An object of a class with ``from_json``."""
        name = field(node, "class", str, where)
        cls = JSON_CLASSES.get(name)
        if cls is None:
            raise ModelFileError(f"{where} is a {name!r}, which this version of fenchel does not have: {near(name, JSON_CLASSES)}")
        try:
            return cls.from_json(json.loads(self.tensor(where, "u", 1).tobytes()))
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise damaged(f"{where} is not a valid {name} ({str(error).rstrip('.')})") from None


READERS: dict[str, Callable[[Reader, Any, str], Any]] = {
    "array": Reader.array,
    "dict": Reader.dictionary,
    "float": Reader.number,
    "history": Reader.history,
    "json": Reader.json,
    "list": Reader.items,
    "model": lambda reader, node, where: reader.model(node, f"{where}."),
    "part": Reader.part,
    "scalar": lambda reader, node, where: reader.tensor(where, ndim=0)[()],
    "sparse": Reader.sparse,
    "strings": Reader.strings,
    "tuple": lambda reader, node, where: tuple(reader.items(node, where)),
}

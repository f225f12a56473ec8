"""How a model comes back from JSON and tensors, when nothing they say is to be believed

Names of classes are looked up in fenchel's own lists, sizes are checked before memory is taken, and whatever does not fit is an error
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
from fenchel.problems.result import History

if TYPE_CHECKING:
    from fenchel.estimators import Estimator

MODEL_FIELDS: dict[str, type] = {"class": str, "parameters": dict, "attributes": dict}
SPARSE_PARTS = {"data": "fiub", "indices": "i", "indptr": "i"}


def damaged(what: str) -> ModelFileError:
    """The error of a file that says what no model says."""
    return ModelFileError(f"{what}: the file is damaged or was not written by fenchel.")


def field(told: Any, name: str, kind: type, where: str) -> Any:
    """What the JSON says under that name, if it is of that type."""
    if not isinstance(told, dict) or not isinstance(told.get(name), kind):
        raise damaged(f"{where} has no {name}")
    return told[name]


def checked_shape(shape: Any, where: str) -> tuple[int, ...]:
    """A shape whose entries can be counted."""
    fine = isinstance(shape, list) and len(shape) <= 32 and all(isinstance(n, int) and 0 <= n < 2**62 for n in shape)
    if not fine or math.prod(shape) >= 2**62:
        raise damaged(f"{where} has the shape {str(shape)[:80]}, which is none")
    return tuple(shape)


class Reader:
    """JSON and tensors to values; ``memory`` is how many bytes may be taken beyond those in the file."""

    def __init__(self, tensors: dict[str, np.ndarray], memory: int) -> None:
        self.tensors, self.memory, self.used = tensors, memory, set[str]()

    def whole_model(self, told: Any) -> Estimator:
        """The model that all the tensors belong to."""
        model = self.model(told, "")
        unused = sorted(set(self.tensors) - self.used)
        if unused:
            raise damaged(f"tensor {unused[0]!r} belongs to nothing in the model")
        return model

    def model(self, told: Any, where: str) -> Any:
        """A model of a class that fenchel knows, its attributes checked against each other."""
        place = where or "the model"
        name, parameters, attributes = (field(told, key, kind, place) for key, kind in MODEL_FIELDS.items())
        known = models()
        if name not in known:
            raise ModelFileError(f"{place} is a {name!r}, which this fenchel does not know: {near(name, known)}")
        strange = sorted(set(parameters) - set(inspect.signature(known[name]).parameters))
        strange += sorted(key for key in attributes if not ATTRIBUTE.fullmatch(key) or hasattr(known[name], key))
        if strange:
            raise damaged(f"{where}{strange[0]} is nothing that a {name} has")
        model = self.built(known[name], {key: self.value(value, f"{where}parameters.{key}") for key, value in parameters.items()}, place)
        for key, value in attributes.items():
            setattr(model, key, self.value(value, f"{where}{key}"))
        check_model(model, where)
        return model

    def value(self, told: Any, where: str) -> Any:
        """Whatever the JSON tells."""
        if not isinstance(told, (dict, list)):
            return told
        kind = field(told, "kind", str, where)
        if kind not in READERS:
            raise ModelFileError(f"{where} is of kind {kind!r}, which this fenchel does not know: {near(kind, READERS)}")
        return READERS[kind](self, told, where)

    def tensor(self, where: str, kinds: str = "", ndim: int | None = None) -> np.ndarray:
        """The tensor of that name, if it is there and of such a type."""
        if where not in self.tensors:
            raise damaged(f"{where} is missing")
        self.used.add(where)
        tensor = self.tensors[where]
        if (kinds and tensor.dtype.kind not in kinds) or (ndim is not None and tensor.ndim != ndim):
            raise damaged(f"{where} has type {tensor.dtype} and shape {tensor.shape}, which do not fit its kind")
        return tensor

    def take(self, size: int, where: str) -> None:
        """Count memory that the file does not hold itself, before it is taken."""
        if size > self.memory:
            raise ModelFileError(
                f"{where} would take {size:,} bytes where no more than {self.memory:,} are left of the limit: "
                "load(..., memory=) allows more, if you trust the file."
            )
        self.memory -= size

    def number(self, told: Any, where: str) -> float:
        """A number that JSON has no word for."""
        value = field(told, "value", str, where)
        if value not in ("nan", "inf", "-inf"):
            raise damaged(f"{where} is {value!r}, which is no number")
        return float(value)

    def array(self, told: Any, where: str) -> np.ndarray:
        """An array, its zeros put back."""
        stored = self.tensor(where) if "shape" not in told else self.unpacked(told, where)
        return stored.T if told.get("order") == "F" else stored

    def unpacked(self, told: Any, where: str) -> np.ndarray:
        """An array from the values that are not zero and their places."""
        indices, values = self.tensor(f"{where}.indices", "iu", 1), self.tensor(f"{where}.values", "f", 1)
        shape = checked_shape(told["shape"], where)
        size = math.prod(shape)
        self.take(size * values.itemsize, where)
        rising = bool((indices[1:] > indices[:-1]).all())
        if len(indices) != len(values) or not rising or (len(indices) and not 0 <= int(indices[0]) <= int(indices[-1]) < size):
            raise damaged(f"{where}: its indices do not fit its shape {shape}")
        flat = np.zeros(size, dtype=values.dtype)
        flat[indices] = values
        return flat.reshape(shape)

    def strings(self, told: Any, where: str) -> np.ndarray:
        """An array of strings."""
        text, lengths = self.tensor(f"{where}.text", "u", 1), self.tensor(f"{where}.lengths", "u", 1)
        width = told.get("width")
        if width is not None and not (isinstance(width, int) and 0 <= width < 2**28):
            raise damaged(f"{where}: {width!r} is no width of strings")
        self.take((100 + 4 * (width or 0)) * len(lengths) + 4 * text.nbytes, where)
        ends = np.cumsum(lengths, dtype=np.int64)
        if text.itemsize != 1 or lengths.itemsize > 4 or (ends[-1] if len(ends) else 0) != len(text):
            raise damaged(f"{where}: the lengths of its strings do not add up")
        data, stops = text.tobytes(), ends.tolist()
        try:
            items = [data[a:b].decode("utf-8", "surrogatepass") for a, b in zip([0, *stops], stops, strict=False)]
        except UnicodeDecodeError as error:
            raise damaged(f"{where} is no text ({error})") from None
        if width is not None and max(map(len, items), default=0) > width:
            raise damaged(f"{where}: a string is longer than the width {width}")
        found = np.empty(len(items), dtype=object if width is None else f"<U{width}")
        found[:] = items
        return found

    def sparse(self, told: Any, where: str) -> Any:
        """A sparse matrix whose indices are all within its shape."""
        name, shape = field(told, "class", str, where), checked_shape(told.get("shape"), where)
        data, indices, indptr = (self.tensor(f"{where}.{part}", kinds, 1) for part, kinds in SPARSE_PARTS.items())
        if name not in SPARSE or len(shape) != 2:
            raise damaged(f"{where} is no sparse matrix of a kind that fenchel knows")
        try:
            matrix = SPARSE[name]((data, indices, indptr), shape=shape, copy=False)
            matrix.check_format(full_check=True)
        except (ValueError, OverflowError) as error:
            raise damaged(f"{where} is no sparse matrix of shape {shape} ({error})") from None
        matrix.indices, matrix.indptr = indices, indptr  # of the types they had
        return matrix

    def history(self, told: Any, where: str) -> History:
        """The course of a run."""
        rows = self.tensor(where, "f", 2)
        self.take(8 * rows.nbytes, where)
        whole = told.get("whole")
        if rows.shape[1] != len(History.COLUMNS) or not isinstance(whole, list):
            raise damaged(f"{where} is no history")
        kinds = [name in whole and bool(np.isfinite(rows[:, k]).all()) for k, name in enumerate(History.COLUMNS)]
        return History([tuple(int(x) if kind else x for x, kind in zip(row, kinds, strict=True)) for row in rows.tolist()])

    def items(self, told: Any, where: str) -> list[Any]:
        """The values of a list."""
        return [self.value(item, f"{where}[{k}]") for k, item in enumerate(field(told, "items", list, where))]

    def part(self, told: Any, where: str) -> Any:
        """A loss or a regularizer of fenchel's own."""
        name, known = field(told, "class", str, where), parts()
        if name in EARLIER_PARTS:
            cls, fields = EARLIER_PARTS[name]
        elif name in known:
            cls, fields = known[name], known[name]._fields
        else:
            raise ModelFileError(f"{where} is a {name!r}, which this fenchel does not know: {near(name, known)}")
        return self.built(cls, dict(zip(fields, self.items(told, where), strict=False)), where)

    def built(self, cls: Any, parameters: dict[str, Any], where: str) -> Any:
        """An object of a known class, if it takes these parameters."""
        try:
            return cls(**parameters)
        except (TypeError, ValueError) as error:
            raise damaged(f"{where} is no {cls.__name__} ({str(error).rstrip('.')})") from None

    def dictionary(self, told: Any, where: str) -> dict[Any, Any]:
        """A dictionary."""
        found = {}
        for n, pair in enumerate(field(told, "items", list, where)):
            if not isinstance(pair, list) or len(pair) != 2 or isinstance(pair[0], list):
                raise damaged(f"{where} is no dictionary")
            key = self.value(pair[0], f"{where}[{n}].key")
            if not isinstance(key, (str, int, float, np.generic, type(None))):
                raise damaged(f"{where} has a key that is neither a string nor a number")
            found[key] = self.value(pair[1], f"{where}[{n}]")
        return found

    def json(self, told: Any, where: str) -> Any:
        """An object that reads itself from JSON."""
        name = field(told, "class", str, where)
        cls = JSON_CLASSES.get(name)
        if cls is None:
            raise ModelFileError(f"{where} is a {name!r}, which this fenchel does not know: {near(name, JSON_CLASSES)}")
        try:
            return cls.from_json(json.loads(self.tensor(where, "u", 1).tobytes()))
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise damaged(f"{where} is no {name} ({str(error).rstrip('.')})") from None


READERS: dict[str, Callable[[Reader, Any, str], Any]] = {
    "array": Reader.array,
    "dict": Reader.dictionary,
    "float": Reader.number,
    "history": Reader.history,
    "json": Reader.json,
    "list": Reader.items,
    "model": lambda reader, told, where: reader.model(told, f"{where}."),
    "part": Reader.part,
    "scalar": lambda reader, told, where: reader.tensor(where, ndim=0)[()],
    "sparse": Reader.sparse,
    "strings": Reader.strings,
    "tuple": lambda reader, told, where: tuple(reader.items(told, where)),
}

"""Checkpoints: the state of a run on disk, from which the same run goes on in another process

A checkpoint is one file in the safetensors format: the arrays of the iterate as tensors, and in the metadata JSON that says where they
belong, what the run is (its data and arguments), and its course so far. It is replaced as a whole, every so many seconds and at the end.
Nothing in it is executed. Private state of a solver that cannot be written is left out: the run then goes on from its weights.
"""

from __future__ import annotations

import contextlib
import contextvars
import json
import math
import os
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.atomic_files import checked_place, replacing
from fenchel.core.errors import InputError
from fenchel.driver.fingerprint import data_of, request_of
from fenchel.problems.result import Iterate

FORMAT, VERSION = "fenchel-checkpoint", 1
SECONDS = 60.0  # between two checkpoints
PARTS = ("w", "alpha")  # predictions and v are computed again
ENDING = ".ckpt"

_folder: contextvars.ContextVar[tuple[Path, float] | None] = contextvars.ContextVar("folder", default=None)


@contextlib.contextmanager
def checkpoints(folder: str | os.PathLike[str], seconds: float = SECONDS) -> Iterator[None]:
    """Keep checkpoints of all runs within this context in a folder: those of an estimator's ``fit``, of a path or of a search.

    Runs that take less than ``seconds`` are not kept. Started again with the same data and arguments, a run goes on where it was.

    >>> import tempfile, fenchel as fl
    >>> with tempfile.TemporaryDirectory() as folder, fl.checkpoints(folder, seconds=0.0):
    ...     model = fl.LogisticRegression().fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    ...     len(list(Path(folder).iterdir()))
    1
    """
    place = Path(folder)
    if place.exists() and not place.is_dir():
        raise InputError(f"{place} is a file, and checkpoints are kept in a folder: give the name of a folder.")
    place.mkdir(parents=True, exist_ok=True)
    token = _folder.set((place, float(seconds)))
    try:
        yield
    finally:
        _folder.reset(token)


class Earlier(NamedTuple):
    """What an earlier run of the same problem left."""

    iterate: Iterate
    best: Iterate
    solver: str
    options: dict[str, Any]
    passes: float
    seconds: float
    history: list[list[float]]

    def followed_by(self, rows: list[Any]) -> list[tuple[float, ...]]:
        """The history of both runs: the passes, accesses and seconds of the second begin where those of the first end."""
        accesses = max((row[1] for row in self.history), default=0.0)
        later = [(row[0] + self.passes, row[1] + accesses, row[2] + self.seconds, *row[3:]) for row in rows]
        return [*map(tuple, self.history), *later]


class Checkpoint:
    """The file of a run."""

    def __init__(self, path: Path, data: str, request: str, seconds: float, is_asked_for: bool) -> None:
        self.path, self.data, self.request, self.every = path, data, request, seconds
        self.is_asked_for = is_asked_for  #: by name, so that it is written at the end however short the run was
        self.written = time.monotonic()
        self.earlier: Earlier | None = None

    @property
    def is_due(self) -> bool:
        """Whether the last one is so many seconds ago."""
        return time.monotonic() - self.written >= self.every

    def load(self) -> Earlier | None:
        """What an earlier run left; an error if the file belongs to other data or arguments, or is damaged."""
        if not self.path.exists():
            return None
        found, tensors = read(self.path, self.data, self.request)
        self.earlier = _decoded(self.path, found, tensors)
        return self.earlier

    def save(self, run: Any, iterate: Iterate, rng: Any) -> None:
        """Write the state of a run."""
        tensors: dict[str, np.ndarray] = {}
        state = {**iterate.state, "rng": rng.state}
        state.pop("key", None)
        best = run.certificate
        before = self.earlier
        found = {
            "version": VERSION,
            "data": self.data,
            "request": self.request,
            "solver": run.solver,
            "options": run.options,
            "passes": iterate.passes + (before.passes if before else 0.0),
            "seconds": run.solver_seconds + (before.seconds if before else 0.0),
            "history": [[float(value) for value in row] for row in (before.followed_by(run.history.rows) if before else run.history.rows)],
            "iterate": {name: _encoded(getattr(iterate, name), tensors) for name in PARTS},
            "offset": float(iterate.offset),
            "state": _encoded_or_nothing(state, tensors),
            "best": {"w": _encoded(best.w, tensors), "alpha": _encoded(best.alpha, tensors)},
        }
        write(self.path, found, tensors)
        self.written = time.monotonic()


def checkpoint_of(
    path: str | os.PathLike[str] | None, problem: Any, solver: str, options: dict[str, Any], tol: float, seed: int
) -> Checkpoint | None:
    """The checkpoint of a run: the file that was asked for, or one in the folder of :func:`checkpoints`; None without either."""
    if path is None and _folder.get() is None:
        return None
    request = request_of(problem, solver, options, tol, seed)
    if path is not None:
        return Checkpoint(checked_place(path), data_of(problem), request, SECONDS, True)
    folder, seconds = _folder.get()  # type: ignore[misc]
    data = data_of(problem)
    name = f"{data}-{zlib.crc32(request.encode()):08x}{ENDING}"
    return Checkpoint(folder / name, data, request, seconds, False)


def folder_of_checkpoints() -> tuple[Path, float] | None:
    """The folder of :func:`checkpoints`, and the seconds between two of them; None outside its context."""
    return _folder.get()


def write(path: Path, found: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
    """Write a checkpoint: what can be written as JSON, and arrays."""
    from safetensors.numpy import save

    header = json.dumps(_plain(found))
    metadata = {"format": FORMAT, "header": header, "crc": _crc(header, tensors)}
    with replacing(path) as temporary:
        temporary.write_bytes(save(tensors, metadata=metadata))


def read(path: Path, data: str, request: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The contents of a checkpoint; an error if it belongs to other data or arguments, or is damaged."""
    found, tensors = _read(path)
    for name, own, what in (("data", data, "data"), ("request", request, "arguments")):
        if found[name] != own:
            other = f" ({found['request']})" if name == "request" else ""
            raise InputError(f"{path} is a checkpoint of a run with other {what}{other}: give another file, or remove this one.")
    return found, tensors


def _crc(header: str, tensors: dict[str, np.ndarray]) -> str:
    total = zlib.crc32(header.encode())
    for name in sorted(tensors):
        total = zlib.crc32(tensors[name].tobytes(), zlib.crc32(name.encode(), total))
    return f"{total:08x}"


def _read(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as opened:
            metadata = opened.metadata() or {}
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118 (not a dict)
        if metadata.get("format") != FORMAT:
            raise InputError(f"{path} is not a checkpoint: give another file.")
        if _crc(metadata["header"], tensors) != metadata.get("crc"):
            raise ValueError("its contents do not match its checksum")
        found = json.loads(metadata["header"])
        if found["version"] != VERSION:
            raise InputError(f"{path} was written by another version of fenchel: remove it to begin again.")
        return found, tensors
    except SafetensorError as error:
        raise InputError(f"{path} is no checkpoint, or is damaged ({str(error)[:100]}): give another file.") from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} is damaged ({str(error)[:100]}): remove it to begin again.") from None


def _decoded(path: Path, found: dict[str, Any], tensors: dict[str, np.ndarray]) -> Earlier:
    try:
        parts = {name: _value(found["iterate"][name], tensors) for name in PARTS}
        iterate = Iterate(**parts, state=_value(found["state"], tensors) or {}, offset=float(found["offset"]))
        best = Iterate(_value(found["best"]["w"], tensors), alpha=_value(found["best"]["alpha"], tensors), offset=iterate.offset)
        options = {str(name): value for name, value in found["options"].items()}
        history = [[float(value) for value in row] for row in found["history"]]
        return Earlier(iterate, best, str(found["solver"]), options, float(found["passes"]), float(found["seconds"]), history)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{path} is damaged ({str(error)[:100]}): remove it to begin again.") from None


# ---- values as JSON and tensors ----


class _Unwritable(TypeError):
    """A value that a checkpoint cannot hold."""


def _encoded_or_nothing(state: dict[str, Any], tensors: dict[str, np.ndarray]) -> Any:
    """Private state, or that of the random numbers alone if a part of it cannot be written."""
    kept = dict(tensors)
    try:
        return _encoded(state, tensors)
    except _Unwritable:
        tensors.clear()
        tensors.update(kept)
        return _encoded({"rng": state["rng"]}, tensors)


def _encoded(value: Any, tensors: dict[str, np.ndarray]) -> Any:
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, np.ndarray | np.void | np.generic):
        return _tensor(np.asarray(value), isinstance(value, np.record), isinstance(value, np.generic), tensors)
    if type(value) in (tuple, list):
        return {type(value).__name__: [_encoded(part, tensors) for part in value]}
    if type(value) is dict and all(isinstance(name, str) for name in value):
        return {"dict": {name: _encoded(part, tensors) for name, part in value.items()}}
    raise _Unwritable(type(value).__name__)


def _tensor(array: np.ndarray, is_record: bool, is_scalar: bool, tensors: dict[str, np.ndarray]) -> dict[str, Any]:
    if array.dtype.hasobject or array.dtype.kind not in "biufV":
        raise _Unwritable(str(array.dtype))
    name = str(len(tensors))
    tensors[name] = np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8)
    kind = array.dtype.descr if array.dtype.names else array.dtype.str
    return {"array": name, "dtype": kind, "shape": list(array.shape), "record": is_record, "scalar": is_scalar}


def _value(found: Any, tensors: dict[str, np.ndarray]) -> Any:
    if not isinstance(found, dict):
        return found
    if "float" in found:
        return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[found["float"]]
    if "array" in found:
        kind = found["dtype"]
        dtype = np.dtype(kind if isinstance(kind, str) else [_field(field) for field in kind])
        if dtype.hasobject:
            raise ValueError("it holds objects")
        array = np.frombuffer(tensors[found["array"]].tobytes(), dtype).reshape(found["shape"]).copy()
        if found["record"]:
            return array.view(np.recarray).reshape(-1)[0] if not found["shape"] else array.view(np.recarray)
        return array[()] if found["scalar"] else array
    if "tuple" in found:
        return tuple(_value(part, tensors) for part in found["tuple"])
    if "list" in found:
        return [_value(part, tensors) for part in found["list"]]
    return {name: _value(part, tensors) for name, part in found["dict"].items()}


def _field(field: list[Any]) -> tuple[Any, ...]:
    """A field of a structured type, which JSON has made a list."""
    name, kind, *shape = field
    inner = kind if isinstance(kind, str) else [_field(part) for part in kind]
    return (name, inner, *(tuple(part) for part in shape))


def _plain(value: Any) -> Any:
    """Options as JSON: those that it cannot hold as their text, since they only have to be compared."""
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, np.generic):
        return value.item()
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)

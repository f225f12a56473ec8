"""What a checkpoint belongs to: a number for the data of a problem, and a text for what is asked of it"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

WHOLE = 1 << 28  # bytes up to which an array is read as a whole
PIECES, PIECE = 256, 1 << 18  # of a larger one: how many, and their bytes
ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def data_of(problem: Any) -> str:
    """A number for the rows, labels and weights of a problem: another one for other data, but for chance.

    >>> import fenchel as fl
    >>> X, y = np.eye(3), np.array([1.0, -1.0, 1.0])
    >>> first, second = (fl.Problem(X, labels, fl.Hinge(), fl.L2(1.0)) for labels in (y, -y))
    >>> data_of(first) == data_of(second)
    False
    """
    total = 0
    storage = problem.examples if problem.structured else problem.design.storage
    for array in _arrays((storage, None if problem.structured else problem.y, problem.row_weights)):
        total = zlib.crc32(f"{array.dtype.str} {array.shape}".encode(), total)
        total = _of_array(array, total)
    return f"{total:08x}"


def request_of(problem: Any, solver: str, options: dict[str, Any], tol: float, seed: int) -> str:
    """The loss, the penalty and the arguments of a run, as a text."""
    parts = [f"{name}={value!r}" for name, value in sorted(options.items())]
    of_model = [type(problem.model).__name__] if problem.structured else [f"intercept={'free' if problem.free else problem.intercept!r}"]
    text = ", ".join([repr(problem.loss), repr(problem.regularizer), *of_model, solver, *parts, f"tol={tol!r}", f"seed={seed}"])
    return ADDRESS.sub("", text)


def _of_array(array: np.ndarray, total: int) -> int:
    data: Any = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    if data.size <= WHOLE:
        return zlib.crc32(data, total)
    for first in np.linspace(0, data.size - PIECE, PIECES).astype(np.int64).tolist():
        total = zlib.crc32(data[first : first + PIECE], total)
    return total


def _arrays(value: Any) -> Iterator[np.ndarray]:
    """The arrays in a value, in a fixed order."""
    if sp.issparse(value):
        yield from (value.indptr, value.indices, value.data)
    elif isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple | list):
        for part in value:
            yield from _arrays(part)
    elif isinstance(value, int | float | np.generic):
        yield np.asarray(value)

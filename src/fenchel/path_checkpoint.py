"""Checkpoints of a path: the strengths that are finished, from which the same path goes on

Within :func:`fenchel.checkpoints`, a path writes its finished strengths every so many seconds: weights as sparse rows, and the numbers of
their certificates.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fenchel.core.errors import InputError
from fenchel.driver.checkpoint import VERSION, folder_of_checkpoints, read, write
from fenchel.driver.fingerprint import data_of, request_of
from fenchel.problems.problem import Problem
from fenchel.problems.result import Result, result_of_weights

NUMBERS = ("objective", "objective_error", "dual_objective", "passes", "seconds", "tol", "target")
WORDS = ("converged", "status", "solver")


def kept(
    problem: Problem, grid: np.ndarray, regularizers: list[Any], options: dict[str, Any], solved: Callable[[np.ndarray], Iterator[Result]]
) -> Iterator[Result]:
    """The results for all strengths: those that an earlier run has kept, then those of ``solved`` for the rest of the grid."""
    place = folder_of_checkpoints()
    if place is None:
        yield from solved(grid)
        return
    folder, seconds = place
    described = {"strengths": grid.tolist(), "max_passes": options["max_passes"]}
    data, request = data_of(problem), request_of(problem, "path", described, options["tol"], options["seed"])
    path = folder / f"{data}-{zlib.crc32(request.encode()):08x}.path"
    found = _loaded(path, data, request, problem, regularizers) if path.exists() else []
    yield from found
    written = time.monotonic()
    for result in solved(grid[len(found) :]) if len(found) < len(grid) else ():
        found.append(result)
        if time.monotonic() - written >= seconds:
            _save(path, data, request, found)
            written = time.monotonic()
        yield result


def _save(path: Path, data: str, request: str, found: list[Result]) -> None:
    weights = [result.w.reshape(-1) for result in found]
    places = [np.flatnonzero(w) for w in weights]
    tensors = {
        "ends": np.cumsum([len(place) for place in places]),
        "places": np.concatenate(places),
        "weights": np.concatenate([w[place] for w, place in zip(weights, places, strict=True)]),
        "numbers": np.array([[float(getattr(result, name)) for name in NUMBERS] for result in found]),
    }
    words = [[getattr(result, name) for name in WORDS] for result in found]
    write(path, {"version": VERSION, "data": data, "request": request, "results": words}, tensors)


def _loaded(path: Path, data: str, request: str, problem: Problem, regularizers: list[Any]) -> list[Result]:
    words, tensors = read(path, data, request)
    try:
        ends, size = [0, *tensors["ends"].tolist()], problem.n * problem.outputs
        found = []
        for k, (converged, status, solver) in enumerate(words["results"]):
            w, part = np.zeros(size), slice(ends[k], ends[k + 1])
            w[tensors["places"][part]] = tensors["weights"][part]
            numbers = dict(zip(NUMBERS, tensors["numbers"][k].tolist(), strict=True))
            facts = {"converged": bool(converged), "status": str(status), "solver": str(solver), "regularizer": regularizers[k]}
            found.append(result_of_weights(problem, problem.with_offset(w.reshape(problem.shape)), **facts, **numbers))
        return found
    except (KeyError, IndexError, ValueError, TypeError) as error:
        raise InputError(f"{path} is damaged ({str(error)[:100]}): remove it to begin again.") from None

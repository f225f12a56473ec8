"""Chain models as plain values for files, and their weights by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from fenchel.core.errors import InputError
from fenchel.structured.chain.tags import MOST_TAGS, within_moves


def to_json(model: Any) -> dict[str, Any]:
    """Plain values: numbers, strings and lists."""
    return {
        "features": model.features,
        "transitions": model.transitions,
        "ends": model.ends,
        "tags": list(model.tags),
        "attributes": None if model.attributes is None else list(model.attributes),
        "width": model.width,
        "observed": None if model.observed is None else model.observed.tolist(),
        "neighbours": None if model.neighbours is None else model.neighbours.tolist(),
    }


def checked_json(data: Any) -> dict[str, Any]:
    """The fields of a model; a file of strangers must not make kernels read where there is nothing."""
    needs = {"features", "transitions", "ends", "tags", "attributes", "width", "observed", "neighbours"}
    _require(isinstance(data, dict) and set(data) == needs, f"it has not the fields {', '.join(sorted(needs))}")
    tags, names, width = data["tags"], data["attributes"], data["width"]
    _require(isinstance(data["ends"], bool), "ends is not true or false")
    _require(type(data["transitions"]) in (bool, str), "transitions is not true, false or a string")
    _require(isinstance(tags, list) and all(type(tag) in (str, int) for tag in tags) and _differ(tags), "its tags are no list of tags")
    _require(len(tags) <= MOST_TAGS and (not data["transitions"] or within_moves(len(tags))), "it has too many tags")
    _require(type(width) is int and 0 <= width < 2**31, "its width is no number of attributes")
    _require(
        names is None or (isinstance(names, list) and len(names) == width and all(type(name) is str for name in names)), "its attributes"
    )
    _require(names is None or _differ(names), "two attributes have one name")
    K = len(tags)
    observed = _checked_numbers(data["observed"], width * K, "observed pairs")
    neighbours = _checked_numbers(data["neighbours"], K * K, "neighbours")
    made = {**data, "tags": tuple(tags), "attributes": None if names is None else tuple(names)}
    return {**made, "observed": observed, "neighbours": neighbours}


def _differ(values: list[Any]) -> bool:
    return len(set(values)) == len(values)


def _checked_numbers(values: Any, below: int, what: str) -> np.ndarray | None:
    if values is None:
        return None
    _require(isinstance(values, list) and all(type(value) is int for value in values), f"its {what} are no list of whole numbers")
    _require(all(0 <= value < below for value in values), f"its {what} are not between 0 and {below}")
    numbers = np.array(values, dtype=np.int64)
    _require(bool((np.diff(numbers) > 0).all()), f"its {what} do not rise")
    return numbers


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise InputError(f"This is no description of a chain model: {what}; save the model again.")


def named(model: Any, w: np.ndarray) -> dict[str, dict[Any, float]]:
    """What each weight is of."""
    if w.shape != (model.n,):
        raise InputError(f"w has shape {w.shape}, and the model {model.n:,} weights.")
    K, tags = len(model.tags), model.tags
    attributes = model.attributes if model.attributes is not None else range(model.width)
    pairs = np.arange(model.width * K) if model.observed is None else model.observed
    moves = np.arange(K * K) if model.neighbours is None else model.neighbours
    moves = moves if model.transitions else moves[:0]
    values = iter(w.tolist())
    return {
        "emissions": {(attributes[j // K], tags[j % K]): next(values) for j in pairs.tolist()},
        "transitions": {(tags[j // K], tags[j % K]): next(values) for j in moves.tolist()},
        "starts": {tag: next(values) for tag in tags} if model.ends else {},
        "stops": {tag: next(values) for tag in tags} if model.ends else {},
    }

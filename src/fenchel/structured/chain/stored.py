"""Chain models as JSON values, and their weights by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from fenchel.core.errors import InputError
from fenchel.structured.chain.tags import MOST_TAGS, allows_transitions


def to_json(model: Any) -> dict[str, Any]:
    """The model as JSON values: numbers, strings and lists."""
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
    """The fields of a model, validated so that a file from an untrusted source cannot make kernels read out of bounds."""
    needs = {"features", "transitions", "ends", "tags", "attributes", "width", "observed", "neighbours"}
    _require(isinstance(data, dict) and set(data) == needs, f"its fields are not {', '.join(sorted(needs))}")
    tags, names, width = data["tags"], data["attributes"], data["width"]
    _require(isinstance(data["ends"], bool), "ends is not true or false")
    _require(type(data["transitions"]) in (bool, str), "transitions is not true, false or a string")
    _require(
        isinstance(tags, list) and all(type(tag) in (str, int) for tag in tags) and _differ(tags),
        "its tags are not distinct tags",
    )
    _require(len(tags) <= MOST_TAGS and (not data["transitions"] or allows_transitions(len(tags))), "it has too many tags")
    _require(type(width) is int and 0 <= width < 2**31, "its width is not a valid number of attributes")
    _require(
        names is None or (isinstance(names, list) and len(names) == width and all(type(name) is str for name in names)),
        "its attributes are not as many strings as its width",
    )
    _require(names is None or _differ(names), "two of its attributes have the same name")
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
    _require(isinstance(values, list) and all(type(value) is int for value in values), f"its {what} are not a list of whole numbers")
    _require(all(0 <= value < below for value in values), f"its {what} are not all from 0 to {below - 1}")
    numbers = np.array(values, dtype=np.int64)
    _require(bool((np.diff(numbers) > 0).all()), f"its {what} are not in increasing order")
    return numbers


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise InputError(f"This is not the description of a chain model: {what}. Save the model again.")


def named(model: Any, w: np.ndarray) -> dict[str, dict[Any, float]]:
    """The weights by name: see :meth:`Chain.named`."""
    if w.shape != (model.n,):
        raise InputError(f"w has shape {w.shape}, but the model has {model.n:,} weights.")
    K, tags = len(model.tags), model.tags
    attributes = model.attributes if model.attributes is not None else range(model.width)
    pairs = np.arange(model.width * K) if model.observed is None else model.observed
    transitions = np.arange(K * K) if model.neighbours is None else model.neighbours
    transitions = transitions if model.transitions else transitions[:0]
    values = iter(w.tolist())
    return {
        "emissions": {(attributes[j // K], tags[j % K]): next(values) for j in pairs.tolist()},
        "transitions": {(tags[j // K], tags[j % K]): next(values) for j in transitions.tolist()},
        "starts": {tag: next(values) for tag in tags} if model.ends else {},
        "stops": {tag: next(values) for tag in tags} if model.ends else {},
    }

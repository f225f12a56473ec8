"""Whether the values in a model file have the types that its classes declare

Constructors annotate their parameters, classes their fitted attributes, and losses and regularizers their fields. A value of another type
could not come from a model that was fitted, and would fail later, far from the file.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

NUMBERS: dict[Any, tuple[type, ...]] = {
    float: (int, float, np.integer, np.floating),
    int: (int, np.integer),
    bool: (int, np.bool_),  # 0 and 1 are used like booleans
    str: (str,),
}


def misfit(model: Any, parameters: Mapping[str, Any]) -> str | None:
    """The first parameter or fitted attribute that has not its declared type, as the start of a message; None if all have.

    >>> from fenchel.estimators import LinearRegressor
    >>> misfit(LinearRegressor(tol="small"), {"tol": "small"})
    "parameters.tol is 'small', which is not of the type float"
    """
    cls: type = type(model)
    declared = (("parameters.", parameters, parameter_types(cls)), ("", vars(model), attribute_types(cls)))
    for prefix, values, hints in declared:
        for name, hint in hints.items():
            if name in values and not has_type(values[name], hint):
                return f"{prefix}{name} is {str(values[name])[:40]!r}, which is not of the type {described(hint)}"
    return None


def described(hint: Any) -> str:
    """A type as it is written in Python."""
    return hint.__name__ if isinstance(hint, type) else str(hint).replace("typing.", "").replace("collections.abc.", "")[:80]


@functools.cache
def parameter_types(cls: type) -> dict[str, Any]:
    """The declared types of the parameters of the constructor."""
    return {name: hint for name, hint in get_type_hints(inspect.getattr_static(cls, "__init__")).items() if name != "return"}


@functools.cache
def attribute_types(cls: type) -> dict[str, Any]:
    """The declared types of fitted attributes, or of the fields of a NamedTuple."""
    hints = get_type_hints(cls)
    return hints if issubclass(cls, tuple) else {name: hint for name, hint in hints.items() if name.endswith("_")}


def has_type(value: Any, hint: Any) -> bool:
    """Whether the value has the type, as far as a type of this kind can be checked; a whole number is accepted as a float.

    >>> has_type(3, float), has_type("3", float | None), has_type(["w", 1], Sequence[str])
    (True, False, False)
    """
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(has_type(value, part) for part in inner)
    if origin is Literal:
        return isinstance(value, str) and value in inner
    if origin is Mapping:
        return isinstance(value, dict) and all(has_type(part, inner[1]) for part in value.values())
    if origin in (list, Sequence, Iterable):
        return isinstance(value, (list, tuple, np.ndarray)) and all(has_type(part, inner[0]) for part in value)
    if hint is Any or not isinstance(hint, type):
        return True
    return isinstance(value, NUMBERS.get(hint, (hint,)))

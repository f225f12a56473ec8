"""Checks of losses and regularizers: instances of compiled classes, and a loss whose derivative agrees with its values"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from fenchel.core.compiled import is_compiled
from fenchel.core.errors import InputError, InputTypeError
from fenchel.core.messages import near


def checked_part(part: Any, role: str, needs: tuple[str, ...], known: Mapping[str, Any]) -> Any:
    """The loss or regularizer itself; an error if it is not one."""
    if inspect.isclass(part):
        raise InputTypeError(f"{role}={part.__name__} is a class: write {part.__name__}(...), with its parameters.")
    if isinstance(part, str):
        names = [cls.__name__ for cls in known.values()]
        meant = known[part].__name__ if part in known else part
        example = f"fenchel.{meant if meant in names else names[0]}(...)"
        raise InputTypeError(f"{role}={part!r} is a name: give the object itself, such as {example}; {near(meant, names)}")
    if not isinstance(part, tuple) or not hasattr(part, "_fields"):
        offered = ", ".join(cls.__name__ for cls in known.values())
        raise InputTypeError(f"{role}={part!r} is not a {role}: give one of {offered}, or your own NamedTuple under @fenchel.compiled.")
    name = type(part).__name__
    if not is_compiled(part):
        raise InputTypeError(f"{name} is not compiled: put @fenchel.compiled above its class.")
    missing = [need for need in needs if not hasattr(part, need)]
    if missing:
        raise InputTypeError(f"{name} is no {role}: it has no {missing[0]}, see the conventions in fenchel.{PLURALS[role]}.")
    return part


PLURALS = {"loss": "losses", "regularizer": "regularizers"}
TRIALS = (-2.0, -0.3, 0.4, 3.0)  # predictions at which a user's loss is tested


def try_loss(loss: Any, y: np.ndarray, outputs: int) -> None:
    """Test a user's loss in plain Python: it must run, not be negative, be convex, and agree with its derivative."""
    name = type(loss).__name__
    for label in np.unique(y)[:3].tolist():
        points: list[Any] = [z if outputs == 1 else z * np.cos(np.arange(outputs)) for z in TRIALS]
        try:
            values = [float(loss.value(z, label)) for z in points]
            derivatives = [_derivative(loss, z, label) for z in points]
        except Exception as error:
            raise InputError(f"{name} fails at z = {TRIALS[0]} and y = {label:g} with {type(error).__name__}: {error}.") from error
        for z, value, derivative in zip(points, values, derivatives, strict=True):
            if value < 0.0:
                raise InputError(
                    f"{name}.value({z}, {label:g}) is {value:g}: a loss must not be negative; add a constant, which may depend on y."
                )
            for other, higher in zip(points, values, strict=True):
                tangent = value + float(np.sum(derivative * (other - z)))
                if np.isfinite(tangent) and tangent > higher + 1e-7 * (1.0 + abs(higher) + abs(tangent)):
                    raise InputError(
                        f"{name}: its derivative at z = {z}, y = {label:g} does not agree with its values, because the tangent lies above "
                        f"the value at {other}: "
                        "check the derivative's sign and factor, and that the loss is convex."
                    )


def _derivative(loss: Any, z: Any, label: float) -> Any:
    if np.ndim(z) == 0:
        return float(loss.derivative(z, label))
    out = np.empty_like(z)
    loss.derivative(z, int(label), out)
    return out

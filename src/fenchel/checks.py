"""What users may hand in: losses, regularizers, labels and sample weights, each refused with one sentence."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from fenchel.compiled import is_compiled
from fenchel.registry import near


def checked_part(part: Any, role: str, needs: tuple[str, ...], known: dict[str, Any]) -> Any:
    """The loss or regularizer itself, if it is one."""
    names = {cls.__name__: name for name, cls in known.items()}
    if inspect.isclass(part):
        raise TypeError(f"{role}={part.__name__} is a class: write {part.__name__}(...), with its parameters.")
    if isinstance(part, str):
        meant = known[part].__name__ if part in known else part
        example = f"fenchel.{meant if meant in names else next(iter(names))}(...)"
        raise TypeError(f"{role}={part!r} is a name: give the object itself, such as {example}; {near(meant, names)}")
    if not isinstance(part, tuple) or not hasattr(part, "_fields"):
        offered = ", ".join(names)
        raise TypeError(f"{role}={part!r} is not a {role}: give one of {offered}, or your own NamedTuple under @fenchel.compiled.")
    name = type(part).__name__
    if not is_compiled(part):
        raise TypeError(f"{name} is not compiled: put @fenchel.compiled above its class.")
    missing = [need for need in needs if not hasattr(part, need)]
    if missing:
        raise TypeError(f"{name} is no {role}: it has no {missing[0]}, see the conventions in fenchel.{PLURALS[role]}.")
    return part


def is_number(value: Any) -> bool:
    """Whether it is one number, of Python's or NumPy's own."""
    return isinstance(value, (int, float, np.number))


PLURALS = {"loss": "losses", "regularizer": "regularizers"}
TRIALS = (-2.0, -0.3, 0.4, 3.0)  # predictions at which a loss of the user's own is tried


def try_loss(loss: Any, y: np.ndarray, outputs: int) -> None:
    """Try a loss of the user's own in plain Python: it must run, be no less than 0, and fit its derivative."""
    name = type(loss).__name__
    for label in np.unique(y)[:3].tolist():
        points: list[Any] = [z if outputs == 1 else z * np.cos(np.arange(outputs)) for z in TRIALS]
        try:
            values = [float(loss.value(z, label)) for z in points]
            slopes = [_slope(loss, z, label) for z in points]
        except Exception as error:
            raise ValueError(f"{name} fails at z = {TRIALS[0]} and y = {label:g} with {type(error).__name__}: {error}.") from error
        for z, value, slope in zip(points, values, slopes, strict=True):
            if value < 0.0:
                raise ValueError(
                    f"{name}.value({z}, {label:g}) is {value:g}: a loss must not be negative; add what it takes, it may depend on y."
                )
            for other, higher in zip(points, values, strict=True):
                tangent = value + float(np.sum(slope * (other - z)))
                if np.isfinite(tangent) and tangent > higher + 1e-7 * (1.0 + abs(higher) + abs(tangent)):
                    raise ValueError(
                        f"{name}: its derivative at z = {z}, y = {label:g} does not fit its values, for the tangent lies above "
                        f"the value at {other}: "
                        "check the derivative's sign and factor, and that the loss is convex."
                    )


def _slope(loss: Any, z: Any, label: float) -> Any:
    if np.ndim(z) == 0:
        return float(loss.derivative(z, label))
    out = np.empty_like(z)
    loss.derivative(z, int(label), out)
    return out


def checked_labels(y: Any, m: int, labels: str, loss: str, classes: int | None = None) -> tuple[np.ndarray, int]:
    """The labels in the form kernels take them, and the number of outputs; not every class has to occur where their number is given."""
    if labels != "class":
        return _checked_numbers(y, m, labels, loss), 1
    if classes is not None:
        return checked_chunk_labels(y, m, labels, loss, classes), classes
    values = _checked_numbers(y, m, labels, loss)
    outputs = int(values.max()) + 1
    if outputs < 2:
        raise ValueError(f"{loss} takes the classes 0, 1, ..., K-1, and every label is 0: there must be at least two classes.")
    if outputs > m or (np.bincount(values.astype(np.int64)) == 0).any():
        absent = next(k for k in range(outputs) if not (values == k).any())
        raise ValueError(
            f"{loss} takes the classes 0, 1, ..., K-1, and class {absent} never occurs (the largest label is {outputs - 1}): "
            "number your classes without gaps, for instance with numpy.unique(y, return_inverse=True)[1]."
        )
    return values.astype(np.int64), outputs


def checked_chunk_labels(y: Any, m: int, labels: str, loss: str, outputs: int) -> np.ndarray:
    """The labels of one chunk of a stream: not every class has to occur in it."""
    values = _checked_numbers(y, m, labels, loss)
    if labels != "class":
        return values
    wrong = np.flatnonzero(values >= outputs)
    if len(wrong):
        raise ValueError(f"y[{wrong[0]}] is {values[wrong[0]]:g}, and classes={outputs} allows 0 to {outputs - 1}.")
    return values.astype(np.int64)


def _checked_numbers(y: Any, m: int, labels: str, loss: str) -> np.ndarray:
    values = np.asarray(y)
    if values.ndim != 1:
        raise ValueError(f"y must be one label per row; it has shape {values.shape}.")
    if len(values) != m:
        raise ValueError(f"y has {len(values)} labels for the {m} rows of X: they must be as many.")
    if values.dtype.kind not in "fiub":
        raise ValueError(f"y must hold numbers, not {values.dtype}: encode the labels first ({ENCODE.get(labels, 'any numbers will do')}).")
    values = values.astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise ValueError(f"y[{bad[0]}] is {values[bad[0]]}: every label must be finite.")
    if labels == "binary":
        wrong = np.flatnonzero(np.abs(values) != 1.0)
        if len(wrong):
            advice = "map your two classes to them, for instance with numpy.where(y == 1, 1, -1)"
            if len(np.unique(values)) > 2:
                advice = "for more than two classes use a multiclass loss such as fenchel.Softmax()"
            raise ValueError(f"{loss} takes the labels -1 and +1, and y[{wrong[0]}] is {values[wrong[0]]:g}: {advice}.")
    if labels == "class":
        wrong = np.flatnonzero((values < 0) | (values != np.floor(values)))
        if len(wrong):
            raise ValueError(
                f"{loss} takes the classes 0, 1, ..., K-1, and y[{wrong[0]}] is {values[wrong[0]]:g}: "
                "number your classes, for instance with numpy.unique(y, return_inverse=True)[1]."
            )
    return values


ENCODE = {
    "binary": "as -1 and +1, for instance with numpy.where(y == y[0], 1, -1)",
    "class": "as 0, 1, ..., K-1, for instance with numpy.unique(y, return_inverse=True)[1]",
}


def checked_weights(sample_weight: Any, m: int) -> np.ndarray:
    """Sample weights scaled to sum to m."""
    if sample_weight is None:
        return np.ones(m)
    try:
        s = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"sample_weight={sample_weight!r}: give one number per row.") from None
    if s.shape != (m,):
        raise ValueError(f"sample_weight has shape {s.shape} for the {m} rows of X: give one weight per row.")
    wrong = np.flatnonzero(~(np.isfinite(s) & (s >= 0.0)))
    if len(wrong):
        raise ValueError(f"sample_weight[{wrong[0]}] is {s[wrong[0]]}: weights must be finite and not negative.")
    if not s.any():
        raise ValueError("sample_weight is zero for every row: at least one must be positive.")
    s = s / s.max()  # first, so that the sum neither over- nor underflows
    return s * (m / s.sum())


def checked_whole(option: str, value: Any) -> int:
    """A whole number of at least 1."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{option}={value!r}: give a whole number of at least 1.")
    return int(value)

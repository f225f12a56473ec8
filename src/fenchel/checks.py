"""What users may hand in: losses, regularizers, labels and sample weights, each refused with one sentence."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from fenchel.registry import near


def checked_part(part: Any, role: str, mark: str, known: dict[str, Any]) -> Any:
    """The loss or regularizer itself, if it is one."""
    if inspect.isclass(part):
        raise TypeError(f"{role}={part.__name__} is a class: write {part.__name__}(...), with its parameters.")
    if isinstance(part, str):
        raise TypeError(f"{role}={part!r} is a name: give the object itself; {near(part, known)}")
    if not hasattr(part, mark) or not hasattr(type(part), "_fields"):
        names = ", ".join(cls.__name__ for cls in known.values())
        raise TypeError(f"{role}={part!r} is not a {role}: give one of {names}, or your own NamedTuple under @fenchel.compiled.")
    return part


def checked_labels(y: Any, m: int, labels: str, loss: str) -> tuple[np.ndarray, int]:
    """The labels in the form kernels take them, and the number of outputs."""
    values = np.asarray(y)
    if values.ndim != 1:
        raise ValueError(f"y must be one label per row; it has shape {values.shape}.")
    if len(values) != m:
        raise ValueError(f"y has {len(values)} labels for the {m} rows of X: they must be as many.")
    if values.dtype.kind not in "fiub":
        raise ValueError(f"y must hold numbers, not {values.dtype}: encode the labels first ({_accepted(labels)} for {loss}).")
    values = values.astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise ValueError(f"y[{bad[0]}] is {values[bad[0]]}: every label must be finite.")
    if labels == "binary":
        wrong = np.flatnonzero(np.abs(values) != 1.0)
        if len(wrong):
            raise ValueError(
                f"{loss} takes the labels -1 and +1, and y[{wrong[0]}] is {values[wrong[0]]:g}: "
                "map your two classes to them, for instance with numpy.where(y == 1, 1, -1)."
            )
    if labels != "class":
        return values, 1
    wrong = np.flatnonzero((values < 0) | (values != np.floor(values)))
    if len(wrong):
        raise ValueError(
            f"{loss} takes the classes 0, 1, ..., K-1, and y[{wrong[0]}] is {values[wrong[0]]:g}: "
            "number your classes, for instance with numpy.unique(y, return_inverse=True)[1]."
        )
    outputs = int(values.max()) + 1
    if outputs < 2 or outputs > max(m, 1000):
        raise ValueError(
            f"{loss} takes the classes 0, 1, ..., K-1, and the largest label is {outputs - 1}: "
            "number at least two classes from 0 without gaps."
        )
    return values.astype(np.int64), outputs


def _accepted(labels: str) -> str:
    return {"binary": "-1 and +1", "class": "0, 1, ..., K-1"}.get(labels, "any numbers")


def checked_weights(sample_weight: Any, m: int) -> np.ndarray:
    """Sample weights scaled to sum to m."""
    if sample_weight is None:
        return np.ones(m)
    s = np.asarray(sample_weight, dtype=np.float64)
    if s.shape != (m,):
        raise ValueError(f"sample_weight has shape {s.shape} for the {m} rows of X: give one weight per row.")
    wrong = np.flatnonzero(~(np.isfinite(s) & (s >= 0.0)))
    if len(wrong):
        raise ValueError(f"sample_weight[{wrong[0]}] is {s[wrong[0]]}: weights must be finite and not negative.")
    total = s.sum()
    if not total > 0.0:
        raise ValueError("sample_weight is zero for every row: at least one must be positive.")
    return s * (m / total)

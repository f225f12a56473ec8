"""Checks of labels and sample weights; a wrong one is refused with one sentence"""

from __future__ import annotations

from typing import Any

import numpy as np

from fenchel.core.errors import Argument, InputError

KINDS = ("real", "binary", "class")


def checked_kind(labels: Any, loss: str) -> str:
    """The kind of labels that a loss takes."""
    if labels not in KINDS:
        raise InputError(f"{loss}.labels is {labels!r}: give 'real', 'binary' or 'class'.")
    return str(labels)


def checked_labels(y: Any, m: int, labels: str, loss: str, classes: int | None = None) -> tuple[np.ndarray, int]:
    """The labels as kernels take them, and the number of outputs; where ``classes`` is given, not every class has to occur."""
    if labels != "class":
        return _checked_numbers(y, m, labels, loss), 1
    if classes is not None:
        return checked_chunk_labels(y, m, labels, loss, classes), classes
    values = _checked_numbers(y, m, labels, loss)
    outputs = int(values.max()) + 1
    if outputs < 2:
        raise InputError(f"{loss} takes the classes 0, 1, ..., K-1, and every label is 0: there must be at least two classes.")
    if outputs > m or (np.bincount(values.astype(np.int64)) == 0).any():
        absent = next(k for k in range(outputs) if not (values == k).any())
        raise InputError(
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
        raise InputError(f"y[{wrong[0]}] is {values[wrong[0]]:g}, and ", Argument("classes", outputs), f" allows 0 to {outputs - 1}.")
    return values.astype(np.int64)


def _checked_numbers(y: Any, m: int, labels: str, loss: str) -> np.ndarray:
    values = np.asarray(y)
    if values.ndim != 1:
        raise InputError(f"y must be one label per row; it has shape {values.shape}.")
    if len(values) != m:
        raise InputError(f"y has {len(values)} labels for the {m} rows of X: they must be as many.")
    if values.dtype.kind not in "fiub":
        raise InputError(f"y must hold numbers, not {values.dtype}: encode the labels first ({ENCODE.get(labels, 'any numbers')}).")
    values = values.astype(np.float64)
    finite = np.isfinite(values)
    if not finite.all():
        bad = int(finite.argmin())
        raise InputError(f"y[{bad}] is {values[bad]}: every label must be finite.")
    if labels == "binary":
        wrong = np.abs(values) != 1.0
        if wrong.any():
            advice = "map your two classes to them, for instance with numpy.where(y == 1, 1, -1)"
            if len(np.unique(values)) > 2:
                advice = "for more than two classes use a multiclass loss such as fenchel.Softmax()"
            raise InputError(f"{loss} takes the labels -1 and +1, and y[{wrong.argmax()}] is {values[wrong.argmax()]:g}: {advice}.")
    if labels == "class":
        wrong = np.flatnonzero((values < 0) | (values != np.floor(values)))
        if len(wrong):
            raise InputError(
                f"{loss} takes the classes 0, 1, ..., K-1, and y[{wrong[0]}] is {values[wrong[0]]:g}: "
                "number your classes, for instance with numpy.unique(y, return_inverse=True)[1]."
            )
    return values


ENCODE = {
    "binary": "as -1 and +1, for instance with numpy.where(y == y[0], 1, -1)",
    "class": "as 0, 1, ..., K-1, for instance with numpy.unique(y, return_inverse=True)[1]",
}


def checked_sample_weights(sample_weight: Any, m: int) -> np.ndarray:
    """Sample weights scaled to sum to m."""
    if sample_weight is None:
        return np.ones(m)
    try:
        s = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(Argument("sample_weight", sample_weight), ": give one number per row.") from None
    if s.shape != (m,):
        raise InputError(Argument("sample_weight"), f" has shape {s.shape} for the {m} rows of X: give one weight per row.")
    if m and 0.0 < s.min() == s.max() < np.inf:
        return np.ones(m)
    wrong = np.flatnonzero(~(np.isfinite(s) & (s >= 0.0)))
    if len(wrong):
        raise InputError(f"sample_weight[{wrong[0]}] is {s[wrong[0]]}: weights must be finite and not negative.")
    if not s.any():
        raise InputError(Argument("sample_weight"), " is zero for every row: at least one must be positive.")
    s = s / s.max()  # so that the sum neither overflows nor underflows
    return s * (m / s.sum())

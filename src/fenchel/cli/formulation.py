"""Data and options as a problem for ``fenchel.minimize`` and ``fenchel.path``: the loss that fits the labels, the penalty by its name."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fenchel.core.errors import InputError
from fenchel.core.validation import checked_choice

DEFAULT_LOSS = {"classify": "logistic", "regress": "squared"}


class Labels(NamedTuple):
    """Labels as losses take them, and the classes they stand for, None for numbers."""

    y: np.ndarray
    loss: Any
    classes: np.ndarray | None


def labels_and_loss(task: str, loss: str | None, y: Any) -> Labels:
    """−1 and +1 for two classes, 0, 1, … for more, numbers as they are; and the loss for such labels."""
    from fenchel.estimators.linear import binary_loss, multiclass_loss
    from fenchel.estimators.penalties import loss_named

    loss = loss or DEFAULT_LOSS[task]
    if task == "regress":
        return Labels(np.asarray(y, dtype=np.float64), loss_named(loss, ("real",)), None)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise InputError(f"All labels are {classes[0]}: classification needs rows of at least 2 classes.")
    if len(classes) == 2:
        return Labels(np.where(codes == 1, 1.0, -1.0), binary_loss(loss), classes)
    together = multiclass_loss(loss)
    if together is None:
        raise InputError(
            f"The loss {loss} has no form for all {len(classes)} classes together: give --loss logistic, hinge or smooth-hinge."
        )
    return Labels(codes, together, classes)


def penalty_of(penalty: str, strength: float, l1_ratio: float, p: float) -> Any:
    """The regularizer."""
    from fenchel.estimators.penalties import PENALTIES, penalty_named

    return penalty_named(checked_choice("penalty", penalty, [name for name in PENALTIES if name]), strength, l1_ratio, p)

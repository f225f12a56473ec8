"""Turn labels and options into the loss and regularizer that ``fenchel.minimize`` and ``fenchel.path`` take."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fenchel.core.errors import InputError
from fenchel.core.validation import checked_choice

DEFAULT_LOSS = {"classify": "logistic", "regress": "squared"}


class Labels(NamedTuple):
    """Labels encoded for the loss, and the classes they encode; None for regression."""

    y: np.ndarray
    loss: Any
    classes: np.ndarray | None


def labels_and_loss(task: str, loss: str | None, y: Any) -> Labels:
    """Encode two classes as −1 and +1, more as 0, 1, …; numbers are unchanged. Choose the loss for such labels."""
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
    joint = multiclass_loss(loss)
    if joint is None:
        raise InputError(f"The loss {loss} has no multiclass form for {len(classes)} classes: give --loss logistic, hinge or smooth-hinge.")
    return Labels(codes, joint, classes)


def penalty_of(penalty: str, strength: float, l1_ratio: float, p: float) -> Any:
    """The regularizer with this name and these parameters."""
    from fenchel.estimators.penalties import PENALTIES, penalty_named

    return penalty_named(checked_choice("penalty", penalty, [name for name in PENALTIES if name]), strength, l1_ratio, p)

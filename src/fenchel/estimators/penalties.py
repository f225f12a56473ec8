"""Losses and penalties by the names that estimators accept."""

from __future__ import annotations

from typing import Any

from fenchel.core.errors import Argument, InputError
from fenchel.core.messages import near
from fenchel.core.validation import is_number
from fenchel.losses import losses
from fenchel.regularizers import L1, L1L2, L2, SquaredLp

PENALTIES = ("l2", "l1", "elasticnet", "lp", None)
RATIO_OF = {"l2": 0.0, "l1": 1.0}  # the l1_ratio of the penalties that are special cases of the elastic net


def loss_named(loss: Any, labels: tuple[str, ...]) -> Any:
    """The loss of this name with default parameters, or the given loss object, if it is for one of these kinds of labels.

    >>> loss_named("smooth_hinge", ("binary",))
    SmoothHinge(gamma=1.0)
    """
    known = {name: made for name, kind in losses().items() if (made := kind()).labels in labels}
    if isinstance(loss, str):
        name = loss.replace("_", "-")
        if name not in known:
            raise InputError(Argument("loss", loss), f": {near(name, known)}")
        return known[name]
    if getattr(loss, "labels", "real" if hasattr(loss, "derivative") else None) not in labels:
        raise InputError(
            Argument("loss", loss),
            f" does not suit this estimator: give one of {', '.join(known)}, or a loss object for the same kind of labels.",
        )
    return loss


def penalty_named(penalty: Any, strength: float, l1_ratio: float, p: float) -> Any:
    """The regularizer of this name, None for no penalty, or the given regularizer object.

    >>> penalty_named("elasticnet", 0.1, 0.5, 2.0)
    L1L2(l1=0.05, l2=0.05)
    """
    if hasattr(penalty, "separable"):
        return penalty
    if penalty not in PENALTIES:
        raise InputError(Argument("penalty", penalty), f": {near(str(penalty), [str(name) for name in PENALTIES])}")
    if penalty is None:
        return None
    checked_strength("strength", strength)
    if penalty == "lp":
        return SquaredLp(strength, p)
    return elastic(strength, RATIO_OF.get(penalty, l1_ratio))


def elastic(strength: float, l1_ratio: float) -> Any:
    """strength·(l1_ratio·‖w‖₁ + (1 − l1_ratio)/2·‖w‖²), None for strength 0.

    >>> elastic(0.5, 0.0), elastic(0.5, 1.0), elastic(0.0, 1.0)
    (L2(l2=0.5), L1(l1=0.5), None)
    """
    if not (is_number(l1_ratio) and 0.0 <= l1_ratio <= 1.0):
        raise InputError(Argument("l1_ratio", l1_ratio), ": give a number from 0 (ridge) to 1 (lasso).")
    if strength == 0.0:
        return None
    if l1_ratio == 0.0:
        return L2(strength)
    return L1(strength) if l1_ratio == 1.0 else L1L2(l1=strength * l1_ratio, l2=strength * (1.0 - l1_ratio))


def checked_strength(name: str, value: Any, zero: bool = False) -> float:
    """The value as a float, if it is positive, or 0 where ``zero`` allows that."""
    if not is_number(value) or not (value > 0.0 or (zero and value == 0.0)):
        raise InputError(Argument(name, value), f": give a positive number{' or 0' if zero else ''}.")
    return float(value)

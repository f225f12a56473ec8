"""Losses φ(z, y), one file each.

Conventions. z is a prediction <w, x>, y a label. A loss is a ``NamedTuple`` under ``@compiled`` with

    value(z, y)                  φ(z, y), convex in z and never negative
    derivative(z, y)             φ'(z, y), or one subgradient
    conjugate(u, y)              φ*(u) = max_z uz − φ(z), inf outside its domain
    dual_step(alpha, z, y, q)    argmax_a −φ*(−a) − za − q/2·(a − alpha)²,  q > 0
    smoothness()                 1/γ, the Lipschitz constant of φ'; inf if φ is not smooth
    curvature(z, y)              φ''(z, y), either one-sided value where it jumps; for Newton steps
    is_quadratic                 a property: True where φ is a quadratic function of z, so that φ'' does not depend on z
    of_residual                  a property: True where φ is a function of y − z, so that labels may be shifted with an intercept
    boxes(y)                     losses of linear and quadratic pieces only, for arrays y: a list of (t, l, u), bounds possibly infinite,
                                 φ(z, y) = Σ max_{l ≤ a ≤ u} a·(t − z) − γ/2·a², γ = ``box_curvature``
    box_curvature                a property: γ, the same for all terms; 0 where it is missing
    lipschitz()                  the Lipschitz constant of φ itself; absent if φ is not Lipschitz
    labels                       a property: "real" (the default), "binary" (−1 and +1) or "class" (0 … K−1)
    check()                      raise ValueError on invalid parameters

For ``labels = "class"`` z, u and alpha are vectors with one entry per class, ``derivative`` and ``dual_step`` write their vector to a
last argument ``out``, and ``curvature_times(z, y, d, out)`` writes φ''(z)·d. Where φ''(z) = diag(p) − ppᵀ with Σp = 1,
``curvature_weights(z, y, out)`` writes p, from which Newton's method computes all products of a step. In a user-defined loss, ``value`` and
``derivative`` suffice for the primal solvers; dual solvers also need ``conjugate`` with ``smoothness`` (or ``dual_step``), Newton's method
``curvature``.
Solvers ask for these attributes, never for a class: a user-defined quadratic loss with ``curvature``, ``smoothness`` and ``is_quadratic``
is solved like :class:`Squared`, with Gram matrices that are computed once and exact Newton steps.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Mapping
from typing import Any

from fenchel.core.registry import members
from fenchel.losses.absolute import Absolute
from fenchel.losses.epsilon_insensitive import EpsilonInsensitive
from fenchel.losses.hinge import Hinge
from fenchel.losses.huber import Huber
from fenchel.losses.logistic import Logistic
from fenchel.losses.multiclass_hinge import MulticlassHinge
from fenchel.losses.quantile import Quantile
from fenchel.losses.smooth_hinge import SmoothHinge
from fenchel.losses.smooth_multiclass_hinge import SmoothMulticlassHinge
from fenchel.losses.softmax import Softmax
from fenchel.losses.squared import Squared
from fenchel.losses.squared_epsilon_insensitive import SquaredEpsilonInsensitive
from fenchel.losses.squared_hinge import SquaredHinge

__all__ = [
    "Absolute",
    "EpsilonInsensitive",
    "Hinge",
    "Huber",
    "Logistic",
    "MulticlassHinge",
    "Quantile",
    "SmoothHinge",
    "SmoothMulticlassHinge",
    "Softmax",
    "Squared",
    "SquaredEpsilonInsensitive",
    "SquaredHinge",
    "losses",
]


def is_loss(value: Any) -> bool:
    """Whether an object is the class of a loss."""
    return inspect.isclass(value) and all(hasattr(value, name) for name in ("_fields", "value", "derivative"))


@functools.cache
def losses() -> Mapping[str, Any]:
    """Every loss of the package by name.

    >>> losses()["smooth-hinge"]
    <class 'fenchel.losses.smooth_hinge.SmoothHinge'>
    """
    return members(sys.modules[__name__], is_loss)


def __dir__() -> list[str]:
    return sorted(__all__)

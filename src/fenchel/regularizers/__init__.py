"""Regularizers Ω(w), one file each.

Conventions. A regularizer is a ``NamedTuple`` under ``@compiled`` whose fields include its strengths. A separable
regularizer (a sum over weights; its property ``separable`` is True) has these methods for weight number j:

    term(w, j)                 the term of weight j in Ω
    conjugate_term(v, j)       max_w vw − term(w)
    link(v, j)                 the maximiser: w = ∇Ω*(v)
    prox(x, step, j)           argmin_w step·term(w) + ½(w − x)²
    derivative(w, j)           a subgradient of term
    with_l2(extra)             Ω + extra/2·‖w‖²

A non-separable regularizer depends on all weights through one sum S = Σ mass(v_j), and w_j = factor(S)·image(v_j). Both are
computed relative to a ``reference`` set by the largest |v|, and recomputed when |v| > ``outgrown``: see
:class:`fenchel.linalg.weights.Coupled`. ``value(w)``, ``conjugate(v)`` and ``gradient(w, out)`` take whole vectors, and
``dual_order()`` is the q of the norm ‖·‖_q dual to the norm in which Ω is strongly convex.

``strong_convexity()`` is 0 for a regularizer that is not strongly convex. Such a regularizer has ``reach(objective, n)``, a bound
on ‖w‖ for all w with at most the given objective, and ``domain_scale(v)``, the largest c for which Ω*(cv) is finite.
The optional ``bounded()`` says whether Ω is finite on a bounded set only, and ``radius_of_minimiser(P(0))`` is the radius of a ball that
contains the minimiser even if it is not. ``factor_of_multiple`` is the factor of ∇Ω*(c·v), where that is a multiple of ∇Ω*(v).
``times(c)`` is c·Ω, on the same domain. The property ``smooth`` is true if Ω is differentiable everywhere.

For the rounding of a lower bound: ``rising(v)`` is the sign of the direction in which Ω* grows, per weight, where that is not the sign
of v_j (it is, if Ω is smallest at w = 0), and ``cancelled(v)`` the size of what cancels in Ω*(v), where that is more than Ω*(v) itself.

The property ``is_elastic_net`` is true if Ω(w) = l1·‖w‖₁ + l2/2·‖w‖², with the attributes ``l1`` and ``l2`` (0 if absent): solvers for
ridge, lasso and elastic net penalties ask for it, never for a class. Inside :class:`Box`, a penalty that does not grow with |w| has
``coercive = False``, and one that can be negative ``nonnegative = False``; both are true by default.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Mapping
from typing import Any

from fenchel.core.registry import members
from fenchel.regularizers.box import Box, Linear
from fenchel.regularizers.entropy import Entropy
from fenchel.regularizers.l1 import L1
from fenchel.regularizers.l1l2 import L1L2
from fenchel.regularizers.l2 import L2
from fenchel.regularizers.squared_lp import SquaredLp

__all__ = ["L1", "L1L2", "L2", "Box", "Entropy", "Linear", "SquaredLp", "regularizers"]


@functools.cache
def regularizers() -> Mapping[str, Any]:
    """Every regularizer of the package by name.

    >>> regularizers()["l1-l2"](l1=0.1, l2=0.2)
    L1L2(l1=0.1, l2=0.2)
    """
    return members(sys.modules[__name__], lambda x: inspect.isclass(x) and hasattr(x, "_fields") and hasattr(x, "separable"))


def __dir__() -> list[str]:
    return sorted(__all__)

"""Regularizers Ω(w), one file each.

Conventions. A regularizer is a ``NamedTuple`` under ``@compiled``, with its strengths inside. Where Ω is a sum over
weights (the property ``separable`` is True) it says what it does to weight number j:

    term(w, j)                 its share of Ω
    conjugate_term(v, j)       max_w vw − term(w)
    link(v, j)                 the w that attains it: w = ∇Ω*(v)
    prox(x, step, j)           argmin_w step·term(w) + ½(w − x)²
    derivative(w, j)           a subgradient of term
    with_l2(extra)             Ω + extra/2·‖w‖²

Otherwise weights meet in one sum S = Σ mass(v_j), and w_j = factor(S)·image(v_j), both relative to a ``reference`` that
the largest |v| sets and |v| > ``outgrown`` makes obsolete: see :class:`fenchel.linalg.weights.Coupled`;
``value(w)``, ``conjugate(v)`` and ``gradient(w, out)`` take whole vectors, and ``dual_order()`` names the norm ‖·‖_q dual
to the one Ω is strongly convex in. ``strong_convexity()`` is 0 for a regularizer that is not; it then has
``reach(objective, n)``, how far from 0 a w can lie whose objective is at most the given one, and ``domain_scale(v)``, the
largest c for which Ω*(cv) is finite. ``bounded()``, where there is one, tells whether Ω is finite on a bounded set only;
``radius_of_minimiser(P(0))``, in what ball the minimiser lies all the same. ``factor_of_multiple`` is the factor of ∇Ω*(c·v), where
that is a multiple of ∇Ω*(v). ``times(c)`` is c·Ω, on the same domain.
The property ``smooth`` is true where Ω is differentiable everywhere. The property ``is_elastic_net`` is true where
Ω(w) = l1·‖w‖₁ + l2/2·‖w‖² with the attributes ``l1`` and ``l2`` (0 where absent): solvers for ridge, lasso and elastic net penalties ask
for it, never for a class. Inside :class:`Box`, a penalty that does not grow with |w| has ``coercive = False``, and one that can be
negative ``nonnegative = False``; both are true by default.
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

    >>> sorted(regularizers())
    ['box', 'entropy', 'l1', 'l1-l2', 'l2', 'squared-lp']
    """
    return members(sys.modules[__name__], lambda x: inspect.isclass(x) and hasattr(x, "separable"))


def __dir__() -> list[str]:
    return sorted(__all__)

"""Solvers, one file each: a generator of iterates that knows its algorithm and nothing else.

A solver is a function ``solve(problem, *, start, rng, accuracy, **options)`` under ``@solver``. It yields an
:class:`~fenchel.problems.result.Iterate` after every pass or so; clock, tolerance, history and progress belong to
:func:`fenchel.minimize`. ``accuracy`` is the absolute gap wanted, for methods whose parameters depend on it.
Its keyword options are the user's: they are checked by name against the signature.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from types import MappingProxyType

from fenchel.core.registry import members
from fenchel.solvers.declaration import Solver, solver

__all__ = ["Solver", "solver", "solvers"]


@functools.cache
def solvers() -> Mapping[str, Solver]:
    """Every solver of the package by name.

    >>> "sdca" in solvers()
    True
    """
    found = members(sys.modules[__name__], lambda x: isinstance(x, Solver))
    return MappingProxyType({entry.name: entry for entry in found.values()})


def __dir__() -> list[str]:
    return sorted(__all__)

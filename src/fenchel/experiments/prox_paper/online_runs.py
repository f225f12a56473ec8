"""Runs of Pegasos, Adaptive and Proximal on the nine data sets of Table 1

Adaptive has the paper's constants: G = max ‖x_i‖ + √λ and R = 1/√λ. Proximal is Algorithm 3 with ε = 0, as in section 5: ``optimistic``
with the printed rule; beside it our default rule. Every method makes passes of steps on single random rows, and the objective is
evaluated after each.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from fenchel.experiments import paper_data
from fenchel.experiments.course import CoursePoint, points
from fenchel.experiments.paper_data import PaperData
from fenchel.losses import Hinge
from fenchel.problems.problem import Problem
from fenchel.regularizers import L2

PASSES = 100
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "Pegasos": ("pegasos", {}),
    "Adaptive": ("adaptive", {"rule": "printed"}),
    "Proximal": ("optimistic", {"rule": "printed"}),
    "optimistic": ("optimistic", {}),
}
PAPERS_OWN = ("Pegasos", "Adaptive", "Proximal")


class Printed(NamedTuple):
    """A line of the paper's table: best losses and passes to 99 % of the reduction, None for n/a."""

    load: Callable[[bool], PaperData]
    strength: float
    losses: tuple[float, float, float]
    passes: tuple[float | None, float | None, float | None]
    at_hand: bool = True  # the very set of the table, not a substitute


TABLE = {
    "a9a": Printed(paper_data.a9a, 1e-4, (0.3537, 0.3531, 0.3533), (28, 19, 18)),
    "combined": Printed(paper_data.combined, 1e-9, (0.5299, 0.2760, 0.2336), (100, 99, 8), False),
    "connect-4": Printed(paper_data.connect_4, 1e-7, (6.8229, 0.9698, 0.5136), (None, 99, 63)),
    "covtype": Printed(paper_data.covtype, 1e-8, (1.4852, 0.7217, 0.5830), (None, 96, 12)),
    "ijcnn1": Printed(paper_data.ijcnn1, 1e-7, (0.3582, 0.2088, 0.1857), (89, 98, 3)),
    "mnist": Printed(paper_data.mnist, 1e-5, (0.1200, 0.1033, 0.1012), (75, 28, 3)),
    "rcv1": Printed(paper_data.rcv1, 1e-7, (0.0084, 0.0035, 0.0487), (53, 10, 83), False),
    "real-sim": Printed(paper_data.real_sim, 1e-5, (0.0602, 0.0602, 0.0602), (6, 5, 7), False),
    "w8a": Printed(paper_data.w8a, 1e-8, (1.5146, 0.1391, 0.1292), (None, 45, 13)),
}
ON_SETS = (
    "Hinge loss. At hand are a9a, connect-4 (win against the rest, a random fifth for testing), covtype (class 2 against the rest, "
    "columns scaled to [0, 1], 116,204 random rows for testing), ijcnn1 (first 35,000 rows), mnist (digit 9 against the rest, pixels "
    "divided by 255; the paper does not say which class) and w8a. Substitutes: for rcv1 20,242 other documents of RCV1-v2, for real-sim "
    "generated text, for combined two generated Gaussian classes, all of the sizes of the paper."
)


@functools.lru_cache(maxsize=1)
def loaded(name: str, quick: bool) -> PaperData:
    return TABLE[name].load(quick)


def problem_of(name: str, factor: float, quick: bool) -> Problem:
    """An SVM with λ_best times a factor."""
    data = loaded(name, quick)
    return Problem(data.X, data.y, Hinge(), L2(TABLE[name].strength * factor))


def run(problem: Problem, method: str, quick: bool, seed: int = 0) -> list[CoursePoint]:
    """The iterates of a method after every pass, from the origin on."""
    solver, options = METHODS[method]
    return points(problem, solver, 20 if quick else PASSES, seed=seed, sampling="replacement", batch=1, **options)

"""Figure 3 of Do, Le & Foo (ICML 2009): bundle methods for weak regularization, on RNA folding and on ranking

The best objective by the number of oracle calls (each decodes every example once), and the number of calls after which each method has
made 90 % of the progress of the best method.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import fenchel as fl
from benchmarks.common import show
from benchmarks.tasks import mq2008, rna
from fenchel.solvers import solvers
from fenchel.structured import Problem, Ranking, RnaFold, grouped

STRENGTHS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
MARKS = (10, 25, 50, 100)
SHARE = 0.9
WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "bundle": ("bundle", {}),
    "printed": ("proximal-bundle", {"rule": "printed"}),
    "centred": ("proximal-bundle", {}),
}


def problems() -> dict[str, Problem]:
    """The first three parts of MQ2008, and S-151, if they are available."""
    found = {}
    data, halves = mq2008.parts(), rna.halves()
    if data is not None:
        X, y, qid = mq2008.fold(data, 0)[0]
        groups = grouped(X, y, qid)
        found["MQ2008"] = Problem(Ranking(10), groups.X, groups.y, fl.L2(1.0))
    if halves is not None:
        found["S-151"] = Problem(RnaFold(), *rna.columns(halves["A"] + halves["B"]), fl.L2(1.0))
    return found


def course(problem: Problem, solver: str, options: dict[str, Any]) -> np.ndarray:
    """The best objective after each call; constant after a method has finished."""
    iterates = solvers()[solver].run(problem, start=None, rng=np.random.default_rng(0), accuracy=1e-4 * problem.scale, **options)
    values = [problem.objective(iterate.w, iterate.z) for iterate in itertools.islice(iterates, MARKS[-1])]
    return np.minimum.accumulate(values + values[-1:] * (MARKS[-1] - len(values)))


def calls_to(course: np.ndarray, level: float) -> str:
    """The number of calls until the objective is at or below the level."""
    below = np.flatnonzero(course <= level * (1.0 + 1e-9))
    return str(below[0] + 1) if len(below) else f"over {len(course)}"


def run() -> None:
    rows: list[list[object]] = []
    for name, problem in problems().items():
        for strength in STRENGTHS:
            part = problem.replace(regularizer=fl.L2(strength))
            found = {way: course(part, *how) for way, how in WAYS.items()}
            first, last = found["bundle"][0], min(values[-1] for values in found.values())
            level = first - SHARE * (first - last)
            for way, values in found.items():
                rows.append([name, f"{strength:g}", way, *(f"{values[mark - 1]:.4f}" for mark in MARKS), calls_to(values, level)])
    heads = ["data", "l2", "method", *(f"after {mark}" for mark in MARKS), "calls to 90 %"]
    show("bundle methods for weak regularization: best objective by number of oracle calls", heads, rows)

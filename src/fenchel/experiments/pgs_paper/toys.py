"""Figure 9: steps to a good direction on Gaussian toys"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from fenchel.datasets import make_gaussians
from fenchel.experiments.experiment import Claim, Experiment, Finding, Part, Rows, judged
from fenchel.experiments.inverse_time import FIRST, GROWTH, Steps
from fenchel.experiments.pgs_paper.medians import last_to_first, medians
from fenchel.losses import Logistic
from fenchel.plots.panel_figure import Curve, Panel
from fenchel.problems.problem import Problem
from fenchel.regularizers import L2

DIMENSIONS, WANTED_ERROR, TOY_ROWS = (10, 20, 40), 0.05, 200_000
TOY_STRENGTHS = (1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2)


def toy_steps(problem: Problem, w_best: np.ndarray, seed: int, most: int) -> float:
    """Steps until the direction of w is close to that of the best plane."""
    run, rows, at = Steps(problem, seed), problem.sample(), FIRST
    while run.taken < most:
        run.advance(rows, at - run.taken)
        w = run.weights()
        length = float(np.linalg.norm(w))
        if length > 0.0 and float(np.linalg.norm(w / length - w_best)) <= WANTED_ERROR:
            return float(run.taken)
        at = math.ceil(GROWTH * at)
    return math.inf


def toy_rows(n: int, rows: int, runs: int, quick: bool) -> list[dict[str, Any]]:
    """Steps of every run at the strength that needs fewest; each run draws its own rows."""
    X, y, w_best = make_gaussians(TOY_ROWS // (8 if quick else 1), n, seed=n)

    def drawn(seed: int, strength: float) -> Problem:
        chosen = np.random.default_rng(seed).choice(len(y), rows, replace=False)
        return Problem(X[chosen], y[chosen], Logistic(), L2(strength))

    def typical(strength: float) -> float:
        return float(np.median([toy_steps(drawn(seed, strength), w_best, seed, 20 * rows) for seed in range(5 if quick else 15)]))

    strength = min(TOY_STRENGTHS, key=typical)
    steps = [toy_steps(drawn(seed, strength), w_best, seed, 20 * rows) for seed in range(1000, 1000 + runs)]
    return [{"method": f"{n} dimensions", "m": rows, "strength": strength, "run": k, "iterations": s} for k, s in enumerate(steps)]


def toy_parts(quick: bool) -> list[Part]:
    counts = [(TOY_ROWS // (8 if quick else 1)) // 2**k for k in range(3 if quick else 5, -1, -1)]
    runs = 9 if quick else 150
    return [
        Part(f"{n} dimensions, {m} rows", functools.partial(toy_rows, n, m, runs, quick))
        for n in DIMENSIONS[: 1 if quick else 3]
        for m in counts
    ]


def toy_iterations_fall(rows: Rows) -> Finding:
    ratios = {name: last_to_first(rows, "iterations", method=name) for name in rows.values("method")}
    numbers = {f"iterations at the largest m by those at the smallest, {name}": value for name, value in ratios.items()}
    return judged({name: value < 1.0 for name, value in ratios.items()}, numbers)


def toy_panels(rows: Rows) -> list[Panel]:
    curves = []
    for name in rows.values("method"):
        m, y = medians(rows, "iterations", method=name)
        curves.append(Curve(name, m, np.where(np.isfinite(y), y, np.nan)))
    return [Panel(f"‖w* − w‖ ≤ {WANTED_ERROR}", "training rows m", "iterations", curves, log_x=True, log_y=True)]


FIGURE_9 = Experiment(
    "pgs-fig9",
    "Inverse dependency on Gaussian toys",
    "Figure 9",
    "pgs",
    "Two Gaussian classes in 10, 20 and 40 dimensions, 200,000 rows, of which every run draws m; separation 2, condition 10 (not in the "
    "paper).",
    toy_parts,
    (
        Claim(
            "Figure 9 confirms the property in (12): the number of iterations decreases as the number of samples increases.",
            "section V, Figure 9",
            "In every dimension the median of the iterations is smaller at the largest m than at the smallest m that gets there.",
            toy_iterations_fall,
        ),
    ),
    toy_panels,
)

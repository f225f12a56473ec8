"""Figures 1 and 2: training loss and test error against passes, for falling λ"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from fenchel.experiments.course import error_rate
from fenchel.experiments.experiment import Claim, Experiment, Finding, Part, Rows, judged
from fenchel.experiments.prox_paper.online_runs import METHODS, ON_SETS, PAPERS_OWN, loaded, problem_of, run
from fenchel.plots.panel_figure import Curve, Panel

FACTORS = (100.0, 10.0, 1.0)  # rows of the figures, from the top
SHOWN = ("combined", "covtype")


def measured(name: str, factor: float, method: str, quick: bool) -> list[dict[str, Any]]:
    """Objective and test error after every pass."""
    data, problem = loaded(name, quick), problem_of(name, factor, quick)
    common = {"data": name, "note": data.note, "strength": problem.regularizer.l2, "factor": factor, "method": method}
    return [
        {**common, "passes": p.passes, "objective": p.objective, "test error": error_rate(data.X_test, data.y_test, p.w)}
        for p in run(problem, method, quick)
    ]


def curve_parts(quick: bool) -> list[Part]:
    """One for each data set, factor and method."""
    return [
        Part(f"{name}, {factor:g} λ_best, {method}", functools.partial(measured, name, factor, method, quick))
        for name in SHOWN[-1 if quick else 0 :]
        for factor in FACTORS
        for method in METHODS
    ]


def curve_panels(column: str, rows: Rows) -> list[Panel]:
    """A column of panels for each data set, λ_best at the bottom."""
    found = []
    for factor in rows.values("factor"):
        for name in rows.values("data"):
            part = rows.where(data=name, factor=factor)
            curves = []
            for method in part.values("method"):
                run = part.where(method=method)
                curves.append(Curve(method, run["passes"][1:], np.minimum(run[column][1:], 10.0)))
            found.append(Panel(f"{name}, λ = {part['strength'][0]:g}", "effective iterations", column, curves, log_y=True))
    return found


def advantage(column: str, rows: Rows) -> Finding:
    """At every λ Proximal ends below the others, and its advantage is larger at λ_best than at 100·λ_best."""
    checks: dict[str, bool] = {}
    numbers: dict[str, Any] = {}
    for name in rows.values("data"):
        ratios = {}
        for factor in rows.values("factor"):
            part = rows.where(data=name, factor=factor)
            last = {m: float(np.median(part.where(method=m)[column][-10:])) for m in PAPERS_OWN}
            ratios[factor] = min(last["Pegasos"], last["Adaptive"]) / last["Proximal"]
            checks[f"{name}, {factor:g} λ_best"] = ratios[factor] >= 1.0
            numbers[f"{column}, {name}, {factor:g} λ_best: best of the others by Proximal"] = ratios[factor]
        checks[f"{name}, more for smaller λ"] = ratios[min(ratios)] >= ratios[max(ratios)]
    return judged(checks, numbers)


BY_CHANCE = (
    "The curves are those of one seed. On the substitute for combined at λ_best the median objective of the last ten passes is 2.9, 0.26, "
    "1.6, 3.0 and 0.40 with five seeds, where that of Adaptive is 1.7 to 1.9; at 100 λ_best 0.50, 0.26, 0.51, 0.51 and 0.39, where it is "
    "0.37 to 0.38. Whether it is ahead is decided by how often the printed rule doubles its guess of R²: the last weights have norms of "
    "120, 7.6, 67, 132 and 15, and those of the optimum 6.5. With our default rule, which follows the norm of the weights, all seeds end "
    "at 0.241 at both λ. On covtype, whose rows are the paper's, it is ahead at λ_best and 10 λ_best, and 0.1 % behind at 100 λ_best."
)
BY_CHANCE_IN_TESTING = (
    "On the substitute for combined it is the seed that decides, as in Figure 1. On covtype, whose rows are the paper's, Proximal is "
    "ahead at λ_best and 0.3 % behind at the other two, where the three errors hardly differ."
)


def curve_claim(figure: int, column: str) -> Claim:
    return Claim(
        "As shown, the proximal algorithm enjoys a comfortable advantage over the other methods, especially for small λ_best.",
        f"section 5.1, Figure {figure}",
        f"At every λ the median {column} of its last ten passes is at most that of Pegasos and Adaptive, and by a larger factor at λ_best "
        "than at 100 λ_best.",
        functools.partial(advantage, column),
        BY_CHANCE if column == "objective" else BY_CHANCE_IN_TESTING,
    )


CURVES = tuple(
    Experiment(
        f"prox-fig{number}",
        f"{title} for falling λ",
        f"Figure {number}",
        "prox",
        ON_SETS,
        curve_parts,
        (curve_claim(number, column),),
        functools.partial(curve_panels, column),
        columns=2,
    )
    for number, column, title in ((1, "objective", "Training loss"), (2, "test error", "Test error"))
)

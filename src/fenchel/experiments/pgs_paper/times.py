"""Figures 5 to 8: seconds to a given accuracy against the number of rows"""

from __future__ import annotations

import functools
import math

import numpy as np

from fenchel.experiments.experiment import Claim, Experiment, Finding, Part, Rows, judged
from fenchel.experiments.pgs_paper.medians import growth, last_to_first, percent, time_panels
from fenchel.experiments.pgs_paper.text_runs import ON_CCAT, quasi_newton_rows, row_counts, time_rows

GROWS = 0.1  # exponent of m from which seconds count as growing with m


def pgs_time_does_not_grow(rows: Rows) -> Finding:
    methods = [method for method in rows.values("method") if method != "quasi-Newton"]
    grown = {f"{name}, {percent(a)}": growth(rows, "seconds", method=name, accuracy=a) for name in methods for a in rows.values("accuracy")}
    return judged({name: value <= GROWS for name, value in grown.items()}, {f"exponent of m, {name}": v for name, v in grown.items()})


def quasi_newton_time_grows(rows: Rows) -> Finding:
    grown = {percent(a): growth(rows, "seconds", method="quasi-Newton", accuracy=a) for a in rows.values("accuracy")}
    return judged({name: value > GROWS for name, value in grown.items()}, {f"exponent of m, {name}": v for name, v in grown.items()})


def quasi_newton_iterations_fall(rows: Rows) -> Finding:
    fallen = {percent(a): last_to_first(rows, "iterations", method="quasi-Newton", accuracy=a) for a in rows.values("accuracy")}
    numbers = {f"iterations at the largest m by those at the smallest, {name}": value for name, value in fallen.items()}
    return judged({name: value < 1.0 for name, value in fallen.items()}, numbers)


def quasi_newton_is_slower(rows: Rows) -> Finding:
    m, accuracy = max(rows.values("m")), max(rows.values("accuracy"))
    seconds = {name: float(np.median(rows.where(method=name, m=m, accuracy=accuracy)["seconds"])) for name in rows.values("method")}
    theirs = seconds.pop("quasi-Newton")
    ratios = {name: theirs / value for name, value in seconds.items()}
    checks = {name: math.isfinite(theirs) and ratio >= 10.0 for name, ratio in ratios.items()}
    return judged(checks, {"seconds of quasi-Newton": theirs, **{f"quasi-Newton by {name}": ratio for name, ratio in ratios.items()}})


FIGURE_5 = (
    Claim(
        "Except for the Quasi-Newton algorithm, the running time of our Primal Gradient Solver does not increase as the sample size m "
        "increases, for both p = 2 and p = 1.8.",
        "section V, Figure 5",
        f"For p = 2 and p = 1.8 and every accuracy, median seconds grow with m by an exponent of at most {GROWS}.",
        pgs_time_does_not_grow,
    ),
    Claim(
        "Because each iteration in QN has a time complexity related to m, the total running time of QN still increases.",
        "section V, Figure 5",
        f"At every accuracy its seconds grow with m by an exponent above {GROWS}.",
        quasi_newton_time_grows,
    ),
    Claim(
        "In the experiment of QN, we also discover the number of iterations inversely dependent on m.",
        "section V",
        "At every accuracy it takes fewer iterations at the largest m than at the smallest m that reaches it.",
        quasi_newton_iterations_fall,
    ),
    Claim(
        "QN can achieve an accuracy of the same level as PGS, namely, higher than 94.5%; its running time is above 600 seconds.",
        "section V, Figure 5",
        "On all rows it reaches the highest accuracy, in at least ten times the seconds of PGS (in the paper about 600 against 10 to 60).",
        quasi_newton_is_slower,
    ),
)


def time_falls(rows: Rows) -> Finding:
    """Inverse dependency: less time at the largest m than at the smallest that reaches the accuracy."""
    ratios = {percent(a): last_to_first(rows, "seconds", accuracy=a) for a in rows.values("accuracy")}
    steps = {percent(a): last_to_first(rows, "iterations", accuracy=a) for a in rows.values("accuracy")}
    numbers = {f"seconds at the largest m by those at the smallest, {name}": value for name, value in ratios.items()}
    numbers |= {f"iterations, {name}": value for name, value in steps.items()}
    return judged({name: value < 1.0 for name, value in ratios.items()}, numbers)


def inverse_dependency(figure: int) -> tuple[Claim, ...]:
    return (
        Claim(
            "The experimental results in Figure 6, Figure 7, Figure 8 and Figure 9 all confirm the property in (12): training time "
            "decreases as the number of samples increases.",
            f"section V, Figure {figure}",
            "At every accuracy the median seconds are fewer at the largest m than at the smallest m that reaches it.",
            time_falls,
        ),
    )


def time_parts(name: str, quick: bool) -> list[Part]:
    runs = 3 if quick else 20
    return [Part(f"{name}, {m} rows", functools.partial(time_rows, name, m, runs, quick)) for m in row_counts(quick)]


def figure_5_parts(quick: bool) -> list[Part]:
    runs, names = (1, ["l2-logistic"]) if quick else (5, ["l2-logistic", "l1.8-logistic"])
    counts = row_counts(quick)
    return [
        *(Part(f"{name}, {m} rows", functools.partial(time_rows, name, m, runs, quick)) for name in names for m in counts),
        *(Part(f"quasi-Newton, {m} rows", functools.partial(quasi_newton_rows, m, quick)) for m in counts),
    ]


FIGURES = (
    Experiment("pgs-fig5", "Running time to a given accuracy", "Figure 5", "pgs", ON_CCAT, figure_5_parts, FIGURE_5, time_panels),
    *(
        Experiment(
            f"pgs-fig{number}",
            f"Inverse dependency, {name}",
            f"Figure {number}",
            "pgs",
            ON_CCAT,
            functools.partial(time_parts, name),
            inverse_dependency(number),
            time_panels,
        )
        for number, name in ((6, "l2-logistic"), (7, "l2-least-squares"), (8, "l1.8-logistic"))
    ),
)

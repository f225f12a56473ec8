"""Table II: accuracy and training time at the best strength"""

from __future__ import annotations

import functools
import time
from typing import Any

import numpy as np

from fenchel.experiments.course import error_rate
from fenchel.experiments.experiment import Claim, Experiment, Finding, Part, Rows, Table, judged
from fenchel.experiments.inverse_time import Steps
from fenchel.experiments.pgs_paper.text_runs import DATA_SETS, GENERATED, MODELS, ON_CCAT, SUBSET, accuracies, model, quasi_newton, text
from fenchel.plots.panel_figure import Curve, Panel

PRINTED = {  # strength, accuracy of quasi-Newton and of PGS with its deviation, seconds
    "l2-logistic": (1e-6, 0.94799, 0.94735, 0.00042, 55.0),
    "l1.8-logistic": (4e-7, 0.94808, 0.94763, 0.00035, 576.0),
    "l2-least-squares": (2e-5, 0.94687, 0.94615, 0.00060, 22.0),
}
TABLE_PASSES = {GENERATED: 3, SUBSET: 30}


def table_rows(name: str, data_set: str, runs: int, quick: bool) -> list[dict[str, Any]]:
    """The converged accuracy at every strength, and that of runs of PGS at the best."""
    data = text(quick, data_set)
    converged = {s: quasi_newton(name, data, len(data.y), s, 20 if quick else 100)[-1][2] for s in MODELS[name][2]}
    best = {s: max(a for _, a in accuracies(model(name, data, len(data.y), s), data, 1, 3 * len(data.y))) for s in converged}
    strength = max(best, key=lambda s: best[s])
    problem, passes = model(name, data, len(data.y), strength), TABLE_PASSES[data_set]
    found = []
    for seed in range(runs):
        clock = time.perf_counter()
        run = Steps(problem, seed)
        run.advance(problem.sample(), passes * problem.m)
        seconds = time.perf_counter() - clock
        accuracy = 1.0 - error_rate(data.X_test, data.y_test, run.weights())
        row = {"model": name, "data": data_set, "m": problem.m, "strength": strength, "run": seed, "accuracy": accuracy, "seconds": seconds}
        found.append({**row, "quasi-Newton": max(converged.values())})
    return found


def table_parts(quick: bool) -> list[Part]:
    runs = 5 if quick else 20
    sets = [GENERATED] if quick else list(DATA_SETS)
    return [Part(f"{name}, {data}", functools.partial(table_rows, name, data, runs, quick)) for data in sets for name in MODELS]


def same_level(rows: Rows) -> Finding:
    checks: dict[str, bool] = {}
    numbers: dict[str, Any] = {}
    for data in rows.values("data"):
        for name in rows.values("model"):
            found = rows.where(model=name, data=data)
            less = float(found["quasi-Newton"][0] - np.median(found["accuracy"]))
            checks[f"{name}, {data}"] = less <= 2e-3
            numbers[f"{name}, {data}: accuracy of quasi-Newton less the median of PGS"] = less
            numbers[f"{name}, {data}: standard deviation"] = float(np.std(found["accuracy"]))
    return judged(checks, numbers)


def minutes(rows: Rows) -> Finding:
    limits = {"l2-logistic": 60.0, "l2-least-squares": 60.0, "l1.8-logistic": 600.0}
    seconds = {name: float(np.median(rows.where(model=name, data=GENERATED)["seconds"])) for name in rows.values("model")}
    return judged({name: seconds[name] <= limits[name] for name in seconds}, {f"seconds, {name}": value for name, value in seconds.items()})


def p_18_is_better(rows: Rows) -> Finding:
    checks: dict[str, bool] = {}
    numbers: dict[str, Any] = {}
    for data in rows.values("data"):
        least, most = (float(np.median(rows.where(model=name, data=data)["accuracy"])) for name in ("l2-logistic", "l1.8-logistic"))
        checks[data] = most > least
        numbers[f"{data}: accuracy with p = 1.8 less that with p = 2"] = most - least
    return judged(checks, numbers)


CLAIMS = (
    Claim(
        "Results in TABLE II indicate that our Primal Gradient Solver can obtain the accuracy on the same level as Quasi-Newton.",
        "section V, Table II",
        "The median accuracy is within 0.2 % of that of quasi-Newton (in the table within 0.07 %).",
        same_level,
    ),
    Claim(
        "The training time is within 1 minute for l2 regularized ones, and within 10 minutes for the l1.8 regularized one.",
        "section V, Table II",
        "So it is on generated text of the paper's size.",
        minutes,
    ),
    Claim(
        "Experimental results show that p = 1.8 does slightly better than others (for instance, TABLE II).",
        "section VII",
        "Its median accuracy is higher than that of p = 2.",
        p_18_is_better,
        "p and σ (four values for each power of ten) were varied for quasi-Newton on the subset of RCV1: the highest test accuracies are "
        "93.83 % (p = 1.5), 93.88 % (1.65), 93.95 % (1.8), 93.92 % (1.9) and 93.93 % (2): p = 1.8 is first, by one document of 5,522. On "
        "the grid of the table, two values for each power of ten, it is not, nor on generated text. The printed difference is smaller "
        "than the printed deviations, and two documents of 10,000, where the standard error of an accuracy is 15: nothing tells the two p "
        "apart.",
    ),
)


def beside_printed(rows: Rows) -> Table:
    """The columns of the paper's table, ours and the printed ones."""
    heads = ["model", "data", "σ: printed / ours", "quasi-Newton: printed / ours", "PGS: printed / ours", "seconds: printed / ours"]
    lines = []
    for data in rows.values("data"):
        for name in rows.values("model"):
            part, (strength, theirs, pgs, deviation, seconds) = rows.where(model=name, data=data), PRINTED[name]
            own = f"{np.median(part['accuracy']):.5f} ± {np.std(part['accuracy']):.5f}"
            lines.append(
                [
                    name,
                    data,
                    f"{strength:g} / {part['strength'][0]:g}",
                    f"{theirs:.5f} / {part['quasi-Newton'][0]:.5f}",
                    f"{pgs:.5f} ± {deviation:.5f} / {own}",
                    f"{seconds:g} / {np.median(part['seconds']):.3g}",
                ]
            )
    return Table(heads, lines)


def table_panels(rows: Rows) -> list[Panel]:
    names = list(MODELS)
    accuracy, seconds = [], []
    for data in rows.values("data"):
        found = [rows.where(model=name, data=data) for name in names]
        accuracy.append(Curve(f"PGS, {data}", range(len(names)), [100.0 * np.median(part["accuracy"]) for part in found]))
        accuracy.append(Curve(f"quasi-Newton, {data}", range(len(names)), [100.0 * part["quasi-Newton"][0] for part in found]))
        seconds.append(Curve(f"PGS, {data}", range(len(names)), [np.median(part["seconds"]) for part in found]))
    accuracy.append(Curve("PGS, printed", range(len(names)), [100.0 * PRINTED[name][2] for name in names], is_printed=True))
    seconds.append(Curve("PGS, printed", range(len(names)), [PRINTED[name][4] for name in names], is_printed=True))
    return [
        Panel("accuracy", "", "test accuracy, %", accuracy, names=names),
        Panel("training time", "", "seconds", seconds, log_y=True, names=names),
    ]


TABLE_2 = Experiment(
    "pgs-table2",
    "Accuracy and training time at the best strength",
    "Table II",
    "pgs",
    f"{ON_CCAT} Beside it 22,091 real documents of RCV1-v2 (rcv1sub.ccat) with 5,522 for testing.",
    table_parts,
    CLAIMS,
    table_panels,
    columns=2,
    table=beside_printed,
)

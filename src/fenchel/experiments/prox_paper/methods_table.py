"""Table 1: best training loss of three online methods, and passes until 99 % of the reduction"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from fenchel.experiments.course import CoursePoint, optimum
from fenchel.experiments.experiment import Claim, Experiment, Finding, Part, Rows, Table, judged
from fenchel.experiments.prox_paper.online_runs import METHODS, ON_SETS, PAPERS_OWN, TABLE, loaded, problem_of, run
from fenchel.plots.panel_figure import Curve, Panel

REDUCTION = 0.99
CLOSE = 1.03  # our loss by the printed one, at most
SEEDS = 5


def passes_to_reduction(course: list[CoursePoint]) -> float:
    """Passes until 99 % of the reduction that the method reaches; infinite if it never gets below the start."""
    start, best = course[0].objective, min(point.objective for point in course[1:])
    if not best < start:
        return math.inf
    return next(point.passes for point in course if point.objective <= start - REDUCTION * (start - best))


def measured(name: str, method: str, quick: bool) -> list[dict[str, Any]]:
    """The best loss and the passes of every run."""
    problem, found = problem_of(name, 1.0, quick), []
    for seed in range(1 if quick else SEEDS):
        course = run(problem, method, quick, seed)
        best = min(point.objective for point in course[1:])
        row = {"data": name, "note": loaded(name, quick).note, "strength": TABLE[name].strength, "method": method, "seed": seed}
        found.append({**row, "best": best, "passes": passes_to_reduction(course)})
    return found


def certified(name: str, quick: bool) -> list[dict[str, Any]]:
    """The smallest possible objective, between that of a point and a bound."""
    problem = problem_of(name, 1.0, quick)
    objective, bound = optimum(problem, tol=1e-4, time_limit=5.0 if quick else 120.0)
    return [{"data": name, "method": "certified", "best": objective, "bound": bound}]


def parts(quick: bool) -> list[Part]:
    """One for each data set and method."""
    found = []
    for name in ["a9a", "covtype"] if quick else TABLE:
        found += [Part(f"{name}, {method}", functools.partial(measured, name, method, quick)) for method in METHODS]
        found.append(Part(f"{name}, certified", functools.partial(certified, name, quick)))
    return found


def median(rows: Rows, column: str, data: str, method: str) -> float:
    return float(np.median(rows.where(data=data, method=method)[column]))


def best_on_most(rows: Rows) -> Finding:
    names = rows.values("data")
    best = {(name, method): median(rows, "best", name, method) for name in names for method in METHODS}
    wins = [name for name in names if best[name, "Proximal"] <= min(best[name, method] for method in PAPERS_OWN)]
    checks = {"most data sets": len(wins) > 0.5 * len(names), "7 of 9 data sets": len(wins) >= 7 * len(names) / 9}
    numbers = {f"best loss, {name}, {method}": value for (name, method), value in best.items()}
    return judged(checks, {"data sets on which Proximal is best": f"{len(wins)} of {len(names)}", **numbers})


def few_passes(rows: Rows) -> Finding:
    found = {name: {method: median(rows, "passes", name, method) for method in METHODS} for name in rows.values("data")}
    checks = {name: passes["Proximal"] <= min(passes["Pegasos"], passes["Adaptive"]) for name, passes in found.items()}
    numbers = {f"passes, {name}, {method}": value for name, passes in found.items() for method, value in passes.items()}
    return judged(checks, numbers)


def is_at_hand(rows: Rows, name: str) -> bool:
    return TABLE[name].at_hand and "generated" not in rows.where(data=name, method="Proximal")["note"][0]


def losses_as_printed(rows: Rows) -> Finding:
    checks: dict[str, bool] = {}
    numbers: dict[str, Any] = {}
    for name in rows.values("data"):
        if is_at_hand(rows, name):
            printed = TABLE[name].losses[2]
            by = {method: median(rows, "best", name, method) / printed for method in ("Proximal", "optimistic")}
            checks[name] = min(by.values()) <= CLOSE
            numbers |= {f"{name}: median best loss by the printed one, {method}": ratio for method, ratio in by.items()}
    return judged(checks, numbers or {"data": "none of the sets is at hand"})


CLAIMS = (
    Claim(
        "The Proximal algorithm achieves the best objective on 7 out of 9 datasets.",
        "section 5.1, Table 1",
        "Its median best loss is the least of the three methods on at least 7 of 9 sets, in part on more than half.",
        best_on_most,
        "Adaptive is first on a9a (0.3533 against 0.3534) and rcv1, as in the printed table. The paper's third set in question, combined, "
        "cannot be had; its substitute is two Gaussian classes whose distance was varied. Best losses of Adaptive and Proximal, medians "
        "of 3 runs: 2.6 and 4.2 at a distance of 2 (least loss 0.385), 1.67 and 0.44 at 2.6 (0.237), 1.15 and 0.18 at 3 (0.166), 0.40 and "
        "0.06 at 4 (0.058): Proximal is ahead unless the classes overlap much. The distance 2.6 is used, at which the least loss is the "
        "one that the paper reaches, 0.2336.",
    ),
    Claim(
        "… while consistently requiring few effective iterations.",
        "section 5.1, Table 1",
        "On every set its median passes to 99 % of its reduction are no more than those of Pegasos and Adaptive to theirs.",
        few_passes,
        "Two of the sets on which this fails are those of the printed table: rcv1 (83 passes against 10 of Adaptive) and real-sim (7 "
        "against 5). On a9a the table has 18 against 19, and we have 21 against 19: single runs of Proximal need 6 to 28 and of Adaptive "
        "11 to 23, so that their order is that of the seeds. On rcv1 the loss stays high as well, as it does in the table: the rule "
        "raises its guess of ‖w*‖ to the largest possible norm, 3,162, within the first pass, where ‖w*‖ is 87, and steps stay long; it "
        "does so whether it starts from its own guess, ‖w*‖, a tenth or a hundredth of ‖w*‖ (best losses 0.047, 0.049, 0.068 and 0.057). "
        "With our default rule the passes on the three sets are 2, 6 and 6, and its loss is the least on all three.",
    ),
    Claim(
        "Best training loss of Proximal: a9a 0.3533, connect-4 0.5136, covtype 0.5830, ijcnn1 0.1857, mnist 0.1012, w8a 0.1292.",
        "Table 1",
        "On the sets at hand, with the printed or our default rule, the median best loss is at most 3 % above the printed one.",
        losses_as_printed,
    ),
)


def certified_range(rows: Rows, name: str) -> str:
    return f"{rows.one('bound', data=name, method='certified'):.4f} to {rows.one('best', data=name, method='certified'):.4f}"


def count_or_none(passes: float | None) -> str:
    """Passes as the paper prints them."""
    return "n/a" if passes is None or math.isinf(passes) else f"{passes:.3g}"


def beside_printed(rows: Rows) -> Table:
    """Best losses and passes, ours (medians over the seeds) and the printed ones."""
    losses = [f"{method}: printed / ours" for method in PAPERS_OWN]
    heads = ["data", "λ_best", *losses, "our default rule", "certified optimum", *(f"passes, {head}" for head in losses)]
    lines = []
    for name in rows.values("data"):
        printed = TABLE[name]
        both = list(zip(PAPERS_OWN, printed.losses, printed.passes, strict=True))
        best = [f"{loss:.4f} / {median(rows, 'best', name, method):.4f}" for method, loss, _ in both]
        passes = [f"{count_or_none(count)} / {count_or_none(median(rows, 'passes', name, method))}" for method, _, count in both]
        title = name if is_at_hand(rows, name) else f"{name} (substitute)"
        ours = f"{median(rows, 'best', name, 'optimistic'):.4f}"
        lines.append([title, f"{printed.strength:g}", *best, ours, certified_range(rows, name), *passes])
    return Table(heads, lines)


def panels(rows: Rows) -> list[Panel]:
    """Best losses and passes by data set."""
    names = rows.values("data")
    where = range(len(names))
    losses = [Curve(method, where, [median(rows, "best", name, method) for name in names]) for method in METHODS]
    losses.append(Curve("certified optimum", where, [rows.one("best", data=name, method="certified") for name in names]))
    losses.append(Curve("Proximal, printed", where, [TABLE[name].losses[2] for name in names], is_printed=True))
    passes = [Curve(method, where, [median(rows, "passes", name, method) for name in names]) for method in METHODS]
    passes.append(Curve("Proximal, printed", where, [TABLE[name].passes[2] or math.nan for name in names], is_printed=True))
    return [
        Panel("best training loss", "", "objective", losses, log_y=True, names=names),
        Panel("passes to 99 % of the reduction", "", "passes", passes, log_y=True, names=names),
    ]


TABLE_1 = Experiment(
    "prox-table1",
    "Online methods on nine data sets",
    "Table 1",
    "prox",
    f"{ON_SETS} Medians of {SEEDS} runs of 100 passes.",
    parts,
    CLAIMS,
    panels,
    columns=2,
    table=beside_printed,
)

"""Figure 3: bundle methods on structured problems, for falling λ"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from fenchel.core.errors import InputError
from fenchel.datasets import make_ranking, make_rna, path, read_bpseq, read_svmlight
from fenchel.experiments.course import points
from fenchel.experiments.experiment import Claim, Experiment, Finding, Part, Rows, judged
from fenchel.plots.panel_figure import Curve, Panel
from fenchel.regularizers import L2
from fenchel.structured import Problem, Ranking, RnaFold, grouped

STRENGTHS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
CALLS = {"RNA folding": 60, "web ranking": 100}
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "bundle": ("bundle", {}),
    "proximal bundle, printed": ("proximal-bundle", {"rule": "printed"}),
    "proximal bundle": ("proximal-bundle", {}),
}
SHARE = 0.9


@functools.lru_cache(maxsize=1)
def folding(quick: bool) -> tuple[Problem, str]:
    """151 sequences of as many families."""
    try:
        records = [] if quick else read_bpseq(path("s151rfam", download=False))
    except (InputError, OSError):
        records = []
    if records:
        return Problem(RnaFold(), [r.sequence for r in records], [r.structure for r in records], L2(1.0)), "S-151"
    sequences, structures = make_rna(10 if quick else 150, seed=0)
    return Problem(RnaFold(), sequences, structures, L2(1.0)), "generated sequences"


@functools.lru_cache(maxsize=1)
def ranking(quick: bool) -> tuple[Problem, str]:
    """Three of the five parts of MQ2008."""
    try:
        read = [] if quick else [read_svmlight(path("mq2008", split=f"S{k}", download=False), qid=True) for k in (1, 2, 3)]
    except (InputError, OSError):
        read = []
    if read:
        X, y, qid = np.concatenate([A.toarray() for A, _, _ in read]), *(np.concatenate([r[k] for r in read]) for k in (1, 2))
    else:
        X, y, qid = make_ranking(queries=30 if quick else 500)
    groups = grouped(X, y, qid)
    return Problem(Ranking(10), groups.X, groups.y, L2(1.0)), "MQ2008" if read else "generated queries"


TASKS = {"RNA folding": folding, "web ranking": ranking}


def measured(task: str, strength: float, method: str, quick: bool) -> list[dict[str, Any]]:
    """The best objective after every oracle call."""
    whole, note = TASKS[task](quick)
    problem = whole.replace(regularizer=L2(strength))
    solver, options = METHODS[method]
    calls = 15 if quick else CALLS[task]
    run = points(problem, solver, calls, accuracy=1e-4 * problem.scale, **options)
    best = np.minimum.accumulate([p.objective for p in run])
    common = {"task": task, "strength": strength, "method": method, "note": note}
    return [{**common, "calls": float(k), "objective": float(value)} for k, value in enumerate(best)]


def parts(quick: bool) -> list[Part]:
    """One for each task, strength and method."""
    strengths = STRENGTHS[1::3] if quick else STRENGTHS
    return [
        Part(f"{task}, {s:g}, {method}", functools.partial(measured, task, s, method, quick))
        for task in TASKS
        for s in strengths
        for method in METHODS
    ]


def calls_to(rows: Rows, task: str, strength: float) -> dict[str, float]:
    """Calls until a share of the best method's progress is made; infinite if it is not."""
    part = rows.where(task=task, strength=strength)
    runs = {method: part.where(method=method)["objective"] for method in METHODS}
    start, least = max(run[0] for run in runs.values()), min(run[-1] for run in runs.values())
    level = start - SHARE * (start - least)
    return {method: float(np.flatnonzero(run <= level)[0]) if run[-1] <= level else np.inf for method, run in runs.items()}


def cells(rows: Rows) -> list[tuple[str, float]]:
    return [(task, strength) for task in rows.values("task") for strength in rows.values("strength")]


def outperforms(method: str, rows: Rows) -> Finding:
    checks: dict[str, bool] = {}
    numbers: dict[str, Any] = {}
    for task, strength in cells(rows):
        found = calls_to(rows, task, strength)
        checks[f"{task}, λ = {strength:g}"] = found[method] <= found["bundle"]
        numbers |= {f"calls, {task}, λ = {strength:g}, {name}": value for name, value in found.items()}
    return judged(checks, numbers)


def more_for_small(rows: Rows) -> Finding:
    """Lower objectives at the end than the standard method, by more where λ is smaller."""
    checks: dict[str, bool] = {}
    numbers: dict[str, Any] = {}
    for task in rows.values("task"):
        gains = {}
        for strength in rows.values("strength"):
            part = rows.where(task=task, strength=strength)
            start = float(part["objective"].max())
            last = {method: float(part.where(method=method)["objective"][-1]) for method in METHODS}
            gains[strength] = (last["bundle"] - min(last.values())) / start
            numbers[f"{task}, λ = {strength:g}: objective of bundle less the best, by that at the start"] = gains[strength]
        checks[task] = gains[min(gains)] > gains[max(gains)]
    return judged(checks, numbers)


def many_calls_without_progress(rows: Rows) -> Finding:
    """The standard method stays at its start for longer where λ is smaller."""
    checks: dict[str, bool] = {}
    numbers: dict[str, Any] = {}
    for task in rows.values("task"):
        idle = {}
        for strength in rows.values("strength"):
            run = rows.where(task=task, strength=strength, method="bundle")["objective"]
            below = np.flatnonzero(run < run[0])
            idle[strength] = float(below[0]) if len(below) else float(len(run))
            numbers[f"{task}, λ = {strength:g}: calls of bundle before the first progress"] = idle[strength]
        checks[task] = idle[min(idle)] > idle[max(idle)]
    return judged(checks, numbers)


CLAIMS = (
    Claim(
        "The results show that the proximal variant significantly outperforms the standard algorithm, especially when λ is small.",
        "section 5.2, Figure 3",
        f"At every λ the printed proximal bundle method needs no more oracle calls to {SHARE:.0%} of the best method's progress.",
        functools.partial(outperforms, "proximal bundle, printed"),
    ),
    Claim(
        "… especially when λ is small.",
        "section 5.2, Figure 3",
        "In both tasks the standard method ends farther above the best objective at the smallest λ than at the largest.",
        more_for_small,
    ),
    Claim(
        "Many iterations pass before the algorithms are able to identify parameters which improve upon the initial parameter set; for the "
        "standard bundle method, this problem is especially pronounced for small regularization parameters.",
        "section 5.2, Figure 3",
        "In both tasks the standard method makes more calls before its first progress at the smallest λ than at the largest.",
        many_calls_without_progress,
        "It holds over a wider range of λ than that of the figure. Calls of the standard method before its first progress in web ranking, "
        "of 60: 7, 7, 12 and 28 at λ = 100, 10, 1 and 0.1, and none in 60 calls from 0.01 down, so that the rule compares equal numbers. "
        "In RNA folding: 2, 3 and 6 at λ = 100, 10 and 1, then 4 from 0.1 down: below that the first plane alone decides. The proximal "
        "method as printed needs 4 to 19 in web ranking and 2 to 3 in RNA folding.",
    ),
    Claim(
        "Our default rule: never behind the standard method.",
        "ours, not the paper's",
        f"At every λ the default proximal bundle method needs no more oracle calls to {SHARE:.0%} of the best method's progress.",
        functools.partial(outperforms, "proximal bundle"),
    ),
)


def panels(rows: Rows) -> list[Panel]:
    """A row of panels for each λ, from the largest; folding left, ranking right, as in the paper."""
    found = []
    for strength in rows.values("strength"):
        for task in rows.values("task"):
            part = rows.where(task=task, strength=strength)
            curves = [
                Curve(method, run["calls"], run["objective"]) for method in part.values("method") for run in [part.where(method=method)]
            ]
            found.append(Panel(f"{task}, λ = {strength:g}", "oracle calls", "best objective", curves))
    return found


FIGURE_3 = Experiment(
    "prox-fig3",
    "Bundle methods on structured problems",
    "Figure 3",
    "prox",
    "RNA folding: S-151, as in the paper, with our features. Web ranking: 471 queries of MQ2008 (LETOR 4.0) in place of the paper's 1,000 "
    "queries, which are not public; loss 1 − NDCG@10.",
    parts,
    CLAIMS,
    panels,
    columns=2,
)

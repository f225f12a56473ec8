"""Theorems 1 and 2: are their promises kept, and how loose are they"""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import numpy as np

from fenchel.datasets import make_gaussians
from fenchel.experiments.course import optimum, points
from fenchel.experiments.experiment import Claim, Experiment, Finding, Part, Rows, judged
from fenchel.experiments.pgs_paper.text_runs import text
from fenchel.losses import Hinge, Logistic
from fenchel.plots.panel_figure import Curve, Panel
from fenchel.problems.problem import Problem
from fenchel.regularizers import L2
from fenchel.theory import generalization_bound, optimization_bound, plan_generalization, plan_optimization

DELTA = 0.1
THEORY_STRENGTH = 1e-2
THEORY_STEPS = (100, 1000, 10_000, 50_000)
GENERAL_ERROR, GENERAL_NORM = 0.6, 4.0


def theory_problem(quick: bool) -> Problem:
    data = text(True)
    return Problem(data.X[:2000], data.y[:2000], Hinge(), L2(THEORY_STRENGTH))


def theorem_1(steps: int, runs: int, quick: bool) -> list[dict[str, Any]]:
    """The suboptimality of a random iterate of every run, beside the bound."""
    problem = theory_problem(quick)
    bound = optimization_bound(steps, THEORY_STRENGTH, 1.0, DELTA)  # rows have norm 1, and the hinge loss slope 1
    least = optimum(problem, tol=1e-5)[1]
    found = []
    for seed in range(runs):
        last = points(problem, "pgs", steps / problem.m, seed=seed, predictor="random", sampling="replacement", batch=1)[-1]
        found.append({"theorem": "Theorem 1", "steps": steps, "run": seed, "error": last.objective - least, "bound": bound})
    return found


def promise(runs: int, quick: bool) -> list[dict[str, Any]]:
    """Runs of as many steps as the plan for an accuracy asks for."""
    accuracy = 0.2 if quick else 0.1
    steps = plan_optimization(accuracy, THEORY_STRENGTH, 1.0, DELTA).iterations
    return [{**row, "theorem": "plan of Theorem 1", "bound": accuracy} for row in theorem_1(steps, runs, quick)]


def theorem_2(rows: int, runs: int, quick: bool) -> list[dict[str, Any]]:
    """The expected loss of runs planned by Theorem 2, less that of the best weights of the norm it is told of."""
    X, y, w_best = make_gaussians(rows + 50_000, 10, separation=4.0, seed=3)
    X /= np.linalg.norm(X, axis=1).max()
    steps, strength, bound, _ = plan_generalization(GENERAL_ERROR, rows, GENERAL_NORM, 1.0, delta=DELTA)
    test, labels = X[rows:], y[rows:]

    def loss(w: np.ndarray) -> float:
        return float(np.logaddexp(0.0, -labels * (test @ w)).mean())

    reference = loss(GENERAL_NORM * w_best)
    problem, found = Problem(X[:rows], y[:rows], Logistic(), L2(strength)), []
    for seed in range(runs):
        last = points(problem, "pgs", steps / problem.m, seed=seed, predictor="random", sampling="replacement", batch=1)[-1]
        found.append({"theorem": "Theorem 2", "steps": steps, "run": seed, "error": loss(last.w) - reference, "bound": bound, "m": rows})
    return found


def theory_parts(quick: bool) -> list[Part]:
    runs = 30 if quick else 200
    steps = THEORY_STEPS[:2] if quick else THEORY_STEPS
    counts = (200_000,) if quick else (200_000, 400_000, 800_000)
    return [
        *(Part(f"Theorem 1, {count} steps", functools.partial(theorem_1, count, runs, quick)) for count in steps),
        Part("the plan of Theorem 1", functools.partial(promise, runs, quick)),
        *(Part(f"Theorem 2, {count} rows", functools.partial(theorem_2, count, runs, quick)) for count in counts),
    ]


def kept(rows: Rows, theorem: str, by: str) -> Finding:
    """Whether the bound is kept in a share of at least 1 − δ of the runs, and how loose it is."""
    checks: dict[str, bool] = {}
    numbers: dict[str, Any] = {}
    for value in rows.where(theorem=theorem).values(by):
        found = rows.where(theorem=theorem, **{by: value})
        share = float(np.mean(found["error"] <= found["bound"]))
        quantile = float(np.quantile(found["error"], 1.0 - DELTA))
        checks[f"{value:,} {by}"] = share >= 1.0 - DELTA
        numbers[f"{value:,} {by}: share of {len(found)} runs within the bound"] = share
        numbers[f"{value:,} {by}: bound by the 90 % quantile of the error"] = float(found["bound"][0]) / max(quantile, 1e-12)
    return judged(checks, numbers)


def plan_falls_with_rows(rows: Rows) -> Finding:
    counts = [2**k * 100_000 for k in range(1, 7)]
    steps = [plan_generalization(GENERAL_ERROR, m, GENERAL_NORM, 1.0, delta=DELTA).iterations for m in counts]
    floor = [generalization_bound(math.inf, 0.02, m, GENERAL_NORM, 1.0, 2.0, DELTA) for m in counts]
    return judged(
        {"iterations": all(a >= b for a, b in itertools.pairwise(steps))},
        {f"iterations for {m:,} rows": t for m, t in zip(counts, steps, strict=True)} | {"bound without optimization error": floor[-1]},
    )


CLAIMS = (
    Claim(
        "With probability of at least 1 − δ over the choices of A_1, …, A_T and the index i: F(w_i) ≤ F(ŵ) + C log T/(σTδ).",
        "Theorem 1",
        "In at least 90 % of the runs, for δ = 0.1 and every T, with C log T = L²(1 + log T)/2.",
        lambda rows: kept(rows, "Theorem 1", "steps"),
    ),
    Claim(
        "If the endurable optimization error is ε_acc, the algorithm needs T = Õ(1/(σδε_acc)) iterations.",
        "section III.B",
        "In at least 90 % of the runs of as many steps as fl.plan asks for, the error is at most the accuracy asked for.",
        lambda rows: kept(rows, "plan of Theorem 1", "steps"),
    ),
    Claim(
        "If the desired error rate ε obeys l(w̃) ≤ l(w_0) + ε, then the required number of iterations satisfies (12).",
        "Theorem 2",
        "In at least 90 % of the runs of the planned steps and strength, the loss on 50,000 other rows exceeds that of w_0 by at most ε.",
        lambda rows: kept(rows, "Theorem 2", "m"),
    ),
    Claim(
        "The time complexity derived from above decreases as the sample count m increases.",
        "section III.B, Figure 4",
        "The number of iterations that the plan asks for does not grow with m.",
        plan_falls_with_rows,
    ),
)


def theory_panels(rows: Rows) -> list[Panel]:
    found = []
    for theorem, x in (("Theorem 1", "steps"), ("Theorem 2", "m")):
        part = rows.where(theorem=theorem)
        values = part.values(x)
        errors = [part.where(**{x: value})["error"] for value in values]
        curves = [
            Curve("bound", values, [part.where(**{x: value})["bound"][0] for value in values]),
            Curve("90 % quantile of the runs", values, [max(np.quantile(e, 1.0 - DELTA), 1e-6) for e in errors]),
            Curve("mean of the runs", values, [max(e.mean(), 1e-6) for e in errors]),
        ]
        label = "steps T" if x == "steps" else "rows m"
        found.append(Panel(theorem, label, "error", curves, log_x=True, log_y=True))
    return found


THEOREMS = Experiment(
    "pgs-theory",
    "The promises of Theorems 1 and 2",
    "Theorems 1 and 2",
    "pgs",
    "Theorem 1: 2,000 generated documents, hinge loss, σ = 0.01. Theorem 2: two Gaussian classes in 10 dimensions, logistic loss.",
    theory_parts,
    CLAIMS,
    theory_panels,
    columns=2,
)

"""Theorems 1 to 3: the expected suboptimality against the bounds, over many seeds"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from fenchel.datasets import make_gaussians
from fenchel.driver import minimize
from fenchel.experiments.course import points
from fenchel.experiments.experiment import Claim, Experiment, Finding, Part, Rows, judged
from fenchel.losses import Logistic
from fenchel.plots.panel_figure import Curve, Panel
from fenchel.problems.problem import Problem
from fenchel.regularizers import L1

ROWS, COLUMNS, STRENGTH = 300, 20, 1e-2
PASSES = (1, 2, 5, 10, 30, 100)
BETA = 0.25  # φ'' of the logistic loss is at most 1/4


@functools.lru_cache(maxsize=1)
def problem_and_optimum() -> tuple[Problem, np.ndarray, float]:
    """Entries in [−1, 1], w* and a lower bound on P(w*)."""
    X, y, _ = make_gaussians(ROWS, COLUMNS, seed=1)
    problem = Problem(X / np.abs(X).max(axis=0), y, Logistic(), L1(STRENGTH))
    result = minimize(problem, tol=1e-10)
    return problem, result.w, result.dual_objective


def coordinate_descent(seeds: int) -> list[dict[str, Any]]:
    """SCD with the paper's β: E[P(w_T)] − P* ≤ d·Ψ(0)/(T + 1), Ψ(0) = β/2·‖w*‖² + P(0)."""
    problem, w_best, least = problem_and_optimum()
    psi = 0.5 * BETA * float(w_best @ w_best) + problem.objective_at_zero
    found = []
    for seed in range(seeds):
        run = points(problem, "scd", max(PASSES), seed=seed, beta="global")
        for passes in PASSES:
            T = passes * problem.n
            row = {"theorem": "Theorem 1", "T": T, "seed": seed, "error": run[passes].objective - least}
            found.append({**row, "bound": problem.n * psi / (T + 1.0)})
    return found


def mirror_descent(passes: int, seeds: int) -> list[dict[str, Any]]:
    """SMIDAS with the η of Theorem 3, for losses with |φ'| ≤ ρ = 1: E[P(w_o)] − P* ≤ ρ‖w*‖₁√(12 log d/T)."""
    problem, w_best, least = problem_and_optimum()
    T, norm = passes * problem.m, float(np.abs(w_best).sum())
    options: dict[str, Any] = {
        "eta": "theorem",
        "norm": norm,
        "steps": T,
        "schedule": "constant",
        "predictor": "random",
        "sampling": "replacement",
    }
    bound = norm * math.sqrt(12.0 * math.log(problem.n) / T)
    found = []
    for seed in range(seeds):
        last = points(problem, "smidas", passes, seed=seed, batch=1, **options)[-1]
        found.append({"theorem": "Theorem 3", "T": T, "seed": seed, "error": last.objective - least, "bound": bound})
    return found


def parts(quick: bool) -> list[Part]:
    """Theorems 1 and 2 are about the same runs."""
    seeds = 20 if quick else 400
    return [
        Part("Theorem 1", functools.partial(coordinate_descent, seeds)),
        *(Part(f"Theorem 3, {k} passes", functools.partial(mirror_descent, k, seeds)) for k in PASSES[: 3 if quick else None]),
    ]


def expected_below(rows: Rows, theorem: str) -> Finding:
    """The mean error is below the bound, at every T."""
    checks: dict[str, bool] = {}
    numbers: dict[str, Any] = {}
    for T in rows.where(theorem=theorem).values("T"):
        part = rows.where(theorem=theorem, T=T)
        mean, bound = float(part["error"].mean()), float(part["bound"][0])
        checks[f"T = {T:,}"] = mean <= bound
        numbers[f"T = {T:,}: mean error of {len(part)} runs"] = mean
        numbers[f"T = {T:,}: bound by it"] = bound / max(mean, 1e-12)
    return judged(checks, numbers)


def half_below(rows: Rows) -> Finding:
    """Theorem 2: within twice the bound with probability 1/2."""
    shares = {}
    for T in rows.where(theorem="Theorem 1").values("T"):
        part = rows.where(theorem="Theorem 1", T=T)
        shares[T] = float(np.mean(part["error"] <= 2.0 * part["bound"]))
    numbers = {f"T = {T:,}: share of runs within twice the bound": share for T, share in shares.items()}
    return judged({f"T = {T:,}": share >= 0.5 for T, share in shares.items()}, numbers)


CLAIMS = (
    Claim(
        "E[P(w_T)] − P(w*) ≤ dΨ(0)/(T + 1), Ψ(w) = β/2·‖w* − w‖² + P(w).",
        "Theorem 1",
        "At every T the mean suboptimality over the seeds is at most the bound.",
        functools.partial(expected_below, theorem="Theorem 1"),
    ),
    Claim(
        "With probability of at least 1/2 we have that P(w_T) − P(w*) ≤ 2dΨ(0)/(T + 1).",
        "Theorem 2",
        "At every T at least half of the runs are within the bound.",
        half_below,
    ),
    Claim(
        "E[P(w_o)] − P(w*) ≤ ρ‖w*‖₁√(12 log(d)/T), for η = ‖w*‖₁/ρ·√(2/((p − 1)eT)).",
        "Theorem 3",
        "At every T the mean suboptimality over the seeds of a random iterate is at most the bound.",
        functools.partial(expected_below, theorem="Theorem 3"),
    ),
)


def panels(rows: Rows) -> list[Panel]:
    """The mean over the seeds and the bound, against T."""
    found = []
    for theorem, name in (("Theorem 1", "SCD, Theorem 1"), ("Theorem 3", "SMIDAS, Theorem 3")):
        part = rows.where(theorem=theorem)
        steps = part.values("T")
        errors = [part.where(T=T)["error"] for T in steps]
        curves = [
            Curve("bound", steps, [float(part.where(T=T)["bound"][0]) for T in steps]),
            Curve("mean over the seeds", steps, [float(e.mean()) for e in errors], [e.min() for e in errors], [e.max() for e in errors]),
        ]
        found.append(Panel(name, "iterations T", "P(w) − P*", curves, log_x=True, log_y=True))
    return found


THEOREMS = Experiment(
    "l1-theory",
    "Expected suboptimality under the bounds",
    "Theorems 1 to 3",
    "l1",
    f"{ROWS} generated rows with {COLUMNS} columns in [−1, 1], logistic loss, λ = {STRENGTH:g}.",
    parts,
    CLAIMS,
    panels,
    columns=2,
)

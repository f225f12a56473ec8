"""Table 1: how the work grows with n, 1/λ and 1/ε, against the rates in the table

For each method one of n, 1/λ and 1/ε varies and the others stay. Work is the number of entries of X read until P(w) − min P ≤ ε·(P(0) −
min P), by its mean over a few seeds. The rates are upper bounds: a measured exponent may be smaller. The table ignores logarithms: those of
Theorem 2, and log(1/ε) for all methods on the strongly convex and smooth ridge problem, are divided out before an exponent is fitted.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from fenchel.experiments.course import course, optimum
from fenchel.experiments.experiment import Claim, Experiment, Finding, Part, Rows, judged
from fenchel.experiments.slopes import Slope, slope
from fenchel.losses import Hinge, SmoothHinge, Squared
from fenchel.plots.panel_figure import Curve, Panel
from fenchel.problems.problem import Problem
from fenchel.regularizers import L1 as Lasso, L2

COLUMNS = 20
BASE = {"n": 4000, "1/λ": 1e4, "1/ε": 1e3}
VARIED = {"n": (1000, 2000, 4000, 8000, 16_000), "1/λ": (1e3, 1e4, 1e5, 1e6), "1/ε": (1e2, 3e2, 1e3, 3e3, 1e4)}
VARYING = {"SVM": ("n", "1/λ", "1/ε"), "lasso": ("n", "1/ε"), "ridge": ("n", "1/λ", "1/ε")}
LASSO_STRENGTH = 1e-2
SLACK = 0.1  # by which an exponent may exceed its rate: logarithms are ignored in the table
SEEDS = 3
MOST_PASSES = 20_000
# Objectives of these methods go up and down: where rows are few, passes are short, and one of many iterates would be good enough by chance.
NOISY, EVERY = ("pegasos", "truncgrad"), 16_000 * COLUMNS


class Method(NamedTuple):
    """A row of the table: the exponents of n, 1/λ and 1/ε in its rate, with d the same for all."""

    task: str
    name: str
    solver: str
    options: dict[str, Any]
    rate: str
    exponents: dict[str, float]


OURS = "this paper"
PRACTICAL = "this paper, practical variant"
TABLE = (
    Method("SVM", "SGD", "pegasos", {}, "d/(λε)", {"n": 0.0, "1/λ": 1.0, "1/ε": 1.0}),
    Method("SVM", "AGD", "fista", {}, "dn√(1/(λε))", {"n": 1.0, "1/λ": 0.5, "1/ε": 0.5}),
    Method("SVM", OURS, "accelerated-sdca", {}, "d(n + min{1/(λε), √(n/(λε))})", {"n": 1.0, "1/λ": 0.5, "1/ε": 0.5}),
    Method("lasso", "SGD and variants", "truncgrad", {}, "d/ε²", {"n": 0.0, "1/ε": 2.0}),
    Method("lasso", "stochastic coordinate descent", "scd", {}, "dn/ε", {"n": 1.0, "1/ε": 1.0}),
    Method("lasso", "FISTA", "fista", {}, "dn√(1/ε)", {"n": 1.0, "1/ε": 0.5}),
    Method("lasso", OURS, "accelerated-sdca", {}, "d(n + min{1/ε, √(n/ε)})", {"n": 1.0, "1/ε": 0.5}),
    Method("ridge", "SDCA", "sdca", {}, "d(n + 1/λ)", {"n": 1.0, "1/λ": 1.0, "1/ε": 0.0}),
    Method("ridge", "AGD", "fista", {}, "dn√(1/λ)", {"n": 1.0, "1/λ": 0.5, "1/ε": 0.0}),
    Method("ridge", OURS, "accelerated-sdca", {}, "d(n + min{1/λ, √(n/λ)})", {"n": 1.0, "1/λ": 0.5, "1/ε": 0.0}),
    *(
        Method(task, PRACTICAL, "accelerated-sdca", {"variant": "practical"}, "", dict.fromkeys(varied, 0.0))
        for task, varied in VARYING.items()
    ),
)


@functools.lru_cache(maxsize=16)
def rows_and_labels(n: int, task: str) -> tuple[np.ndarray, np.ndarray]:
    """Correlated rows of norm at most 1, and noisy labels."""
    rng = np.random.default_rng(0)
    spread = np.geomspace(1.0, 0.03, COLUMNS)
    X = rng.standard_normal((n, COLUMNS)) * spread
    X /= np.linalg.norm(X, axis=1).max()
    score = X @ (rng.standard_normal(COLUMNS) / spread)
    noisy = score + 0.5 * score.std() * rng.standard_normal(n)
    return X, (np.sign(noisy) if task == "SVM" else noisy / noisy.std())


def problem_of(task: str, n: int, strength: float) -> Problem:
    """A problem of the table, with n rows."""
    X, y = rows_and_labels(n, task)
    if task == "lasso":
        return Problem(X, y, Squared(), Lasso(strength))
    return Problem(X, y, Hinge() if task == "SVM" else Squared(), L2(strength))


@functools.lru_cache(maxsize=256)
def least_objective(task: str, n: int, strength: float) -> float:
    return optimum(problem_of(task, n, strength), tol=1e-10, time_limit=60.0)[0]


def work(method: Method, n: int, strength: float, accuracy: float, seed: int) -> float:
    """Entries read until the objective is close enough, interpolated between iterates; infinite if that takes too many passes."""
    problem = problem_of(method.task, n, strength)
    least = least_objective(method.task, n, strength)
    target = accuracy * (problem.objective_at_zero - least)
    smooth = method.solver == "fista" and method.task == "SVM"
    posed = problem.replace(loss=SmoothHinge(target)) if smooth else problem  # section 4.5: γ = ε
    last, before = 0.0, problem.objective_at_zero - least
    for point in course(posed, method.solver, seed=seed, accuracy=target / 2.0, **method.options):
        if method.solver in NOISY and 0.0 < point.accesses < last + EVERY:
            continue
        excess = problem.objective(point.w) - least
        if excess <= target:
            share = math.log(before / target) / math.log(before / max(excess, 1e-3 * target)) if before > target else 1.0
            return last + share * (point.accesses - last)
        if point.passes > MOST_PASSES:
            return math.inf
        last, before = point.accesses, excess
    return math.inf


def logarithms(method: Method, n: int, strength: float, accuracy: float) -> float:
    """Those of Theorem 2 for the accelerated method, with R ≤ 1 and γ = ε for the hinge loss; log(1/ε) for others on ridge problems."""
    if method.solver != "accelerated-sdca":
        return math.log(1.0 / accuracy) if method.task == "ridge" else 1.0
    l2 = accuracy * LASSO_STRENGTH**2 if method.task == "lasso" else strength
    gamma = accuracy if method.task == "SVM" else 1.0
    first = math.log(max(1.0 / (l2 * gamma * n), math.e))
    return first * (first + math.log(1.0 / accuracy))


def settings(method: Method, quick: bool) -> Iterator[tuple[str, int, float, float]]:
    """What varies, n, the strength and the accuracy of every measurement."""
    for varied in method.exponents:
        for value in VARIED[varied][: 3 if quick else None]:
            at = {**BASE, varied: value}
            strength = LASSO_STRENGTH if method.task == "lasso" else 1.0 / at["1/λ"]
            yield varied, int(at["n"]), strength, 1.0 / at["1/ε"]


def measured(k: int, quick: bool) -> list[dict[str, Any]]:
    """All measurements of a method."""
    method, found = TABLE[k], []
    for varied, n, strength, accuracy in settings(method, quick):
        works = [work(method, n, strength, accuracy, seed) for seed in range(1 if quick else SEEDS)]
        value = {"n": float(n), "1/λ": 1.0 / strength, "1/ε": 1.0 / accuracy}[varied]
        row = {"task": method.task, "method": method.name, "varied": varied, "value": value, "entries": float(np.mean(works))}
        row["logarithms"] = logarithms(method, n, strength, accuracy)
        found.append({**row, "rate": method.rate, "exponent of the rate": method.exponents[varied]})
    return found


def parts(quick: bool) -> list[Part]:
    """One for each method."""
    return [Part(f"{method.task}, {method.name}", functools.partial(measured, k, quick)) for k, method in enumerate(TABLE)]


def exponent(rows: Rows) -> Slope:
    return slope(rows["value"], rows["entries"] / rows["logarithms"])


def within_rates(task: str, rows: Rows) -> Finding:
    checks: dict[str, bool] = {}
    numbers: dict[str, Any] = {}
    for method in rows.where(task=task).values("method"):
        if method == PRACTICAL:
            continue
        for varied in rows.where(task=task, method=method).values("varied"):
            part = rows.where(task=task, method=method, varied=varied)
            found, rate = exponent(part), float(part["exponent of the rate"][0])
            name = f"{method}, {varied}"
            checks[name] = bool(min(found.value, max(found.low, -9.0)) <= rate + SLACK) and bool(np.isfinite(part["entries"]).sum() > 1)
            numbers[name] = f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}], rate {rate:g}"
    return judged(checks, numbers)


def less_than_others(rows: Rows) -> Finding:
    """At the weakest regularization and the highest accuracy, this paper's method reads fewer entries than the others."""
    checks: dict[str, bool] = {}
    numbers: dict[str, Any] = {}
    for task in rows.values("task"):
        for varied in ("1/λ", "1/ε"):
            part = rows.where(task=task, varied=varied)
            if not len(part):
                continue
            at = part.where(value=max(part.values("value")))
            entries = {row["method"]: float(row["entries"]) for row in at}
            ours, practical = entries.pop(OURS), entries.pop(PRACTICAL)
            fewest = min(entries.values())
            checks[f"{task}, largest {varied}"] = ours <= fewest
            numbers[f"{task}, largest {varied}: entries read by this paper's method by the fewest of the others"] = ours / fewest
            numbers[f"{task}, largest {varied}: entries read by our practical variant by the same"] = practical / fewest
    return judged(checks, numbers)


def rate_claim(task: str, sentence: str) -> Claim:
    rule = f"For no method the whole 95 % interval of a fitted exponent of n, 1/λ or 1/ε lies above that of its rate by more than {SLACK}."
    return Claim(sentence, f"Table 1, {task}", rule, functools.partial(within_rates, task))


CLAIMS = (
    rate_claim("SVM", "SVM: SGD d/(λε); AGD dn√(1/(λε)); this paper d(n + min{1/(λε), √(n/(λε))})."),
    rate_claim(
        "lasso", "Lasso: SGD and variants d/ε²; stochastic coordinate descent dn/ε; FISTA dn√(1/ε); this paper d(n + min{1/ε, √(n/ε)})."
    ),
    rate_claim("ridge", "Ridge regression: SDCA d(n + 1/λ); AGD dn√(1/λ); this paper d(n + min{1/λ, √(n/λ)})."),
    Claim(
        "This significantly improves over the rate d/(λε) of SGD when 1/(λε) ≫ n, and over the runtime of accelerated gradient descent.",
        "section 1",
        "At the weakest regularization, and at the highest accuracy, the accelerated method reads fewer entries than all others.",
        less_than_others,
        "The exponents are as promised; the constants are not in the method's favour at these sizes. For the SVM λ was lowered further at "
        "n = 4,000 and ε = 1e-3: the method as printed reads 5.6e8, 1.4e9 and 2.8e9 entries at λ = 1e-6, 1e-7 and 1e-8, SGD 7.6e7, 4.1e8 "
        "and more than 1.6e9 (it was stopped), our FISTA, which restarts and lengthens its steps, 2.8e7 at all three. At λ = 1e-6 and n = "
        "64,000 they read 1.9e9, 8.2e7 and 4.7e8. What is lost is lost in the outer loop: κ and the stopping rule of the inner problems "
        "are those of the worst case. The practical variant, with the same iteration and other values of both, reads 1.1e6, 1.0e6 and "
        "1.1e6 at the three λ, the least of all by a factor of 25. For the lasso ε was lowered to 1e-6: 1.9e6 entries as printed, 7.5e5 "
        "by the practical variant, 6.5e5 by coordinate descent, 3.0e6 by FISTA; coordinate descent converges linearly here, better than "
        "its rate.",
    ),
)


def panels(rows: Rows) -> list[Panel]:
    """A row of panels for each task."""
    found = []
    for task in rows.values("task"):
        for varied in VARIED:
            part = rows.where(task=task, varied=varied)
            curves = [
                Curve(f"{task}: {method}", run["value"], np.where(np.isfinite(run["entries"]), run["entries"], np.nan))
                for method in part.values("method")
                for run in [part.where(method=method)]
            ]
            if curves:
                found.append(Panel(task, varied, "entries of X read", curves, log_x=True, log_y=True))
    return found


TABLE_1 = Experiment(
    "asdca-table1",
    "Growth of the work with n, 1/λ and 1/ε",
    "Table 1",
    "asdca",
    f"Generated rows with {COLUMNS} columns of standard deviations from 1 to 0.03, norm at most 1; n = 4,000, λ = 1e-4 (σ = 0.01 for the "
    "lasso) and ε = 1e-3 unless varied. For the hinge loss FISTA minimises the smooth hinge with γ = ε, as in section 4.5; SGD is "
    "Pegasos, and truncgrad for the lasso. The 'exact' solution of ridge regression is left out.",
    parts,
    CLAIMS,
    panels,
)

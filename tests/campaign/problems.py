"""Random problems for every solver, loss and regularizer, judged by ``fl.verify``

Blocks of cases share a solver, a loss and a regularizer, so that each combination compiles once. Everything else differs from case to
case: shape, storage, precision, scales from 1e-310 to 1e300, labels shifted by up to 1e15, constant and repeated rows and columns,
sample weights, intercept, strength, tolerance. A case fails by

    a false bound          the lower bound lies above the objective of some weights, computed in extended precision
    a false gap            the objective is further above that of other weights than the gap allows
    a contradiction        the run found its own bound above its objective
    a raw error            anything but an error of fenchel's own
    a NumPy warning        overflow, invalid value and the like

A gap that ``fl.verify`` proves from the dual point counts as proven. For the others, whose solvers keep no dual point, the weights of a
second run by another solver are what the bound is compared with.
"""

from __future__ import annotations

import json
import math
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import fenchel as fl
from fenchel.core.compiled import JIT
from fenchel.driver.not_certified import NotCertifiedWarning
from fenchel.losses import losses
from fenchel.solvers import solvers

BLOCK = 16  # cases for each combination of solver, loss and regularizer
WIDE = 10**6 if JIT else 10**4  # columns of the widest cases: as plain Python, a pass over a million weights takes a second
FREE = 0.4  # share of problems with an unpenalised intercept
SCALES = (1.0, 1.0, 1.0, 1e3, 1e-3, 1e100, 1e-100, 1e155, 1e-155, 1e300, 1e-300, 1e-310)
SHIFTS = (0.0, 0.0, 1.0, 1e3, 1e9, 1e12, 1e15)
FAILURES = ("false bounds", "false gaps", "contradictions", "raw errors", "NumPy warnings")
PASSES = 60  # at most, for each run


class Combination(NamedTuple):
    """What a block of cases shares."""

    solver: str
    loss: str
    regularizer: str


REGULARIZERS = ("L2", "L1", "L1L2", "SquaredLp", "Entropy", "Box L2", "Box", "Box L1", "Box Linear", "ball")


def combinations() -> list[Combination]:
    """Every solver with every loss and regularizer that it takes."""
    X, labels = np.eye(3), {"real": [0.0, 1.0, 2.0], "binary": [1.0, -1.0, 1.0], "class": [0, 1, 2]}
    found = []
    for loss in losses():
        for regularizer in REGULARIZERS:
            kind = losses()[loss]()
            penalty = regularizer_named(regularizer, 0.1, np.random.default_rng(0), 3 * (3 if kind.labels == "class" else 1))
            problem = fl.Problem(X, labels[kind.labels], kind, penalty)
            found += [Combination(name, loss, regularizer) for name, solver in solvers().items() if solver.refusal(problem) is None]
    return found


def regularizer_named(name: str, strength: float, rng: np.random.Generator, size: int) -> Any:
    """A regularizer of a kind and strength, with random other parameters."""
    match name:
        case "L2":
            return fl.L2(strength)
        case "L1":
            return fl.L1(strength)
        case "L1L2":
            return fl.L1L2(strength * rng.uniform(0.01, 1.0), strength)
        case "SquaredLp":
            return fl.SquaredLp(strength, p=float(rng.choice([1.1, 1.5, 1.8, 2.0])))
        case "ball":
            return fl.SquaredLp(strength, p=float(rng.choice([1.5, 2.0])), radius=10.0 ** rng.uniform(-2, 2))
        case "Entropy":
            return fl.Entropy(strength, radius=10.0 ** rng.uniform(-2, 2))
        case "Box L2":
            return fl.Box(0.0, math.inf if rng.random() < 0.5 else 1.0, fl.L2(strength))
        case "Box":
            return fl.Box(-rng.uniform(0.0, 2.0), rng.uniform(0.0, 2.0))
        case "Box L1":
            return fl.Box(0.0, math.inf, fl.L1(strength))
        case "Box Linear":
            return fl.Box(0.0, 1.0, fl.Linear(rng.standard_normal(size)))
    raise ValueError(name)


class Case(NamedTuple):
    """A problem and how it is solved."""

    combination: Combination
    problem: Any
    tol: float
    free: bool


def case(seed: int, k: int, known: list[Combination]) -> Case | None:
    """Case k of a seed; None for one that fenchel refuses with an error of its own."""
    turn, place = divmod(k // BLOCK, len(known))
    combination = known[np.random.default_rng((seed, turn)).permutation(len(known))[place]]
    rng = np.random.default_rng((seed, k))
    loss = losses()[combination.loss]()
    X, y, weights = data(rng, loss.labels, wide=k % 997 == 996)
    free = bool(rng.random() < FREE)
    intercept: Any = "free" if free else float(rng.choice([0.0, 1.0, 10.0]))
    outputs = int(y.max()) + 1 if loss.labels == "class" else 1
    size = (X.shape[1] + (intercept not in (0.0, "free"))) * max(outputs, 2 if loss.labels == "class" else 1)
    strength = 10.0 ** rng.uniform(-8, 2)
    tol = float(rng.choice([1e-2, 1e-4, 1e-6, 1e-9]))
    try:
        regularizer = regularizer_named(combination.regularizer, strength, rng, size)
        problem = fl.Problem(X, y, loss, regularizer, intercept=intercept, sample_weight=weights)
    except fl.InputError:
        return None
    return Case(combination, problem, tol, free)


def data(rng: np.random.Generator, labels: str, wide: bool) -> tuple[Any, np.ndarray, np.ndarray | None]:
    """Random rows, labels of a kind, and sample weights or None."""
    m, n = int(rng.choice([1, 2, 3, 10, 40])), int(rng.choice([1, 2, 5, 12]))
    if wide:
        X: Any = sp.random_array((m, WIDE), density=min(1.0, 10 / WIDE), rng=rng, format="csr")
    else:
        X = rng.standard_normal((m, n))
    scale = float(rng.choice(SCALES))
    score = np.asarray(X @ rng.standard_normal(X.shape[1])).ravel() + 0.3 * rng.standard_normal(m)
    if not wide:
        X = transformed(X, rng)
    with np.errstate(over="ignore", under="ignore"):
        X = X * scale
    if labels == "real":
        with np.errstate(over="ignore", under="ignore"):
            y = score * float(rng.choice(SCALES)) + float(rng.choice(SHIFTS))
        y = np.full(m, y[0]) if rng.random() < 0.1 else y
    elif labels == "binary":
        y = np.where(score > 0.0, 1.0, -1.0)
    else:
        y = np.digitize(score, (-0.5, 0.5))
        y[0] = 2
    weights = {0: None, 1: rng.random(m), 2: 10.0 ** rng.uniform(-12, 12, m), 3: np.where(rng.random(m) < 0.5, 0.0, 1.0)}[rng.integers(4)]
    if weights is not None and not weights.sum() > 0.0:
        weights = None
    return stored(X, rng, wide), y, weights


def transformed(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """X with constant, repeated, empty or unevenly scaled columns, or repeated rows."""
    n = X.shape[1]
    match rng.integers(7):
        case 0:
            X[:, rng.integers(n)] = 1.0
        case 1:
            X[:, rng.integers(n)] = X[:, 0]
        case 2:
            X[:, rng.integers(n)] = 0.0
        case 3:
            X = X * 10.0 ** rng.uniform(-6, 6, n)
        case 4:
            X = X[rng.integers(len(X), size=len(X))]
        case 5:
            X = X + 10.0 ** rng.uniform(0, 8)
    return X


def stored(X: Any, rng: np.random.Generator, wide: bool) -> Any:
    """X in one of two storages; more would compile every kernel more often."""
    if wide:
        return X
    return sp.csr_array(X) if rng.random() < 0.2 else np.ascontiguousarray(X)


def judge(chosen: Case) -> tuple[bool, dict[str, str]]:
    """Whether the gap of the result is proven, and what is wrong: a text for each kind of failure."""
    found: dict[str, str] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", NotCertifiedWarning)
        try:
            result = fl.minimize(chosen.problem, chosen.combination.solver, tol=chosen.tol, max_passes=PASSES, seed=1)
        except fl.InputError:
            return False, {}
        except RuntimeWarning:
            return False, {"NumPy warnings": traceback.format_exc(limit=-3)}
        except Exception:
            return False, {"raw errors": traceback.format_exc(limit=-3)}
    if result.status == "contradiction":
        found["contradictions"] = repr(result)
    with np.errstate(all="ignore"):
        checked = fl.verify(chosen.problem, result)
        if checked.holds or not math.isfinite(result.gap):
            return checked.holds, found
        least = min([checked.objective, *(fl.verify(chosen.problem, other).objective for other in others(chosen, result))])
    if result.dual_objective > least:
        found["false bounds"] = f"{result!r}: the bound {result.dual_objective!r} is above {least!r}"
    elif checked.objective - least > result.gap:
        found["false gaps"] = f"{result!r}: {checked.objective!r} is further from {least!r} than {result.gap!r}"
    return False, found


def others(chosen: Case, result: Any) -> Iterator[Any]:
    """Results of other solvers for the same problem."""
    for solver in ("auto", "lbfgs", "fista"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                yield fl.minimize(chosen.problem, solver, tol=1e-12, max_passes=500, start=result.w)
            except (fl.InputError, ArithmeticError, ValueError):
                continue


def run(seconds: float, seed: int, keep: Path) -> dict[str, int]:
    """Judge cases until the time is over, and keep the failures."""
    known, began = combinations(), time.perf_counter()
    counts = dict.fromkeys(("cases", "cases with an unpenalised intercept", "cases proven by verify", *FAILURES), 0)
    covered = set()
    k = 0
    while time.perf_counter() - began < seconds:
        chosen = case(seed, k, known)
        k += 1
        if chosen is None:
            continue
        proven, failures = judge(chosen)
        counts["cases proven by verify"] += proven
        counts["cases"] += 1
        counts["cases with an unpenalised intercept"] += chosen.free
        covered.add(chosen.combination)
        for kind, text in failures.items():
            counts[kind] += 1
            keep.mkdir(parents=True, exist_ok=True)
            facts = {"seed": seed, "case": k - 1, **chosen.combination._asdict(), "problem": repr(chosen.problem), "tol": chosen.tol}
            (keep / f"{kind.replace(' ', '-')}-{seed}-{k - 1}.json").write_text(json.dumps({**facts, "failure": text}, indent=1))
    counts[f"cases cover combinations, of {len(known):,}"] = len(covered)
    return counts

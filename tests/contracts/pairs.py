"""Every solver on every pair of loss and regularizer that it accepts, against the optimum of an independent method.

``NUMBA_DISABLE_JIT=1 python -m tests.contracts.pairs`` runs those that the tests do not compile as plain Python, in a fraction of the time
that compiling takes.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator

import numpy as np
import pytest

import fenchel as fl
from fenchel.solvers import solvers
from tests.data import data
from tests.references import instances, reference

LOSSES, REGULARIZERS = instances()
# Each way to run a solver, with the accuracy it is asked for: smoothing a non-smooth loss costs O(1/√accuracy) passes.
WAYS = [("sdca", {}), ("accelerated-sdca", {}), ("accelerated-sdca", {"variant": "practical"}), ("fista", {}), ("lbfgs", {})]
WAYS += [("scd", {}), ("cyclic-cd", {}), ("gcd", {}), ("working-set", {}), ("newton", {}), ("interior-point", {})]
WAYS += [("bundle", {}), ("proximal-bundle", {})]
# Online methods converge as 1/passes: the same properties, to the accuracy of a few thousand passes.
ONLINE = [("pgs", {}), ("pgs", {"predictor": "suffix"}), ("pegasos", {}), ("adaptive", {}), ("proximal", {}), ("optimistic", {})]
ONLINE += [("smidas", {}), ("truncgrad", {})]
QUICK_SOLVERS = {"sdca", "fista", "lbfgs", "working-set", "newton"}
QUICK_LOSSES = {"hinge", "logistic", "squared", "softmax"}
# One loop runs every loss, as pgs shows; the others differ in the update rule alone, so a few losses suffice to test it.
SAME_LOOP = {"pegasos", "adaptive", "proximal", "optimistic", "smidas", "truncgrad"}


def problem(loss, regularizer, convert=lambda X: X):
    X, y = data(loss.labels)
    return fl.Problem(convert(X), y, loss, regularizer)


def pairs() -> Iterator[tuple[str, str, str, dict[str, str]]]:
    """(loss, regularizer, solver, options)."""
    for (loss, chosen), (name, regularizer), (solver, options) in itertools.product(LOSSES.items(), REGULARIZERS.items(), WAYS + ONLINE):
        if (solver in SAME_LOOP or "predictor" in options) and loss not in QUICK_LOSSES:
            continue
        if solver == "accelerated-sdca" and loss == "multiclass-hinge" and name != "l2":
            continue  # smoothing it for a penalty that is not strongly convex takes thousands of passes, as for the hinge
        if solvers()[solver].refusal(problem(chosen, regularizer)) is None:
            yield loss, name, solver, options


def is_compiled(loss: str, name: str, solver: str, options: dict[str, str]) -> bool:
    """Whether the tests compile this pair. Kernels use the loss and the penalty independently of each other, so that it is enough to
    compile every loss with one penalty and every penalty with one loss; and every solver with a binary and a multiclass loss."""
    if name in ("l1", "l2") and loss in QUICK_LOSSES and solver in QUICK_SOLVERS:
        return True
    takes_both = solver in ("sdca", "scd", "pgs") and not options
    is_usual = name == ("l1" if solver in ("scd", "smidas", "truncgrad") else "l2")
    return (takes_both and (is_usual or loss == "logistic")) or (is_usual and loss in ("logistic", "softmax", "hinge"))


def check_optimum(loss: str, regularizer: str, solver: str, options: dict[str, str]) -> None:
    chosen = problem(LOSSES[loss], REGULARIZERS[regularizer])
    non_smooth = np.isinf(LOSSES[loss].smoothness())
    tol = 1e-2 if solvers()[solver].online or (non_smooth and solver == "accelerated-sdca" and not options) else 1e-4
    result = fl.minimize(chosen, solver, tol=tol, max_passes=20_000, **options)
    best = reference(loss, regularizer)
    assert result.converged, result.message
    assert result.gap <= tol * chosen.objective_at_zero
    assert result.objective - best <= result.gap + 1e-7, "the certificate is a promise"
    assert result.dual_objective <= best + 1e-7, "a lower bound lies below the optimum"
    assert result.objective >= best - 1e-7
    assert chosen.objective(result.w) == pytest.approx(result.objective, rel=1e-12)


def main() -> int:
    """Print what fails; 1 if anything does."""
    failures = 0
    for case in (case for case in pairs() if not is_compiled(*case)):
        try:
            check_optimum(*case)
        except Exception as error:
            failures += 1
            print(*case, repr(error))
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())

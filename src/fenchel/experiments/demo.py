"""The demo: train a few models on generated text and explain their certificates."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Column, Table

from fenchel import plots
from fenchel.datasets import make_text
from fenchel.driver import minimize, uninterrupted
from fenchel.losses import Hinge, Logistic, SmoothHinge
from fenchel.losses.loss_protocol import Loss
from fenchel.problems.problem import Problem
from fenchel.problems.result import Result
from fenchel.regularizers import L1, L1L2, L2
from fenchel.regularizers.regularizer_protocol import Regularizer

COLUMNS = ("objective", "bound", "gap", "accuracy", "non-zero", "passes", "time")
EXPLANATION = (
    "[bold]What the certificate means.[/bold] Every run ends with two numbers: the [cyan]objective[/cyan] of its weights, and a "
    "[cyan]lower bound[/cyan] on the objective of any weights, computed from the dual problem. Their difference, the "
    "[cyan]gap[/cyan], bounds the distance of the result from the optimum: it is a proof, not an estimate. A run stops once the gap "
    "is at or below tol = {tol:g} times the objective at w = 0."
)


def run(rows: int, tol: float, seed: int, plot: Path | None = None) -> None:
    """Generate text, train, print a table, and draw the gaps if ``plot`` is given."""
    console = Console()
    if plot is not None:
        plots.check_file(plot)
    X, y = make_text(rows + rows // 4, seed=seed)
    train, test = slice(0, rows), slice(rows, None)
    console.print(f"Generated text: {rows:,} documents, {X.shape[1]:,} words, {X[train].nnz / rows:.0f} words per document.")
    console.print("[dim]The first run on a machine compiles kernels, which takes some seconds; later runs load them from disk.[/dim]")
    models: dict[str, tuple[Loss, Regularizer]] = {
        "logistic": (Logistic(), L2(1.0 / rows)),
        "SVM": (Hinge(), L2(1.0 / rows)),
        "sparse SVM": (SmoothHinge(1.0), L1L2(l1=1e-4, l2=1e-6)),
        "l1 logistic": (Logistic(), L1(5e-4)),
    }
    table = Table("model", *(Column(name, justify="right") for name in COLUMNS), box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    results = {}
    for name, (loss, regularizer) in models.items():
        with console.status(f"{name}: compiling, if this is the first run"):
            # To the tolerance, because the last steps use further kernels.
            uninterrupted(minimize(Problem(X[train], y[train], loss, regularizer), tol=tol, seed=seed))
        problem = Problem(X[train], y[train], loss, regularizer)
        clock = time.perf_counter()
        results[name] = result = uninterrupted(minimize(problem, tol=tol, seed=seed, progress=console.is_terminal))
        table.add_row(name, *_cells(result, time.perf_counter() - clock, _accuracy(result, X[test], y[test])))
    console.print(table)
    console.print(EXPLANATION.format(tol=tol))
    if plot is not None:
        plots.save(plots.compare(results), plot)
        console.print(f"Figure: {plot}")


def _cells(result: Result, seconds: float, accuracy: float) -> list[str]:
    numbers = [f"{result.objective:.5f}", f"{result.dual_objective:.5f}", f"{result.gap:.1e}", f"{100 * accuracy:.1f}%"]
    return [*numbers, f"{np.count_nonzero(result.w):,}", f"{round(result.passes, 1):g}", f"{seconds:.2f} s"]


def _accuracy(result: Result, X: Any, y: np.ndarray) -> float:
    return float(np.mean(np.sign(X @ result.w) == y))

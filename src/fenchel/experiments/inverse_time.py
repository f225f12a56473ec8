"""Measure inverse time dependency: does training to a given accuracy take less time if there are more rows?

The experiment of Zhu et al., *Inverse Time Dependency in Convex Regularized Learning*, ICDM 2009, section V: for growing m,
choose the strength for m rows, then run ``pgs`` several times on m random rows until its weights reach the accuracy on held-out
rows; report the medians of the time and of the number of iterations. Evaluating the weights is not timed. The strength is the one
that ``strength="auto"`` finds on the m rows or one near it, whichever reaches the accuracy first in a few trial runs.

The time decreases if the accuracy is close to the best that the smallest number of rows allows: with more rows a larger optimization
error is acceptable. The time to an accuracy that is easy to reach does not depend on m.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Column, Table

from fenchel import plots
from fenchel.core.errors import Argument, InputError
from fenchel.core.validation import checked_choice
from fenchel.datasets import make_text, read_svmlight
from fenchel.driver import minimize, uninterrupted
from fenchel.linalg.weights import read_weights
from fenchel.losses import losses
from fenchel.problems.objective import Chunk
from fenchel.problems.problem import Problem
from fenchel.regularizers import SquaredLp
from fenchel.solvers._online.online_loop import OnlineLoop
from fenchel.solvers.pgs import primal_gradient

GROWTH = 1.05  # factor between the numbers of rows after which the weights are evaluated
FIRST = 100  # rows before the first evaluation
MOST_PASSES = 20
DECREASED = 0.9  # ratio of the last time to the first below which the time counts as decreased
BAR = 20  # characters of the longest bar, so that a line fits into 80 columns
AUTOMATIC_PASSES = 5  # over the smallest number of rows, to choose the accuracy
NEIGHBOURS = (0.0, 1.0, 2.0, 3.0, -1.0)  # base-2 logarithms of the factors by which the strength is varied
NEIGHBOURING = 16  # consecutive rows drawn together; otherwise cache misses would make a step more expensive for larger m
HOPELESS = 2.0  # trials that take this many times longer than the best are stopped
TRIALS = 3  # runs per strength to choose between the strengths


@dataclass
class Size:
    """The measurements for one number of rows."""

    rows: int
    regularizer: Any
    seconds: list[float] = field(default_factory=list)
    iterations: list[float] = field(default_factory=list)
    best: float = 0.0  #: the highest accuracy of any run

    @property
    def median_seconds(self) -> float:
        """The median time to the accuracy; infinite if most runs did not reach it."""
        return float(np.median(self.seconds)) if self.seconds else math.inf

    @property
    def median_iterations(self) -> float:
        """The median number of steps to the accuracy."""
        return float(np.median(self.iterations)) if self.iterations else math.inf


def measure(
    X: Any,
    y: np.ndarray,
    test: tuple[Any, np.ndarray],
    accuracy: float,
    sizes: list[int],
    loss: Any,
    regularizer: Any,
    runs: int,
    seed: int,
) -> Iterator[Size]:
    """Time and iterations to an accuracy on the test rows, at each number of training rows, smallest first.

    >>> from fenchel.datasets import make_text
    >>> from fenchel.losses import Logistic
    >>> from fenchel.regularizers import L2
    >>> X, y = make_text(1500, n=200, nonzeros=10)
    >>> test = X[1000:], y[1000:]
    >>> [size.rows for size in measure(X[:1000], y[:1000], test, 0.6, [1000, 500], Logistic(), L2(1.0), runs=1, seed=0)]
    [500, 1000]
    """
    nested = np.random.default_rng(seed).permutation(len(y))  # so that larger subsets contain the smaller ones
    for rows in sorted(sizes):
        problem = Problem(X[nested[:rows]], y[nested[:rows]], loss, regularizer)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            best = uninterrupted(minimize(problem, "pgs", tol=0.0, max_passes=1, seed=seed, strength="auto")).regularizer
        trials = [Size(rows, best.times(2.0**k)) for k in NEIGHBOURS]
        limit = math.inf
        for trial in trials:
            for number in range(TRIALS):
                run_once(problem, test, accuracy, trial, seed + runs + number, limit)
            limit = min(limit, HOPELESS * trial.median_iterations)
        size = Size(rows, min(trials, key=lambda trial: (trial.median_iterations, -trial.best)).regularizer)
        for number in range(runs):
            run_once(problem, test, accuracy, size, seed + number)
        yield size


def run_once(problem: Problem, test: tuple[Any, np.ndarray], accuracy: float, size: Size, seed: int, limit: float = math.inf) -> None:
    """Count the steps until the weights reach the accuracy; then time the same number of steps without evaluations."""
    problem = problem.replace(regularizer=size.regularizer)
    rows = problem.sample()  # all rows: no step depends on their number
    run = Steps(problem, seed)
    evaluate_at, found = FIRST, 0.0
    limit = min(limit, MOST_PASSES * problem.m)
    while found < accuracy and run.taken < limit:
        run.advance(rows, evaluate_at - run.taken)
        evaluate_at = math.ceil(GROWTH * evaluate_at)
        found = float(np.mean(np.where(test[0] @ run.weights() > 0.0, 1.0, -1.0) == test[1]))
        size.best = max(size.best, found)
    size.iterations.append(float(run.taken) if found >= accuracy else math.inf)
    clock = time.perf_counter()
    if found >= accuracy:
        Steps(problem, seed).advance(rows, run.taken)
    size.seconds.append(time.perf_counter() - clock if found >= accuracy else math.inf)


class Steps:
    """Steps of pgs on rows drawn with replacement, as in Figure 1; consecutive rows are drawn together, as rows are shuffled."""

    def __init__(self, problem: Problem, seed: int) -> None:
        self.problem, self.rng, self.taken = problem, np.random.default_rng(seed), 0
        self.loop = OnlineLoop(problem, batch=1, sampling="replacement", rng=self.rng, start=None, certify=False)
        self.rule = primal_gradient(problem, None, 1.0)

    def advance(self, rows: Chunk, steps: int) -> None:
        """Take this many more steps."""
        starts = self.rng.integers(self.problem.m, size=-(-steps // NEIGHBOURING))
        drawn = (starts[:, None] + np.arange(NEIGHBOURING)).ravel()[:steps] % self.problem.m
        self.taken += self.loop.run(rows, self.rule, self.rule.weights, drawn)

    def weights(self) -> np.ndarray:
        """w after the steps so far."""
        return np.asarray(read_weights(self.rule.weights))


def verdict(sizes: list[Size], accuracy: float) -> str:
    """One sentence on whether the time decreased with the number of rows.

    >>> few, many = Size(100, None, [2.0], [200.0]), Size(1000, None, [1.0], [90.0])
    >>> verdict([few, many], 0.9)
    'Time to 90% decreased with m: from 2 s at 100 rows to 1 s at 1,000 rows, a factor of 0.50 (iterations 0.45).'
    """
    reached = [size for size in sizes if math.isfinite(size.median_seconds)]
    if len(reached) < 2:
        best = max((size.best for size in sizes), default=0.0)
        return (
            f"{accuracy:.4g} was reached at {len(reached)} of {len(sizes)} sizes, too few for a comparison; "
            f"the best accuracy was {best:.4f}: give a slightly lower accuracy or larger sizes."
        )
    first, last = reached[0], reached[-1]
    ratio = last.median_seconds / first.median_seconds
    fewer = last.median_iterations / first.median_iterations
    change = "decreased" if ratio < DECREASED else "hardly changed" if ratio < 1.0 / DECREASED else "increased"
    return (
        f"Time to {100 * accuracy:.4g}% {change} with m: from {first.median_seconds:.3g} s at {first.rows:,} rows to "
        f"{last.median_seconds:.3g} s at {last.rows:,} rows, a factor of {ratio:.2f} (iterations {fewer:.2f})."
    )


def report(console: Console, sizes: list[Size], accuracy: float) -> None:
    """Print the table with bars, and the verdict."""
    columns = ("rows m", "strength", "accuracy", "iterations", "seconds")
    table = Table(*(Column(name, justify="right") for name in columns), "", box=SIMPLE_HEAD, pad_edge=False)
    longest = max((s.median_seconds for s in sizes if math.isfinite(s.median_seconds)), default=1.0)
    for size in sizes:
        reached = math.isfinite(size.median_seconds)
        bar = "█" * max(1, round(BAR * size.median_seconds / longest)) if reached else "not reached"
        numbers = (f"{size.median_iterations:,.0f}", f"{size.median_seconds:.4f}") if reached else ("", "")
        table.add_row(f"{size.rows:,}", f"{size.regularizer.strong_convexity():.2e}", f"{size.best:.4f}", *numbers, bar)
    console.print(table)
    console.print(verdict(sizes, accuracy))


def reachable_accuracy(X: Any, y: np.ndarray, test: tuple[Any, np.ndarray], rows: int, loss: Any, regularizer: Any, seed: int) -> float:
    """The accuracy that training on this many rows reaches, rounded down to three digits."""
    chosen = np.random.default_rng(seed).permutation(len(y))[:rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem = Problem(X[chosen], y[chosen], loss, regularizer)
        result = uninterrupted(minimize(problem, "pgs", tol=0.0, max_passes=AUTOMATIC_PASSES, seed=seed, strength="auto"))
    return math.floor(1000.0 * float(np.mean(np.where(test[0] @ result.w > 0.0, 1.0, -1.0) == test[1]))) / 1000.0


def run(
    data: Path | None,
    accuracy: float | None,
    sizes: str,
    test: Path | None,
    loss: str,
    p: float,
    runs: int,
    rows: int,
    figure: Path | None,
    seed: int,
) -> None:
    """Run the experiment: read or generate data, measure, print the table and the verdict, draw the figure."""
    console = Console()
    known = {name: cls for name, cls in losses().items() if getattr(cls(), "labels", "real") == "binary"}
    chosen = known[checked_choice("loss", loss, known)]()
    regularizer = SquaredLp(1.0, p)
    if figure is not None:
        plots.check_file(figure)
    X, y, held_out = _training_and_test(data, test, rows, seed, console)
    wanted = _checked_sizes(sizes, len(y))
    console.print(f"{len(y):,} training rows, {len(held_out[1]):,} test rows, {X.shape[1]:,} features; {runs} runs per size.")
    if accuracy is None:
        accuracy = reachable_accuracy(X, y, held_out, min(wanted), chosen, regularizer, seed)
        console.print(f"Accuracy to train to: {accuracy:.3f}, which {min(wanted):,} rows reach; --accuracy sets another.")
    measured: list[Size] = []
    with console.status("measuring") as status:
        for size in measure(X, y, held_out, accuracy, wanted, chosen, regularizer, runs, seed):
            measured.append(size)
            status.update(f"measured m = {size.rows:,}, {len(measured)} of {len(wanted)}")
    report(console, measured, accuracy)
    if figure is not None:
        plots.save(plots.inverse_time(measured, accuracy), figure)
        console.print(f"Figure: {figure}")


def _training_and_test(data: Path | None, test: Path | None, rows: int, seed: int, console: Console) -> tuple[Any, np.ndarray, Any]:
    if data is None:
        console.print(f"Generating {rows:,} documents with the statistics of RCV1.")
        held = min(20_000, rows // 5)
        X, y = make_text(rows + held, seed=seed)
        return X[:rows], y[:rows], (X[rows:], y[rows:])
    X, y = read_svmlight(data)
    y = _two_classes(y, data)
    if test is not None:
        T, u = read_svmlight(test)
        width = max(X.shape[1], T.shape[1])
        X.resize(X.shape[0], width)
        T.resize(T.shape[0], width)
        return X, y, (T, _two_classes(u, test))
    held = min(20_000, len(y) // 5)
    order = np.random.default_rng(seed).permutation(len(y))
    return X[order[held:]], y[order[held:]], (X[order[:held]], y[order[:held]])


def _two_classes(y: np.ndarray, path: Path) -> np.ndarray:
    values = np.unique(y)
    if len(values) != 2:
        raise InputError(f"{path} has {len(values)} different labels: give data with two classes.")
    return np.where(y == values[1], 1.0, -1.0)


def _checked_sizes(sizes: str, m: int) -> list[int]:
    if not sizes:
        return [m // 2**k for k in range(4, -1, -1) if m // 2**k >= FIRST]
    try:
        wanted = [int(size.replace("_", "")) for size in sizes.split(",")]
    except ValueError:
        raise InputError(Argument("sizes", sizes), ": give whole numbers separated by commas, such as 1000,10000.") from None
    wrong = [size for size in wanted if not FIRST <= size <= m]
    if wrong:
        raise InputError(f"size {wrong[0]:,}: give sizes between {FIRST} and the number of training rows, {m:,}.")
    return wanted

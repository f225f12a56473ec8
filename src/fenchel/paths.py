"""Regularization paths: min_w mean loss + strength·(l1_ratio·‖w‖₁ + (1 − l1_ratio)/2·‖w‖²) for many strengths, largest first

The first strength is the smallest that gives w = 0, max_j |v_j| / l1_ratio at α = −φ'(0). Every solution is the starting point of the
next, and every point has its own certificate. With ``cv`` the same strengths are also solved on each fold's training rows, the folds of
large data in parallel, and evaluated on the held-out rows.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from fenchel.core.array_types import MatrixLike
from fenchel.core.errors import Argument, InputError
from fenchel.core.numeric import EPSILON, TINY
from fenchel.core.threads import Stop, available_threads, one_thread, run_tasks
from fenchel.core.validation import checked_whole, is_number
from fenchel.driver.advice import warn_not_certified
from fenchel.driver.minimization import certified, check_limits, find_solver, solve
from fenchel.linalg.design import threads_for_problems
from fenchel.path_checkpoint import kept
from fenchel.plots import path_figure
from fenchel.problems.problem import Problem
from fenchel.problems.result import Result
from fenchel.regularizers import L1, L1L2, Box
from fenchel.regularizers.parameters import elastic_net_strengths
from fenchel.solvers._coordinate.certified_gram_path import CertifiedGramPath
from fenchel.solvers._coordinate.column_path import column_path, has_column_path
from fenchel.solvers._coordinate.gram_path import gram_path, has_gram_path
from fenchel.solvers._coordinate.reduction import Reduction, reducible
from fenchel.solvers._coordinate.strengths_at_once import StrengthsAtOnce, are_found_at_once

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

__all__ = ["Path", "path", "strength_of_zero"]

SMALLER = 0.1  # of an objective: what the smallest one may be if no bound says more
TIGHTEST = 1e-9  # relative to P(0): what a tolerance that is relative to an objective may become


@dataclass(eq=False)
class Path:
    """Solutions for many strengths, largest strength first.

    Attributes:
        strengths: the factors of the penalty; ``l1_ratio`` is the share of the l1 norm in it.
        coefs: one row of weights for each strength, a sparse matrix (the classes concatenated for a loss with K outputs);
            ``coef(k)`` is one of them as an ordinary array.
        intercepts: the intercept at each strength.
        columns: the results by name: strength, objective, gap, nnz, passes, seconds, converged and, with ``cv``, validation_loss and
            validation_sd (mean and standard deviation over folds of the mean loss on held-out rows) and, for classification,
            validation_error (the share of wrong signs or classes).
        fold_losses: with ``cv``, the mean loss on the held-out rows, one row per fold and one column per strength.
        interrupted: whether Ctrl-C ended the run: then there are only the strengths that were finished and, of the folds, those that had
            finished all strengths; without any such fold there are no validation columns.
    """

    strengths: np.ndarray
    l1_ratio: float
    coefs: sp.csr_array
    intercepts: np.ndarray
    columns: dict[str, np.ndarray]
    tol: float
    shape: tuple[int, ...] = field(repr=False)
    fold_losses: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)), repr=False)
    interrupted: bool = False

    @property
    def folds(self) -> int:
        """The number of cross-validation folds."""
        return len(self.fold_losses)

    def __len__(self) -> int:
        return len(self.strengths)

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.columns:
            raise KeyError(f"there is no column {name!r}: the columns are {', '.join(self.columns)}")
        return self.columns[name]

    def __repr__(self) -> str:
        first, last = self.strengths[0], self.strengths[-1]
        best = f", best {self.strengths[self.best]:.3g}" if "validation_loss" in self.columns else ""
        converged = int(self["converged"].sum())
        nnz = int(self["nnz"].max())
        return (
            f"Path({len(self)} strengths from {first:.3g} to {last:.3g}{best}, {converged} certified to tol={self.tol:g}, nnz up to {nnz})"
        )

    def coef(self, k: int) -> np.ndarray:
        """The weights of the columns of X at strength number k (0 is the largest)."""
        return np.asarray(self.coefs[[k]].toarray()).reshape(self.shape)

    @property
    def best(self) -> int:
        """The index of the strength with the smallest validation loss."""
        if "validation_loss" not in self.columns:
            raise InputError("This path was computed without cross-validation: give ", Argument("cv", 5), ", for instance.")
        return int(np.argmin(self["validation_loss"]))

    @property
    def best_within_error(self) -> int:
        """The index of the largest strength whose validation loss is within one standard error of the smallest."""
        best = self.best
        limit = self["validation_loss"][best] + self["validation_sd"][best] / np.sqrt(self.folds)
        return int(np.argmax(self["validation_loss"] <= limit))

    def to_frame(self) -> pandas.DataFrame:
        """The table as a pandas DataFrame (pandas must be installed)."""
        import pandas

        return pandas.DataFrame(self.columns)

    def plot(self, axes: Sequence[Axes] | None = None) -> Sequence[Axes]:
        """Plot weights, their number and, with ``cv``, the validation loss against strength; returns the axes (needs matplotlib).

        ``axes`` are two, or three with ``cv``; None creates a new figure. ``fenchel.plots.save`` writes it to a file.
        """
        return path_figure.path(self, axes)


@one_thread
@np.errstate(all="ignore")  # overflow ends in a result that is not certified, or in a grid that is refused
def path(
    X: MatrixLike,
    y: ArrayLike,
    loss: Any,
    *,
    l1_ratio: float = 1.0,
    strengths: ArrayLike | None = None,
    n_strengths: int = 100,
    ratio: float = 1e-3,
    positive: bool = False,
    cv: int | Iterable[tuple[ArrayLike, ArrayLike]] | None = None,
    intercept: float | str = 0.0,
    sample_weight: ArrayLike | None = None,
    solver: str = "auto",
    tol: float = 1e-4,
    max_passes: float = 1000,
    seed: int = 0,
    threads: int | None = None,
) -> Path:
    """Solve a lasso, elastic net or similar problem for many strengths, each certified to ``tol`` of its own objective.

    Args:
        X, y, loss, intercept, sample_weight: as in :class:`fenchel.Problem`.
        l1_ratio: the share of the l1 norm in the penalty, above 0 and up to 1 (the lasso).
        strengths: the strengths to solve for, in any order; by default ``n_strengths`` of them on a geometric grid, from the
            smallest that gives w = 0 down to ``ratio`` times that.
        positive: whether weights must not be negative.
        cv: a number of folds (rows are shuffled with ``seed``; folds are stratified by class), or pairs of training and test
            rows, as scikit-learn's splitters produce them.
        tol: the accuracy of every point, relative to its own objective, though not below 1e-9 of that at w = 0 unless ``tol`` is.
        solver, max_passes, seed, threads: as in :func:`fenchel.minimize`, for every point.

    Interrupting (Ctrl-C) returns what is finished, with ``interrupted`` true; before the first strength is, it raises KeyboardInterrupt.

    >>> import fenchel as fl
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 20)); y = X[:, 0] - 2.0 * X[:, 1] + 0.1 * rng.standard_normal(100)
    >>> found = fl.path(X, y, fl.Squared(), n_strengths=10, cv=5)
    >>> found["nnz"][:3].tolist(), bool(found["converged"].all())
    ([0, 2, 2], True)
    >>> np.round(found.coef(found.best)[:2], 1).tolist()
    [1.0, -2.0]
    """
    check_limits(tol, max_passes, None, seed, threads)
    posed = Posed(X, y, loss, intercept, sample_weight, l1_ratio, positive, strengths, n_strengths, ratio, cv, seed)
    find_solver(posed.problem, solver, {})
    options: dict[str, Any] = {"tol": tol, "max_passes": max_passes, "seed": seed, "solver": solver}
    options["callback"] = stop = StopCallback()
    found: list[Result] = []
    whole = partial(found.extend, solve_all(posed.problem, posed.grid, posed.penalty, options))
    losses = posed.validated(options, threads, [whole])
    return assembled(posed.problem, posed.grid[: len(found)], l1_ratio, found, losses[:, : len(found)], options, stop.is_set())


class Validated(NamedTuple):
    """The strengths, and the mean loss on the held-out rows, one row per fold and one column per strength."""

    strengths: np.ndarray
    l1_ratio: float
    fold_losses: np.ndarray
    interrupted: bool


@one_thread
@np.errstate(all="ignore")
def validate(
    X: Any,
    y: np.ndarray,
    loss: Any,
    *,
    l1_ratio: float,
    cv: Any,
    strengths: Any = None,
    n_strengths: int = 100,
    ratio: float = 1e-3,
    positive: bool = False,
    intercept: float | str = 0.0,
    sample_weight: Any = None,
    tol: float,
    max_passes: float,
    seed: int,
    threads: int | None,
) -> Validated:
    """The validation losses of :func:`path` without its solutions on all rows."""
    check_limits(tol, max_passes, None, seed, threads)
    posed = Posed(X, y, loss, intercept, sample_weight, l1_ratio, positive, strengths, n_strengths, ratio, cv, seed)
    options: dict[str, Any] = {"tol": tol, "max_passes": max_passes, "seed": seed, "solver": "auto", "callback": StopCallback()}
    losses = posed.validated(options, threads, [])
    return Validated(posed.grid, l1_ratio, losses[:, :, 0], options["callback"].is_set())


class Posed:
    """The problem, its strengths and its folds, from the arguments of :func:`path`."""

    def __init__(
        self,
        X: Any,
        y: Any,
        loss: Any,
        intercept: Any,
        sample_weight: Any,
        l1_ratio: float,
        positive: bool,
        strengths: Any,
        n_strengths: int,
        ratio: float,
        cv: Any,
        seed: int,
    ) -> None:
        if not (is_number(l1_ratio) and 0.0 < l1_ratio <= 1.0):
            raise InputError(
                Argument("l1_ratio", l1_ratio),
                ": give a number above 0 and at most 1 (the lasso); a pure ridge penalty never gives w = 0.",
            )
        self.penalty = Penalty(l1_ratio, positive)
        self.problem = Problem(X, y, loss, self.penalty.times(1.0), sample_weight=sample_weight, intercept=intercept)
        given = strengths is not None
        self.grid = checked_strengths(strengths) if given else geometric_strengths(self.problem, self.penalty, n_strengths, ratio)
        self.splits = list(folds(self.problem, cv, seed))

    def validated(self, options: dict[str, Any], threads: int | None, others: list[Any]) -> np.ndarray:
        """The mean loss and the error rate on the held-out rows of each fold that was finished, at each strength; ``others`` are tasks
        that run beside the folds."""
        at_once = min(threads_for_problems(self.problem.design.storage, threads), len(others) + len(self.splits))
        options["threads"] = threads if at_once <= 1 else max(1, (threads or available_threads()) // at_once)
        scores: list[list[tuple[float, float]]] = [[] for _ in self.splits]
        validations = [
            partial(validate_fold, self.problem, split, self.grid, self.penalty, options, losses)
            for split, losses in zip(self.splits, scores, strict=True)
        ]
        try:
            run_tasks([*others, *validations], max(1, at_once), options["callback"])
        except KeyboardInterrupt:
            options["callback"].set()
        complete = [losses for losses in scores if len(losses) == len(self.grid)]
        return np.array(complete or np.zeros((0, len(self.grid), 2)))


class StopCallback(Stop):
    """A callback that ends a run once it is set."""

    def __call__(self, evaluation: Any) -> bool:
        return self.is_set()


class Penalty(NamedTuple):
    """l1_ratio·‖w‖₁ + (1 − l1_ratio)/2·‖w‖², optionally restricted to non-negative weights."""

    l1_ratio: float
    positive: bool

    def times(self, strength: float) -> Any:
        """The regularizer of that strength."""
        ratio = self.l1_ratio
        penalty: Any = L1(strength) if ratio == 1.0 else L1L2(l1=strength * ratio, l2=strength * (1.0 - ratio))
        return Box(0.0, np.inf, penalty) if self.positive else penalty


def checked_strengths(strengths: Any) -> np.ndarray:
    """The user's strengths, sorted from largest to smallest."""
    try:
        given = np.atleast_1d(np.asarray(strengths, dtype=np.float64)).ravel()
    except (TypeError, ValueError):
        given = np.zeros(0)
    if not given.size or not (np.isfinite(given) & (given > 0.0)).all():
        raise InputError("strengths must be one or more positive numbers: for automatic ones give ", Argument("strengths", None), ".")
    return np.sort(given)[::-1]


def geometric_strengths(problem: Problem, penalty: Penalty, n_strengths: int, ratio: float) -> np.ndarray:
    """A geometric grid of strengths, from the smallest that gives w = 0 down to ``ratio`` times it."""
    checked_whole("n_strengths", n_strengths)
    if not (is_number(ratio) and 0.0 < ratio <= 1.0):
        raise InputError(Argument("ratio", ratio), ": give a number above 0 and at most 1, the ratio of the last strength to the first.")
    problem = problem.centred()
    largest = strength_of_zero(problem, penalty.positive) / penalty.l1_ratio
    if not largest > EPSILON * float(np.abs(problem.y).max(initial=0.0)):
        raise InputError("w = 0 is optimal at every strength, because no column of X correlates with y: check X and y, or give strengths.")
    return largest * np.geomspace(1.0, ratio, n_strengths)


def strength_of_zero(problem: Problem, positive: bool = False) -> float:
    """The smallest l1 for which w = 0 (except for an unpenalised intercept) minimises mean loss + l1·‖w‖₁: max_j |v_j| at α = −φ'(0)."""
    _, v = problem.loss_gradient(problem.predict(problem.origin))
    penalised = v[:-1] if problem.free else v
    return float((penalised if positive else np.abs(penalised)).max())


def solve_all(problem: Problem, grid: np.ndarray, penalty: Penalty, options: dict[str, Any], of_own: bool = True) -> Iterator[Result]:
    """Solve for all strengths in turn with warm starts; an interrupt keeps the finished ones, and so do checkpoints.

    The tolerance is relative to the objective of each strength, or, if not ``of_own``, to P(0).
    """
    problem, regularizers = problem.centred(), [penalty.times(float(strength)) for strength in grid]
    solved = partial(_solve_all, problem, penalty=penalty, options=options, of_own=of_own)
    yield from kept(problem, grid, regularizers, {**options, "of_own": of_own}, lambda rest: solved(grid=rest))


def _solve_all(problem: Problem, grid: np.ndarray, penalty: Penalty, options: dict[str, Any], of_own: bool) -> Iterator[Result]:
    if options["solver"] == "auto" and len(grid) > 1 and not penalty.positive:
        tolerances = Tolerances(problem, options["tol"], True)
        if has_gram_path(problem):
            for result in solve_by_products(problem, grid, penalty, options, tolerances):
                grid = grid[1:]
                yield result
            if not len(grid) or options["callback"].is_set():
                return
        if are_found_at_once(problem) and problem.design.on_disk is None:
            yield from solve_at_once(problem, grid, penalty, options, tolerances)
            return
    is_reducible = len(grid) > 1 and problem.design.on_disk is None and reducible(problem, options["tol"])
    reduced = Reduction(problem) if is_reducible else None
    if reduced is not None and reduced.is_exact:
        found = [
            reduced.taken_back(result, problem, options["tol"])
            for result in solve_in_turn(reduced.problem, grid, penalty, options, of_own, reduced.constant)
        ]
        if not found or reduced.agrees(found[-1], problem):
            yield from found
            return
    yield from solve_in_turn(problem, grid, penalty, options, of_own)


class Tolerances:
    """The tolerances of the strengths of a path, relative to the objective that ``minimize`` takes them to be relative to.

    The smallest objective is concave in the strength and at least 0 without a penalty, so that it decreases no faster than the strength:
    that tells what the next one is at least. ``constant`` is what every objective lacks.
    """

    def __init__(self, problem: Problem, tol: float, of_own: bool, constant: float = 0.0) -> None:
        self.tol, self.of_own, self.constant = tol, of_own, constant
        self.whole, self.scale = problem.objective_at_zero + constant, max(problem.objective_at_zero, TINY)
        self.least, self.strength = self.whole, np.inf

    def at(self, strength: float) -> float:
        """The tolerance for that strength, at most as large as the one before."""
        least = self.least * min(1.0, strength / self.strength) if self.strength < np.inf else self.least
        own = max(self.tol * least, min(self.tol, TIGHTEST) * self.whole)
        return (own if self.of_own else self.tol * self.whole) / self.scale

    def proven(self, strength: float, result: Result) -> None:
        """Take the bound of the strength that was solved."""
        self.least, self.strength = min(self.whole, result.dual_objective + self.constant), strength

    def missed(self, result: Result) -> float | None:
        """A smaller tolerance, where the gap of a converged result is too large for its own objective: the first of a path may begin far
        below P(0)."""
        objective = result.objective + self.constant
        allowed = max(self.tol * objective, min(self.tol, TIGHTEST) * self.whole)
        if not (self.of_own and result.converged and result.gap > allowed):
            return None
        return max(self.tol * max(objective - result.gap, SMALLER * objective), min(self.tol, TIGHTEST) * self.whole) / self.scale


def solve_in_turn(
    problem: Problem, grid: np.ndarray, penalty: Penalty, options: dict[str, Any], of_own: bool, constant: float = 0.0
) -> Iterator[Result]:
    """The same without reducing the problem first; ``constant`` is what a reduced one lacks."""
    start, tolerances = None, Tolerances(problem, options["tol"], of_own, constant)
    for strength in map(float, grid):
        posed = problem.replace(regularizer=penalty.times(strength))
        result = solve(posed, start=start, **{**options, "tol": tolerances.at(strength)})
        while (tol := tolerances.missed(result)) is not None:
            result = solve(posed, start=result.w, **{**options, "tol": tol})
        if result.status in ("interrupted", "callback"):
            options["callback"].set()  # the folds that come later
            return
        tolerances.proven(strength, result)
        start = result.w
        yield result


def solve_by_products(
    problem: Problem, grid: np.ndarray, penalty: Penalty, options: dict[str, Any], tolerances: Tolerances
) -> Iterator[Result]:
    """The same for a quadratic loss and few columns: points and their certificates from the products of all columns.

    It ends before the first strength for which rounding errors of the products are too large.
    """
    problem = problem.with_threads(options["threads"])
    clock = time.perf_counter()
    path = CertifiedGramPath(problem)
    for strength in map(float, grid):
        posed = problem.replace(regularizer=penalty.times(strength))
        result = path.result(posed, tolerances.at(strength))
        while (tol := tolerances.missed(result)) is not None:
            result = path.result(posed, tol)
        if not result.converged or options["callback"].is_set():
            return
        tolerances.proven(strength, result)
        now = time.perf_counter()
        yield replace(result, seconds=now - clock)
        clock = time.perf_counter()


def solve_at_once(
    problem: Problem, grid: np.ndarray, penalty: Penalty, options: dict[str, Any], tolerances: Tolerances
) -> Iterator[Result]:
    """The same for smooth losses: points for several strengths at once, which are only to be proven."""
    problem = problem.with_threads(options["threads"])
    search = StrengthsAtOnce(problem, [elastic_net_strengths(penalty.times(float(strength))) for strength in grid])
    k = 0
    while k < len(grid):
        clock = time.perf_counter()
        points = search.points(k, tolerances.at(float(grid[k])) * problem.objective_at_zero)
        seconds = (time.perf_counter() - clock) / len(points)
        for point in points:
            tol = tolerances.at(float(grid[k]))
            posed = problem.replace(regularizer=penalty.times(float(grid[k])))
            result = certified(posed, "working-set", point, tol=tol, callback=options["callback"])
            result = replace(result, seconds=seconds)
            is_solved = not result.converged and result.status == "stalled"
            if is_solved:
                if search.reject(k, point):
                    break
                result = solve(posed, start=result.w, **{**options, "tol": tol})
            while (tighter := tolerances.missed(result)) is not None:
                is_solved, result = True, solve(posed, start=result.w, **{**options, "tol": tighter})
            if result.status in ("interrupted", "callback"):
                options["callback"].set()  # the folds that come later
                return
            tolerances.proven(float(grid[k]), result)
            yield result
            if is_solved:
                search.replace(k, problem.with_offset(result.w))
            else:
                search.accept(k, point)
            k += 1
            if is_solved:
                break  # the points that follow were begun elsewhere


def folds(problem: Problem, cv: Any, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Training and test rows of every fold."""
    if cv is None:
        return
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        from sklearn.model_selection import KFold, StratifiedKFold  # imported here because it is slow to import

        if not 2 <= cv <= problem.m:
            raise InputError(Argument("cv", cv), f": give a number of folds from 2 to the number of rows, {problem.m}.")
        kind = KFold if problem.labels == "real" else StratifiedKFold
        cv = kind(int(cv), shuffle=True, random_state=seed)
    pairs = cv.split(problem.design.storage, problem.y) if hasattr(cv, "split") and not isinstance(cv, str) else cv
    try:
        splits = [(checked_rows(train, problem.m), checked_rows(test, problem.m)) for train, test in pairs]
    except (TypeError, ValueError) as error:
        raise InputError(Argument("cv", cv), f": give a number of folds, or pairs of training and test rows ({error}).") from None
    if not splits:
        raise InputError("cv is empty: give a number of folds, or pairs of training and test rows.")
    yield from splits


def checked_rows(rows: Any, m: int) -> np.ndarray:
    """Row numbers from row numbers or a boolean mask."""
    rows = np.asarray(rows)
    rows = np.flatnonzero(rows) if rows.dtype == bool and rows.shape == (m,) else rows
    if rows.ndim != 1 or not rows.size or rows.dtype.kind not in "iu" or rows.min() < -m or rows.max() >= m:
        raise InputError(f"rows must be at least one whole number from 0 to {m - 1}")
    return rows


def validate_fold(
    problem: Problem, split: tuple[np.ndarray, np.ndarray], grid: np.ndarray, penalty: Penalty, options: dict[str, Any], scores: list[Any]
) -> None:
    """Append mean loss and error rate on a fold's test rows, at each strength, of the weights learnt from its training rows."""
    if options["callback"].is_set():
        return
    train, test = (problem.on_rows(rows) for rows in split)
    for w in fold_weights(train, grid, penalty, options):
        z = test.predict(w)
        scores.append((test.mean_loss(z), test.row_weights @ is_wrong(z, test.y, problem.labels)))


def fold_weights(problem: Problem, grid: np.ndarray, penalty: Penalty, options: dict[str, Any]) -> Iterator[np.ndarray]:
    """The weights at each strength, for the rows of a fold: no more accurate than validation errors need, where that saves time."""
    if penalty.positive or options["solver"] != "auto" or not has_column_path(problem) or problem.design.on_disk is not None:
        yield from (result.w for result in solve_all(problem, grid, penalty, options, of_own=False))
        return
    problem = problem.centred()
    pairs = [elastic_net_strengths(penalty.times(float(strength))) for strength in grid]
    accuracy = options["tol"] * problem.objective_at_zero
    found = gram_path(problem, pairs, accuracy) if has_gram_path(problem) else column_path(problem, pairs, accuracy)
    for w in found:
        if options["callback"].is_set():
            return
        yield problem.without_offset(w)


def is_wrong(z: np.ndarray, y: np.ndarray, labels: str) -> np.ndarray:
    """1 where the predicted class is wrong, else 0; nan for regression."""
    if labels == "class":
        return (z.argmax(axis=1) != y).astype(float)
    return (z * y <= 0.0).astype(float) if labels == "binary" else np.full(len(y), np.nan)


def assembled(
    problem: Problem, grid: np.ndarray, l1_ratio: float, found: list[Result], scores: np.ndarray, options: dict[str, Any], interrupted: bool
) -> Path:
    """The results as one path."""
    if not found:
        raise KeyboardInterrupt  # no strength was finished
    names = ("objective", "gap", "passes", "seconds", "converged")
    columns = {"strength": grid, **{name: np.array([getattr(result, name) for result in found]) for name in names}}
    columns["nnz"] = np.array([np.count_nonzero(result.coef) for result in found], dtype=np.int64)
    if len(scores):
        columns["validation_loss"], columns["validation_sd"] = scores[:, :, 0].mean(axis=0), scores[:, :, 0].std(axis=0)
        if problem.labels != "real":
            columns["validation_error"] = scores[:, :, 1].mean(axis=0)
    failed = [result for result in found if not result.converged]
    if failed and options["tol"] > 0.0:
        worst = replace(max(failed, key=lambda result: result.gap), tol=options["tol"])
        subject = (f"{len(failed)} of {len(grid)} strengths",)
        posed, limit = problem.replace(regularizer=worst.regularizer), Argument("max_passes", options["max_passes"])
        warn_not_certified(subject, posed, worst, limit, scale_name="their objectives")
    coefs = sparse_rows([result.coef.reshape(-1) for result in found])
    shape = (problem.design.width, problem.outputs) if problem.vector_valued else (problem.design.width,)
    intercepts = np.array([result.intercept for result in found])
    losses = scores[:, :, 0] if len(scores) else np.zeros((0, 0))
    return Path(grid, l1_ratio, coefs, intercepts, columns, options["tol"], shape, losses, interrupted)


def sparse_rows(vectors: list[np.ndarray]) -> sp.csr_array:
    """The matrix with these rows.

    >>> sparse_rows([np.array([0.0, 2.0]), np.zeros(2)]).toarray().tolist()
    [[0.0, 2.0], [0.0, 0.0]]
    """
    places = [np.flatnonzero(vector) for vector in vectors]
    ends = np.cumsum([0, *map(len, places)])
    entries = np.concatenate([vector[place] for vector, place in zip(vectors, places, strict=True)])
    return sp.csr_array((entries, np.concatenate(places), ends), shape=(len(vectors), len(vectors[0])))


def __dir__() -> list[str]:
    return sorted(__all__)

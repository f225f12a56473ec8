"""Time to an accurate sparse model, against celer, skglm and scikit-learn: mean loss + l1·‖w‖₁, no intercept.

Accurate means P(w) − P* ≤ tol·P(0), for tol 1e-3 and 1e-6, at l1 = λ_max/10, /100 and /1000, where λ_max is the smallest
strength at which w = 0 is optimal. The tolerances of other packages have different meanings, so each is run with decreasing
tolerances, by factors of √10; its time is that of the largest tolerance whose objective is accurate enough. P* is from an accurate run of
celer, whose duality gap is checked. The other packages are called in the fastest way (no copies, no intercept) on data in the layout that
suits them best: Fortran order or CSC. fenchel's time includes setting up the problem and its certificate. All times are the best
of three fits (one if it takes long), after one that compiles; "> s" is the time after which an unsuccessful package was stopped.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from celer import celer_path
from common import real, text
from skglm.datafits import Logistic, Quadratic
from skglm.penalties import L1
from skglm.solvers import AndersonCD, GramCD, ProxNewton
from sklearn.linear_model import Lasso, LogisticRegression
from threadpoolctl import threadpool_limits

import fenchel as fl

TOLERANCES = [10 ** (-k / 2) for k in range(25)]  # 1 … 1e-12
GAPS = (1e-3, 1e-6)
RATIOS = (10, 100, 1000)
LOSSES = {"lasso": fl.Squared(), "logistic": fl.Logistic()}
SLOW = {"saga", "skglm cd"}
TIGHT = 1e-9  # tolerance of the run that determines P*
LONG = 3.0  # seconds: a fit that takes longer is not repeated
PATIENCE = 20.0  # seconds: no smaller tolerance is tried after a longer fit, nor after twice as long for all fits

Fit = Callable[..., np.ndarray]  # (X, y, l1, tol) -> w


class Time(NamedTuple):
    seconds: float  # infinite if the accuracy was not reached
    spent: float = 0.0  # seconds of the longest attempt in that case

    def __str__(self) -> str:
        return f"{self.seconds:.4f}" if math.isfinite(self.seconds) else f"> {self.spent:.2g}"


class Data(NamedTuple):
    X: Any
    target: np.ndarray
    label: np.ndarray

    def y(self, loss: str) -> np.ndarray:
        return self.target if loss == "lasso" else self.label


def gaussian(m: int, n: int, relevant: int = 20) -> Data:
    """Independent features, a few of which are relevant, and noise."""
    rng = np.random.default_rng(0)
    X, w = np.asfortranarray(rng.standard_normal((m, n))), np.zeros(n)
    w[rng.choice(n, relevant, replace=False)] = rng.standard_normal(relevant)
    target = X @ w + rng.standard_normal(m)
    return Data(X, target, np.where(target > 0, 1.0, -1.0))


def documents() -> Data:
    X, y = real("rcv1sub.binary") or text(20_000)
    return Data(sp.csc_array(X), y, y)


DATA: dict[str, Callable[[], Data]] = {"wide": partial(gaussian, 100, 10_000), "tall": partial(gaussian, 100_000, 200), "sparse": documents}


def strongest(X: Any, y: np.ndarray, loss: str) -> float:
    """λ_max = ‖∇(mean loss)(0)‖_∞"""
    return float(np.abs(X.T @ y).max()) / len(y) * (1.0 if loss == "lasso" else 0.5)


# ---- other packages: the same objective, each in its own scaling ----


def celer(X: Any, y: np.ndarray, l1: float, tol: float, loss: str = "lasso") -> np.ndarray:
    return celer_with_gap(X, y, l1, tol, loss)[0]


def celer_with_gap(X: Any, y: np.ndarray, l1: float, tol: float, loss: str) -> tuple[np.ndarray, float]:
    if loss == "lasso":
        _, coefs, gaps = celer_path(X, y, "lasso", alphas=[l1], tol=tol, prune=1, max_iter=100)
        return coefs[:, 0], gaps[0]
    # the loss is a sum here, not a mean
    _, coefs, gaps = celer_path(X, y, "logreg", alphas=[l1 * len(y)], tol=tol, use_PN=True, prune=1, max_iter=100)
    return coefs[:, 0], gaps[0] / len(y)


def skglm(
    X: Any, y: np.ndarray, l1: float, tol: float, scale: float, loss: str = "lasso", solver: Any = AndersonCD, **options: Any
) -> np.ndarray:
    solver = solver(tol=tol * scale, fit_intercept=False, **options)  # its tol bounds a subgradient
    datafit = None if isinstance(solver, GramCD) else Quadratic() if loss == "lasso" else Logistic()
    return solver.solve(X, y, datafit, L1(l1), np.zeros(X.shape[1]), np.zeros(len(y)))[0]


def sklearn_lasso(X: Any, y: np.ndarray, l1: float, tol: float, precompute: bool = False) -> np.ndarray:
    return Lasso(l1, tol=tol, fit_intercept=False, copy_X=False, precompute=precompute, max_iter=5_000).fit(X, y).coef_


def sklearn_logistic(X: Any, y: np.ndarray, l1: float, tol: float, solver: str, max_iter: int) -> np.ndarray:
    options = {"solver": solver, "max_iter": max_iter, "fit_intercept": False, "random_state": 0}
    return LogisticRegression(C=1 / (l1 * len(y)), l1_ratio=1.0, tol=tol, **options).fit(X, y).coef_[0]


def peers(loss: str, X: Any, y: np.ndarray) -> dict[str, Fit]:
    scale = strongest(X, y, loss)
    if loss == "lasso":
        found: dict[str, Fit] = {"celer": celer, "skglm": partial(skglm, scale=scale), "sklearn": sklearn_lasso}
        if X.shape[1] < X.shape[0] and not sp.issparse(X):
            found["skglm gram"] = partial(skglm, scale=scale, solver=GramCD, max_iter=10_000)
            found["sklearn gram"] = partial(sklearn_lasso, precompute=True)
        return found
    logistic = partial(skglm, scale=scale, loss="logistic", max_iter=50)
    passes = max(1, 10**9 // X.size)  # about as many as fit into PATIENCE
    return {
        "celer": partial(celer, loss="logistic"),
        "skglm": partial(logistic, solver=ProxNewton),
        "skglm cd": partial(logistic, max_epochs=1000),
        "liblinear": partial(sklearn_logistic, solver="liblinear", max_iter=1000),
        "saga": partial(sklearn_logistic, solver="saga", max_iter=passes),
    }


# ---- timing ----


def timed(action: Callable[[], Any]) -> tuple[float, Any]:
    clock = time.perf_counter()
    found = action()
    return time.perf_counter() - clock, found


def repeated(action: Callable[[], Any], first: float) -> float:
    """The shortest of three times, the first of which is given."""
    return first if first > LONG else min(first, timed(action)[0], timed(action)[0])


def warm_rows(X: Any, y: np.ndarray) -> tuple[Any, np.ndarray]:
    """A few rows in the same layout, for compilation."""
    return (X[:50] if sp.issparse(X) else np.asfortranarray(X[:50])), y[:50]


def descend(fit: Fit, problem: fl.Problem, X: Any, y: np.ndarray, optimum: float) -> list[Time]:
    """The seconds of another package to each gap, or the time after which it was stopped."""
    found: list[Time] = []
    longest = total = 0.0
    fit(*warm_rows(X, y), problem.regularizer.l1, 1e-3)
    for tol in TOLERANCES:
        action = partial(fit, X, y, problem.regularizer.l1, tol)
        seconds, w = timed(action)
        gap = (problem.objective(w) - optimum) / problem.objective_at_zero
        reached = sum(gap <= wanted for wanted in GAPS)
        if reached > len(found):
            found += [Time(repeated(action, seconds))] * (reached - len(found))
        longest, total = max(longest, seconds), total + seconds
        if len(found) == len(GAPS) or longest > PATIENCE or total > 2 * PATIENCE:
            break
    return found + [Time(math.inf, longest)] * (len(GAPS) - len(found))


def fenchel(X: Any, y: np.ndarray, loss: str, l1: float, tol: float, threads: int | None) -> Time:
    """The seconds of fenchel to one gap, from the data to the certificate."""

    def action() -> fl.Result:
        return fl.minimize(fl.Problem(X, y, LOSSES[loss], fl.L1(l1)), tol=tol, time_limit=PATIENCE, threads=threads)

    action()
    seconds, result = timed(action)
    return Time(repeated(action, seconds)) if result.converged else Time(math.inf, seconds)


class Score:
    """The times of fenchel relative to the best other package."""

    def __init__(self) -> None:
        self.ratios: list[float] = []

    def add(self, ours: Time | None, others: dict[str, Time]) -> str:
        """Record one comparison; the text for the end of its row."""
        best = min(others, key=others.get)
        if ours is None or math.isinf(min(ours.seconds, others[best].seconds)):
            return best if math.isfinite(others[best].seconds) else "none"
        self.ratios.append(ours.seconds / others[best].seconds)
        return f"{best:<12} {self.ratios[-1]:.2f}"

    def __str__(self) -> str:
        ahead = sum(ratio < 1 for ratio in self.ratios)
        return f"fenchel is ahead in {ahead} of {len(self.ratios)} cells; the worst ratio is {max(self.ratios, default=math.nan):.2f}"


def parsed(about: str, ratios: tuple[int, ...], ratio: str, slow: set[str]) -> argparse.Namespace:
    """Parse the command line, limit the threads and silence warnings."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--only", choices=DATA, nargs="+", default=list(DATA), help="run these data sets only")
    parser.add_argument("--loss", choices=LOSSES, nargs="+", default=list(LOSSES))
    parser.add_argument("--ratio", type=int, nargs="+", default=ratios, help=ratio)
    parser.add_argument("--no-slow-peers", action="store_true", help=f"leave out {', '.join(sorted(slow))}")
    parser.add_argument("--peers-only", action="store_true", help="leave out fenchel")
    parser.add_argument("--threads", type=int, help="threads of all packages; by default all processors")
    arguments = parser.parse_args()
    threadpool_limits(arguments.threads)
    warnings.simplefilter("ignore")
    return arguments


def main() -> None:
    arguments = parsed(__doc__, RATIOS, "λ_max over l1", SLOW)
    score = Score()
    for name in arguments.only:
        data = DATA[name]()
        X = data.X
        for loss in arguments.loss:
            y = data.y(loss)
            others = {peer: fit for peer, fit in peers(loss, X, y).items() if not (arguments.no_slow_peers and peer in SLOW)}
            print(f"\n{name} {X.shape[0]:,} x {X.shape[1]:,}, {loss}: seconds")
            print(
                f"{'λ_max/l1':>8} {'gap':>6} "
                + "".join(f"{column:>13}" for column in ["fenchel", *others])
                + "   best peer    fenchel/best"
            )
            for ratio in arguments.ratio:
                l1 = strongest(X, y, loss) / ratio
                problem = fl.Problem(X, y, LOSSES[loss], fl.L1(l1))
                w, gap = celer_with_gap(X, y, l1, TIGHT, loss)
                optimum = problem.objective(w)
                if gap > 0.01 * min(GAPS) * problem.objective_at_zero:
                    print(f"the optimum is only known to {gap / problem.objective_at_zero:.0e}·P(0)")
                times = {peer: descend(fit, problem, X, y, optimum) for peer, fit in others.items()}
                for k, wanted in enumerate(GAPS):
                    cells = {peer: found[k] for peer, found in times.items()}
                    ours = None if arguments.peers_only else fenchel(X, y, loss, l1, wanted, arguments.threads)
                    times = "".join(f"{cell!s:>13}" for cell in [ours or "-", *cells.values()])
                    print(f"{ratio:>8} {wanted:>6g} {times}   {score.add(ours, cells)}", flush=True)
    if not arguments.peers_only:
        print(f"\n{score}")


if __name__ == "__main__":
    main()

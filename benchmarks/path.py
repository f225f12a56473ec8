"""Time of a whole path of 100 strengths, from λ_max down to λ_max/100 and λ_max/1000, against celer, skglm and scikit-learn.

Every point must be accurate: P(w) − P* ≤ tol·P(0) for tol 1e-4 and 1e-6, on the data and losses of l1.py. As there, each package
is run with decreasing tolerances; its time is that of the largest tolerance for which the worst point is accurate enough, and the
worst gap is shown with it. P* is the smallest objective that any path reached at that strength, including an accurate reference path.
liblinear has no warm start: its path is 100 fits. Times are the best of three (one if it takes long), after compilation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from celer import celer_path
from l1 import DATA, LOSSES, TOLERANCES, Score, Time, parsed, repeated, sklearn_logistic, strongest, timed, warm_rows
from skglm.datafits import Logistic, Quadratic
from skglm.penalties import L1
from skglm.solvers import AndersonCD, ProxNewton
from sklearn.linear_model import lasso_path

import fenchel as fl

GAPS = (1e-4, 1e-6)
RATIOS = (100, 1000)
POINTS = 100
TIGHT = 1e-8  # tolerance of the path that determines P*
PATIENCE = 60.0  # seconds: no smaller tolerance is tried after a longer path, nor after four times as long for all paths

Path = Callable[..., np.ndarray]  # (X, y, strengths, tol) -> weights, one column per strength


# ---- other packages ----


def celer(X: Any, y: np.ndarray, strengths: np.ndarray, tol: float, loss: str = "lasso") -> np.ndarray:
    if loss == "lasso":
        return celer_path(X, y, "lasso", alphas=strengths, tol=tol, prune=1, max_iter=100)[1]
    return celer_path(X, y, "logreg", alphas=strengths * len(y), tol=tol, use_PN=True, prune=1, max_iter=100)[1]


def skglm(X: Any, y: np.ndarray, strengths: np.ndarray, tol: float, loss: str = "lasso") -> np.ndarray:
    """AndersonCD.path, and an equivalent for ProxNewton, which has none; both without the initialisation in pure Python."""
    options = {"tol": tol * strengths[0], "fit_intercept": False, "max_iter": 50}
    solver, datafit = (AndersonCD(**options), Quadratic()) if loss == "lasso" else (ProxNewton(**options), Logistic())
    w, z, found = np.zeros(X.shape[1]), np.zeros(len(y)), []
    for l1 in strengths:
        w = solver.solve(X, y, datafit, L1(l1), w, z)[0]
        solver.p0 = max(solver.p0, np.count_nonzero(w))
        found.append(w.copy())
    return np.array(found).T


def sklearn(X: Any, y: np.ndarray, strengths: np.ndarray, tol: float) -> np.ndarray:
    return lasso_path(X, y, alphas=strengths, tol=tol, copy_X=False, max_iter=5_000)[1]


def liblinear(X: Any, y: np.ndarray, strengths: np.ndarray, tol: float) -> np.ndarray:
    fit = partial(sklearn_logistic, X, y, tol=tol, solver="liblinear", max_iter=1000)
    return np.array([fit(l1=l1) for l1 in strengths]).T


PEERS: dict[str, dict[str, Path]] = {
    "lasso": {"celer": celer, "skglm": skglm, "sklearn": sklearn},
    "logistic": {"celer": partial(celer, loss="logistic"), "skglm": partial(skglm, loss="logistic"), "liblinear": liblinear},
}


# ---- timing ----


def objectives(X: Any, y: np.ndarray, loss: str, strengths: np.ndarray, W: np.ndarray) -> np.ndarray:
    """P/P(0) at every point of a path."""
    Z = X @ W
    losses = 0.5 * (Z - y[:, None]) ** 2 if loss == "lasso" else np.logaddexp(0.0, -y[:, None] * Z)
    at_zero = 0.5 * np.mean(y**2) if loss == "lasso" else np.log(2)
    return (losses.mean(axis=0) + strengths * np.abs(W).sum(axis=0)) / at_zero


def descend(path: Path, X: Any, y: np.ndarray, loss: str, strengths: np.ndarray, optima: np.ndarray) -> list[tuple[Time, float]]:
    """The seconds of another package to each gap, and the worst gap on the path; ``optima`` is updated with smaller objectives."""
    found: list[tuple[Time, float]] = []
    longest, total, worst = 0.0, 0.0, math.inf
    path(*warm_rows(X, y), strengths[:10], 1e-3)
    for tol in TOLERANCES:
        action = partial(path, X, y, strengths, tol)
        seconds, W = timed(action)
        reached = objectives(X, y, loss, strengths, W)
        np.minimum(optima, reached, out=optima)
        longest, total, worst = max(longest, seconds), total + seconds, float((reached - optima).max())
        accurate = sum(worst <= wanted for wanted in GAPS)
        if accurate > len(found):
            found += [(Time(repeated(action, seconds)), worst)] * (accurate - len(found))
        if len(found) == len(GAPS) or longest > PATIENCE or total > 4 * PATIENCE:
            break
    return found + [(Time(math.inf, longest), worst)] * (len(GAPS) - len(found))


def fenchel(
    X: Any, y: np.ndarray, loss: str, strengths: np.ndarray, optima: np.ndarray, tol: float, threads: int | None
) -> tuple[Time, float]:
    """The seconds of fenchel and the worst gap on its path, which its certificates bound by tol."""
    ratio = strengths[-1] / strengths[0]
    action = partial(fl.path, X, y, LOSSES[loss], n_strengths=len(strengths), ratio=ratio, tol=tol, threads=threads)
    action()
    seconds, found = timed(action)
    worst = float((objectives(X, y, loss, found.strengths, found.coefs.T.toarray()) - optima).max())
    return Time(repeated(action, seconds) if found["converged"].all() else math.inf, seconds), worst


def main() -> None:
    arguments = parsed(__doc__, RATIOS, "λ_max over the weakest strength", {"liblinear"})
    score = Score()
    for name in arguments.only:
        data = DATA[name]()
        X = data.X
        for loss in arguments.loss:
            y = data.y(loss)
            others = {peer: path for peer, path in PEERS[loss].items() if not (arguments.no_slow_peers and peer == "liblinear")}
            print(f"\n{name} {X.shape[0]:,} x {X.shape[1]:,}, {loss}: seconds (worst gap)")
            columns = list(others) if arguments.peers_only else ["fenchel", *others]
            print(f"{'down to':>10} {'gap':>6}" + "".join(f"{column:>19}" for column in columns) + "   best peer    fenchel/best")
            for ratio in arguments.ratio:
                strengths = strongest(X, y, loss) * np.geomspace(1, 1 / ratio, POINTS)
                optima = objectives(X, y, loss, strengths, celer(X, y, strengths, TIGHT, loss))
                times = {peer: descend(path, X, y, loss, strengths, optima) for peer, path in others.items()}
                for k, wanted in enumerate(GAPS):
                    cells = {peer: found[k] for peer, found in times.items()}
                    if not arguments.peers_only:
                        cells = {"fenchel": fenchel(X, y, loss, strengths, optima, wanted, arguments.threads), **cells}
                    times = "".join(f"{time!s:>9} ({worst:7.1e})" for time, worst in cells.values())
                    seconds = {column: time for column, (time, _) in cells.items()}
                    print(f"λ_max/{ratio:<4} {wanted:>6g}{times}   {score.add(seconds.pop('fenchel', None), seconds)}", flush=True)
    if not arguments.peers_only:
        print(f"\n{score}")


if __name__ == "__main__":
    main()

"""Seconds for a path of 100 l1 strengths down to λ_max/100, with an unpenalised intercept, against adelie, skglm, celer and scikit-learn

The accuracy asked for is what adelie reaches with tol = 1e-7: the largest excess of an objective on the path over the smallest known one,
relative to that. Every package is run from its loosest tolerance to its tightest, and counts with the time of the loosest one that is as
accurate. fenchel's time includes the certificates of all points, each relative to its own objective. celer and scikit-learn take
no intercept: they get centred columns and labels, and only dense least squares.

adelie needs NumPy 1 and therefore an environment of its own: FENCHEL_ADELIE is the path of its Python. Without it, the accuracy asked for
is that of fenchel with tol = 1e-3. Text is read from $FENCHEL_DATA (rcv1sub.ccat) or generated.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from common import real, text
from scipy.special import expit
from threadpoolctl import threadpool_limits

import fenchel as fl

LOSSES = {"least squares": fl.Squared(), "logistic": fl.Logistic()}
POINTS, RATIO = 100, 100.0
TOLERANCES = {"fenchel": (3e-2, 1e-2, 3e-3, 1e-3, 1e-4, 1e-5), "adelie": (1e-4, 1e-5, 1e-6, 1e-7), "others": (1e-3, 1e-4, 1e-5, 1e-6, 1e-8)}
SHAPES = {"1,000 x 5,000": (1000, 5000, 0.0), "5,000 x 500": (5000, 500, 0.5), "200 x 20,000": (200, 20_000, 0.0)}
SHAPES["50,000 x 200"] = (50_000, 200, 0.0)

Found = tuple[np.ndarray, np.ndarray]  # weights, one row for each strength, and intercepts
PathTo = Callable[[float], Found]


def dense(m: int, n: int, correlation: float) -> tuple[np.ndarray, np.ndarray]:
    """Normal columns, which share a factor if correlated, and a standardised target of 50 of them with noise."""
    rng = np.random.default_rng(0)
    X = math.sqrt(1.0 - correlation) * rng.standard_normal((m, n)) + math.sqrt(correlation) * rng.standard_normal((m, 1))
    relevant = rng.choice(n, 50, replace=False)
    score = X[:, relevant] @ rng.standard_normal(50)
    y = score + 0.5 * score.std() * rng.standard_normal(m)
    return np.asfortranarray(X), (y - y.mean()) / y.std()


class Case:
    """A loss on some data, with the strengths of its path."""

    def __init__(self, X: Any, y: np.ndarray, loss: str) -> None:
        self.X, self.loss = X, loss
        self.y = y if loss == "least squares" else np.where(y > 0.0, 1.0, -1.0)
        b = self.y.mean() if loss == "least squares" else math.log((self.y > 0.0).mean() / (self.y < 0.0).mean())
        slopes = b - self.y if loss == "least squares" else -self.y * expit(-self.y * b)
        self.strengths = float(np.abs(X.T @ slopes).max()) / len(y) * np.geomspace(1.0, 1.0 / RATIO, POINTS)

    def objectives(self, found: Found) -> np.ndarray:
        """P at every point of a path."""
        W, b = found
        Z = self.X @ W.T + b
        losses = 0.5 * (Z - self.y[:, None]) ** 2 if self.loss == "least squares" else np.logaddexp(0.0, -self.y[:, None] * Z)
        return np.asarray(losses.mean(axis=0) + self.strengths * np.abs(W).sum(axis=1))


# ---- packages ----


def fenchel(case: Case, threads: int, tol: float) -> Found:
    found = fl.path(case.X, case.y, LOSSES[case.loss], strengths=case.strengths, intercept="free", tol=tol, threads=threads)
    return found.coefs.toarray(), np.asarray(found.intercepts)


def skglm(case: Case, threads: int, tol: float) -> Found:
    from skglm.datafits import Logistic, Quadratic
    from skglm.penalties import L1
    from skglm.solvers import AndersonCD, ProxNewton

    options = {"tol": tol * case.strengths[0], "fit_intercept": True, "max_iter": 50}
    solver, datafit = (AndersonCD(**options), Quadratic()) if case.loss == "least squares" else (ProxNewton(**options), Logistic())
    w, Xw, found = np.zeros(case.X.shape[1] + 1), np.zeros(len(case.y)), []
    for l1 in case.strengths:
        w = solver.solve(case.X, case.y, datafit, L1(l1), w, Xw)[0]
        solver.p0 = max(solver.p0, np.count_nonzero(w))
        found.append(w.copy())
    whole = np.array(found)
    return whole[:, :-1], whole[:, -1]


def celer(case: Case, threads: int, tol: float) -> Found:
    from celer import celer_path

    X, means = centred(case)
    W = celer_path(X, case.y - case.y.mean(), "lasso", alphas=case.strengths, tol=tol, prune=1, max_iter=100)[1].T
    return W, case.y.mean() - W @ means


def sklearn(case: Case, threads: int, tol: float) -> Found:
    from sklearn.linear_model import lasso_path

    X, means = centred(case)
    W = lasso_path(X, case.y - case.y.mean(), alphas=case.strengths, tol=tol, copy_X=False, max_iter=5_000)[1].T
    return W, case.y.mean() - W @ means


def centred(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """X less the means of its columns, which are part of these packages' time, as they are of any user's; and these means."""
    means = case.X.mean(axis=0)
    return np.asfortranarray(case.X - means), means


def adelie(case: Case, threads: int, tol: float) -> tuple[float, Found]:
    """Seconds and the path, from the other environment."""
    parts = {"X": case.X} if not sp.issparse(case.X) else {name: getattr(case.X, name) for name in ("data", "indices", "indptr", "shape")}
    worker = str(Path(__file__).with_name("adelie_worker.py"))
    with tempfile.TemporaryDirectory() as folder:
        source, target = f"{folder}/in.npz", f"{folder}/out.npz"
        np.savez(source, y=case.y, strengths=case.strengths, loss=case.loss, **parts)
        subprocess.run([os.environ["FENCHEL_ADELIE"], worker, source, str(tol), str(threads), target], check=True)
        found = np.load(target)
        return float(found["seconds"]), (found["W"], found["b"])


# ---- timing ----


def timed(path: PathTo, tol: float, limit: float) -> tuple[float, Found]:
    """The best of three times, after a first run that compiles, or that one alone if it takes long."""
    seconds = math.inf
    for k in range(4):
        clock = time.perf_counter()
        found = path(tol)
        last = time.perf_counter() - clock
        seconds = last if k == 1 else min(seconds, last)
        if last > limit:
            break
    return seconds, found


def trials(case: Case, threads: int, limit: float) -> dict[str, list[tuple[float, np.ndarray]]]:
    """Seconds and objectives of every package, from its loosest tolerance to its tightest."""
    packages: dict[str, Any] = {"fenchel": fenchel, "skglm": skglm}
    if case.loss == "least squares" and not sp.issparse(case.X):
        packages |= {"celer": celer, "sklearn": sklearn}
    found: dict[str, list[tuple[float, np.ndarray]]] = {name: [] for name in packages}
    for name, run in packages.items():
        for tol in TOLERANCES.get(name, TOLERANCES["others"]):
            try:
                seconds, path = timed(partial(run, case, threads), tol, limit)
            except ImportError:
                break
            found[name].append((seconds, case.objectives(path)))
            if seconds > limit:
                break
    if "FENCHEL_ADELIE" in os.environ:
        found["adelie"] = [
            (seconds, case.objectives(path)) for seconds, path in (adelie(case, threads, tol) for tol in TOLERANCES["adelie"])
        ]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=[*SHAPES, "text"], default=[*SHAPES, "text"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=float, default=10.0, help="seconds of a path after which no tighter tolerance is tried")
    arguments = parser.parse_args()
    threadpool_limits(arguments.threads)
    warnings.simplefilter("ignore")
    ratios = []
    print("data, loss: accuracy asked for, then the seconds of each package")
    for name in arguments.only:
        if name == "text":
            X, y = real("rcv1sub.ccat") or text(20_000)
            X = sp.csc_matrix(X)
            X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        else:
            X, y = dense(*SHAPES[name])
        for loss in LOSSES:
            found = trials(Case(X, y, loss), arguments.threads, arguments.limit)
            smallest = np.min([objectives for runs in found.values() for _, objectives in runs], axis=0)
            worst = {package: [(t, float((reached / smallest - 1.0).max())) for t, reached in runs] for package, runs in found.items()}
            accuracy = worst["adelie"][-1][1] if "adelie" in worst else worst["fenchel"][3][1]
            best = {package: min((t for t, off in runs if off <= accuracy), default=math.inf) for package, runs in worst.items()}
            rival = min((t for package, t in best.items() if package != "fenchel"), default=math.inf)
            ratios.append(rival / best["fenchel"])
            times = ", ".join(f"{package} {seconds:.3f}" for package, seconds in best.items())
            print(f"{name}, {loss}: {accuracy:.1e}, {times}; ratio {ratios[-1]:.2f}", flush=True)
    print(f"geometric mean {math.exp(np.mean(np.log(ratios))):.2f}, worst {min(ratios):.2f}")


if __name__ == "__main__":
    main()

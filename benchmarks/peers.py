"""Time to an accurate model against scikit-learn: same objective, same data, one run, fits only.

scikit-learn has no certificate, so each class is run at several tolerances; its time is that of the largest one whose objective is
within 1e-3·P(0) of the optimum (which fenchel's bound certifies). fenchel's time includes all evaluations.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from common import dense, real, text
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import fenchel as fl

TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6)


def peers(problem: fl.Problem) -> dict[str, object]:
    C = 1.0 / (problem.regularizer.l2 * problem.m)
    common = {"C": C, "fit_intercept": False, "max_iter": 200}
    if isinstance(problem.loss, fl.Hinge):
        return {"LinearSVC": lambda tol: LinearSVC(loss="hinge", dual=True, tol=tol, random_state=0, **common)}
    if isinstance(problem.loss, fl.SquaredHinge):
        # scikit-learn's squared hinge has no ½
        halved = {**common, "C": C / 2}
        return {"LinearSVC": lambda tol: LinearSVC(loss="squared_hinge", dual=True, tol=tol, random_state=0, **halved)}
    return {
        f"LogisticRegression {name}": lambda tol, name=name: LogisticRegression(solver=name, tol=tol, random_state=0, **common)
        for name in ("lbfgs", "newton-cg")
    }


def time_of(make: object, X: object, y: np.ndarray, problem: fl.Problem, wanted: float) -> str:
    for tol in TOLERANCES:
        clock = time.perf_counter()
        model = make(tol).fit(X, y)
        seconds = time.perf_counter() - clock
        if problem.objective(model.coef_.ravel()) <= wanted:
            return f"{seconds:.2f} s"
        if seconds > 10:
            break
    return f"not within {seconds:.0f} s"


def main() -> None:
    warnings.simplefilter("ignore")
    data = {
        "text 200,000 x 47,236": text(),
        "dense 100,000 x 100": dense(),
        "rcv1sub.ccat": real("rcv1sub.ccat"),
        "a9a": real("a9a"),
        "covtype": real("covtype.libsvm.binary.scale"),
    }
    for name, pair in data.items():
        if pair is None:
            continue
        X, y = pair
        for loss in (fl.Logistic(), fl.Hinge(), fl.SquaredHinge()):
            for scale in (1.0, 0.01):
                problem = fl.Problem(X, y, loss, fl.L2(scale / len(y)))
                fl.minimize(problem, max_passes=2)  # compile first
                clock = time.perf_counter()
                ours = fl.minimize(fl.Problem(X, y, loss, fl.L2(scale / len(y))), tol=1e-3)
                seconds = time.perf_counter() - clock
                tight = fl.minimize(problem, tol=1e-5, time_limit=20)
                wanted = tight.dual_objective + 1e-3 * problem.objective_at_zero
                others = {peer: time_of(make, X, y, problem, wanted) for peer, make in peers(problem).items()}
                times = ", ".join(f"{peer} {text}" for peer, text in others.items())
                print(
                    f"{name:<24} {type(loss).__name__:<13} l2 = {scale:g}/m   fenchel {seconds:.2f} s ({ours.solver})   {times}", flush=True
                )


if __name__ == "__main__":
    main()

"""Weak regularization: the best objective of pegasos in 100 passes, and of the proximal methods in 10.

Hinge loss, rows in shuffled blocks. The second table shows the best objectives after 1, 3, 10 and 30 passes.
"""

from __future__ import annotations

import warnings

import numpy as np
from common import real, show

import fenchel as fl

warnings.simplefilter("ignore")
SETS = [
    ("a9a", 1e-7),
    ("ijcnn1", 1e-7),
    ("w8a", 1e-8),
    ("connect-4", 1e-7),
    ("covtype.libsvm.binary.scale", 1e-8),
    ("rcv1sub.binary", 1e-8),
]
WAYS = [
    ("adaptive", {}),
    ("proximal", {}),
    ("proximal", {"tau": "single"}),
    ("optimistic", {}),
    ("optimistic", {"rule": "printed"}),
    ("pgs", {}),
]
CHECKPOINTS = (1, 3, 10, 30)


def main() -> None:
    against: list[list[object]] = []
    courses: list[list[object]] = []
    for name, l2 in SETS:
        found = real(name)
        if found is None:
            continue
        problem = fl.Problem(*found, fl.Hinge(), fl.L2(l2))
        pegasos = fl.minimize(problem, "pegasos", tol=0.0, max_passes=100).history["objective"][1:].min()
        row: list[object] = [f"{name}, l2 = {l2:g}", float(pegasos)]
        for solver, options in WAYS:
            history = fl.minimize(problem, solver, tol=0.0, max_passes=max(CHECKPOINTS), **options).history
            passes, best = history["passes"][1:], np.minimum.accumulate(history["objective"][1:])
            at = [float(best[np.searchsorted(passes, checkpoint, side="right") - 1]) for checkpoint in CHECKPOINTS]
            courses.append([name, " ".join([solver, *map(str, options.values())]), *(f"{value:.4f}" for value in at)])
            if not options and solver in ("proximal", "optimistic"):
                row += [at[CHECKPOINTS.index(10)]]
        against.append([*row, "yes" if max(row[2:]) < row[1] else "no"])
    show("Hinge loss, best objective", ["data", "pegasos, 100 passes", "proximal, 10", "optimistic, 10", "both ahead"], against)
    show("Best objective so far", ["data", "solver", *(f"{checkpoint} passes" for checkpoint in CHECKPOINTS)], courses)


if __name__ == "__main__":
    main()

"""Bundle methods: their quadratic programme against DAQP and quadprog, and the best objective by passes as λ decreases.

``python benchmarks/bundle.py programme`` or ``... objective`` prints one of the two tables, for named data sets only those rows.
"behind" counts the columns in which ``proximal-bundle`` is more than 1% above the better of the other two.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable

import daqp
import numpy as np
import quadprog
from common import best, real, show

import fenchel as fl
from fenchel.solvers import solvers
from fenchel.solvers._bundle.simplex_programme import maximise

WAYS = {"bundle": ("bundle", {}), "printed": ("proximal-bundle", {"rule": "printed"}), "default": ("proximal-bundle", {})}
CALLS = (10, 25, 50, 100, 150)
DATA = ("a9a", "w8a", "ijcnn1", "covtype.libsvm.binary.scale", "rcv1sub.binary", "connect-4", "mnist")


def steps(problem: fl.Problem, way: str, count: int) -> itertools.islice:
    solver, options = WAYS[way]
    run = solvers()[solver].run(problem, start=None, rng=np.random.default_rng(0), accuracy=1e-6 * problem.objective_at_zero, **options)
    return itertools.islice(run, count)


def others(G: np.ndarray, h: np.ndarray) -> dict[str, Callable[[], np.ndarray]]:
    t = len(h)
    limits = np.append(np.full(t, 1e30), 1.0), np.append(np.zeros(t), 1.0), np.append(np.zeros(t), 5).astype(np.int32)
    definite, sides = G + 1e-10 * np.trace(G) / t * np.eye(t), np.column_stack([np.ones(t), np.eye(t)])
    return {
        "DAQP": lambda: daqp.solve(G, -h, np.ones((1, t)), *limits)[0],
        "quadprog": lambda: quadprog.solve_qp(definite, h, sides, np.append(1.0, np.zeros(t)), 1)[0],
    }


def programme() -> None:
    """Solve the programme of ``bundle`` with 100 and 200 planes, warm-started from the solution before the last plane."""
    rows: list[list[object]] = []
    for l2, planes in itertools.product((1e-3, 1e-5, 1e-7), (100, 200)):
        pair = real("a9a")
        if pair is None:
            print("a9a is not in FENCHEL_DATA: skipped.")
            return
        *_, before, last = steps(fl.Problem(*pair, fl.Hinge(), fl.L2(l2)), "bundle", planes)
        G, h, x = last.state["gram"].copy(), last.state["b"].copy(), np.append(before.state["shares"][0], 0.0)

        def solve(G: np.ndarray = G, h: np.ndarray = h, x: np.ndarray = x, l2: float = l2) -> np.ndarray:
            found = x.copy()
            maximise(G, h, l2, found)
            return found

        times, value = {}, {}
        for name, action in {"fenchel": solve, **others(G / l2, h)}.items():
            found = action()
            times[name], value[name] = best(action), h @ found - found @ G @ found / (2 * l2)
        off = (f"{times[k] / times['fenchel']:.0f} ({value[k] - value['fenchel']:+.0e})" for k in ("DAQP", "quadprog"))
        rows.append([l2, planes, f"{1e3 * times['fenchel']:.3f} ms", *off])
    show(
        "Time of the programme, relative to fenchel (and difference in value)",
        ["l2", "planes", "fenchel", "DAQP", "quadprog"],
        rows,
    )


def objective(names: tuple[str, ...]) -> None:
    for name in names:
        pair, rows = real(name), []
        if pair is None:
            print(f"{name} is not in FENCHEL_DATA: skipped.")
            continue
        for l2 in (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8):
            problem = fl.Problem(*pair, fl.Hinge(), fl.L2(l2))
            found: dict[str, list[float]] = {}
            for way in WAYS:
                values = [problem.objective(it.w, it.z) for it in steps(problem, way, max(CALLS))]
                found[way] = [values[min(k, len(values)) - 1] for k in CALLS]
            behind = sum(x > 1.01 * min(a, b) for a, b, x in zip(*found.values(), strict=True))
            rows += [[l2, way, *(f"{v:.4g}" for v in values), behind if way == "default" else ""] for way, values in found.items()]
        show(f"{name}: best objective", ["l2", "method", *(f"{k} passes" for k in CALLS), "behind"], rows)


def main() -> None:
    what, names = (sys.argv[1:2] or ["all"])[0], tuple(sys.argv[2:]) or DATA
    if what in ("all", "programme"):
        programme()
    if what in ("all", "objective"):
        objective(names)


if __name__ == "__main__":
    main()

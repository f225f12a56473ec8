"""Start-up times: import, the first fit with an empty kernel cache, and the first fit of a later process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from common import show

SCRIPT = """
import time
clock = time.perf_counter()
import fenchel as fl
imported = time.perf_counter() - clock
X, y = fl.datasets.make_text(2000, n=5000, nonzeros=30)
clock = time.perf_counter()
fl.minimize(fl.Problem(X, y, {loss}, {regularizer}), {solver!r}, tol=1e-3)
print(imported, time.perf_counter() - clock)
"""


def run(cache: str, **parts: str) -> list[float]:
    environment = {**os.environ, "FENCHEL_CACHE": cache}
    done = subprocess.run([sys.executable, "-c", SCRIPT.format(**parts)], env=environment, capture_output=True, text=True, check=True)
    return [float(number) for number in done.stdout.split()]


def main() -> None:
    rows: list[list[object]] = []
    for solver, loss, regularizer in [
        ("auto", "fl.Logistic()", "fl.L2(1e-3)"),
        ("sdca", "fl.Hinge()", "fl.L2(1e-3)"),
        ("accelerated-sdca", "fl.SmoothHinge()", "fl.L1L2(l1=1e-5, l2=1e-6)"),
        ("fista", "fl.Squared()", "fl.L1(1e-3)"),
        ("auto", "fl.Logistic()", "fl.SquaredLp(1e-3, p=1.5)"),
    ]:
        with tempfile.TemporaryDirectory() as cache:
            cold = run(cache, solver=solver, loss=loss, regularizer=regularizer)
            warm = run(cache, solver=solver, loss=loss, regularizer=regularizer)
        rows.append([solver, loss, regularizer, warm[0], cold[1], warm[1]])
    show("Cold start, in seconds", ["solver", "loss", "regularizer", "import", "first fit, empty cache", "first fit, warm cache"], rows)


if __name__ == "__main__":
    main()
